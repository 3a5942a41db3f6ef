//! A machine under a scheduler, simulated. What comes out is a History like any other.

mod schedulers;

pub use schedulers::{SCHEDULERS, Scheduler, Settings, Switch, Values, WrongSetting, scheduler};
