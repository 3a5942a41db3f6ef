//! The core types of Wastenot: machines, the events on them, and answers.
//!
//! Every source of events (reading a file, recording, simulating) pushes [`Entry`]s into a
//! [`Sink`]; a [`History`] is the sink that keeps them. [`State`] is the one interpreter of events;
//! every analysis of a History is an [`Observer`] of State. Answers are [`Report`]s.
//!
//! ```
//! use wastenot_model::*;
//! let mut sink = Builder::new(Head::new(Machine::flat(2)));
//! let name = sink.name("worker");
//! let task = sink.task(Task::new(7, name));
//! let (cpu, idle) = (CpuId(0), TaskId::idle(CpuId(0)));
//! sink.push(Entry::switch(Time(10), cpu, idle, task, Left::Runnable));
//! let history = sink.finish();
//! assert_eq!(history.len(), 1);
//! ```
//!
//! This crate performs no input or output, reads no clock, starts no thread and has no `unsafe`.

mod distribution;
pub mod dsq;
mod help;
mod history;
mod ids;
mod kthread;
mod loss;
pub mod machine;
mod nearest;
pub mod nice;
pub mod policy;
mod printable;
pub mod quantity;
pub mod report;
mod sched_class;
pub mod sporadic;
mod time;
pub mod workload;

pub use distribution::{Distribution, Length};
pub use help::Help;
pub use history::carries::Carries;
pub use history::decisions::{self, Decision};
pub use history::event::{By, Change, Context, Entry, Event, How, Left, Prio, Row};
pub use history::missing::Missing;
pub use history::same::Difference;
pub use history::sink::{Builder, Sink};
pub use history::spans::{
    Activity, CpuReceiver, CpuSpans, Since, TaskReceiver, TaskSpan, TaskSpans,
};
pub use history::state::observer::{Beside, Observer, Wanted};
pub use history::state::past::{Moves, Past, Seen};
pub use history::state::replay::{Replay, replay};
pub use history::state::start::{Silent, Start};
pub use history::state::{Contradiction, CpuMode, CpuState, Origin, Phase, State, TaskState};
pub use history::{Annex, Clock, Head, History, MaskId, NameId, Source, Task};
pub use ids::{CpuId, CpuSet, TaskId};
pub use kthread::is_kernel_thread;
pub use loss::{Loss, LossKind, Severity};
pub use machine::{Cpu, Distance, Machine};
pub use nearest::{nearest, suggest, suggest_of};
pub use policy::Policy;
pub use printable::{escape_markup, is_printable, printable, printable_lines, shortened};
pub use report::{
    Audience, Column, Finding, Frame, Measure, Moment, Picture, Proportion, Report, Table, Unit,
    Value,
};
pub use sched_class::SchedClass;
pub use time::{Span, Time, Window};
pub use workload::Workload;
