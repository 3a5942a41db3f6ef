//! What the verifier said, among the messages of libbpf.

/// A program that the verifier refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The program.
    pub program: String,
    /// The line of its log that decides, and the line of C before it.
    pub why: String,
    /// The log up to that line, as far as it is there.
    pub log: Vec<String>,
}

impl Refusal {
    /// The last one among the messages of libbpf, if any.
    pub fn of(said: &str) -> Option<Refusal> {
        let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
        let refused = |line: &&str| {
            let rest = line.strip_prefix("libbpf: prog '")?;
            let (program, rest) = rest.split_once('\'')?;
            rest.contains("load").then(|| program.to_owned())
        };
        let program = lines.iter().rev().find_map(refused)?;
        let end = lines.iter().rposition(|line| line.contains("END PROG LOAD LOG --"))?;
        let begin = lines[..end].iter().rposition(|it| it.contains("BEGIN PROG LOAD LOG --"));
        let log = &lines[begin.map_or(0, |at| at + 1)..end];
        // From 7.3 on an explanation follows the line that decides.
        let explained = log.iter().rposition(|line| line.starts_with("Verification failed:"));
        let is_word = |line: &&str| !line.is_empty() && !line.starts_with("processed ");
        let at = log[..explained.unwrap_or(log.len())].iter().rposition(is_word)?;
        let source = log[..at].iter().rev().find_map(|line| line.strip_prefix("; "));
        let source = source.map_or(String::new(), |it| format!(", at `{it}`"));
        let why = format!("{}{source}", log[at]);
        let log = log[..=at].iter().map(|it| (*it).to_owned()).collect();
        Some(Refusal { program, why, log })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_program_and_the_line_that_decides() {
        let old = "libbpf: prog 'foo_init': BPF program load failed: -EINVAL\n\
                   libbpf: prog 'foo_init': -- BEGIN PROG LOAD LOG --\n\
                   179: (b4) w4 = -1 ; R4=0xffffffff\n\
                   ; page = take(&arena, @ foo.bpf.c:112\n\
                   181: (85) call take#5\n\
                   function calls are not allowed while holding a lock\n\
                   processed 461 insns (limit 1000000) max_states_per_insn 4\n\
                   -- END PROG LOAD LOG --\n\
                   libbpf: prog 'foo_init': failed to load: -EINVAL\n\
                   libbpf: failed to load object 'scx_foo'\n\
                   Failed to load skel\n";
        let refusal = Refusal::of(old).expect("a refusal");
        assert_eq!(refusal.program, "foo_init");
        assert_eq!(
            refusal.why,
            "function calls are not allowed while holding a lock, at `page = take(&arena, @ \
             foo.bpf.c:112`"
        );
        assert_eq!(refusal.log.len(), 4);
        let new = old.replace(
            "processed 461",
            "\nVerification failed: Locks\n\nReason:\n  A lock is held.\n\nprocessed 461",
        );
        assert_eq!(Refusal::of(&new), Some(refusal));
        let cut = &old[old.find("181").expect("a line")..];
        let cut = Refusal::of(cut).expect("a refusal");
        assert!(cut.why.starts_with("function calls"), "{cut:?}");
        assert_eq!(Refusal::of("libbpf: failed to find valid kernel BTF\n"), None);
    }
}
