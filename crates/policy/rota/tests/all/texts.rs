//! Texts that several tests read.

/// Work stealing from queues of CPUs.
pub(crate) const STEALING: &str = "\
// Work stealing.
policy ws(slice: time = 20ms) {
    queue ready : fifo per cpu

    on new(t), wake(t) {
        let c = idle cpu in allowed(t) near t.prev by [smt, llc, node, machine]   // near orders
        if c { run t on c slice slice } else { put t in home(t).ready slice slice }
    }
    on preempt(t), yield(t) { put t in home(t).ready slice slice }
    on block(t), exit(t) { }
    on start(t) { }
    on stop(t, ran) { }
    on tick(t) { }
    on dispatch(c) { take c.ready else balance idle }

    balance idle {
        level machine
        filter(me, v) = queued(v.ready) >= 1
        choose argmax queued(v.ready) tie near(me)
        steal 1 where me in allowed(t)
        retry untried
    }
    prove no_lost_task, no_lost_wakeup, work_conservation, rounds(<= idle_cpus),
          wait(dispatches <= position + direct_runs)
}
";

/// Fair virtual time from queues of LLCs.
pub(crate) const FAIR: &str = "\
policy vrt(slice: time = 5ms, lag: time = 20ms) {
  task  { vt: time = 0 owner queue }             // written while in no queue
  queue q : ordered(vt) per llc
  on new(t), wake(t) { t.vt := max(t.vt, min_vt(home(t).q) - lag)
                       let c = idle cpu in allowed(t) near t.prev by [smt, llc, node, machine]
                       if c { run t on c slice slice } else { put t in home(t).q slice slice } }
  on stop(t, ran)    { t.vt += scaled(ran, t.weight) }
  on preempt(t), yield(t) { put t in home(t).q slice slice }
  on block(t), exit(t) { }
  on dispatch(c)     { take c.q  else balance idle }
  balance idle { level node, machine             // nearer levels first
    filter(me, g) = queued(g.q) >= 1   choose argmax queued(g.q) tie near(me)
    steal 1 where me in allowed(t) rebase vt
    retry untried }
  balance every 50ms on leader(llc) { level node // leader: lowest online
    filter(me, g) = queued(g.q) - queued(me.q) >= 2   choose argmax queued(g.q)
    steal min(8, half(queued(g.q) - queued(me.q))) into me.q rebase vt }
  prove no_lost_task, no_lost_wakeup, work_conservation, hierarchy, vt_monotone,
        rounds(<= idle_cpus + periodic_moves)
}
";

/// The syntax tree of a text without positions.
pub(crate) fn meaning(text: &str) -> String {
    let (file, faults) = wastenot_rota::parse(text);
    assert_eq!(faults, [], "{text}");
    let shown = format!("{file:?}");
    let mut pieces = shown.split("Span { ");
    let first = pieces.next().expect("one piece").to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('}').map_or(piece, |(_, rest)| rest))
}

/// A text with some pieces deleted, doubled or exchanged.
pub(crate) fn mutated(text: &str, places: &[(u32, u8)]) -> String {
    const OTHERS: [&str; 16] = [
        "{", "}", "(", ")", ";", "\n", "=", ":=", "policy", "on", "// ", "\"", "20msec", "é",
        "not", "<",
    ];
    let mut text = text.to_owned();
    for (place, how) in places.iter().take(6) {
        let at = text.floor_char_boundary(*place as usize % (text.len() + 1));
        let end = text.ceil_char_boundary((at + usize::from(how >> 5)).min(text.len()));
        let other = OTHERS[usize::from(how & 15)];
        match how & 16 {
            0 => text.replace_range(at..end, ""),
            _ => text.insert_str(at, other),
        }
    }
    text
}
