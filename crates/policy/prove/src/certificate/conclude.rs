//! The conclusion from a certificate whose queries were run again, as a Report.

use wastenot_model::{Report, Table};

use super::{Again, Rechecked, Standing};
use crate::Error;
use crate::engine::Scope;
use crate::judge::{Conclusion, Outcome, are_claimed, is_asked, judge};
use crate::options::Options;

/// The standing of a claim of a certificate: in words, and as a conclusion.
struct Stands<'a> {
    of: &'a Standing,
    words: String,
    conclusion: Conclusion,
}

impl Again {
    /// Keeps only the claims named in `asked`. An empty `asked` keeps all.
    ///
    /// # Errors
    /// The text has no claim of such a name.
    pub fn only(&mut self, asked: &[String]) -> Result<(), Error> {
        are_claimed(asked, self.claims.iter().map(|it| it.claim.as_str()))?;
        self.claims.retain(|standing| is_asked(asked, &standing.claim));
        self.answers.retain(|one| is_asked(asked, &one.claim));
        Ok(())
    }

    /// Whether all claims of the text are shown. A claim that the certificate does not show is
    /// judged again: if a solver does not refute a query, this does not refute the claim.
    ///
    /// # Errors
    /// A solver fails.
    pub fn conclude(&self, name: &str, options: &Options) -> Result<(Report, Conclusion), Error> {
        let standings = self.standings(options)?;
        let all = &self.answers;
        let wrong = all.iter().filter(|one| !one.holds());
        let unknown = wrong.clone().filter(|one| one.answer.word() == "unknown").count();
        let wrong = wrong.count();
        let asked = match wrong {
            0 => Conclusion::Yes,
            _ if unknown == wrong => Conclusion::CannotTell,
            _ => Conclusion::No,
        };
        let claims = standings.iter().map(|it| it.conclusion);
        let conclusion = Conclusion::of_all(claims.chain([asked])).unwrap_or(asked);
        let mut report = Report::new("recheck/1", format!("Certificate: {name}"));
        report.verdict = match wrong {
            0 => format!("All {} solver answers are as expected", all.len()),
            _ => format!("{wrong} of {} solver answers are not as expected", all.len()),
        };
        let left = standings.iter().filter(|it| it.conclusion != Conclusion::Yes);
        let left: Vec<String> = left.map(|it| format!("{} {}", it.of.claim, it.words)).collect();
        report.verdict += &match left.as_slice() {
            [] => ".".to_owned(),
            left => format!("; the certificate does not show every claim: {}.", left.join(", ")),
        };
        report.tables = vec![claims_of(&self.about, &standings), queries(all)];
        Ok((report, conclusion))
    }

    fn standings(&self, options: &Options) -> Result<Vec<Stands<'_>>, Error> {
        let mut all = Vec::new();
        for policy in &self.program.policies {
            let of_policy = || self.claims.iter().filter(|it| it.policy == policy.name);
            let not_shown =
                |name: &str| of_policy().any(|it| it.claim == name && it.shown == Some(false));
            let mut left = policy.clone();
            left.claims.retain(|claim| not_shown(claim.kind.name()));
            let verdicts = judge(&left, options)?;
            all.extend(of_policy().map(|of| {
                let verdict = verdicts.iter().find(|it| it.claim.kind.name() == of.claim);
                let (words, conclusion) = stands(of.shown, verdict.map(|it| &it.outcome));
                Stands { of, words, conclusion }
            }));
        }
        Ok(all)
    }
}

fn stands(shown: Option<bool>, outcome: Option<&Outcome>) -> (String, Conclusion) {
    let (words, conclusion) = match (shown, outcome) {
        (Some(true), _) => ("shown", Conclusion::Yes),
        (Some(false), Some(Outcome::Refuted(_) | Outcome::Contradicted(_))) => {
            ("refuted", Conclusion::No)
        }
        (Some(false), Some(Outcome::Proved(Scope::UpTo(bounds)))) => {
            let words = format!("not shown beyond {} CPUs", bounds.cpus);
            return (words, Conclusion::CannotTell);
        }
        (Some(false), _) => ("not shown", Conclusion::CannotTell),
        (None, _) => ("not in the certificate", Conclusion::CannotTell),
    };
    (words.to_owned(), conclusion)
}

fn claims_of(about: &str, standings: &[Stands<'_>]) -> Table {
    Table::of("claims", &format!("Claims of {about}"), standings, |row, it| {
        row.cell("policy", "policy", it.of.policy.as_str())
            .cell("claim", "claim", it.of.claim.as_str())
            .cell("standing", "result", it.words.as_str())
    })
    .shown(usize::MAX)
}

fn queries(all: &[Rechecked]) -> Table {
    Table::of("obligations", "Obligations", all, |row, one| {
        row.cell("policy", "policy", one.policy.as_str())
            .cell("claim", "claim", one.claim.as_str())
            .cell("obligation", "", one.name.as_str())
            .cell("file", "file", one.file.as_str())
            .cell("solver", "solver", one.solver.as_str())
            .cell("expected", "expected", one.expected.word())
            .cell("answer", "answer", one.answer.word())
            .ns("time_ns", "time", one.took.as_nanos() as u64)
    })
    .shown(usize::MAX)
}
