//! Handlers: blocks and statements.

use super::{Braces, Parser, Read, shortened};
use crate::syntax::Span;
use crate::syntax::ast::{Attempt, Block, Expr, ExprKind, Statement, StatementKind};
use crate::syntax::lexer::Kind;
use crate::syntax::words::{self, STATEMENTS};

const BLOCK: Braces = Braces {
    between: &[";"],
    resumes: |parser| parser.now().first,
    outer: |parser| parser.begins_outer(),
};

impl Parser<'_> {
    /// `"{" { stmt } "}"`
    pub(super) fn block(&mut self) -> Read<Block> {
        let from = self.now();
        let statements = self.braces(BLOCK, Parser::statement)?;
        Ok(Block { statements, span: self.since(from) })
    }

    /// One statement: it begins a line, or stands after `;`.
    fn statement(&mut self) -> Read<Statement> {
        let from = self.now();
        let after = self.says(self.last());
        if ["elif", "elsif", "elseif"].contains(&self.word()) && after == "}" {
            let message = format!("unknown word `{}`", self.word());
            return self.fault("R008", from.span, message, "here", "write `else if`");
        }
        if !from.first && after != "{" && after != ";" {
            let word = shortened(self.word());
            let message = format!("expected the end of the statement, but found `{word}`");
            let help = "begin a new line, or write `;` between statements";
            return self.fault("R011", from.span, message, "second statement", help);
        }
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: self.since(from) })
    }

    fn statement_kind(&mut self) -> Read<StatementKind> {
        let home = self.is("home") && self.next_is("(");
        if self.now().kind == Kind::Name && (home || self.names_variable()) {
            return self.set();
        }
        match self.word() {
            "let" => self.binding(),
            "put" => self.put(),
            "run" => self.run(),
            "kick" => {
                self.step();
                let cpu = self.postfix()?;
                Ok(StatementKind::Kick { cpu, preempt: self.option("preempt") })
            }
            "if" => self.branch(),
            "take" | "balance" => self.attempts(),
            _ => self.no_statement(),
        }
    }

    /// Reports what stands where a statement should begin.
    fn no_statement<T>(&mut self) -> Read<T> {
        let (token, word) = (self.now(), self.word());
        if token.kind != Kind::Name {
            let known = if self.dispatches { &STATEMENTS[..] } else { &STATEMENTS[..5] };
            let help = format!("write one of {}", known.join(", "));
            return self.no_piece("a statement", &help);
        }
        if self.next_is("=") || self.next_is("==") {
            let message = "`=` compares, but does not set a variable";
            let help = format!(
                "write `let {word} = ...` for a new name, or `{word} := ...` for a variable"
            );
            return self.fault("R014", self.next().span, message, "here", help);
        }
        if ["while", "for", "loop"].contains(&word) {
            let help = "use an expression over CPUs instead of a loop: `exists c in machine : \
                        idle(c)`";
            let message = format!("Rota has no `{word}`");
            return self.fault("R008", token.span, message, "not a statement", help);
        }
        match self.dispatches {
            true => self.unknown(&STATEMENTS, "a statement"),
            false => self.unknown(&STATEMENTS[..5], "a statement"),
        }
    }

    /// `target ( ":=" | "+=" ) expr`
    fn set(&mut self) -> Read<StatementKind> {
        let target = self.postfix()?;
        if self.is("=") || self.is("==") {
            let help = "write `:=` to set a variable";
            let span = self.now().span;
            return self.fault(
                "R014",
                span,
                "`=` compares, but does not set a variable",
                "here",
                help,
            );
        }
        let foreign = ["-=", "*=", "/="].contains(&self.word());
        let add = self.is("+=");
        if add || foreign || self.is(":=") {
            self.step();
            return Ok(StatementKind::Set { target, add, value: self.expr()? });
        }
        self.expected("`:=` or `+=`", "")
    }

    /// `"let" NAME "=" ( expr | idle )`
    fn binding(&mut self) -> Read<StatementKind> {
        self.step();
        let name = self.name("a name")?;
        self.need("=")?;
        if !self.finds_idle() {
            return Ok(StatementKind::Let(name, self.expr()?));
        }
        self.step();
        if !self.eat("cpu") {
            return self.unknown(&["cpu"], "`cpu`");
        }
        self.need("in")?;
        self.need("allowed")?;
        self.need("(")?;
        let task = self.name("the name of a task")?;
        self.need(")")?;
        let within = if self.eat("within") { Some(self.level()?) } else { None };
        self.need("near")?;
        let near = self.postfix()?;
        self.need("by")?;
        self.need("[")?;
        let by = self.list(Self::level)?;
        self.need("]")?;
        Ok(StatementKind::LetIdle { name, task, within, near, by })
    }

    /// Whether `idle cpu in` stands here, or was meant.
    fn finds_idle(&self) -> bool {
        let (next, word) = (self.next(), self.says(self.next()));
        let cpu = ["cpu", "core"].contains(&word) && self.word_after(2) == "in";
        let meant = next.kind == Kind::Name && !next.first && !words::is_reserved(word);
        self.is("idle") && (cpu || meant)
    }

    /// `"put" NAME "in" queueref [ "slice" expr ] [ "wake" "within" level ]`
    fn put(&mut self) -> Read<StatementKind> {
        self.step();
        let task = self.name("the name of a task")?;
        self.need("in")?;
        let queue = self.queue_at()?;
        let slice = self.slice()?;
        let mut within = None;
        if self.option("wake") {
            self.need("within")?;
            within = Some(self.level()?);
        }
        Ok(StatementKind::Put { task, queue, slice, within })
    }

    /// `"run" NAME "on" NAME [ "slice" expr ]`
    fn run(&mut self) -> Read<StatementKind> {
        self.step();
        let task = self.name("the name of a task")?;
        self.need("on")?;
        let from = self.now();
        if from.kind == Kind::Name && !from.first && [".", "("].contains(&self.says(self.next())) {
            self.postfix()?;
            return self.not_claimed(self.since(from));
        }
        let on = self.name("the name of an idle CPU")?;
        Ok(StatementKind::Run { task, on, slice: self.slice()? })
    }

    /// Reports a task that is run on a CPU that was not found idle.
    fn not_claimed<T>(&mut self, place: Span) -> Read<T> {
        let message = "this CPU was not claimed, so it may run another task";
        let help = "claim a CPU: `let c = idle cpu in allowed(t) near t.prev by [llc]`";
        self.fault("R301", place, message, "not claimed", help)
    }

    fn slice(&mut self) -> Read<Option<Expr>> {
        if self.option("slice") { self.expr().map(Some) } else { Ok(None) }
    }

    /// `PLACE "." QUEUE`
    pub(super) fn queue_at(&mut self) -> Read<Expr> {
        let from = self.now();
        let place = self.postfix()?;
        if matches!(place.kind, ExprKind::Field(..)) {
            return Ok(place);
        }
        let help = "write the place of the queue: `home(t).ready`, `c.ready`, `machine.ready`";
        let message = "the queue has no place";
        let span = self.since(from);
        self.fault("R015", span, message, "which of these queues?", help)
    }

    /// `"if" expr block [ "else" ( block | if ) ]`
    fn branch(&mut self) -> Read<StatementKind> {
        self.step();
        let condition = self.expr()?;
        let then = self.block()?;
        let mut otherwise = None;
        if self.option("else") {
            otherwise = Some(if self.is("if") { self.otherwise_if()? } else { self.block()? });
        }
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// `else if ...` as a block of one statement.
    fn otherwise_if(&mut self) -> Read<Block> {
        let from = self.now();
        let kind = self.deeper(Self::branch)?;
        let span = self.since(from);
        Ok(Block { statements: vec![Statement { kind, span }], span })
    }

    /// `attempt { "else" attempt }`
    fn attempts(&mut self) -> Read<StatementKind> {
        let mut attempts = vec![self.attempt()?];
        while self.option("else") {
            attempts.push(self.attempt()?);
        }
        Ok(StatementKind::Attempts(attempts))
    }

    /// `"take" queueref | "balance" "idle"`
    fn attempt(&mut self) -> Read<Attempt> {
        let from = self.now();
        if self.eat("balance") {
            self.need("idle")?;
            return Ok(Attempt::Balance(self.since(from)));
        }
        self.one_of(&["take", "balance"], "`take` or `balance idle`")?;
        Ok(Attempt::Take(self.queue_at()?))
    }
}
