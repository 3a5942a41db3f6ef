//! Rules of conformance: a short log that conforms, and for each rule one like it that breaks it.

use wastenot_model::Machine;
use wastenot_prove::conforms::{Conformance, Kind, Rule, conforms, is_conforming};
use wastenot_rota::step_log::{Log, Step, What};

/// Work stealing on two CPUs, written step by step.
struct Script {
    log: Log,
    moment: u64,
}

/// The queue of a CPU, and that of the tasks that only it may run.
fn ready(cpu: u64) -> u64 {
    cpu
}
fn pinned(cpu: u64) -> u64 {
    cpu | 1 << 23
}

impl Script {
    /// Tasks 101, 102 and 103 may run on both CPUs.
    fn new() -> Script {
        let mut script = Script { log: Log { whole: true, ..Log::default() }, moment: 0 };
        for task in [101, 102, 103] {
            script.say(What::Mask, 0, None, 0, Some(task), 0b11);
        }
        script
    }

    fn moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn add(&mut self, step: (u64, What, u16, Option<u16>, u64, Option<i32>, i64)) {
        let (begin, what, cpu, to, queue, task, value) = step;
        let end = self.moment();
        let time_ns = 1000 * end;
        self.log.steps.push(Step { begin, end, time_ns, what, cpu, queue, task, to, value });
    }

    /// A step that takes no time.
    fn say(
        &mut self,
        what: What,
        cpu: u16,
        to: Option<u16>,
        queue: u64,
        task: Option<i32>,
        value: i64,
    ) {
        let begin = self.moment + 1;
        self.add((begin, what, cpu, to, queue, task, value));
    }

    fn idle(&mut self, cpu: u16) {
        self.say(What::Idle, cpu, Some(cpu), 0, None, 0);
    }
    fn busy(&mut self, cpu: u16) {
        self.say(What::Busy, cpu, Some(cpu), 0, None, 0);
    }
    fn look(&mut self, cpu: u16, queue: u64, took: bool) {
        let what = if queue & 0xff == u64::from(cpu) { What::Take } else { What::Steal };
        self.say(what, cpu, None, queue, None, i64::from(took));
    }
    fn claim(&mut self, cpu: u16, task: i32, queue: u64, claimed: Option<u16>) {
        self.say(What::Claim, cpu, claimed, queue, Some(task), 4);
        if let Some(claimed) = claimed {
            self.say(What::Kick, cpu, Some(claimed), 0, None, 1);
        }
    }
    fn chain(&mut self, cpu: u16) {
        self.say(What::Chain, cpu, None, 0, None, 1);
    }
    fn starts(&mut self, cpu: u16, task: i32) {
        self.say(What::Start, cpu, Some(cpu), 0, Some(task), 0);
    }

    /// A CPU finds nothing, and sleeps.
    fn sleeps(&mut self, cpu: u16) {
        let begin = self.moment();
        self.idle(cpu);
        self.look(cpu, pinned(cpu.into()), false);
        self.look(cpu, ready(cpu.into()), false);
        self.add((begin, What::Attempt, cpu, Some(cpu), 0, None, 0));
    }

    /// A CPU takes a task from a queue, and runs it.
    fn takes(&mut self, cpu: u16, queue: u64, task: i32) {
        let begin = self.moment();
        self.idle(cpu);
        self.look(cpu, pinned(cpu.into()), false);
        self.look(cpu, queue, true);
        self.add((begin, What::Attempt, cpu, Some(cpu), 0, None, 1));
        self.busy(cpu);
        self.chain(cpu);
        self.starts(cpu, task);
    }

    /// A task that was preempted waits in the queue of CPU 0: its handler searches no CPU for it.
    fn waits(&mut self, task: i32, claimed: Option<u16>) {
        self.decided(task);
        self.say(What::In, 0, None, ready(0), Some(task), 0);
        self.claim(0, task, ready(0), claimed);
    }
    /// It will.
    fn decided(&mut self, task: i32) {
        self.say(What::Place, 0, Some(0), 2, Some(task), 0);
        self.say(What::Put, 0, Some(0), ready(0), Some(task), 0);
    }

