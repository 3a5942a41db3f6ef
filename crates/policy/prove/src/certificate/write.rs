//! Writes a certificate.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{
    Asked, Claimed, Expected, Listed, MANIFEST, Manifest, SCHEMA, Said, Shown, TEXT, asking, at,
    file_name, store,
};
use crate::obligations::Question;
use crate::smt::Script;
use crate::solver::{Seek, Solver};
use crate::{Error, Finding, Judged, Judgement};

/// Asks every solver about every obligation of the verdicts on a text, and writes the queries and
/// the answers. The manifest is written last: a folder without it is not finished. `about` is the
/// place of the text. The claims of a program with partitions follow from those of its policies,
/// and are not written.
///
/// # Errors
/// The folder holds a certificate already or cannot be written, or a solver fails.
pub fn write(
    folder: &Path,
    (about, text): (&str, &str),
    judged: &[Judgement<'_>],
    solvers: &[Solver],
    timeout: Duration,
) -> Result<Manifest, Error> {
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let place = folder.join(MANIFEST);
    if place.exists() {
        return Err(at(&place, io::ErrorKind::AlreadyExists.into()));
    }
    let text = store(folder, TEXT.to_owned(), text)?;
    let mut clerk = Clerk { folder, solvers, timeout, asked: HashMap::new() };
    let mut claims = Vec::new();
    let policies = judged.iter().filter_map(|it| Some((it.policy?, &it.verdicts)));
    for (policy, verdict) in
        policies.flat_map(|(policy, all)| all.iter().map(move |it| (policy, it)))
    {
        let obligations = verdict.obligations.iter().map(|judged| clerk.listed(judged));
        let (policy, claim) = (policy.name.clone(), verdict.claim.kind.name().to_owned());
        claims.push(Claimed { policy, claim, obligations: obligations.collect::<Result<_, _>>()? });
    }
    let (schema, about) = (SCHEMA.to_owned(), about.to_owned());
    let manifest = Manifest { schema, about, text, claims };
    let json = serde_json::to_string_pretty(&manifest).map_err(|e| at(&place, e.into()))?;
    fs::write(&place, json + "\n").map_err(|error| at(&place, error))?;
    Ok(manifest)
}

/// Runs queries and writes their files.
struct Clerk<'a> {
    folder: &'a Path,
    solvers: &'a [Solver],
    timeout: Duration,
    /// The queries that were run before, by their text.
    asked: HashMap<String, Asked>,
}

impl Clerk<'_> {
    fn listed(&mut self, judged: &Judged) -> Result<Listed, Error> {
        let obligation = &judged.obligation;
        let shown = match &obligation.question {
            Question::Holds => Shown::Text { holds: true },
            Question::Fails => Shown::Text { holds: false },
            Question::Undecided(why) => Shown::Nobody { why: (*why).to_owned() },
            Question::NotEncoded(why) => Shown::Nobody { why: why.0.to_owned() },
            Question::Unsatisfiable(script) => {
                let expected = match judged.finding {
                    Finding::Holds => Expected::Unsat,
                    Finding::Fails => Expected::Sat,
                    Finding::Open(_) => Expected::Unknown,
                };
                Shown::Solvers(self.asked(obligation.name, script, expected)?)
            }
        };
        let (name, what) = (obligation.name.to_owned(), obligation.what.clone());
        Ok(Listed { name, what, model_only: obligation.model_only, shown })
    }

    fn asked(&mut self, name: &str, script: &Script, expected: Expected) -> Result<Asked, Error> {
        let text = asking(script, expected);
        if let Some(asked) = self.asked.get(&text) {
            return Ok(asked.clone());
        }
        let stem = format!("{:03}-{}", self.asked.len() + 1, file_name(name));
        let script = store(self.folder, format!("{stem}.smt2"), &text)?;
        let answers = self.solvers.iter().map(|solver| self.said(&stem, &text, expected, solver));
        let answers = answers.collect::<Result<_, _>>()?;
        let asked = Asked { label: "any n".to_owned(), expected, script, answers };
        self.asked.insert(text, asked.clone());
        Ok(asked)
    }

    fn said(
        &self,
        stem: &str,
        text: &str,
        expected: Expected,
        solver: &Solver,
    ) -> Result<Said, Error> {
        let seek = match expected.seek() {
            Seek::Refutation if solver.gives_proofs() => Seek::Proof,
            seek => seek,
        };
        let reply = solver.ask_text(text, seek, self.timeout)?;
        let proof = reply.proof.map(|proof| {
            store(self.folder, format!("{stem}.{}.proof", solver.kind.name()), &(proof + "\n"))
        });
        Ok(Said {
            solver: solver.kind.name().to_owned(),
            version: solver.version.clone(),
            answer: reply.answer.word().to_owned(),
            time_ns: u64::try_from(reply.took.as_nanos()).unwrap_or(u64::MAX),
            proof: proof.transpose()?,
        })
    }
}
