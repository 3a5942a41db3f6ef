//! A scenario of one task that runs a program of the user.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template};
use wastenot_model::{CpuId, Machine, Workload};

use super::{Choice, Scenario, USUAL_LIMIT, Variant};

/// What the kernel keeps of a name.
const NAME: usize = 15;

/// One task on `machine` that runs a program: its name or path, and its arguments. It is called as
/// the file of the program, and runs in the folder of this process.
pub fn of_command(words: Vec<String>, machine: Machine, scheduler: Choice) -> Scenario {
    let file = words.first().and_then(|it| it.rsplit('/').next()).unwrap_or_default();
    let name = file[..file.floor_char_boundary(NAME)].to_owned();
    let mut workload = Workload::new();
    let command = workload.command(words);
    let program = Program::new(vec![Step::Run(command)]).expect("one step is balanced");
    let task = workload.template(Template::new(&name, program));
    workload.launch(task, CpuId(0));
    let (costs, called) = (Costs::default(), "default".to_owned());
    let variant = Variant { name: called, machine, costs, workload, scheduler };
    Scenario {
        name,
        about: String::new(),
        source: String::new(),
        seeds: 1,
        limit: USUAL_LIMIT,
        variants: vec![variant],
        figures: Vec::new(),
        changes: Vec::new(),
        notes: Vec::new(),
    }
}
