//! `draw` of some CPUs and some tasks, as they are chosen for `check`.

use crate::shell::Desk;

const DRAW: &str = "wastenot draw";

fn drawn(desk: &Desk, line: &str) -> String {
    desk.exits(0, &format!("{DRAW} {line}"))
}

/// The lines of the plot: a number and a bar.
fn lanes(picture: &str) -> Vec<&str> {
    let lane = |line: &str| line.trim_start().split_once(" │").map_or(0, |(label, _)| label.len());
    picture.lines().filter(|line| lane(line) > 0).map(|line| line.trim_start()).collect()
}

#[test]
fn only_the_chosen_cpus_have_lines() {
    let desk = Desk::laid();
    for picture in ["cores", "queues"] {
        let all = drawn(&desk, &format!("{picture} trace.dat"));
        let some = drawn(&desk, &format!("{picture} trace.dat --cpus 2,5"));
        assert_eq!(lanes(&all).len(), 16, "{all}");
        assert_eq!(lanes(&some).len(), 2, "{some}");
        assert!(lanes(&some)[0].starts_with("2 │") && lanes(&some)[1].starts_with("5 │"));
        assert!(some.contains(" cpus_2,5,") && !all.contains(" cpus_"), "{some}");
    }
    desk.says(2, "wastenot draw cores trace.dat --cpus 99", &["the trace has no CPU 99"]);
}

#[test]
fn waste_is_marked_and_explained_in_the_terminal() {
    let desk = Desk::laid();
    let all = drawn(&desk, "cores trace.dat");
    assert!(lanes(&all).iter().any(|lane| lane.contains('!')), "{all}");
    assert!(all.contains("! idle while a task waited"), "{all}");
    assert!(all.contains("b balancing  169.6 ms"), "{all}");
    let above = all.lines().nth(1).expect("a line above the lanes");
    assert!(above.contains('p') && above.contains('b'), "{above}");
    let plain = drawn(&desk, "cores trace.dat --no-causes");
    assert!(!plain.contains("by cause") && plain.contains("! idle while a task waited"), "{plain}");
    // A window in which no task waited while a CPU was idle has neither.
    let none = drawn(&desk, "cores trace.dat --to 1us");
    assert!(!none.contains('!') && !none.contains("by cause"), "{none}");
}

#[test]
fn tasks_are_chosen_by_name_pattern_and_tid_as_in_check() {
    let desk = Desk::laid();
    let all = drawn(&desk, "cores trace.dat");
    assert!(!all.contains("other tasks"), "{all}");
    for chosen in ["--task cc1", "--task 'c*'", "--task make --task cc1"] {
        let some = drawn(&desk, &format!("cores trace.dat {chosen}"));
        assert!(some.contains("other tasks"), "{chosen}: {some}");
    }
    let some = drawn(&desk, "waiting trace.dat --task cc1 --cpus 0-3");
    assert!(some.contains("selected tasks running") && some.contains("dotted: 4 CPUs"), "{some}");
    desk.says(2, "wastenot draw cores trace.dat --task nobody", &["no task matches `nobody`"]);
    desk.says(2, "wastenot draw cores trace.dat --task cc1 --target cc1", &["cannot be used with"]);
}
