//! docs/results/mutants.md: what becomes of every mutant of every right policy.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use wastenot_prove::Options;
use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_rota::ir::Policy;

use super::{ARGUMENTS, By, Family, OPERATORS, Standing, fates, mutants, standing};
use crate::parts::{files, z3};

/// How long a solver may think about a question.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many mutants came to what.
#[derive(Clone, Copy, Default)]
struct Count {
    made: u64,
    refuted: [u64; 4],
    equivalent: u64,
    contained: u64,
    argued: u64,
    proved: u64,
}

/// By policy, and family of mutants.
type Counts = Vec<(String, BTreeMap<Family, Count>)>;

/// What was found of all.
#[derive(Default)]
struct Found {
    counts: Counts,
    /// By argument, the mutants that it is for: policy, operator, site.
    argued: BTreeMap<usize, Vec<[String; 3]>>,
    unexplained: Vec<String>,
}

/// Judges all mutants of the policies in `folder` and writes the page. The verdict in a line. An
/// error, but with the page written, if a mutant is not explained, or an argument is for nobody.
pub(crate) fn write(folder: &Path, output: &Path) -> Result<String, String> {
    let told = |error: wastenot_prove::Error| error.to_string();
    let solver = z3()?;
    let answers = tempfile::tempdir().map_err(|error| error.to_string())?;
    let cache = Some(Cache::open(answers.path()).map_err(told)?);
    let solvers = vec![solver];
    let options = Options { solvers, cache, patience: PATIENCE, bounds: Bounds::default() };
    let policies = policies(folder)?;
    let mut found = Found::default();
    let bar = ProgressBar::new(policies.len() as u64);
    for policy in &policies {
        bar.set_message(policy.name.clone());
        judge(policy, &options, &mut found).map_err(told)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let page = page(&found);
    fs::write(output, page).map_err(|error| format!("{}: {error}", output.display()))?;
    let all = sum(found.counts.iter().flat_map(|(_, families)| families.values()));
    let unused = (0..ARGUMENTS.len()).filter(|argument| !found.argued.contains_key(argument));
    let unused = unused
        .map(|argument| format!("no mutant needs this argument: {}", ARGUMENTS[argument].why));
    let faults: Vec<String> = found.unexplained.iter().cloned().chain(unused).collect();
    match faults.as_slice() {
        [] => Ok(format!("{}: {} mutants, all explained", output.display(), all.made)),
        faults => Err(faults.join("\n")),
    }
}

fn policies(folder: &Path) -> Result<Vec<Policy>, String> {
    let mut policies = Vec::new();
    for file in files(folder, "rota")? {
        let name = file.display();
        let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        let program = wastenot_rota::compile(&text).map_err(|_| format!("{name} is no policy"))?;
        policies.extend(program.policies);
    }
    Ok(policies)
}

fn judge(
    policy: &Policy,
    options: &Options,
    found: &mut Found,
) -> Result<(), wastenot_prove::Error> {
    let made = mutants(policy);
    let fates = fates(policy, &made, options)?;
    let mut families: BTreeMap<Family, Count> = BTreeMap::new();
    for (mutant, fate) in made.iter().zip(&fates) {
        let count = families.entry(mutant.family).or_default();
        count.made += 1;
        match standing(mutant, fate) {
            Standing::Refuted(by) => count.refuted[by as usize] += 1,
            Standing::Equivalent => count.equivalent += 1,
            Standing::Contained => count.contained += 1,
            Standing::Tuned => count.proved += 1,
            Standing::Argued(argument) => {
                count.argued += 1;
                let (operator, site) = (mutant.operator.to_owned(), mutant.site.text.clone());
                let mutant = [policy.name.clone(), operator, site];
                found.argued.entry(argument).or_default().push(mutant);
            }
            Standing::Unexplained(why) => {
                let (name, site) = (&policy.name, &mutant.site.text);
                found.unexplained.push(format!("{name}: {}, {site}: {why}", mutant.operator));
            }
        }
    }
    found.counts.push((policy.name.clone(), families));
    Ok(())
}

fn sum<'c>(counts: impl Iterator<Item = &'c Count>) -> Count {
    counts.fold(Count::default(), |mut all, count| {
        all.made += count.made;
        for by in [By::Type, By::Explorer, By::Replay, By::Solver] {
            all.refuted[by as usize] += count.refuted[by as usize];
        }
        all.equivalent += count.equivalent;
        all.contained += count.contained;
        all.argued += count.argued;
        all.proved += count.proved;
        all
    })
}

