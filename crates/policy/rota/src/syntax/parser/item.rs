//! The items of a policy: variables, queues, metrics, handlers, the protocol, claims.

use super::{Braces, Parser, Read, Told};
use crate::syntax::ast::{
    Claim, Expr, ExprKind, Handler, Item, Metric, Name, Queue, Setting, Variable,
};
use crate::syntax::lexer::Kind;
use crate::syntax::words::{DIMENSIONS, EVENTS, ITEMS, LEVELS, ORDERS, PARTS};

const VARIABLES: Braces = Braces {
    between: &[",", ";"],
    resumes: |parser| parser.now().first,
    outer: |parser| parser.begins_outer(),
};
const SETTINGS: Braces = VARIABLES;

impl Parser<'_> {
    /// Whether an item begins here: its keyword, at the beginning of a line.
    pub(super) fn begins_item(&self) -> bool {
        self.now().first && ITEMS.contains(&self.word())
    }

    /// One item.
    pub(super) fn item(&mut self) -> Read<Item> {
        let from = self.now();
        match self.word() {
            "task" => {
                self.step();
                let variables = self.variables()?;
                Ok(Item::Task(variables, self.since(from)))
            }
            "cpu" => {
                self.step();
                let variables = self.variables()?;
                Ok(Item::Cpu(variables, self.since(from)))
            }
            "queue" => Ok(Item::Queue(self.queue()?)),
            "metric" => Ok(Item::Metric(self.metric()?)),
            "on" => Ok(Item::On(self.handler()?)),
            "balance" => Ok(Item::Balance(self.balance()?)),
            "unsafe" => {
                self.step();
                self.need("protocol")?;
                let settings = self.braces(SETTINGS, Parser::setting)?;
                Ok(Item::Protocol(settings, self.since(from)))
            }
            "protocol" => {
                let help = "write `unsafe protocol { ... }`";
                self.fault("R007", from.span, "`unsafe` is missing", "before this", help)
            }
            "prove" => {
                self.step();
                Ok(Item::Prove(self.list(Self::claim)?))
            }
            word if EVENTS.contains(&word) && self.next_is("(") => {
                let message = format!("`on` is missing before `{word}`");
                let help = format!("write `on {word}(...) {{ ... }}`");
                self.fault("R007", from.span, message, "a handler begins here", help)
            }
            _ if from.kind == Kind::Name => self.unknown(&ITEMS[..8], "an item of the policy"),
            _ => {
                self.no_piece("an item of the policy", "write one of task, cpu, queue, metric, on")
            }
        }
    }

    /// `"{" { var [ "," ] } "}"`
    fn variables(&mut self) -> Read<Vec<Variable>> {
        self.braces(VARIABLES, |parser| {
            let mut variable = parser.param()?;
            variable.writer = parser.writer()?;
            Ok(variable)
        })
    }

    /// `"owner" ( "queue" | "cpu" ) | "shared"`, or nothing.
    fn writer(&mut self) -> Read<Vec<Name>> {
        if self.next_is(":") || self.now().kind != Kind::Name {
            return Ok(Vec::new());
        }
        let word = self.one_of(&["owner", "shared"], "`owner` or `shared`")?;
        if word.text == "shared" {
            return Ok(vec![word]);
        }
        Ok(vec![word, self.one_of(&["queue", "cpu"], "`queue` or `cpu`")?])
    }

    /// `NAME ":" dimension "=" number`
    pub(super) fn param(&mut self) -> Read<Variable> {
        let name = self.name("a name")?;
        self.need(":")?;
        let dimension = self.dimension()?;
        self.need("=")?;
        let value = self.number(&dimension)?;
        Ok(Variable { name, dimension, value, writer: Vec::new() })
    }

    fn dimension(&mut self) -> Read<Name> {
        self.one_of(&DIMENSIONS, "a dimension")
    }

    pub(super) fn level(&mut self) -> Read<Name> {
        self.one_of(&LEVELS, "a level")
    }

    /// The initial value of a variable or parameter. A time must have its unit.
    fn number(&mut self, dimension: &Name) -> Read<Expr> {
        let token = self.now();
        if self.is("-") {
            return self.negative("write the number without `-`, and subtract it where you use it");
        }
        let Kind::Number(value, unit) = token.kind else {
            return self.expected("a number", "write a number, for example `0` or `20ms`");
        };
        if dimension.text == "time" && unit.is_none() && value != 0 {
            let help = format!("write `{value}ms`, or use the unit ns, us or s");
            let _: Read<()> =
                self.fault("R004", token.span, "a time needs a unit", "a unit is missing", help);
        }
        self.step();
        Ok(Expr { kind: ExprKind::Number(value, unit), span: token.span })
    }

    /// `"queue" NAME ":" ( "fifo" | "ordered" "(" NAME ")" ) "per" level`
    fn queue(&mut self) -> Read<Queue> {
        let from = self.step();
        let name = self.name("the name of the queue")?;
        self.colon()?;
        let order = self.one_of(&ORDERS, "`fifo` or `ordered(NAME)`")?;
        let mut key = None;
        if order.text == "ordered" {
            self.need("(")?;
            key = Some(self.name("a variable of tasks")?);
            self.need(")")?;
        }
        self.need("per")?;
        let per = self.level()?;
        Ok(Queue { name, order, key, per, span: self.since(from) })
    }

    /// `"metric" NAME "(" NAME ":" level ")" ":" dimension "=" expr`
    fn metric(&mut self) -> Read<Metric> {
        self.step();
        let name = self.name("the name of the metric")?;
        self.need("(")?;
        let of = self.name("a name")?;
        self.need(":")?;
        let level = self.level()?;
        self.need(")")?;
        self.colon()?;
        let dimension = self.dimension()?;
        self.need("=")?;
        let value = self.expr()?;
        Ok(Metric { name, of, level, dimension, value })
    }

    /// `"on" event { "," event } block`
    fn handler(&mut self) -> Read<Handler> {
        let from = self.step();
        let events = self.head(|parser| parser.list(Self::event))?;
        let dispatch = |(name, _): &(Name, Vec<Name>)| name.text == "dispatch";
        self.dispatches = events.as_ref().is_some_and(|events| events.iter().any(dispatch));
        let body = self.block()?;
        let events = events.ok_or(Told)?;
        Ok(Handler { events, body, span: self.since(from) })
    }

    /// `NAME "(" [ NAME { "," NAME } ] ")"`
    fn event(&mut self) -> Read<(Name, Vec<Name>)> {
        let event = self.one_of(&EVENTS, "an event")?;
        self.need("(")?;
        if self.eat(")") {
            return Ok((event, Vec::new()));
        }
        let arguments = self.list(|parser| parser.name("a name"))?;
        self.need(")")?;
        Ok((event, arguments))
    }

    /// `NAME ":" NAME { "," NAME }`
    fn setting(&mut self) -> Read<Setting> {
        let key = self.name("what to set")?;
        self.need(":")?;
        let mut words = vec![self.name("a word")?];
        // After a comma comes either another word, or the next setting.
        while self.is(",") && self.next().kind == Kind::Name && !self.sets_after_comma() {
            self.step();
            words.push(self.name("a word")?);
        }
        Ok(Setting { key, words })
    }

    fn sets_after_comma(&self) -> bool {
        self.word_after(2) == ":"
    }

    /// `NAME [ "(" [ NAME ] "<=" expr ")" ]`
    fn claim(&mut self) -> Read<Claim> {
        let name = self.name("the name of a property")?;
        if !self.eat("(") {
            return Ok(Claim { name, bound: None });
        }
        let of = if self.is("<=") { None } else { Some(self.name("`<=`")?) };
        self.need("<=")?;
        let bound = self.expr()?;
        self.need(")")?;
        Ok(Claim { name, bound: Some((of, bound)) })
    }

    /// Whether a block was left open: the item that begins here can only stand outside it.
    pub(super) fn begins_outer(&self) -> bool {
        let word = self.word();
        let item = matches!(word, "on" | "queue" | "metric" | "prove" | "unsafe");
        let next = self.next().kind == Kind::Name;
        self.now().first && next && (item || PARTS.contains(&word))
    }
}
