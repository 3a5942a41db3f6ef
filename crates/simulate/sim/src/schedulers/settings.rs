//! Tunables of schedulers: their names, their allowed values, and their settings.

use wastenot_model::machine::Profile;
use wastenot_model::{Help, Span, shortened, suggest_of};

use super::{REAL_TIME, SCHEDULERS, Scheduler};

/// One tunable.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it changes, in one line.
    pub about: &'static str,
    /// Its allowed values.
    pub values: Values,
    /// Its default.
    pub default: &'static str,
}

/// The allowed values of a tunable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A length of time: `2ms`.
    Span,
    /// A whole number.
    Count,
    /// A profile by name, or the file of one, which ends in `.toml`.
    Profile,
}

/// The shortest slice or quantum: below it a run is nothing but context switches.
const SHORTEST: Span = Span::us(10);

/// The profile of this name.
fn named(value: &str) -> Option<Profile> {
    Profile::NAMED.into_iter().find(|(name, _)| *name == value).map(|(_, profile)| profile)
}

fn is_file(value: &str) -> bool {
    value.ends_with(".toml")
}

impl Tunable {
    /// Whether this value is the name of a file, which the caller has to read before it makes the
    /// scheduler.
    pub fn is_file(&self, value: &str) -> bool {
        self.values == Values::Profile && is_file(value)
    }
    fn fits(&self, value: &str) -> bool {
        match self.values {
            Values::Words(words) => words.contains(&value),
            Values::Span => Span::parse(value).is_some_and(|span| span >= self.shortest()),
            Values::Count => value.parse::<u32>().is_ok(),
            Values::Profile => named(value).is_some() || is_file(value),
        }
    }
    /// Only a tunable whose default is off can be set to zero.
    fn shortest(&self) -> Span {
        match Span::parse(self.default) {
            Some(Span::ZERO) | None => Span::ZERO,
            Some(_) => SHORTEST,
        }
    }
    fn describe(&self) -> String {
        match self.values {
            Values::Words(words) => words.join(" | "),
            Values::Span if self.shortest() > Span::ZERO => {
                "a time of at least `10us`, for example `2ms`".into()
            }
            Values::Span => "a time, for example `2ms`".into(),
            Values::Count => "a whole number".into(),
            Values::Profile => {
                let names = Profile::NAMED.map(|(name, _)| name).join(" | ");
                format!("{names}, or the path of a profile that ends in .toml")
            }
        }
    }
}

/// Every tunable of a scheduler with its value.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(&'static str, String)>,
    /// The profile in the file that a tunable names.
    read: Option<Profile>,
}

/// No such scheduler, no such tunable, or no such value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct WrongSetting {
    /// The tunable that is wrong; the scheduler's name if `None`.
    tunable: Option<String>,
    what: String,
    help: String,
}

impl WrongSetting {
    /// The tunable that is unknown or has a wrong value; `None` if the scheduler is unknown.
    pub fn tunable(&self) -> Option<&str> {
        self.tunable.as_deref()
    }

    pub(super) fn unknown_scheduler(name: &str) -> WrongSetting {
        let all = SCHEDULERS.iter().chain(REAL_TIME);
        let names: Vec<&str> = all.map(|scheduler| scheduler.name).collect();
        WrongSetting {
            tunable: None,
            what: format!("there is no scheduler `{}`", shortened(name)),
            help: suggest_of(name, names, "use one of"),
        }
    }
    pub(super) fn no_policy(name: &str) -> WrongSetting {
        WrongSetting {
            tunable: None,
            what: format!(
                "{name} schedules only periodic jobs, but this workload has no periodic jobs"
            ),
            help: "run a scenario whose tasks have an `every` step, for example from \
                   scenarios/real-time"
                .into(),
        }
    }
    fn unknown_tunable(scheduler: &Scheduler, name: &str) -> WrongSetting {
        let names: Vec<&str> = scheduler.tunables.iter().map(|tunable| tunable.name).collect();
        WrongSetting {
            tunable: Some(name.into()),
            what: format!("{} has no tunable `{}`", scheduler.name, shortened(name)),
            help: match names.is_empty() {
                true => format!("remove this setting: {} has no tunables", scheduler.name),
                false => suggest_of(name, names, "use one of its tunables:"),
            },
        }
    }
    fn unfit(scheduler: &Scheduler, tunable: &Tunable, value: &str) -> WrongSetting {
        let name = tunable.name;
        WrongSetting {
            tunable: Some(name.into()),
            what: format!("{}: `{name}` cannot be `{}`", scheduler.name, shortened(value)),
            help: format!("set `{name}` to {}", tunable.describe()),
        }
    }
    fn unread(scheduler: &Scheduler, tunable: &Tunable, file: &str) -> WrongSetting {
        WrongSetting {
            tunable: Some(tunable.name.into()),
            what: format!(
                "{}: the profile file `{}` was not read",
                scheduler.name,
                shortened(file)
            ),
            help: format!(
                "name the file in a scenario; outside of scenarios, set `{}` to a built-in name",
                tunable.name
            ),
        }
    }
}

