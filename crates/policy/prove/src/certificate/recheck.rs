//! Whether a certificate lists all obligations of its claims, and the answers of solvers now.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::time::Duration;

use wastenot_rota::compile;
use wastenot_rota::ir::Program;

use super::{Asked, Claimed, Expected, Listed, Manifest, Shown, TEXT, asking, manifest, stored};
use crate::Error;
use crate::obligations::{Obligation, Question, obligations};
use crate::smt::{Script, Sexp, read};
use crate::solver::{Answer, Solver};

/// A certificate whose list was checked and whose queries were run again.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// What it certifies: the place of the text when it was judged.
    pub about: String,
    /// The program of its text.
    pub program: Program,
    /// Every claim of the text.
    pub claims: Vec<Standing>,
    /// The answers of solvers now.
    pub answers: Vec<Rechecked>,
}

/// Whether a certificate shows a claim of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The policy.
    pub policy: String,
    /// The claim.
    pub claim: String,
    /// Whether it is shown, if all answers are as expected. `None`: the certificate does not list
    /// the claim.
    pub shown: Option<bool>,
}

/// The answer of a solver to the query of one obligation of a certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Rechecked {
    /// The policy that has the claim.
    pub policy: String,
    /// The claim that follows from the obligation.
    pub claim: String,
    /// The name of the obligation.
    pub name: String,
    /// The file of the query.
    pub file: String,
    /// The solver.
    pub solver: String,
    /// The expected answer.
    pub expected: Expected,
    /// The answer now.
    pub answer: Answer,
    /// How long it took.
    pub took: Duration,
}

impl Rechecked {
    /// Whether the answer is as expected.
    pub fn holds(&self) -> bool {
        self.expected.is_met(self.answer.word())
    }
}

/// Derives the obligations of the claims of the certificate again, compares them with the list of
/// the manifest, then runs all queries with these solvers. It needs only the folder.
///
/// # Errors
/// There is no manifest, it lists other obligations than those of its claims, a file is missing or
/// was changed, a script does more than ask, or a solver fails.
pub fn recheck(folder: &Path, solvers: &[Solver], timeout: Duration) -> Result<Again, Error> {
    let manifest = manifest(folder)?;
    let texts = texts(folder, &manifest)?;
    let program = meaning(folder, &manifest)?;
    let faults = faults(&program, &manifest, &texts);
    if !faults.is_empty() {
        return Err(Error::Unlike { folder: folder.to_owned(), faults });
    }
    let claims = standings(&program, &manifest);
    let answers = answers(&manifest, &texts, solvers, timeout)?;
    Ok(Again { about: manifest.about, program, claims, answers })
}

fn standings(program: &Program, manifest: &Manifest) -> Vec<Standing> {
    let claims = program.policies.iter().flat_map(|policy| {
        policy.claims.iter().map(|claim| (policy.name.clone(), claim.kind.name().to_owned()))
    });
    let standing = |(policy, claim)| {
        let mut all = manifest.claims.iter();
        let listed = all.find(|listed| listed.policy == policy && listed.claim == claim);
        Standing { policy, claim, shown: listed.map(Claimed::is_shown) }
    };
    claims.map(standing).collect()
}

/// The answers to all queries. A query that several claims share is run once.
fn answers(
    manifest: &Manifest,
    texts: &HashMap<&str, String>,
    solvers: &[Solver],
    timeout: Duration,
) -> Result<Vec<Rechecked>, Error> {
    let mut answers: HashMap<(&str, usize), (Answer, Duration)> = HashMap::new();
    let mut all = Vec::new();
    for (claim, name, asked) in each(manifest) {
        let text = &texts[asked.script.file.as_str()];
        for (n, solver) in solvers.iter().enumerate() {
            let key = (asked.script.file.as_str(), n);
            let (answer, took) = match answers.entry(key) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(new) => {
                    let reply = solver.ask_text(text, asked.expected.seek(), timeout)?;
                    new.insert((reply.answer, reply.took)).clone()
                }
            };
            all.push(Rechecked {
                policy: claim.policy.clone(),
                claim: claim.claim.clone(),
                name: name.to_owned(),
                file: asked.script.file.clone(),
                solver: solver.to_string(),
                expected: asked.expected,
                answer,
                took,
            });
        }
    }
    Ok(all)
}

/// Each query of the manifest, with its claim and the name of its obligation.
fn each(manifest: &Manifest) -> impl Iterator<Item = (&Claimed, &str, &Asked)> {
    manifest.claims.iter().flat_map(|claim| {
        claim.obligations.iter().filter_map(move |listed| match &listed.shown {
            Shown::Solvers(asked) => Some((claim, listed.name.as_str(), asked)),
            Shown::Text { .. } | Shown::Nobody { .. } => None,
        })
    })
}

