//! Switches of schedulers: what can be set, to what, and what was set.

use wastenot_model::Span;

use super::{SCHEDULERS, Scheduler};

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// What to type.
    pub name: &'static str,
    /// What it changes, in one line.
    pub about: &'static str,
    /// What it can be.
    pub values: Values,
    /// What it is unless set.
    pub default: &'static str,
}

/// What a switch can be.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A length of time: `2ms`.
    Span,
    /// A whole number.
    Count,
}

impl Values {
    fn fit(self, value: &str) -> bool {
        match self {
            Values::Words(words) => words.contains(&value),
            Values::Span => Span::parse(value).is_some(),
            Values::Count => value.parse::<u32>().is_ok(),
        }
    }
    fn describe(self) -> String {
        match self {
            Values::Words(words) => words.join(" | "),
            Values::Span => "a length of time such as `2ms`".into(),
            Values::Count => "a whole number".into(),
        }
    }
}

/// Every switch of a scheduler with its value.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(&'static str, String)>,
}

/// No such scheduler, no such switch, or no such value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct WrongSetting {
    what: String,
    help: String,
}

impl WrongSetting {
    /// What can be written instead.
    pub fn help(&self) -> &str {
        &self.help
    }

    pub(super) fn unknown_scheduler(name: &str) -> WrongSetting {
        let names: Vec<&str> = SCHEDULERS.iter().map(|scheduler| scheduler.name).collect();
        WrongSetting {
            what: format!("there is no scheduler `{name}`"),
            help: format!("the schedulers are {}", names.join(", ")),
        }
    }
}

impl Settings {
    pub(super) fn of(
        scheduler: &Scheduler,
        set: &[(String, String)],
    ) -> Result<Settings, WrongSetting> {
        let switches = scheduler.switches.iter();
        let mut values: Vec<(&str, String)> =
            switches.map(|switch| (switch.name, switch.default.to_owned())).collect();
        for (name, value) in set {
            let at = scheduler.switches.iter().position(|switch| switch.name == name.as_str());
            let Some(at) = at else {
                let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
                return Err(WrongSetting {
                    what: format!("{} has no switch `{name}`", scheduler.name),
                    help: match names.is_empty() {
                        true => format!("{} has no switches", scheduler.name),
                        false => format!("its switches are {}", names.join(", ")),
                    },
                });
            };
            let switch = &scheduler.switches[at];
            if !switch.values.fit(value) {
                return Err(WrongSetting {
                    what: format!("{}: `{name}` cannot be `{value}`", scheduler.name),
                    help: format!("`{name}` is {}", switch.values.describe()),
                });
            }
            values[at].1.clone_from(value);
        }
        Ok(Settings { values })
    }

    /// The scheduler's name and what is set otherwise than by default: `osv thyst=5ms`.
    pub fn label(&self, scheduler: &Scheduler) -> String {
        let pairs = scheduler.switches.iter().zip(&self.values);
        let set = pairs.filter(|(switch, (_, value))| switch.default != value.as_str());
        set.fold(scheduler.name.to_owned(), |label, (_, (name, value))| {
            format!("{label} {name}={value}")
        })
    }
    /// A word; also for comparing with one.
    pub fn word(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }
    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        Span::parse(self.word(name)).unwrap_or_default()
    }
    /// A whole number.
    pub fn count(&self, name: &str) -> u32 {
        self.word(name).parse().unwrap_or_default()
    }
}
