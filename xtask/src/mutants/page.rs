//! docs/results/mutants.md: what becomes of every mutant of every right policy.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use wastenot_prove::Options;
use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::{Kind, Places};
use wastenot_rota::ir::Policy;

use super::{ARGUMENTS, By, Family, OPERATORS, Standing, fates, mutants, standing};
use crate::parts::files;

/// How long a solver may think about a question.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many mutants came to what.
#[derive(Clone, Copy, Default)]
struct Count {
    made: u64,
    refuted: [u64; 4],
    equivalent: u64,
    contained: u64,
    argued: u64,
    proved: u64,
}

/// By policy, and family of mutants.
type Counts = Vec<(String, BTreeMap<Family, Count>)>;

/// What was found of all.
#[derive(Default)]
struct Found {
    counts: Counts,
    /// By argument, the mutants that it is for: policy, operator, site.
    argued: BTreeMap<usize, Vec<[String; 3]>>,
    unexplained: Vec<String>,
}

/// Judges all mutants of the policies in `folder` and writes the page. The verdict in a line. An
/// error, but with the page written, if a mutant is not explained, or an argument is for nobody.
pub(crate) fn write(folder: &Path, output: &Path) -> Result<String, String> {
    let told = |error: wastenot_prove::Error| error.to_string();
    let places = Places::from_environment();
    let solver = places.find(Kind::Z3).map_err(told)?;
    let solver = solver.ok_or_else(|| format!("there is no z3: {}", Kind::Z3.recipe()))?;
    let answers = tempfile::tempdir().map_err(|error| error.to_string())?;
    let cache = Some(Cache::open(answers.path()).map_err(told)?);
    let solvers = vec![solver];
    let options = Options { solvers, cache, patience: PATIENCE, bounds: Bounds::default() };
    let policies = policies(folder)?;
    let mut found = Found::default();
    let bar = ProgressBar::new(policies.len() as u64);
    for policy in &policies {
        bar.set_message(policy.name.clone());
        judge(policy, &options, &mut found).map_err(told)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let page = page(&found);
    fs::write(output, page).map_err(|error| format!("{}: {error}", output.display()))?;
    let all = sum(found.counts.iter().flat_map(|(_, families)| families.values()));
    let unused = (0..ARGUMENTS.len()).filter(|argument| !found.argued.contains_key(argument));
    let unused = unused
        .map(|argument| format!("no mutant needs this argument: {}", ARGUMENTS[argument].why));
    let faults: Vec<String> = found.unexplained.iter().cloned().chain(unused).collect();
    match faults.as_slice() {
        [] => Ok(format!("{}: {} mutants, all explained", output.display(), all.made)),
        faults => Err(faults.join("\n")),
    }
}

fn policies(folder: &Path) -> Result<Vec<Policy>, String> {
    let mut policies = Vec::new();
    for file in files(folder, "rota")? {
        let name = file.display();
        let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        let program = wastenot_rota::compile(&text).map_err(|_| format!("{name} is no policy"))?;
        policies.extend(program.policies);
    }
    Ok(policies)
}

fn judge(
    policy: &Policy,
    options: &Options,
    found: &mut Found,
) -> Result<(), wastenot_prove::Error> {
    let made = mutants(policy);
    let fates = fates(policy, &made, options)?;
    let mut families: BTreeMap<Family, Count> = BTreeMap::new();
    for (mutant, fate) in made.iter().zip(&fates) {
        let count = families.entry(mutant.family).or_default();
        count.made += 1;
        match standing(mutant, fate) {
            Standing::Refuted(by) => count.refuted[by as usize] += 1,
            Standing::Equivalent => count.equivalent += 1,
            Standing::Contained => count.contained += 1,
            Standing::Tuned => count.proved += 1,
            Standing::Argued(argument) => {
                count.argued += 1;
                let (operator, site) = (mutant.operator.to_owned(), mutant.site.text.clone());
                let mutant = [policy.name.clone(), operator, site];
                found.argued.entry(argument).or_default().push(mutant);
            }
            Standing::Unexplained(why) => {
                let (name, site) = (&policy.name, &mutant.site.text);
                found.unexplained.push(format!("{name}: {}, {site}: {why}", mutant.operator));
            }
        }
    }
    found.counts.push((policy.name.clone(), families));
    Ok(())
}

fn sum<'c>(counts: impl Iterator<Item = &'c Count>) -> Count {
    counts.fold(Count::default(), |mut all, count| {
        all.made += count.made;
        for by in [By::Type, By::Explorer, By::Replay, By::Solver] {
            all.refuted[by as usize] += count.refuted[by as usize];
        }
        all.equivalent += count.equivalent;
        all.contained += count.contained;
        all.argued += count.argued;
        all.proved += count.proved;
        all
    })
}