/// The text of each script, by its file. Also checks that each proof is there and unchanged.
fn texts<'m>(folder: &Path, manifest: &'m Manifest) -> Result<HashMap<&'m str, String>, Error> {
    let mut texts = HashMap::new();
    for (_, _, asked) in each(manifest) {
        let text = stored(folder, &asked.script)?;
        only_asks(&folder.join(&asked.script.file), &text)?;
        for proof in asked.answers.iter().filter_map(|said| said.proof.as_ref()) {
            stored(folder, proof)?;
        }
        texts.insert(asked.script.file.as_str(), text);
    }
    Ok(texts)
}

fn meaning(folder: &Path, manifest: &Manifest) -> Result<Program, Error> {
    let text = stored(folder, &manifest.text)?;
    compile(&text).map_err(|_| {
        let why = "this wastenot cannot compile the policy".to_owned();
        Error::Manifest { file: folder.join(TEXT), why }
    })
}

/// The differences between the listed obligations and those of the claims, in words.
fn faults(program: &Program, manifest: &Manifest, texts: &HashMap<&str, String>) -> Vec<String> {
    let mut faults = Vec::new();
    for claimed in &manifest.claims {
        let policy = program.policies.iter().find(|policy| policy.name == claimed.policy);
        let claim = policy.and_then(|policy| {
            let mut claims = policy.claims.iter();
            Some((policy, claims.find(|claim| claim.kind.name() == claimed.claim)?))
        });
        let at = format!("`{}`, {}", claimed.policy, claimed.claim);
        let Some((policy, claim)) = claim else {
            faults.push(format!("{at}: the policy does not have this claim"));
            continue;
        };
        let mut listed: Vec<&Listed> = claimed.obligations.iter().collect();
        let mut lacking = obligations(policy, &claim.kind);
        // An obligation that both lists contain is right. Their order is free. Those with the same
        // sentence come first, so that a fault names the obligation that lacks.
        for is_worded in [true, false] {
            lacking.retain(|made| {
                let is = |listed: &&Listed| !is_worded || listed.what == made.what;
                let alike = listed.iter().position(|it| is(it) && is_listed(made, it, texts));
                alike.map(|alike| listed.remove(alike)).is_none()
            });
        }
        for made in lacking {
            let named = |listed: &&Listed| listed.name == made.name && listed.what == made.what;
            let other = listed.iter().position(named).map(|other| listed.remove(other));
            let how = if other.is_some() { "is different" } else { "is missing" };
            faults.push(format!("{at}: {} {how}: {}", made.name, made.what));
        }
        faults.extend(
            listed.iter().map(|it| format!("{at}: {} does not belong to this claim", it.name)),
        );
    }
    faults
}

/// Returns true if the listed obligation equals the derived obligation. Sentences and comments do
/// not count, because other versions word them differently.
fn is_listed(made: &Obligation, listed: &Listed, texts: &HashMap<&str, String>) -> bool {
    let asked = match (&made.question, &listed.shown) {
        (Question::Holds, Shown::Text { holds }) => *holds,
        (Question::Fails, Shown::Text { holds }) => !*holds,
        (Question::Undecided(_) | Question::NotEncoded(_), Shown::Nobody { .. }) => true,
        (Question::Unsatisfiable(script), Shown::Solvers(asked)) => {
            let text = &texts[asked.script.file.as_str()];
            let asks = |script: &Script| is_same(text, &asking(script, asked.expected));
            asks(script) || script.as_usual().is_some_and(|given| asks(&given))
        }
        _ => false,
    };
    asked && (made.name, made.model_only) == (listed.name.as_str(), listed.model_only)
}

/// Returns true if both scripts have the same commands.
fn is_same(a: &str, b: &str) -> bool {
    a == b || read(a).0 == read(b).0
}

/// Checks that a script only declares, asserts and asks: solvers also have commands that write
/// files.
fn only_asks(file: &Path, text: &str) -> Result<(), Error> {
    const COMMANDS: [&str; 8] = [
        "set-info",
        "set-logic",
        "declare-sort",
        "declare-fun",
        "declare-const",
        "define-fun",
        "assert",
        "check-sat",
    ];
    let wrong = |why: &str| Error::Manifest { file: file.to_owned(), why: why.to_owned() };
    let (commands, flaw) = read(text);
    if flaw.is_some() {
        return Err(wrong("the file is not SMT-LIB"));
    }
    let allowed = |command: &_| COMMANDS.iter().any(|word| Sexp::begins(command, word));
    let asks = commands.iter().filter(|command| command.begins("check-sat")).count();
    match commands.iter().all(allowed) && asks == 1 {
        true => Ok(()),
        false => {
            Err(wrong("the script may contain only declarations, assertions and one `(check-sat)`"))
        }
    }
}
