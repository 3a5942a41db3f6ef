//! What a file is made of: policies and partitions.

use super::{Braces, Parser, Read, Told};
use crate::syntax::ast::{Cpus, File, Partition, Policy, Tasks};
use crate::syntax::lexer::Kind;
use crate::syntax::words::PARTS;

const ITEMS: Braces = Braces {
    between: &[";"],
    resumes: |parser| parser.begins_item(),
    outer: |parser| parser.begins_part(),
};

impl Parser<'_> {
    /// `{ policy | partition }`
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() && !self.is_full() {
            let from = self.at;
            self.layout.begins.push(from);
            if self.part(&mut file).is_err() {
                self.skip(from, Self::begins_part);
                while self.eat("}") {}
            }
        }
        file
    }

    fn part(&mut self, file: &mut File) -> Read<()> {
        match self.word() {
            "policy" => file.policies.push(self.policy()?),
            "partition" => file.partitions.push(self.partition()?),
            "}" => {
                let help = "remove this `}`, or find the block that it should close";
                let span = self.now().span;
                return self.fault("R010", span, "this `}` has no `{`", "here", help);
            }
            _ if self.now().kind == Kind::Name => return self.unknown(&PARTS, "`policy`"),
            _ => {
                return self
                    .no_piece("`policy` or `partition`", "begin with `policy NAME { ... }`");
            }
        }
        Ok(())
    }

    /// `"policy" NAME [ "(" [ param { "," param } ] ")" ] "{" { item } "}"`
    fn policy(&mut self) -> Read<Policy> {
        let from = self.step();
        let head = self.head(|parser| {
            let name = parser.name("the name of the policy")?;
            let mut params = Vec::new();
            if parser.eat("(") && !parser.eat(")") {
                params = parser.list(Self::param)?;
                parser.need(")")?;
            }
            if parser.is("{") { Ok((name, params)) } else { parser.expected("`{`", "") }
        })?;
        let items = self.braces(ITEMS, Parser::item)?;
        let (name, params) = head.ok_or(Told)?;
        Ok(Policy { name, params, items, span: self.since(from) })
    }

    /// `"partition" NAME "on" cpus "runs" NAME "for" tasks`
    fn partition(&mut self) -> Read<Partition> {
        let from = self.step();
        let name = self.name("the name of the partition")?;
        self.need("on")?;
        let cpus = self.cpus()?;
        self.need("runs")?;
        let policy = self.name("the name of a policy")?;
        self.need("for")?;
        let tasks = self.tasks()?;
        Ok(Partition { name, cpus, policy, tasks, span: self.since(from) })
    }

    /// `"cpus" N ["-" N] { "," ... } | level N | "rest"`
    fn cpus(&mut self) -> Read<Cpus> {
        let from = self.now();
        if self.eat("rest") {
            return Ok(Cpus::Rest(from.span));
        }
        if self.eat("cpus") {
            let ranges = self.list(Self::range)?;
            return Ok(Cpus::List(ranges, self.since(from)));
        }
        let known = ["cpus", "rest", "cpu", "smt", "llc", "node", "machine"];
        let level = self.one_of(&known, "`cpus`, a level or `rest`")?;
        Ok(Cpus::Group(level, self.whole("the number of the group")?))
    }

    fn range(&mut self) -> Read<(u64, u64)> {
        let first = self.whole("the number of a CPU")?;
        if !self.is("-") {
            return Ok((first, first));
        }
        self.layout.tight.push(self.at);
        self.step();
        Ok((first, self.whole("the number of a CPU")?))
    }

    /// `("cgroup" | "command") STRING | "rest"`
    fn tasks(&mut self) -> Read<Tasks> {
        let known = ["cgroup", "command", "rest"];
        let word = self.one_of(&known, "`cgroup`, `command` or `rest`")?;
        if word.text == "rest" {
            return Ok(Tasks::Rest(word.span));
        }
        if self.now().kind != Kind::Quoted {
            let what = format!("the name of a {} in quotes", word.text);
            return self.expected(&what, &format!("write `{} \"web*\"`", word.text));
        }
        let token = self.step();
        let name = self.says(token).trim_matches('"').to_string();
        match word.text.as_str() {
            "command" => Ok(Tasks::Command(name, token.span)),
            _ => Ok(Tasks::Cgroup(name, token.span)),
        }
    }
}
