//! Programs of users in scenarios.

use wastenot_model::workload::{CommandId, Step};
use wastenot_scenario::scenario;

#[test]
fn commands_have_the_words_that_a_shell_would_give_them() {
    let text = r#"
schema = "wastenot.scenario/1"
machine = "smp4"
scheduler = { name = "pinned" }
[parameters]
groups = 2
[[tasks]]
name = "t"
program = ["run hackbench -g ${groups}  -l 50", "run sh -c 'echo \"a b\"' '' x\"y z\""]
"#;
    let read = scenario("folder/try.toml", text).expect("a scenario");
    let workload = &read.variants[0].workload;
    let words: Vec<&[String]> = workload.commands.iter().map(|it| &*it.words).collect();
    assert_eq!(words[0], ["hackbench", "-g", "2", "-l", "50"]);
    assert_eq!(words[1], ["sh", "-c", "echo \"a b\"", "", "xy z"]);
    let steps = [Step::Run(CommandId(0)), Step::Run(CommandId(1))];
    assert_eq!(workload.templates[0].program.steps(), steps);
    assert!(workload.commands.iter().all(|it| it.folder == "folder"));
}
