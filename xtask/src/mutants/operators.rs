//! The list of operators. It is fixed: a figure of today can be compared with one of tomorrow.

use super::site::Part;
use super::{Family, balances, expressions, kept, statements};

/// A way to make a policy wrong.
pub(crate) struct Operator {
    /// Its name.
    pub name: &'static str,
    /// What its mutants are counted with, if claims see what differs.
    pub family: Family,
    /// What it does, in a few words.
    pub what: &'static str,
    /// Does it to a part in one of its ways; whether it fits and has so many ways.
    change: fn(Part<'_>, usize) -> bool,
}

impl Operator {
    pub(super) fn apply(&self, part: Part<'_>, way: usize) -> bool {
        (self.change)(part, way)
    }
}

const fn operator(
    family: Family,
    name: &'static str,
    what: &'static str,
    change: fn(Part<'_>, usize) -> bool,
) -> Operator {
    Operator { name, family, what, change }
}

/// All of them.
pub(crate) const OPERATORS: &[Operator] = {
    use Family::{Choice, Footprint, Guards, Handlers, Levels, Order, Steps};
    &[
        operator(Guards, "negate", "a guard is negated", expressions::negate),
        operator(Guards, "always", "a guard is always true", expressions::always),
        operator(Guards, "never", "a guard is always false", expressions::never),
        operator(
            Guards,
            "compare",
            "a comparison in a guard is replaced: <, <=, =, !=",
            expressions::compare,
        ),
        operator(Guards, "turn", "the sides of a comparison are swapped", expressions::turn),
        operator(
            Guards,
            "connective",
            "`and` and `or` are swapped; one side is dropped",
            expressions::connective,
        ),
        operator(
            Guards,
            "off by one",
            "a constant is one more or one less",
            expressions::off_by_one,
        ),
        operator(Steps, "drop", "a statement is left out", statements::drop_statement),
        operator(Steps, "no attempt", "dispatch skips one attempt", statements::drop_attempt),
        operator(Steps, "twice", "a task is put twice, or run twice", statements::twice),
        operator(
            Steps,
            "elsewhere",
            "a task is put into the queue of `t.prev` or `here`",
            statements::put_elsewhere,
        ),
        operator(Steps, "retry", "balancing retries 0 times or once", balances::retry_less),
        operator(Steps, "count", "a steal takes 0, 1 or 2 tasks", balances::count_other),
        operator(
            Steps,
            "no rebase",
            "a key is not carried over to another queue",
            balances::no_rebase,
        ),
        operator(
            Steps,
            "unchecked",
            "a steal does not repeat its check under the lock",
            statements::unchecked,
        ),
        operator(Steps, "set", "a variable of a CPU is also set before a statement", kept::set),
        operator(Order, "moved", "a variable of a CPU is set at another place", kept::moved),
        operator(Order, "swap", "two statements are swapped", statements::swap_statements),
        operator(Order, "attempts", "two attempts are swapped", statements::swap_attempts),
        operator(
            Order,
            "kick first",
            "a CPU is kicked before the task is put into its queue",
            statements::kick_first,
        ),
        operator(
            Order,
            "no rescan",
            "a CPU looks for tasks before it sets its idle flag",
            statements::no_rescan,
        ),
        operator(Order, "no chain", "wakeups are not passed on", statements::no_chain),
        operator(
            Footprint,
            "place",
            "`me` and the other CPU are swapped",
            expressions::other_place,
        ),
        operator(
            Footprint,
            "re-check",
            "the check under the lock has one more condition",
            expressions::asks_again,
        ),
        operator(
            Footprint,
            "asks more",
            "the filter has one more condition",
            expressions::asks_more,
        ),
        operator(
            Footprint,
            "kept",
            "the time since the last event of the CPU is subtracted from a key",
            kept::in_keys,
        ),
        operator(Levels, "into", "tasks move to a queue that no CPU reads", balances::into_other),
        operator(Levels, "no level", "balancing skips one level", balances::drop_level),
        operator(Levels, "narrow", "balancing skips its last level", balances::narrow_last),
        operator(
            Levels,
            "wake",
            "a CPU is woken only within smt, llc or node",
            statements::wake_within,
        ),
        operator(
            Levels,
            "claim",
            "a CPU is claimed only within smt, llc or node",
            statements::claim_within,
        ),
        operator(Levels, "no leader", "every CPU balances", balances::no_leader),
        operator(Levels, "leader", "another CPU is the leader", balances::other_leader),
        operator(
            Levels,
            "CPU 0",
            "groups are built from the view of CPU 0",
            statements::groups_from_cpu0,
        ),
        operator(Handlers, "empty", "a handler does nothing", statements::empty),
        operator(Handlers, "exchange", "two handlers are swapped", statements::exchange),
        operator(Handlers, "for ever", "a slice never ends", statements::for_ever),
        operator(Choice, "any", "any candidate is tried first", balances::choose_any),
        operator(
            Choice,
            "least",
            "argmin and argmax are swapped in balancing",
            balances::choose_other,
        ),
        operator(Choice, "tie", "`tie near` is added or removed", balances::tie_other),
        operator(
            Choice,
            "near",
            "the search for an idle CPU begins near `here` or `home`",
            statements::claim_near,
        ),
        operator(
            Choice,
            "by",
            "the search for an idle CPU skips one level of distance",
            statements::claim_by,
        ),
        operator(
            Choice,
            "pick",
            "argmin and argmax are swapped in a statement",
            statements::pick_other,
        ),
        operator(Choice, "half slice", "a slice is half as long", statements::half_slice),
        operator(Choice, "double slice", "a slice is twice as long", statements::double_slice),
        operator(Choice, "half period", "a CPU balances twice as often", balances::half_period),
        operator(Choice, "double period", "a CPU balances half as often", balances::double_period),
        operator(
            Choice,
            "half parameter",
            "a parameter has half of its value",
            balances::half_parameter,
        ),
        operator(
            Choice,
            "double parameter",
            "a parameter has twice its value",
            balances::double_parameter,
        ),
    ]
};
