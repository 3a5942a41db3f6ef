//! The words that the grammar leaves open: events, places, calls and claims, with their meanings.
//! docs/reference/rota.md is generated from this, and the tests compile every example.

/// A word with its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How it is written.
    pub form: &'static str,
    /// Its result type, or its argument.
    pub gives: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// An item of a policy that uses it.
    pub example: &'static str,
}

const fn entry(
    form: &'static str,
    gives: &'static str,
    about: &'static str,
    example: &'static str,
) -> Entry {
    Entry { form, gives, about, example }
}

/// The names of all calls: values, then places.
pub fn called() -> impl Iterator<Item = &'static str> {
    CALLS.iter().chain(PLACES).flat_map(|entry| forms(entry.form)).map(|(name, _)| name)
}

/// The names of claims, and the form of each.
pub fn claims() -> impl Iterator<Item = (&'static str, &'static str)> {
    let claim = |entry: &Entry| entry.example.strip_prefix("prove ").unwrap_or(entry.example);
    CLAIMS.iter().map(move |entry| (entry.form.split('(').next().unwrap_or_default(), claim(entry)))
}

/// The form of the claim with this name.
pub(crate) fn claim(name: &str) -> Option<&'static str> {
    claims().find(|(known, _)| *known == name).map(|(_, claim)| claim)
}

/// The form of a call: `scaled(time, weight)`.
pub fn form(name: &str) -> Option<&'static str> {
    let mut forms = CALLS.iter().chain(PLACES).flat_map(|entry| forms(entry.form));
    forms.find(|(known, _)| *known == name).map(|(_, form)| form)
}

/// Whether the call with this name gives a place.
pub fn is_place(name: &str) -> bool {
    PLACES.iter().flat_map(|entry| forms(entry.form)).any(|(known, _)| known == name)
}

/// The form of the place with the nearest name.
pub(crate) fn near_place(name: &str) -> Option<&'static str> {
    let names = PLACES.iter().flat_map(|entry| forms(entry.form)).map(|(known, _)| known);
    wastenot_model::nearest(name, names).and_then(form)
}

/// The calls in a form, each with its name: `min(a, b), max(a, b)` are two calls.
fn forms(form: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    form.split_inclusive(')').filter_map(|call| {
        let call = call.trim_start_matches([',', ' ']);
        let call = call.rsplit(" in ").next().unwrap_or(call);
        call.split_once('(').map(|(name, _)| (name, call))
    })
}

/// The events, and what the handler of each must do.
pub const EVENTS: &[Entry] = &[
    entry("new(t)", "places t", "A task is new.", "on new(t) { put t in home(t).ready }"),
    entry("wake(t)", "places t", "The task was woken.", "on wake(t) { put t in home(t).ready }"),
    entry(
        "preempt(t)",
        "places t",
        "The slice of the task is over, another task preempted the task, or the task waits on a \
         CPU that it may no longer use.",
        "on preempt(t) { put t in here.ready }",
    ),
    entry("yield(t)", "places t", "The task yielded.", "on yield(t) { put t in home(t).ready }"),
    entry("block(t)", "places nothing", "The task sleeps.", "on block(t) { t.vt := 0 }"),
    entry("exit(t)", "places nothing", "The task has ended.", "on exit(t) { }"),
    entry("start(t)", "places nothing", "The task begins to run.", "on start(t) { t.vt += 1us }"),
    entry(
        "stop(t, ran)",
        "places nothing",
        "The task stops running; `ran` is the time for which it ran. This event comes before \
         `preempt`, `yield`, `block` and `exit`.",
        "on stop(t, ran) { t.vt += scaled(ran, t.weight) }",
    ),
    entry(
        "tick(t)",
        "places nothing",
        "A timer tick of the CPU on which the task runs.",
        "on tick(t) { if queued(here.ready) >= 1 { kick here preempt } }",
    ),
    entry(
        "dispatch(c)",
        "one chain of attempts",
        "A CPU has nothing to run. It tries the places in order. At the first place with a task \
         that the CPU may run, it takes the first such task.",
        "on dispatch(c) { take c.ready else take c.q else balance idle }",
    ),
];

