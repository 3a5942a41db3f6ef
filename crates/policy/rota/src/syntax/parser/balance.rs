//! How CPUs take tasks from each other: `balance` and its clauses.

use super::{Braces, Parser, Read, Told};
use crate::syntax::ast::{Balance, Clause, Steal, When};
use crate::syntax::lexer::Kind;
use crate::syntax::words::CLAUSES;

const CLAUSES_BETWEEN: Braces = Braces {
    between: &[";"],
    resumes: |parser| parser.begins_clause(),
    outer: |parser| parser.begins_outer(),
};

impl Parser<'_> {
    /// `"balance" ( "idle" | "every" expr [ "on" "leader" "(" level ")" ] ) "{" { clause } "}"`
    pub(super) fn balance(&mut self) -> Read<Balance> {
        let from = self.step();
        let when = self.head(Self::when)?;
        let clauses = self.braces(CLAUSES_BETWEEN, Parser::clause)?;
        let when = when.ok_or(Told)?;
        Ok(Balance { when, clauses, span: self.since(from) })
    }

    fn when(&mut self) -> Read<When> {
        let when = self.one_of(&["idle", "every"], "`idle` or `every TIME`")?;
        if when.text == "idle" {
            return Ok(When::Idle);
        }
        if self.is("{") || (self.is("on") && self.next_is("leader")) {
            let help = "add the interval: `balance every 50ms on leader(llc)`";
            return self.no_piece("a time", help);
        }
        let period = self.expr()?;
        let mut leader = None;
        if self.eat("on") {
            self.need("leader")?;
            self.need("(")?;
            leader = Some(self.level()?);
            self.need(")")?;
        }
        Ok(When::Every { period, leader })
    }

    /// Whether a clause begins here: its keyword, at the beginning of a line.
    fn begins_clause(&self) -> bool {
        self.now().first && CLAUSES.contains(&self.word())
    }

    fn clause(&mut self) -> Read<Clause> {
        let from = self.now();
        match self.word() {
            "level" => {
                self.step();
                let levels = self.list(Self::level)?;
                Ok(Clause::Level(levels, self.since(from)))
            }
            "filter" => self.filter(),
            "choose" => self.choose(),
            "steal" => Ok(Clause::Steal(Box::new(self.steal()?))),
            "retry" => {
                self.step();
                let count = if self.eat("untried") {
                    None
                } else {
                    Some(self.whole("`untried` or a number")?)
                };
                Ok(Clause::Retry { count, span: self.since(from) })
            }
            _ if from.kind == Kind::Name => self.unknown(&CLAUSES, "a clause of the balance"),
            _ => {
                let help = format!("write one of {}", CLAUSES.join(", "));
                self.no_piece("a clause of the balance", &help)
            }
        }
    }

    /// `"filter" "(" NAME "," NAME ")" "=" expr`
    fn filter(&mut self) -> Read<Clause> {
        self.step();
        self.need("(")?;
        let me = self.name("a name for the CPU that takes tasks")?;
        self.need(",")?;
        let other = self.name("a name for the CPU that has the tasks")?;
        self.need(")")?;
        self.need("=")?;
        Ok(Clause::Filter { me, other, condition: self.expr()? })
    }

    /// `"choose" ( "any" | ( "argmax" | "argmin" ) expr ) [ "tie" "near" "(" NAME ")" ]`
    fn choose(&mut self) -> Read<Clause> {
        self.step();
        let how = self.one_of(&["any", "argmax", "argmin"], "`any`, `argmax` or `argmin`")?;
        let key = if how.text == "any" { None } else { Some(self.expr()?) };
        let mut tie = None;
        if self.eat("tie") {
            self.need("near")?;
            self.need("(")?;
            tie = Some(self.name("a name")?);
            self.need(")")?;
        }
        Ok(Clause::Choose { how, key, tie })
    }

    /// `"steal" expr [ "from" queueref ] [ "into" queueref ] [ "where" expr ] [ "rebase" NAME ]`
    fn steal(&mut self) -> Read<Steal> {
        let start = self.step();
        let count = self.expr()?;
        let from = if self.eat("from") { Some(self.queue_at()?) } else { None };
        let into = if self.eat("into") { Some(self.queue_at()?) } else { None };
        let recheck = if self.eat("where") { Some(self.expr()?) } else { None };
        let rebase =
            if self.eat("rebase") { Some(self.name("a variable of tasks")?) } else { None };
        Ok(Steal { count, from, into, recheck, rebase, span: self.since(start) })
    }
}