    fn judged(&self) -> Conformance {
        let text = include_str!("../../../../../policies/work-stealing.rota");
        let program = wastenot_rota::compile(text).expect("it is right");
        conforms(&program, &Machine::flat(2), &self.log)
    }

    /// The rules that it breaks, each once.
    fn breaks(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = self.judged().breaks.iter().map(|it| it.rule).collect();
        rules.sort();
        rules.dedup();
        rules
    }
}

/// CPU 1 sleeps; a task is put, CPU 1 is claimed for it and steals it.
fn right() -> Script {
    let mut script = Script::new();
    script.sleeps(1);
    script.waits(101, Some(1));
    script.takes(1, ready(0), 101);
    script
}

#[test]
fn what_the_model_allows_conforms() {
    let script = right();
    assert_eq!(script.judged().breaks, []);
    assert_eq!(is_conforming(&script.log, &script.judged()), Some(true));
}

#[test]
fn of_a_log_with_losses_nothing_is_said() {
    let mut script = right();
    script.log.lost = 1;
    assert_eq!(is_conforming(&script.log, &script.judged()), None);
    script.log = Log { whole: false, lost: 0, ..script.log };
    assert_eq!(is_conforming(&script.log, &script.judged()), None);
}

#[test]
fn a_task_is_put_once_and_where_its_handler_puts_it() {
    let mut script = right();
    script.decided(102);
    script.say(What::Put, 0, Some(0), ready(0), Some(102), 0);
    assert_eq!(script.breaks(), [Rule::Put, Rule::Handler], "twice, for one call of a handler");
    let mut script = right();
    script.say(What::Place, 0, Some(0), 2, Some(102), 0);
    script.say(What::Put, 0, Some(0), ready(1), Some(102), 0);
    assert_eq!(script.breaks(), [Rule::Put], "its home is CPU 0");
    for (mask, breaks) in [(0b11, &[Rule::Put][..]), (0b01, &[])] {
        let mut script = Script::new();
        script.starts(1, 101);
        script.say(What::Stop, 1, Some(1), 0, Some(101), 1);
        if mask != 0b11 {
            script.say(What::Mask, 0, None, 0, Some(101), mask);
        }
        script.say(What::Place, 0, Some(0), 2, Some(101), 0);
        script.say(What::Put, 0, Some(0), ready(0), Some(101), 0);
        assert_eq!(script.breaks(), breaks, "CPU 1 is its home if it may run there");
    }
}

#[test]
fn what_runs_was_taken() {
    let mut script = Script::new();
    script.sleeps(1);
    script.waits(101, Some(1));
    script.starts(1, 101);
    assert_eq!(script.breaks(), [Rule::Take]);
    let mut script = right();
    script.look(0, ready(0), true);
    assert_eq!(script.breaks(), [Rule::Take], "the queue is empty");
}

#[test]
fn a_task_runs_where_it_was_sent_and_nowhere_else() {
    /// A task wakes, and is sent to CPU 1, which its handler claimed.
    fn sent(to: u16) -> Script {
        let mut script = Script::new();
        script.sleeps(1);
        script.say(What::Place, 0, Some(0), 1, Some(101), 0);
        script.say(What::Find, 0, Some(1), 0, Some(101), 4);
        script.say(What::Kick, 0, Some(1), 0, None, 1);
        script.say(What::Run, 0, Some(to), 0, Some(101), 0);
        script
    }
    let mut script = sent(1);
    script.starts(1, 101);
    assert_eq!(script.breaks(), []);
    assert_eq!(sent(0).breaks(), [Rule::Take], "it claimed the other one");
    let mut script = sent(1);
    script.starts(0, 101);
    assert_eq!(script.breaks(), [Rule::Take], "it was sent to the other one");
    let mut script = sent(1);
    script.starts(1, 101);
    script.starts(0, 101);
    assert_eq!(script.breaks(), [Rule::Take], "it runs on both");
    let mut script = sent(1);
    script.starts(1, 101);
    script.starts(1, 102);
    assert_eq!(script.breaks(), [Rule::Take], "both run there");
    let mut script = sent(1);
    script.log.steps[0].value = 0b01;
    assert_eq!(script.breaks(), [Rule::Take], "there it may not run");
    let mut script = Script::new();
    script.starts(7, 101);
    assert_eq!(script.breaks(), [Rule::Take], "there is no such CPU");
}

