//! What State makes of events, rule by rule, and what a History keeps.

mod history;
mod spans;
mod state;