/// CPUs and groups of CPUs.
pub const PLACES: &[Entry] = &[
    entry(
        "t.prev",
        "cpu",
        "The CPU where the task ran last. If a displaced task may no longer run there, the kernel \
         first moves the task to another CPU. Then `t.prev` is this other CPU.",
        "on wake(t) { let c = idle cpu in allowed(t) near t.prev by [llc, machine]\n \
         if c { run t on c } else { put t in t.prev.q } }",
    ),
    entry(
        "home(t)",
        "cpu",
        "`t.prev` if the task may run there, otherwise the nearest CPU that the task may use.",
        "on wake(t) { put t in home(t).ready }",
    ),
    entry(
        "here",
        "cpu",
        "The CPU where the event happens: the CPU of the waker, or the CPU on which the task ran.",
        "on preempt(t) { put t in here.ready }",
    ),
    entry(
        "me, v",
        "cpu, or a group",
        "The two names that `filter` declares in a balance. `me` is the CPU or group that takes \
         tasks, and `v` is the candidate. `me` and `v` are groups of the level of the queue.",
        "balance idle { level machine; filter(me, v) = queued(v.q) >= 1\n choose any\n \
         steal 1 where me in allowed(t)\n retry untried }",
    ),
    entry(
        "smt(x), llc(x), node(x)",
        "a group",
        "The SMT siblings, the LLC or the node that contains a place.",
        "metric busy(c: cpu) : count = running(llc(c))",
    ),
    entry(
        "machine",
        "a group",
        "All CPUs, or all CPUs of the partition.",
        "metric all(c: cpu) : count = cpus(machine)",
    ),
];

/// Calls and other values.
pub const CALLS: &[Entry] = &[
    entry(
        "queued(Q)",
        "count",
        "The number of tasks that wait in a queue.",
        "metric n(c: cpu) : count = queued(c.ready)",
    ),
    entry(
        "running(P)",
        "count",
        "The number of busy CPUs in a place: CPUs that run a task.",
        "metric n(c: cpu) : count = running(c)",
    ),
    entry(
        "cpus(P)",
        "count",
        "The number of CPUs of a place.",
        "metric n(g: node) : count = cpus(g)",
    ),
    entry(
        "weight(Q)",
        "weight",
        "The sum of the weights of the tasks that wait in a queue.",
        "metric w(c: cpu) : weight = weight(c.ready)",
    ),
    entry(
        "weight(P)",
        "weight",
        "The sum of the weights of the tasks that run in a place.",
        "metric w(g: llc) : weight = weight(g)",
    ),
    entry(
        "min_vt(Q)",
        "as its key",
        "The least key of the queue. It is updated when a task starts to run on a CPU of this \
         queue: it rises to the smallest key among this task and the waiting tasks. It never \
         decreases. Other CPUs may read an older value.",
        "on wake(t) { t.vt := max(t.vt, min_vt(home(t).q) - 20ms)\n put t in home(t).q }",
    ),
    entry(
        "idle(c)",
        "condition",
        "Whether a CPU runs no task.",
        "metric n(g: llc) : count = count c in g : idle(c)",
    ),
    entry(
        "x in allowed(t)",
        "condition",
        "Whether the task may run on a CPU.",
        "balance idle { level machine; filter(me, v) = queued(v.ready) >= 1\n choose any\n \
         steal 1 where me in allowed(t)\n retry untried }",
    ),
    entry(
        "x in P",
        "condition",
        "Whether a CPU or group is part of a place.",
        "on tick(t) { if t.prev in llc(here) { kick here } }",
    ),
    entry(
        "min(a, b), max(a, b)",
        "as both",
        "The smaller or the larger value.",
        "metric n(c: cpu) : count = min(queued(c.ready), 8)",
    ),
    entry(
        "half(x)",
        "as x",
        "Half, rounded down.",
        "metric n(c: cpu) : count = half(queued(c.ready))",
    ),
    entry(
        "scaled(time, weight)",
        "time",
        "Virtual time: `time * 100 / weight`, rounded up.",
        "on stop(t, ran) { t.vt += scaled(ran, t.weight) }",
    ),
    entry(
        "decayed(x, time, half_life)",
        "as x",
        "The value of x after `time`, if x decays by half in each `half_life`.",
        "on stop(t, ran) { t.vt := decayed(t.vt, ran, 32ms) }",
    ),
    entry(
        "seen(x)",
        "as x",
        "In `where`: the value of x when the filter was evaluated. If a filter reads several \
         values, it reads them at different instants.",
        "balance idle { level machine; filter(me, v) = queued(v.ready) >= 1\n choose any\n \
         steal 1 where me in allowed(t) and queued(v.ready) <= seen(queued(v.ready))\n \
         retry untried }",
    ),
    entry(
        "until(period)",
        "time",
        "The time from now to the next multiple of a period.",
        "on start(t) { t.vt := until(100ms) }",
    ),
    entry("now", "time", "The current time.", "on start(t) { t.vt := now }"),
    entry(
        "t.weight",
        "weight",
        "The weight of the task: 1 to 10 000, usually 100.",
        "on stop(t, ran) { t.vt += scaled(ran, t.weight) }",
    ),
    entry(
        "t.job",
        "count",
        "The number of the parallel job to which the task belongs, or 0 if it belongs to no job.",
        "on start(t) { here.jobs := t.job }",
    ),
];

