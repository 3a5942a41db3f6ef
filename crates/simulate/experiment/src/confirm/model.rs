//! Which scheduler is a model of the one that a History shows.

use wastenot_model::History;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::Scheduler;

use crate::choice::TUNABLES;
use crate::{Error, choice};

/// The models of Linux' fair class, each from this version on. Between them lie the changes that
/// the simulator knows: the balancer of 5.5 (0b0695f2b34a), the idle previous CPU of 5.11
/// (d8fcb81f1acf), EEVDF of 6.6.
const MODELS: [((u32, u32), &str); 4] =
    [((0, 0), "cfs-4.1"), ((5, 5), "cfs-5.10"), ((5, 11), "cfs-6.1"), ((6, 6), "eevdf-6.12")];

/// The model of what ran in `history`: of a recording by its kernel, of a simulated run the same
/// scheduler.
pub(super) fn of(history: &History) -> Result<Choice, Error> {
    let source = &history.head.source;
    let unknown = |what: String| Error::NoModel { what };
    let Some(scheduler) = source.note("scheduler") else {
        let version = source
            .version()
            .ok_or_else(|| unknown("the trace does not record the version of the kernel".into()))?;
        let (_, name) = MODELS.iter().rfind(|(from, _)| *from <= version).expect("from 0.0 on");
        return Ok(Choice::named(name));
    };
    if Scheduler::named(scheduler).is_none() {
        return Err(unknown(format!("the simulator has no built-in scheduler `{scheduler}`")));
    }
    let set =
        source.note(TUNABLES).unwrap_or_default().split(',').filter_map(|it| it.split_once('='));
    let tunables = set.map(|(name, to)| (name.to_owned(), to.to_owned())).collect();
    let choice = Choice { tunables, ..Choice::named(scheduler) };
    choice::policy(&choice).map(|_| choice)
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, Head, Machine};

    use super::*;

    fn model_of(kernel: Option<&str>, notes: &[(&str, &str)]) -> Result<String, String> {
        let mut head = Head::new(Machine::flat(1));
        head.source.kernel = kernel.map(str::to_owned);
        let notes = notes.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        head.source.notes = notes.collect();
        of(&Builder::new(head).finish())
            .map(|it| choice::label(&it))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_kernel_has_the_model_of_its_version_or_of_the_last_change_before() {
        for (kernel, model) in [
            ("Linux (none) 4.1.0 x86_64", "cfs-4.1"),
            ("5.4.0-42-generic", "cfs-4.1"),
            ("Linux host 5.10.0", "cfs-5.10"),
            ("Linux 10.0.0.5 5.10.0", "cfs-5.10"),
            ("Linux 4f5a2b 5.10.0-1-amd64 x86_64", "cfs-5.10"),
            ("Linux 5.10.0", "cfs-5.10"),
            ("5.15.0-76", "cfs-6.1"),
            ("6.1", "cfs-6.1"),
            ("6.6.0", "eevdf-6.12"),
            ("Linux host 6.18", "eevdf-6.12"),
            ("7.2.0", "eevdf-6.12"),
        ] {
            assert_eq!(model_of(Some(kernel), &[]).as_deref(), Ok(model), "{kernel}");
        }
        for kernel in [None, Some("Linux"), Some("Linux host"), Some("Linux 10-0-0-5")] {
            let error = model_of(kernel, &[]).expect_err("no version");
            assert!(error.contains("the version of the kernel"), "{error}");
        }
    }

    #[test]
    fn a_simulated_run_has_its_scheduler_with_its_tunables() {
        let noted = [("scheduler", "cfs-4.1"), ("seed", "1"), (TUNABLES, "autogroup=off,hz=250")];
        assert_eq!(model_of(None, &noted).as_deref(), Ok("cfs-4.1 autogroup=off"));
        let wrong = model_of(None, &[("scheduler", "cfs-4.1"), (TUNABLES, "autogroup=perhaps")]);
        assert!(wrong.expect_err("no value").contains("`autogroup` cannot be `perhaps`"));
        let policy = model_of(None, &[("scheduler", "turns")]);
        assert!(policy.expect_err("a policy").contains("`turns`"));
    }
}