#[test]
fn a_log_with_a_gap_says_nothing_of_what_follows() {
    let many = |script: &mut Script| (0..200).for_each(|_| script.sleeps(0));
    let mut script = right();
    many(&mut script);
    assert_eq!(is_conforming(&script.log, &script.judged()), Some(true));
    let whole = script.log.clone();
    // Without a step in the middle, and without the first ones.
    script.log.steps.remove(20);
    let found = script.judged();
    assert_eq!(is_conforming(&script.log, &found), None);
    assert_eq!(found.certain, 20);
    let judged: u64 = found.counts.iter().map(|it| it.judged).sum();
    assert!(judged <= 40, "what follows is not judged: {judged}");
    script.log = Log { steps: whole.steps[30..].to_vec(), ..whole.clone() };
    assert_eq!(is_conforming(&script.log, &script.judged()), None);
    // What is not over at the end says nothing against the rest.
    script.log = Log { steps: whole.steps[..whole.steps.len() - 1].to_vec(), ..whole };
    assert_eq!(is_conforming(&script.log, &script.judged()), Some(true));
}

#[test]
fn a_log_of_another_text_is_refused_without_a_panic() {
    let mut script = right();
    script.say(What::Place, 0, Some(0), 2, Some(102), 0);
    script.say(What::Put, 0, Some(0), 3 << 32 | 1 << 24, Some(102), 0);
    assert!(script.breaks().contains(&Rule::Put));
}

#[test]
fn a_task_is_taken_where_it_may_run() {
    let mut script = Script::new();
    script.say(What::Mask, 0, None, 0, Some(101), 0b01);
    script.sleeps(1);
    script.waits(101, None);
    script.takes(1, ready(0), 101);
    assert_eq!(script.breaks(), [Rule::Take]);
}

#[test]
fn the_first_task_is_taken_first() {
    let mut script = Script::new();
    script.waits(101, None);
    script.waits(102, None);
    script.takes(0, ready(0), 102);
    assert_eq!(script.breaks(), [Rule::Order]);
}

#[test]
fn a_look_overlooks_no_task() {
    let mut script = Script::new();
    script.waits(101, None);
    script.look(0, ready(0), false);
    assert_eq!(script.breaks(), [Rule::Look]);
}

#[test]
fn an_attempt_fails_only_if_another_cpu_was_faster() {
    let mut script = Script::new();
    script.waits(101, None);
    // CPU 1 does not look at the queue of CPU 0 at all.
    script.sleeps(1);
    assert_eq!(script.breaks(), [Rule::Look, Rule::Attempt, Rule::Select]);
    // One task left while another one came: that is one removal, and one attempt may fail for it.
    let mut script = Script::new();
    script.waits(101, None);
    let begin = script.moment();
    script.idle(1);
    script.waits(102, None);
    script.look(0, ready(0), true);
    script.look(1, pinned(1), false);
    script.add((begin, What::Attempt, 1, Some(1), 0, None, 0));
    let found = script.judged();
    assert_eq!((found.failed, found.beside), (1, 0), "{:?}", found.breaks);
}

#[test]
fn only_a_set_flag_is_claimed() {
    let mut script = Script::new();
    script.waits(101, Some(1));
    assert_eq!(script.breaks(), [Rule::Claim]);
    let mut script = Script::new();
    script.sleeps(1);
    script.waits(101, Some(1));
    script.waits(102, Some(1));
    assert_eq!(script.breaks(), [Rule::Claim], "it is claimed twice");
}