const HEAD: &str = "# Mutants\n\nA prover must not prove wrong policies. To test this, a fixed \
                    list of operators changes every correct policy. An\noperator changes the \
                    policy's internal representation at one place, and we apply it at every place \
                    where it fits. Each\nchanged policy is a *mutant*. The tables count the \
                    mutants by the prover's verdict. `make long-mutants` writes this\npage; do not \
                    edit it by hand.\n\n- *type*: the text of the mutant has one of these errors: \
                    on some path, a task is placed never or twice; a CPU is\n  claimed but not \
                    used; a name is unknown; the text contradicts a claim.\n- *explorer*: a small \
                    machine has a counterexample.\n- *replay*: a solver finds a state of a small \
                    machine with more tasks than the explorer enumerates, and the\n  explorer \
                    confirms that the state breaks a claim.\n- *solver*: an obligation fails in \
                    some state, but no explored small machine has such a state.\n- *equivalent*: a \
                    solver finds no state in which the mutant differs from the original.\n- \
                    *contained*: a solver finds no state in which the mutant does more than the \
                    original may do. If the mutant puts a task\n  into a queue, the original may \
                    put this task into the same queue. If the mutant's periodic balancing moves a \
                    task, the\n  original may make the same move. So claims about everything that \
                    the original may do hold for the mutant, too.\n- *argued*: all claims still \
                    hold. An argument below shows this for the mutants that it lists.\n\nMutants \
                    of the family *choice* change nothing that a claim depends on: they change \
                    only the order in which tasks run, or\nthe length of a run. The prover must \
                    prove all of these mutants, as it proves the original (*proved*). They are \
                    counted\nseparately. A mutant of any operator belongs to this family if its \
                    slice equals the slice of the original. The *slice*\nis the part of a policy \
                    that determines\n\n- the queue into which a task is put, and the levels in \
                    which the policy then searches for a CPU to wake; the idle CPUs\n  that are \
                    claimed, that run a task directly, or that are kicked because they were \
                    claimed;\n- the queues in which an idle CPU looks for tasks, and the condition \
                    under which the CPU continues with the next\n  queue; also the order of these \
                    queues, but only if `wait` is claimed, or if not all queues are tried;\n- the \
                    tasks that periodic balancing moves, and the source and destination of each \
                    move;\n- keys of ordered queues, but only if `vt_monotone` or `lag` is \
                    claimed;\n- the existence of endless slices, but only if the policy has a \
                    leader and claims `hierarchy`.\n\nSo these things are not in the slice of a \
                    policy: the order of candidates, idle CPUs and tasks, the CPUs that balance\n\
                    and their periods, the length of time slices, the interruption of running \
                    tasks, and the values of parameters. The\nprogram checks one rule: if the text \
                    of a mutant has no errors and the mutant is refuted, the mutant is neither\n\
                    equivalent nor contained, and does not belong to the family choice.\n";

const COLUMNS: &str =
    "| made | type | explorer | replay | solver | equivalent | contained | argued | proved |\n";

fn page(found: &Found) -> String {
    let mut page = format!("{HEAD}\n## All policies\n\n| family {COLUMNS}{}", rule(1));
    let of =
        |family: Family| found.counts.iter().filter_map(move |(_, families)| families.get(&family));
    let wrong = Family::ALL.into_iter().filter(|family| *family != Family::Choice);
    for family in wrong.clone() {
        row(&mut page, family.name(), &sum(of(family)));
    }
    row(&mut page, "all of these", &sum(wrong.flat_map(of)));
    row(&mut page, Family::Choice.name(), &sum(of(Family::Choice)));
    let _ = write!(page, "\n## Each policy\n\n| policy | family {COLUMNS}{}", rule(2));
    for (policy, families) in &found.counts {
        for (family, count) in families {
            row(&mut page, &format!("{policy} | {}", family.name()), count);
        }
    }
    page += "\n## Operators\n\n| family | operator | what it does |\n|---|---|---|\n";
    for operator in OPERATORS {
        let (family, name, what) = (operator.family.name(), operator.name, operator.what);
        let _ = writeln!(page, "| {family} | {name} | {what} |");
    }
    page += "\n## Arguments\n\nEach argument states why some mutants keep all claims.\n\n";
    for (index, mutants) in &found.argued {
        let (argument, count) = (&ARGUMENTS[*index], mutants.len());
        let _ = writeln!(page, "**{count} mutants.** {}\n", argument.why);
        page += "| policy | operator | where |\n|---|---|---|\n";
        for [policy, operator, site] in mutants {
            let _ = writeln!(page, "| {policy} | {operator} | {site} |");
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn rule(words: usize) -> String {
    format!("|{}\n", "---|".repeat(words + 9).trim_end())
}

fn row(page: &mut String, what: &str, count: &Count) {
    let Count { made, refuted: [by_type, explorer, replay, solver], .. } = count;
    let Count { equivalent, contained, argued, proved, .. } = count;
    let _ = writeln!(
        page,
        "| {what} | {made} | {by_type} | {explorer} | {replay} | {solver} | {equivalent} \
         | {contained} | {argued} | {proved} |"
    );
}