impl Help for WrongSetting {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        self.help.as_str().into()
    }
}

impl Settings {
    /// The defaults of a scheduler, with these tunables set.
    pub fn of(scheduler: &Scheduler, set: &[(String, String)]) -> Result<Settings, WrongSetting> {
        let tunables = scheduler.tunables.iter();
        let mut values: Vec<(&str, String)> =
            tunables.map(|tunable| (tunable.name, tunable.default.to_owned())).collect();
        for (name, value) in set {
            let at = scheduler.tunables.iter().position(|tunable| tunable.name == name.as_str());
            let at = at.ok_or_else(|| WrongSetting::unknown_tunable(scheduler, name))?;
            let tunable = &scheduler.tunables[at];
            if !tunable.fits(value) {
                return Err(WrongSetting::unfit(scheduler, tunable, value));
            }
            values[at].1.clone_from(value);
        }
        Ok(Settings { values, read: None })
    }
    /// The same, with the profile in the file that a tunable names: required if one names a file.
    pub(super) fn reading(
        self,
        scheduler: &Scheduler,
        read: Option<Profile>,
    ) -> Result<Settings, WrongSetting> {
        let pairs = scheduler.tunables.iter().zip(&self.values);
        let mut files = pairs.filter(|(tunable, (_, value))| tunable.is_file(value));
        match files.next().filter(|_| read.is_none()) {
            Some((tunable, (_, file))) => Err(WrongSetting::unread(scheduler, tunable, file)),
            None => Ok(Settings { read, ..self }),
        }
    }

    /// The scheduler's name and the tunables that differ from their defaults: `osv thyst=5ms`.
    pub fn label(&self, scheduler: &Scheduler) -> String {
        let pairs = scheduler.tunables.iter().zip(&self.values);
        let set = pairs.filter(|(tunable, (_, value))| tunable.default != value.as_str());
        set.fold(scheduler.name.to_owned(), |label, (_, (name, value))| {
            format!("{label} {name}={value}")
        })
    }
    /// A tunable that is a word; also for comparing with one.
    pub fn word(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }
    /// A tunable that is a length of time.
    pub fn span(&self, name: &str) -> Span {
        Span::parse(self.word(name)).unwrap_or_default()
    }
    /// A tunable that is a profile.
    pub fn profile(&self, name: &str) -> Profile {
        named(self.word(name)).or(self.read).unwrap_or_default()
    }
    /// A tunable that is a whole number.
    pub fn count(&self, name: &str) -> u32 {
        self.word(name).parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheduler;
    use super::Help;

    fn refused(name: &str, tunable: &str, value: &str) -> (String, String) {
        let set = [(tunable.to_owned(), value.to_owned())];
        let error = scheduler(name, &set).err().expect("refused");
        (error.to_string(), error.help().into_owned())
    }

    #[test]
    fn a_slice_of_no_time_is_refused_with_the_shortest_there_is() {
        for (name, tunable) in
            [("gang", "quantum"), ("work-conserving", "slice"), ("osv", "tau"), ("osv", "thyst")]
        {
            for value in ["0ms", "1ns", "9.999us"] {
                let (what, help) = refused(name, tunable, value);
                assert_eq!(what, format!("{name}: `{tunable}` cannot be `{value}`"));
                assert!(help.contains("at least `10us`"), "{help}");
            }
            let set = [(tunable.to_owned(), "10us".to_owned())];
            assert!(scheduler(name, &set).is_ok(), "{name} {tunable}");
        }
    }

    #[test]
    fn what_is_off_unless_set_can_be_set_to_nothing() {
        let set = [("clock-jump".to_owned(), "0ms".to_owned())];
        assert!(scheduler("osv-vruntime", &set).is_ok());
    }

    #[test]
    fn a_typo_is_told_what_was_meant_and_which_setting_it_is() {
        let error = scheduler("cfs-41", &[]).err().expect("refused");
        assert_eq!((error.tunable(), &*error.help()), (None, "did you mean `cfs-4.1`?"));
        let set = [("group".to_owned(), "own".to_owned())];
        let error = scheduler("cfs-4.1", &set).err().expect("refused");
        assert_eq!((error.tunable(), &*error.help()), (Some("group"), "did you mean `groups`?"));
        assert_eq!(refused("cfs-4.1", "hz", "300").1, "set `hz` to 100 | 250 | 1000");
    }
}
