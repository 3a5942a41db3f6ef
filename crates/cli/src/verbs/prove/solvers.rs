//! The solvers to run, their time limit, and the cache of their answers.

use std::time::Duration;

use wastenot_prove::Options;
use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::{Kind, Places, Solver};

use crate::args::prove::{Prove, Who};
use crate::fail::Stop;
use crate::out;

pub(super) fn options(args: &Prove) -> Result<Options, Stop> {
    let bounds = Bounds {
        cpus: usize::from(args.cpus),
        tasks: usize::from(args.tasks),
        ..Bounds::default()
    };
    let cache = if args.no_cache { None } else { cache() };
    let patience = Duration::from_nanos(args.patience.0);
    Ok(Options { solvers: solvers(args)?, cache, patience, bounds })
}

pub(super) fn solvers(args: &Prove) -> Result<Vec<Solver>, Stop> {
    let places = Places::from_environment();
    let wanted = |kind: Kind| {
        let found = places.find(kind)?;
        found.ok_or_else(|| Stop::new(format!("{} is not installed", kind.name()), kind.recipe()))
    };
    match (args.both, args.solver) {
        (true, _) => Ok(vec![wanted(Kind::Z3)?, wanted(Kind::Cvc5)?]),
        (_, Some(Who::Z3)) => Ok(vec![wanted(Kind::Z3)?]),
        (_, Some(Who::Cvc5)) => Ok(vec![wanted(Kind::Cvc5)?]),
        (_, Some(Who::None)) => Ok(Vec::new()),
        (_, None) => {
            let found = first_solver()?;
            if found.is_empty() {
                let recipe = Kind::Z3.recipe();
                out::note(&format!("no solver found: exploring small machines only ({recipe})"));
            }
            Ok(found)
        }
    }
}

/// The solver to run by default.
pub(in crate::verbs) fn first_solver() -> Result<Vec<Solver>, Stop> {
    let found = Places::from_environment().solvers()?;
    Ok(found.into_iter().take(1).collect())
}

/// The cache of answers. Without a cache directory, every query runs again.
pub(in crate::verbs) fn cache() -> Option<Cache> {
    wastenot_host::cache("proofs").and_then(|folder| Cache::open(&folder).ok())
}
