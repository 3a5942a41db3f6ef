//! hwloc's XML, versions 1 and 2, as `lstopo FILE.xml` writes it.
//!
//! Version 2 puts a node beside the objects that are local to it, version 1 puts it above them;
//! caches are `L3Cache` or `Cache` with a depth; older files call packages sockets. The position of
//! a CPU is read from the nesting alone.

use roxmltree::{Document, Node, ParsingOptions};
use wastenot_model::{CpuId, CpuSet, Machine};

use crate::{Error, NODE_LIMIT};
use wastenot_model::machine::draft::{DistanceRows, Draft, Place, TooLarge};

/// The maximum numbers of elements and attributes. A machine of 8192 CPUs takes about 50 000 and
/// 250 000; the parser reserves about 90 bytes for each before it reads any.
const PARTS: usize = 300_000;
/// The maximum number of attributes of one element: they are searched one by one.
const ATTRIBUTES: usize = 64;

/// Reads such a file.
pub(crate) fn read(file: &str, text: &str) -> Result<Machine, Error> {
    let broken = |line: Option<usize>, why: String| Error::Broken {
        file: file.into(),
        form: "hwloc XML",
        line,
        why,
    };
    refuse(text).map_err(|why| broken(None, why.into()))?;
    let options = ParsingOptions {
        // Every such file names its DTD; the DTD is not fetched.
        allow_dtd: true,
        nodes_limit: PARTS as u32,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| broken(Some(error.pos().row as usize), error.to_string()))?;
    let topology = document.root_element();
    if !topology.has_tag_name("topology") {
        return Err(Error::Unrecognised { file: file.into() });
    }
    let mut reader = Reader { draft: Draft::default(), nodes: Vec::new() };
    let capacities = capacities(topology);
    reader.objects(topology, &capacities).map_err(|fault| match fault {
        Fault::TooLarge(error) => Error::too_large(file)(error),
        Fault::Twice(cpu) => broken(None, format!("PU {cpu} is in the file twice")),
    })?;
    if reader.draft.is_empty() {
        return Err(broken(None, "the file has no PU".into()));
    }
    let mut machine = reader.draft.finish(&distances(topology, &reader.nodes));
    add_missing(&mut machine, topology);
    machine.name = info(topology, "HostName").unwrap_or_default().into();
    Ok(machine)
}

/// Refuses what no such file holds and what could harm a parser.
fn refuse(text: &str) -> Result<(), &'static str> {
    if text.contains("<!ENTITY") || text.contains("xmlns") {
        return Err("the file contains entities or namespaces, which are not supported");
    }
    let (mut tags, mut equals, mut attributes, mut quote) = (0, 0, 0, None);
    for byte in text.bytes() {
        match byte {
            b'<' => (tags, attributes, quote) = (tags + 1, 0, None),
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            b'"' | b'\'' if quote == Some(byte) => quote = None,
            b'=' => {
                equals += 1;
                attributes += usize::from(quote.is_none());
            }
            _ => {}
        }
        if tags > PARTS || equals > PARTS {
            return Err("the file has too many elements for a machine");
        }
        if attributes > ATTRIBUTES {
            return Err("an element has too many attributes");
        }
    }
    Ok(())
}

struct Reader {
    draft: Draft<u32>,
    /// The numbers of the nodes, in the order of the file.
    nodes: Vec<usize>,
}

enum Fault {
    TooLarge(TooLarge),
    Twice(usize),
}

/// The objects around an object: elements by their number in the document.
#[derive(Clone, Copy, Default)]
struct Around {
    package: Option<u32>,
    core: Option<u32>,
    /// The level and element of the outermost cache.
    cache: Option<(u32, u32)>,
    node: Option<usize>,
}

