//! `explain --confirm`: what is printed repeats what it says.

use crate::shell::Desk;

/// Tasks that are bound to one of four CPUs, then a job that needs all.
const BOUND: &str = r#"
schema = "wastenot.scenario/1"
about = "bound"
machine = "flat(1,4)"
scheduler = { name = "cfs-6.1" }
tasks = [
    { name = "a", count = 3, cpus = "0", program = ["loop 20", "compute 3ms", "sleep 1ms", "end"] },
]
"#;

/// A desk with a run of it.
fn desk() -> Desk {
    let desk = Desk::laid();
    desk.put("bound.toml", BOUND);
    desk.exits(0, "wastenot run bound.toml -o bound.wn");
    desk
}

#[test]
fn its_text_fits_a_mailing_list_and_its_commands_repeat_it() {
    let desk = desk();
    let line = "wastenot explain bound.wn --confirm --seeds 6 --to 100ms --text -o part.wn";
    let text = desk.exits(0, line);
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 72).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    for part in [
        "bound default seed 1: no affinities, before and after",
        "Confirmed in the simulator",
        "model of the scheduler       cfs-6.1",
        "Before and after",
        "control",
        "Assumptions",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The commands of the text give the same result with the part.
    let (_, commands) = text.split_once("Reproduce\n---------\n").expect("commands");
    let (commands, _) = commands.split_once("\n\n").expect("an end");
    let commands = commands.replace("\\\n", "");
    let commands: Vec<&str> =
        commands.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(commands.len(), 2, "{commands:#?}");
    let again = desk.exits(0, &format!("{} --text", commands[0]));
    let figures = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(figures(&again), figures(&text));
    let text = desk.exits(0, commands[1]);
    assert!(text.starts_with("bound default seed 1: its work replayed under cfs-6.1"), "{text}");
}

#[test]
fn exit_codes_tell_confirmed_from_refuted_and_unknown() {
    let desk = desk();
    let verdict = |file: &str, options: &str| {
        let line = format!("wastenot explain {file} --confirm --seeds 6 --json {options}");
        let (json, code) = desk.json(&line);
        (json["verdict"].as_str().expect("a word").to_owned(), code)
    };
    assert_eq!(verdict("bound.wn", ""), ("confirmed".to_owned(), 0));
    assert_eq!(verdict("bound.wn", "--cause host"), ("nothing-lost".to_owned(), 0));
    // No other task waits for the one that the quota holds back.
    let held =
        "{ name = \"b\", group = \"g\", background = true, program = [\"compute 10s\"] },\n]";
    let quota = "groups = { g = { quota = \"5ms/20ms\" } }\ntasks";
    let free = BOUND.replace(", cpus = \"0\"", "");
    desk.put("held.toml", free.replace("tasks", quota).replace("\n]", &format!("\n{held}")));
    let late = free.replace("cfs-6.1", "work-conserving");
    desk.put("late.toml", late + "[costs]\nipi = \"50us\"\n");
    for (name, word, code) in [("held", "refuted", 1), ("late", "no-change", 3)] {
        let line = format!("wastenot run {name}.toml -o {name}.wn");
        desk.exits(0, &line);
        assert_eq!(verdict(&format!("{name}.wn"), ""), (word.to_owned(), code));
    }
}

#[test]
fn a_trace_of_no_known_scheduler_needs_a_model() {
    let desk = desk();
    desk.put("turns.toml", BOUND.replace("cfs-6.1", "my.rota"));
    let line = "wastenot run turns.toml -o turns.wn >run.txt; wastenot explain turns.wn --confirm";
    let what = "turns.wn: wastenot has no model of the scheduler in the trace";
    desk.says(2, line, &[what, "help: choose a model: `--scheduler"]);
}
