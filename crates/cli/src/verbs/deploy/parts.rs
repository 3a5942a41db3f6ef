//! Several policies on one machine: `A.rota=0-3:web* B.rota=rest` is a program with partitions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use wastenot_model::{CpuSet, Machine};
use wastenot_rota::compile;

use crate::fail::{Answer, Stop};
use crate::open::shown;
use crate::out;
use crate::verbs::policy::Source;

/// The text to load; an answer if a policy has faults, which were printed.
pub(super) fn source(
    words: &[OsString],
    machine: &dyn Fn() -> Result<Machine, Stop>,
) -> Result<Result<Source, Answer>, Stop> {
    match words {
        [word] if part(word).is_none() => Ok(Ok(Source::read(Path::new(word))?)),
        words => joined(words, machine),
    }
}

/// A policy, its CPUs and its tasks.
struct Part {
    file: PathBuf,
    cpus: Cpus,
    /// The tasks, in the syntax of Rota.
    tasks: String,
}

enum Cpus {
    List(CpuSet),
    /// `rest`, `node 0`.
    Words(String),
}

/// `FILE=CPUS[:TASKS]`; `None` if the word names no CPUs. A file name may contain `=`.
fn part(word: &OsString) -> Option<Part> {
    let text = word.to_str().filter(|_| !Path::new(word).exists())?;
    let at = text.find(".rota=").map(|at| at + ".rota".len()).or_else(|| text.find('='))?;
    let (file, rest) = (&text[..at], &text[at + 1..]);
    let (cpus, tasks) = rest.split_once(':').map_or((rest, None), |(cpus, it)| (cpus, Some(it)));
    let tasks = match tasks.map(|it| it.split_once('=').unwrap_or(("cgroup", it))) {
        None => "rest".to_owned(),
        Some((what, pattern)) => format!("{what} \"{pattern}\""),
    };
    let cpus = match CpuSet::parse(cpus) {
        Some(list) => Cpus::List(list),
        None => {
            let level = cpus.trim_end_matches(|letter: char| letter.is_ascii_digit());
            Cpus::Words(format!("{level} {}", &cpus[level.len()..]).trim().to_owned())
        }
    };
    Some(Part { file: file.into(), cpus, tasks })
}

fn joined(
    words: &[OsString],
    machine: &dyn Fn() -> Result<Machine, Stop>,
) -> Result<Result<Source, Answer>, Stop> {
    let parts: Option<Vec<Part>> = words.iter().map(part).collect();
    let Some(mut parts) = parts else {
        let help = "give CPUs to each policy: `wastenot deploy a.rota=0-3:web* b.rota=rest`";
        return Err(Stop::new("one of several policies has no CPUs", help));
    };
    leave_the_rest(&mut parts, machine)?;
    let (mut text, mut lines) = (String::new(), String::new());
    let mut names: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (n, part) in parts.iter().enumerate() {
        if !names.contains_key(&part.file) {
            let source = Source::read(&part.file)?;
            let fault = source.fault.clone();
            let compiled = fault.map_or_else(|| compile(&source.text), |it| Err(vec![it]));
            let program = match compiled {
                Ok(program) => program,
                Err(found) => {
                    out::print_as_is(&source.refused(&found))?;
                    return Ok(Err(Answer::No));
                }
            };
            let [policy] = program.policies.as_slice() else {
                return Err(not_one(&part.file, "the file has several policies"));
            };
            if !program.partitions.is_empty() {
                return Err(not_one(&part.file, "the file has partitions of its own"));
            }
            if let Some((other, _)) = names.iter().find(|(_, name)| **name == policy.name) {
                let what = format!("the policy in {} has the same name", shown(other));
                return Err(not_one(&part.file, &what));
            }
            text += &source.text;
            text += "\n";
            names.insert(part.file.clone(), policy.name.clone());
        }
        let cpus = match &part.cpus {
            Cpus::List(list) => format!("cpus {list}"),
            Cpus::Words(words) => words.clone(),
        };
        let (policy, tasks) = (&names[&part.file], &part.tasks);
        lines += &format!("partition part{n} on {cpus} runs {policy} for {tasks}\n");
    }
    let files: Vec<String> = names.keys().map(|file| shown(file)).collect();
    Ok(Ok(Source { name: files.join(" + "), text: text + &lines, fault: None }))
}

/// Rota requires one partition for all CPUs that no other partition has. If all CPUs of this
/// machine are named, the last partition becomes this one.
fn leave_the_rest(
    parts: &mut [Part],
    machine: &dyn Fn() -> Result<Machine, Stop>,
) -> Result<(), Stop> {
    let lists = parts.iter().map(|it| match &it.cpus {
        Cpus::List(list) => Some(list),
        Cpus::Words(_) => None,
    });
    let Some(lists) = lists.collect::<Option<Vec<_>>>() else { return Ok(()) };
    let named = lists.into_iter().fold(CpuSet::new(), |all, list| all.or(list));
    let left: CpuSet =
        CpuSet::first(machine()?.len()).iter().filter(|&cpu| !named.contains(cpu)).collect();
    if !left.is_empty() {
        let help = "assign these CPUs to a policy, or assign the `rest` of the CPUs: `b.rota=rest`";
        return Err(Stop::new(format!("no policy has the CPUs {left}"), help));
    }
    if let Some(last) = parts.last_mut() {
        last.cpus = Cpus::Words("rest".to_owned());
    }
    Ok(())
}

fn not_one(file: &Path, why: &str) -> Stop {
    let help = "give one file with `partition ...` lines, or files with one policy each";
    Stop::new(format!("{}: {why}", shown(file)), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: &str) -> Option<String> {
        let part = part(&word.into())?;
        let cpus = match part.cpus {
            Cpus::List(list) => format!("cpus {list}"),
            Cpus::Words(words) => words,
        };
        Some(format!("{}: on {cpus} for {}", part.file.display(), part.tasks))
    }

    #[test]
    fn a_word_names_a_file_its_cpus_and_its_tasks() {
        for (word, expected) in [
            ("a.rota=0-3", "a.rota: on cpus 0-3 for rest"),
            ("a.rota=0-3,7:web*", "a.rota: on cpus 0-3,7 for cgroup \"web*\""),
            ("a.rota=node1:command=nginx", "a.rota: on node 1 for command \"nginx\""),
            ("a=b.rota=rest:cgroup=x=y", "a=b.rota: on rest for cgroup \"x=y\""),
            ("a=nonsense", "a: on nonsense for rest"),
        ] {
            assert_eq!(said(word).as_deref(), Some(expected), "{word}");
        }
        assert_eq!((said("a.rota"), said("/proc/self/stat")), (None, None));
    }

    #[test]
    fn the_last_of_the_named_cpus_are_the_rest_if_none_is_left_over() {
        let eight = || Ok(Machine::flat(8));
        let parts = |words: &[&str]| -> Vec<Part> {
            words.iter().map(|word| part(&(*word).into()).expect("a part")).collect()
        };
        let mut whole = parts(&["a.rota=0-3", "b.rota=4-7"]);
        leave_the_rest(&mut whole, &eight).expect("all CPUs are named");
        assert!(matches!(&whole[1].cpus, Cpus::Words(words) if words == "rest"));
        assert!(leave_the_rest(&mut parts(&["a.rota=0-3", "b.rota=5-7"]), &eight).is_err());
        let mut open = parts(&["a.rota=0-3", "b.rota=rest"]);
        leave_the_rest(&mut open, &eight).expect("there is a rest");
        assert!(matches!(&open[0].cpus, Cpus::List(_)));
    }
}