impl Reader {
    /// Places every PU, at any depth.
    fn objects(&mut self, topology: Node<'_, '_>, capacities: &[u16]) -> Result<(), Fault> {
        let mut stack = vec![(topology, Around::default())];
        while let Some((element, mut around)) = stack.pop() {
            let id = element.id().get();
            match kind(element) {
                Kind::Package => around.package = Some(id),
                Kind::Core => around.core = Some(id),
                Kind::Cache(level) => around.cache = around.cache.max(Some((level, id))),
                Kind::Node => {
                    let number = os_index(element);
                    self.nodes.extend(number);
                    around.node = number.or(around.node);
                }
                Kind::Pu => self.place(element, around, capacities)?,
                Kind::Other => {}
            }
            // The first node beside the children is their node.
            around.node = element.children().find_map(hanging).or(around.node);
            let children: Vec<Node<'_, '_>> =
                element.children().filter(|child| child.has_tag_name("object")).collect();
            stack.extend(children.into_iter().rev().map(|child| (child, around)));
        }
        Ok(())
    }

    fn place(
        &mut self,
        element: Node<'_, '_>,
        around: Around,
        capacities: &[u16],
    ) -> Result<(), Fault> {
        let Some(cpu) = os_index(element) else { return Ok(()) };
        let place = Place {
            core: around.core,
            llc: around.cache.map(|(_, id)| id),
            package: around.package,
            node: around.node,
            capacity: capacities.get(cpu).copied().unwrap_or(Machine::unknown_cpu().capacity),
            ..Place::default()
        };
        match self.draft.place(cpu, place) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::Twice(cpu)),
            Err(error) => Err(Fault::TooLarge(error)),
        }
    }
}

/// The kind of an `<object>`.
enum Kind {
    Package,
    Core,
    /// A cache for data, and its level.
    Cache(u32),
    Node,
    Pu,
    Other,
}

fn kind(element: Node<'_, '_>) -> Kind {
    let level = |text: Option<&str>| text.and_then(|level| level.parse().ok());
    match element.attribute("type").unwrap_or("") {
        "Package" | "Socket" => Kind::Package,
        "Core" => Kind::Core,
        "NUMANode" | "Node" => Kind::Node,
        "PU" => Kind::Pu,
        cache if cache.ends_with("iCache") => Kind::Other,
        // In version 1, cache_type 2 is an instruction cache.
        "Cache" if element.attribute("cache_type") != Some("2") => {
            level(element.attribute("depth")).map_or(Kind::Other, Kind::Cache)
        }
        cache => {
            let number = cache.strip_prefix('L').and_then(|rest| rest.strip_suffix("Cache"));
            level(number).map_or(Kind::Other, Kind::Cache)
        }
    }
}

/// The number of a node that stands beside its siblings: it holds no object. A memory-side cache
/// may stand in between.
fn hanging(mut element: Node<'_, '_>) -> Option<usize> {
    let objects = |element: Node<'_, '_>| element.children().any(|c| c.has_tag_name("object"));
    for _ in 0..4 {
        match kind(element) {
            Kind::Node if !objects(element) => return os_index(element),
            _ if element.attribute("type") == Some("MemCache") => {
                element = element.children().find(|child| child.has_tag_name("object"))?;
            }
            _ => return None,
        }
    }
    None
}

fn os_index(element: Node<'_, '_>) -> Option<usize> {
    element.attribute("os_index")?.parse().ok()
}

/// The value of the first `<info>` of that name near the root.
fn info<'a>(topology: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let machine = topology.children().find(|child| child.has_tag_name("object"))?;
    let infos = machine.children().chain(topology.children());
    let mut infos = infos.filter(|child| child.has_tag_name("info"));
    infos.find(|info| info.attribute("name") == Some(name))?.attribute("value")
}