#[test]
fn a_search_finds_a_cpu_whose_flag_is_set() {
    let mut script = Script::new();
    script.sleeps(1);
    script.waits(101, None);
    assert!(script.breaks().contains(&Rule::Search), "{:?}", script.breaks());
}

#[test]
fn the_chain_searches_for_tasks_that_wait() {
    let mut script = Script::new();
    script.waits(101, None);
    script.waits(102, None);
    script.say(What::Mask, 0, None, 0, Some(103), 0b01);
    let begin = script.moment();
    script.idle(0);
    script.idle(1);
    script.look(0, ready(0), true);
    script.add((begin, What::Attempt, 0, Some(0), 0, None, 1));
    script.busy(0);
    script.chain(0);
    script.starts(0, 101);
    assert!(script.breaks().contains(&Rule::Search), "{:?}", script.breaks());
}

#[test]
fn the_steps_of_a_cpu_have_an_order() {
    // It looks before its flag is set.
    let mut script = Script::new();
    let begin = script.moment();
    script.look(1, pinned(1), false);
    script.idle(1);
    script.add((begin, What::Attempt, 1, Some(1), 0, None, 0));
    assert_eq!(script.breaks(), [Rule::Sequence]);
    // It takes a task, and leaves its flag set.
    let mut script = Script::new();
    script.waits(101, None);
    let begin = script.moment();
    script.idle(0);
    script.look(0, ready(0), true);
    script.add((begin, What::Attempt, 0, Some(0), 0, None, 1));
    script.starts(0, 101);
    assert_eq!(script.breaks(), [Rule::Sequence]);
    // It takes a task, and says that it took none; and the other way round.
    for took in [true, false] {
        let mut script = Script::new();
        script.waits(101, None);
        let begin = script.moment();
        script.idle(0);
        script.look(0, ready(0), took);
        script.add((begin, What::Attempt, 0, Some(0), 0, None, i64::from(!took)));
        assert!(script.breaks().contains(&Rule::Sequence), "{took}");
    }
    // It puts a task, and searches no CPU for it.
    let mut script = Script::new();
    script.decided(101);
    script.say(What::In, 0, None, ready(0), Some(101), 0);
    script.look(0, ready(0), true);
    script.starts(0, 101);
    assert_eq!(script.breaks(), [Rule::Sequence]);
}

#[test]
fn a_handler_takes_a_path_of_its_text() {
    let mut script = Script::new();
    script.say(What::Place, 0, Some(0), 1, Some(101), 0);
    script.say(What::Put, 0, Some(0), ready(0), Some(101), 0);
    assert_eq!(script.breaks(), [Rule::Handler], "wake searches an idle CPU first");
    let mut script = Script::new();
    script.say(What::Place, 0, Some(0), 1, Some(101), 0);
    script.say(What::Find, 0, None, 0, Some(101), 4);
    script.say(What::Put, 0, Some(0), ready(0), Some(101), 0);
    assert_eq!(script.breaks(), []);
    let mut script = Script::new();
    script.decided(101);
    script.say(What::In, 0, None, ready(0), Some(101), 0);
    script.say(What::Claim, 0, None, ready(0), Some(101), 2);
    assert_eq!(script.breaks(), [Rule::Handler], "the search stays within a cache");
}

#[test]
fn a_task_runs_with_a_slice_of_its_handler() {
    for (slice, breaks) in [(20_000_000, &[][..]), (-1, &[Rule::Slice]), (1, &[Rule::Slice])] {
        let mut script = Script::new();
        script.waits(101, None);
        let begin = script.moment();
        script.idle(0);
        script.look(0, ready(0), true);
        script.add((begin, What::Attempt, 0, Some(0), 0, None, 1));
        script.busy(0);
        script.chain(0);
        script.say(What::Start, 0, Some(0), 0, Some(101), slice);
        assert_eq!(script.breaks(), breaks, "{slice} ns");
    }
}

