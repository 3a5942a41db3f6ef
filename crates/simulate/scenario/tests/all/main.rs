//! Tests of the public interface of `wastenot-scenario`.

mod commands;
mod files;
mod hostile;
mod json_schema;
mod measured;
mod page;
mod presets;
mod profiles;
mod rtapp;
mod scenarios;
mod seeds;
mod settings;
mod sweeps;
mod synthetic;
mod tables;
mod task_sets;