const HEAD: &str = "# Mutants\n\nA prover must not prove wrong policies. To test the prover, we \
                    change every correct policy with a fixed list of\noperators. An operator \
                    changes one place in the internal representation of a policy. We apply each \
                    operator at every\nplace where it fits. Each changed policy is a *mutant*. The \
                    tables count the mutants by the prover's verdict. `make\nlong-mutants` writes \
                    this page; do not edit it by hand.\n\n- *type*: the text of the mutant has one \
                    of four errors. The first error is a path on which the policy never places \
                    a\n  task or places it twice. The second error is a CPU that the policy claims \
                    but does not use. The third error is an\n  unknown name. The fourth error is a \
                    contradiction between the text and a claim.\n- *explorer*: a small machine has \
                    a counterexample.\n- *replay*: a solver finds a state that breaks a claim, and \
                    the explorer confirms it. The machine of this state is\n  small, but the state \
                    has more tasks than the explorer enumerates.\n- *solver*: a solver finds a \
                    state in which an obligation fails. No small machine that the explorer \
                    examined has such a\n  state.\n- *equivalent*: a solver finds no state in \
                    which the mutant differs from the original.\n- *contained*: a solver finds no \
                    state in which the mutant does anything that the original may not do. If the \
                    mutant\n  puts a task into a queue, the original may put this task into the \
                    same queue. If the mutant's periodic balancing moves\n  a task, the original \
                    may make the same move. So if a claim is proved for everything that the \
                    original may do, it also\n  holds for the mutant.\n- *argued*: all claims \
                    still hold. The last section of this page contains an argument for each of \
                    these mutants.\n\nMutants of the family *choice* change only the order in \
                    which tasks run, or the time for which a task runs. No claim\ndepends on these \
                    changes. The prover proves the original, so it must prove all of these \
                    mutants, too (*proved*). The\ntables count these mutants separately. A mutant \
                    of any operator belongs to this family if its slice equals the slice of\nthe \
                    original. The *slice* is a part of a policy. This part determines\n\n- the \
                    queue that receives a task, and the levels in which the policy then searches \
                    for a CPU to wake; also three kinds\n  of idle CPUs: the CPUs that the policy \
                    claims, the CPUs that run a task directly, and the CPUs that are kicked \
                    because\n  the policy has claimed them;\n- the queues in which an idle CPU \
                    looks for tasks, and the condition under which the CPU continues with the next \
                    queue;\n  also the order of these queues, but only if the policy claims `wait` \
                    or does not try all queues;\n- the tasks that periodic balancing moves, and \
                    the source and destination of each move;\n- the keys of ordered queues, but \
                    only if the policy claims `vt_monotone` or `lag`;\n- whether the policy has \
                    endless time slices, but only if it has a leader and claims `hierarchy`.\n\nSo \
                    the slice does not determine the order of candidates, of idle CPUs and of \
                    tasks. It does not determine which CPUs\nbalance, and how often. It does not \
                    determine the length of time slices or the interruption of running tasks. It \
                    does\nnot contain the values of parameters. The program checks one rule for \
                    each refuted mutant whose text has no errors. Such\na mutant must be neither \
                    equivalent nor contained, and it must not belong to the family choice.\n";

const COLUMNS: &str =
    "| made | type | explorer | replay | solver | equivalent | contained | argued | proved |\n";

fn page(found: &Found) -> String {
    let mut page = format!("{HEAD}\n## All policies\n\n| family {COLUMNS}{}", rule(1));
    let of =
        |family: Family| found.counts.iter().filter_map(move |(_, families)| families.get(&family));
    let wrong = Family::ALL.into_iter().filter(|family| *family != Family::Choice);
    for family in wrong.clone() {
        row(&mut page, family.name(), &sum(of(family)));
    }
    row(&mut page, "all of these", &sum(wrong.flat_map(of)));
    row(&mut page, Family::Choice.name(), &sum(of(Family::Choice)));
    let _ = write!(page, "\n## Each policy\n\n| policy | family {COLUMNS}{}", rule(2));
    for (policy, families) in &found.counts {
        for (family, count) in families {
            row(&mut page, &format!("{policy} | {}", family.name()), count);
        }
    }
    page += "\n## Operators\n\n| family | operator | what it does |\n|---|---|---|\n";
    for operator in OPERATORS {
        let (family, name, what) = (operator.family.name(), operator.name, operator.what);
        let _ = writeln!(page, "| {family} | {name} | {what} |");
    }
    page += "\n## Arguments\n\nEach argument states why some mutants keep all claims.\n\n";
    for (index, mutants) in &found.argued {
        let (argument, count) = (&ARGUMENTS[*index], mutants.len());
        let _ = writeln!(page, "**{count} mutants.** {}\n", argument.why);
        page += "| policy | operator | where |\n|---|---|---|\n";
        for [policy, operator, site] in mutants {
            let _ = writeln!(page, "| {policy} | {operator} | {site} |");
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn rule(words: usize) -> String {
    format!("|{}\n", "---|".repeat(words + 9).trim_end())
}

fn row(page: &mut String, what: &str, count: &Count) {
    let Count { made, refuted: [by_type, explorer, replay, solver], .. } = count;
    let Count { equivalent, contained, argued, proved, .. } = count;
    let _ = writeln!(
        page,
        "| {what} | {made} | {by_type} | {explorer} | {replay} | {solver} | {equivalent} \
         | {contained} | {argued} | {proved} |"
    );
}