#[test]
fn a_balance_chooses_what_its_text_says() {
    // CPU 1 chooses the queue of CPU 0, where a task waits, or where none does.
    for (waits, breaks) in [(true, &[][..]), (false, &[Rule::Select])] {
        let mut script = Script::new();
        if waits {
            script.waits(101, None);
        }
        let begin = script.moment();
        script.idle(1);
        script.look(1, pinned(1), false);
        script.look(1, ready(1), false);
        script.say(What::Select, 1, Some(1), 0, None, i64::from(waits));
        script.look(1, ready(0), waits);
        script.add((begin, What::Attempt, 1, Some(1), 0, None, i64::from(waits)));
        if waits {
            script.busy(1);
            script.chain(1);
            script.starts(1, 101);
        }
        assert_eq!(script.breaks(), breaks, "{waits}");
    }
}

/// CPU 0 moves a task into the queue of CPU 1, which takes it at once.
#[test]
fn a_task_that_was_moved_may_run_before_the_record_of_the_move_ends() {
    let text = include_str!("../../../../../policies/cfs-like.rota");
    let program = wastenot_rota::compile(text).expect("it is right");
    let judged = |late: bool, moves: bool| {
        let mut script = Script::new();
        script.waits(101, None);
        let begin = if moves { script.moment() } else { 0 };
        let mut took = script.moment();
        if !late {
            script.add((begin, What::Move, 0, Some(0), ready(1), Some(101), 0));
            took = script.moment();
        }
        script.add((took, What::Take, 1, None, ready(1), None, 1));
        script.say(What::Start, 1, Some(1), 0, Some(101), 0);
        if late && moves {
            script.add((begin, What::Move, 0, Some(0), ready(1), Some(101), 0));
        }
        let found = conforms(&program, &Machine::flat(2), &script.log);
        found.breaks.into_iter().filter(|it| it.rule == Rule::Take).count()
    };
    // Without the record, the queue is empty, and the task waits in another one.
    assert_eq!([judged(false, true), judged(true, true), judged(true, false)], [0, 0, 2]);
}

#[test]
fn a_wakeup_that_is_lost_is_found() {
    // Each step by itself is allowed: CPU 1 set its flag after the search, and looked before the
    // task was there.
    let mut script = Script::new();
    let begin = script.moment();
    script.decided(101);
    script.look(1, ready(0), false);
    script.say(What::In, 0, None, ready(0), Some(101), 0);
    script.claim(0, 101, ready(0), None);
    script.idle(1);
    script.add((begin, What::Attempt, 1, Some(1), 0, None, 0));
    script.say(What::Stop, 0, Some(0), 0, Some(103), 0);
    script.say(What::Stop, 0, Some(0), 0, Some(102), 0);
    assert!(script.breaks().contains(&Rule::Wakeup), "{:?}", script.breaks());
}

#[test]
fn what_orders_could_be_is_not_refused() {
    // The look overlaps the insertion: it may have come first.
    let mut script = Script::new();
    script.decided(101);
    let begin = script.moment();
    script.say(What::In, 0, None, ready(0), Some(101), 0);
    script.add((begin, What::Steal, 1, None, ready(0), None, 0));
    let refused = script.judged().breaks.iter().any(|it| it.rule == Rule::Look);
    assert!(!refused);
}

#[test]
fn steps_that_are_not_over_make_later_ones_uncertain() {
    let mut script = Script::new();
    script.waits(101, None);
    // The moment before a step of which no record tells.
    script.moment();
    script.look(0, ready(0), false);
    assert_eq!(script.breaks(), []);
}

#[test]
fn windows_begin_and_end_with_steps() {
    let mut script = Script::new();
    script.sleeps(1);
    script.say(What::Above, 1, Some(1), 0, None, 1);
    script.waits(101, Some(1));
    script.busy(1);
    let found = script.judged();
    let kinds: Vec<Kind> = found.windows.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [Kind::Above]);
    assert_eq!(found.windows[0].span_ns, 2000, "from the claim to the end of its kick");
}