/// Capacities by CPU, from `<cpukind>` (hwloc 2.4 and later).
fn capacities(topology: Node<'_, '_>) -> Vec<u16> {
    let full = Machine::unknown_cpu().capacity;
    let mut capacities = Vec::new();
    for kind in topology.children().filter(|child| child.has_tag_name("cpukind")) {
        let mut infos = kind.children();
        let info = infos.find(|info| info.attribute("name") == Some("LinuxCapacity"));
        let capacity = info.and_then(|info| info.attribute("value")?.parse::<u16>().ok());
        let cpus = kind.attribute("cpuset").and_then(CpuSet::from_hex);
        if let (Some(capacity), Some(cpus)) = (capacity, cpus) {
            capacities.resize(CpuId::LIMIT, full);
            cpus.iter().for_each(|cpu| capacities[cpu.index()] = capacity.min(full));
        }
    }
    capacities
}

/// CPUs that the machine has according to the file and that have no PU: offline, or hidden from the
/// process that asked; in either case their properties are unknown.
fn add_missing(machine: &mut Machine, topology: Node<'_, '_>) {
    let root = topology.children().find(|child| child.has_tag_name("object"));
    let complete =
        root.and_then(|root| root.attribute("complete_cpuset")).and_then(CpuSet::from_hex);
    let len = complete.and_then(|cpus| cpus.iter().last()).map_or(0, |last| last.index() + 1);
    while machine.len() < len {
        machine.cpus.push(wastenot_model::Cpu { online: false, ..Machine::unknown_cpu() });
    }
}

/// Latencies between nodes: `<distances2>`, or `<distances>` in version 1.
fn distances(topology: Node<'_, '_>, nodes: &[usize]) -> DistanceRows {
    let v1 = topology.descendants().filter(|element| element.has_tag_name("distances"));
    let v2 = topology.children().filter(|element| element.has_tag_name("distances2"));
    let found = v2.filter_map(matrix_v2).chain(v1.filter_map(|element| matrix_v1(element, nodes)));
    let (indexes, values) = found.into_iter().next().unwrap_or_default();
    let mut rows = DistanceRows::new();
    for (row, from) in values.chunks_exact(indexes.len().max(1)).zip(&indexes) {
        rows.insert(*from, indexes.iter().copied().zip(row.iter().copied()).collect());
    }
    rows
}

/// Nodes, and the distances between them row by row.
type Matrix = (Vec<usize>, Vec<u32>);

fn matrix_v2(element: Node<'_, '_>) -> Option<Matrix> {
    // hwloc/distances.h: bit 2 of the kind is latency, bit 3 bandwidth.
    let latency = element.attribute("kind")?.parse::<u32>().ok()? & 4 != 0;
    let nodes = element.attribute("type") == Some("NUMANode");
    if !latency || !nodes || element.attribute("indexing") != Some("os") {
        return None;
    }
    let indexes = numbers(element, "indexes")?;
    let values = numbers(element, "u64values")?;
    let fits = indexes.len().checked_mul(indexes.len()) == Some(values.len());
    (fits && indexes.len() <= NODE_LIMIT).then_some((indexes, values))
}

fn matrix_v1(element: Node<'_, '_>, nodes: &[usize]) -> Option<Matrix> {
    let base: f64 = element.attribute("latency_base")?.parse().ok()?;
    let count: usize = element.attribute("nbobjs")?.parse().ok()?;
    // The objects of a matrix are given by depth; a count that fits only nodes identifies them as
    // well.
    if count != nodes.len() {
        return None;
    }
    let latencies = element.children().filter(|child| child.has_tag_name("latency"));
    let values: Option<Vec<u32>> = latencies
        .map(|latency| latency.attribute("value")?.parse().ok())
        .map(|value| value.map(|value: f64| (value * base).round() as u32))
        .collect();
    let values = values?;
    let fits = count.checked_mul(count) == Some(values.len()) && count <= NODE_LIMIT;
    fits.then(|| (nodes.to_vec(), values))
}

/// The numbers in all elements of that name; hwloc writes ten numbers into each.
fn numbers<N: std::str::FromStr>(element: Node<'_, '_>, name: &str) -> Option<Vec<N>> {
    let parts = element.children().filter(|child| child.has_tag_name(name));
    let words = parts.filter_map(|part| part.text()).flat_map(str::split_whitespace);
    words.map(|word| word.parse().ok()).collect()
}