/// The faults that `unsafe protocol` can request.
pub const PROTOCOL: &[Entry] = &[
    entry(
        "enqueue: kick, insert",
        "",
        "`put` looks for an idle CPU before it inserts the task into its queue.",
        "unsafe protocol { enqueue: kick, insert }",
    ),
    entry(
        "idle: no_rescan",
        "",
        "A CPU looks for tasks before it sets its idle flag.",
        "unsafe protocol { idle: no_rescan }",
    ),
    entry(
        "dispatch: no_chain",
        "",
        "A CPU that took a task does not wake another CPU for the tasks that still wait.",
        "unsafe protocol { dispatch: no_chain }",
    ),
    entry(
        "steal: unchecked",
        "",
        "A steal does not repeat its checks under the lock.",
        "unsafe protocol { steal: unchecked }",
    ),
    entry(
        "groups: cpu0",
        "",
        "All CPUs use the NUMA groups that are right for CPU 0, as in Linux before 4.12.",
        "unsafe protocol { groups: cpu0 }",
    ),
];

/// The claims.
pub const CLAIMS: &[Entry] = &[
    entry(
        "no_lost_task",
        "",
        "If a task can be in a queue, at least one CPU takes tasks from this queue and may run \
         this task.",
        "prove no_lost_task",
    ),
    entry(
        "no_lost_wakeup",
        "",
        "Suppose that a task waits, and that a CPU sleeps that would take this task. Then some CPU \
         is already about to take the task.",
        "prove no_lost_wakeup",
    ),
    entry(
        "work_conservation",
        "",
        "Suppose that an idle CPU searches k times and finds no task, although a waiting task may \
         run on this CPU. Then other CPUs took at least k tasks during this time.",
        "prove work_conservation",
    ),
    entry(
        "rounds(<= idle_cpus)",
        "`idle_cpus`, or `idle_cpus + periodic_moves`",
        "After at most this number of rounds without events, every CPU that may run a waiting task \
         is busy.",
        "prove rounds(<= idle_cpus)",
    ),
    entry(
        "hierarchy",
        "",
        "At least one balance searches levels. The levels are nested, and the last level is the \
         whole machine. Leaders are online and are not delayed forever.",
        "prove hierarchy",
    ),
    entry(
        "wait(dispatches <= position + direct_runs)",
        "",
        "The claim limits the number of dispatches for which a task waits in a first-in-first-out \
         queue. The limit is the number of tasks ahead of it plus the number of direct runs.",
        "prove wait(dispatches <= position + direct_runs)",
    ),
    entry(
        "vt_monotone",
        "",
        "No handler lowers the key of a task in an ordered queue. Only `rebase` may lower this \
         key, when the task moves to another queue. The key of a task increases when the task \
         runs.",
        "prove vt_monotone",
    ),
    entry(
        "lag(<= TIME)",
        "a time",
        "When a task that is new or that slept is queued or started, its key is at most this time \
         below the least key of its queue. A move to another queue keeps this distance. The claim \
         does not limit how far a key is above the least key. So it does not limit the waiting \
         time of a task.",
        "prove lag(<= 20ms)",
    ),
    entry(
        "settles",
        "",
        "Periodic balancing moves tasks from long queues to empty queues. If no event happens, it \
         stops moving tasks.",
        "prove settles",
    ),
];
