//! The output of `lscpu -p`: comma-separated rows below a comment with the column names.

use wastenot_model::Machine;

use crate::Error;
use wastenot_model::machine::draft::{DistanceRows, Draft, Place};

const FORM: &str = "lscpu -p";

/// The maximum number of columns; lscpu has about twenty.
const COLUMNS: usize = 64;

/// The key of a core, cache or package. `lscpu -p` prints core numbers that are unique on the
/// machine, but with `--physical` only within a socket.
type Key = (Option<usize>, Option<usize>, usize);

/// Reads the output; CPUs that are missing (without `-a`, the offline ones) are offline.
pub(crate) fn read(file: &str, text: &str) -> Result<Machine, Error> {
    let broken = |line, why: String| Error::Broken { file: file.into(), form: FORM, line, why };
    let mut columns: Option<Columns> = None;
    let mut draft: Draft<Key> = Draft::default();
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), Some(index + 1));
        if let Some(comment) = line.strip_prefix('#') {
            columns = Columns::named(comment).or(columns);
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let Some(columns) = &columns else {
            let why = "the comment that names the columns (# CPU,Core,...) is missing".into();
            return Err(broken(number, why));
        };
        let fields: Vec<&str> = line.split(',').take(COLUMNS).map(str::trim).collect();
        let cpu = columns.number(&fields, columns.cpu);
        let Some(cpu) = cpu else {
            return Err(broken(number, "the row has no CPU number".into()));
        };
        if !draft.place(cpu, columns.place(&fields)).map_err(Error::too_large(file))? {
            return Err(broken(number, format!("CPU {cpu} is in the file twice")));
        }
    }
    if draft.is_empty() {
        return Err(broken(None, "the file has no CPU".into()));
    }
    Ok(draft.finish(&DistanceRows::new()))
}

/// The positions of the columns in use.
#[derive(Debug, Default)]
struct Columns {
    cpu: Option<usize>,
    core: Option<usize>,
    socket: Option<usize>,
    node: Option<usize>,
    /// The data cache of the highest level.
    llc: Option<usize>,
    online: Option<usize>,
}

impl Columns {
    /// The columns in a comment like ` CPU,Core,Socket,Node,,L1d,L1i,L2,L3`. Upper and lower case
    /// in names vary between versions of util-linux.
    fn named(comment: &str) -> Option<Columns> {
        let names: Vec<String> =
            comment.split(',').take(COLUMNS).map(|n| n.trim().to_lowercase()).collect();
        let position = |name: &str| names.iter().position(|other| other == name);
        let cpu = Some(position("cpu")?);
        let llc = ["l4", "l3", "l2", "l1d"].iter().find_map(|name| position(name));
        let [core, socket, node, online] = ["core", "socket", "node", "online"].map(position);
        Some(Columns { cpu, core, socket, node, llc, online })
    }

    fn number(&self, fields: &[&str], column: Option<usize>) -> Option<usize> {
        fields.get(column?)?.parse().ok()
    }

    fn place(&self, fields: &[&str]) -> Place<Key> {
        let number = |column| self.number(fields, column);
        let (socket, node) = (number(self.socket), number(self.node));
        // The row of an offline CPU has dashes for unknown values, and with `--physical` fewer
        // fields: its `N` then stands before its column.
        let online = match self.online {
            Some(_) => !fields.iter().any(|field| field.eq_ignore_ascii_case("n")),
            None => self.core.is_none_or(|column| fields.get(column) != Some(&"-")),
        };
        Place {
            core: number(self.core).map(|core| (socket, node, core)),
            llc: number(self.llc).map(|llc| (None, None, llc)),
            package: socket.map(|socket| (None, None, socket)),
            node,
            online,
            ..Place::default()
        }
    }
}
