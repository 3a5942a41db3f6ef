//! Pictures of a History and of the curves of an experiment.
//!
//! Each picture of a History is an [`Observer`](wastenot_model::Observer) of State that fills a
//! [`Scene`]: page, lanes, bars, lines, text. A Scene is independent of formats; `pdf`, `svg`,
//! `png` and `terminal` render it. Nothing here keeps every run of a trace: if a stretch of a lane
//! contains many runs, they are summed into pixel columns during the replay of the History.
//!
//! ```
//! use wastenot_model::*;
//! let mut sink = Builder::new(Head::new(Machine::flat(1)));
//! let name = sink.name("worker");
//! let task = sink.task(Task::new(7, name));
//! let idle = TaskId::idle(CpuId(0));
//! sink.push(Entry::switch(Time(0), CpuId(0), idle, task, Left::Runnable));
//! sink.push(Entry::switch(Time(1_000_000), CpuId(0), task, idle, Left::Sleeping));
//! let scene = wastenot_draw::cores(&sink.finish(), &wastenot_draw::Cores::default());
//! assert!(scene.title.ends_with("duration: 0.001000 seconds"));
//! assert!(scene.pdf().starts_with(b"%PDF-"));
//! ```

mod axis;
mod backend;
mod colour;
mod font;
mod lanes;
mod marking;
mod marks;
mod page;
mod picture;
mod scene;

pub use backend::png::Error;
pub use backend::terminal::ascii;
pub use colour::{Colour, Palette};
pub use marks::{Class, Mark, MarkKind, Marks};
pub use page::View;
pub use picture::cores::{Cores, cores, is_target};
pub use picture::curves::{Chart, Panel, Place, Series, Share, curves};
pub use picture::queues::{Queues, queues};
pub use picture::waiting::{Waiting, waiting};
pub use scene::{Anchor, Area, Bar, Cell, Item, Lane, Plot, Scene, Sign};
