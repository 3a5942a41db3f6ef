//! Programs of Debian that do the work, and what their errors mean.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use super::Error;

/// A program of apt or dpkg.
#[derive(Clone, Copy)]
pub(super) enum Tool {
    /// Reads lists.
    AptGet,
    /// Answers from them.
    AptCache,
    /// Downloads a file as apt does, and checks it.
    AptHelper,
    /// Unpacks packages.
    DpkgDeb,
}

impl Tool {
    fn path(self) -> &'static str {
        match self {
            Tool::AptGet => "apt-get",
            Tool::AptCache => "apt-cache",
            Tool::AptHelper => "/usr/lib/apt/apt-helper",
            Tool::DpkgDeb => "dpkg-deb",
        }
    }

    /// What it is asked for.
    fn doing(self) -> &'static str {
        match self {
            Tool::AptGet => "read the lists of Debian's archive",
            Tool::AptCache => "search the lists of Debian's archive",
            Tool::AptHelper => "download a kernel",
            Tool::DpkgDeb => "unpack a kernel",
        }
    }

    /// What its errors mean.
    pub(super) fn failure(self, errors: &str) -> Error {
        let about = |words: &[&str]| {
            let says = |line: &&str| words.iter().any(|words| line.contains(words));
            errors.lines().find(says).map(|line| plain(line).to_owned())
        };
        if let Some(why) = about(&["No space left on device", "Disk quota exceeded"]) {
            return Error::NoSpace { why };
        }
        if let Some(why) = about(&["Permission denied", "Read-only file system"]) {
            return Error::NotAllowed { why };
        }
        if let Some(why) = about(&NO_NETWORK) {
            return Error::NoNetwork { why };
        }
        let lines = || errors.lines().filter(|line| !line.trim().is_empty());
        let first = lines().find(|line| !line.starts_with("W: ")).or_else(|| lines().next());
        let why = plain(first.unwrap_or("it printed no message")).to_owned();
        Error::Failed { doing: self.doing(), why }
    }
}

/// What apt says if the server does not answer.
const NO_NETWORK: [&str; 7] = [
    "Could not resolve",
    "Temporary failure resolving",
    "Could not connect",
    "Unable to connect",
    "Cannot initiate the connection",
    "Connection timed out",
    "Connection failed",
];

/// What a program said.
pub(super) struct Said {
    /// Whether it succeeded.
    pub(super) is_good: bool,
    /// What it wrote to its output.
    pub(super) text: String,
    /// Its warnings and errors.
    pub(super) errors: String,
}

/// What a program says, if it succeeds. It keeps `input` open as long as it runs.
pub(super) fn run<T: AsRef<OsStr>>(
    tool: Tool,
    args: impl IntoIterator<Item = T>,
    input: Stdio,
) -> Result<String, Error> {
    let said = output(tool, args, input)?;
    if said.is_good { Ok(said.text) } else { Err(tool.failure(&said.errors)) }
}

/// What a program says, whether it succeeds or not. It keeps `input` open as long as it runs.
pub(super) fn output<T: AsRef<OsStr>>(
    tool: Tool,
    args: impl IntoIterator<Item = T>,
    input: Stdio,
) -> Result<Said, Error> {
    let mut command = Command::new(tool.path());
    // Its words are searched: they must not be translated.
    command.args(args).env("LC_ALL", "C").stdin(input);
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::Missing { tool: tool.path() },
        _ => Error::Failed { doing: tool.doing(), why: error.to_string() },
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (is_good, errors) = (output.status.success(), text(&output.stderr));
    Ok(Said { is_good, text: text(&output.stdout), errors })
}

/// A line of apt without its letter.
pub(super) fn plain(line: &str) -> &str {
    line.trim_start_matches("W: ").trim_start_matches("E: ").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let of = |errors: &str| Tool::AptHelper.failure(errors);
        let full = of("E: Failed to fetch http://m/k.deb  Error writing to file - write (28: No \
                       space left on device)\nE: Download Failed\n");
        assert!(matches!(&full, Error::NoSpace { why } if why.contains("k.deb")), "{full}");
        let away =
            of("W: Failed to fetch http://m/InRelease  Could not resolve 'm'\nW: Some index \
                       files failed to download.\n");
        assert!(matches!(&away, Error::NoNetwork { why } if why.ends_with("'m'")), "{away}");
        let closed = of("E: Could not open lock file /k/lock - open (13: Permission denied)\n");
        assert!(matches!(closed, Error::NotAllowed { .. }), "{closed}");
        let bad =
            of("W: an unrelated warning\nE: Failed to fetch http://m/k.deb  Hash Sum mismatch");
        assert_eq!(
            bad.to_string(),
            "cannot download a kernel: Failed to fetch http://m/k.deb  Hash Sum mismatch"
        );
        assert_eq!(of("").to_string(), "cannot download a kernel: it printed no message");
    }

    #[test]
    fn words_are_read_as_written() {
        let said = output(Tool::DpkgDeb, ["--nonsense"], Stdio::null());
        match said {
            Ok(said) => assert!(!said.is_good && said.errors.contains("nonsense")),
            Err(missing) => assert!(matches!(missing, Error::Missing { tool: "dpkg-deb" })),
        }
    }
}
