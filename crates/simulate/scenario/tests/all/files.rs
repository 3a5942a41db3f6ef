//! Files that tools write: one machine, described by each tool.

use wastenot_model::machine::draft::Undescribed;
use wastenot_model::machine::from_sys;
use wastenot_model::{Distance, Help, Machine};
use wastenot_scenario::machine_from;

const SYS: &str = include_str!("../data/interleaved.sys.txt");

fn read(name: &str, content: &str) -> Machine {
    machine_from(name, content.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The machine without the properties that only some of the tools give.
fn without(machine: &Machine, capacity: bool) -> Machine {
    let mut rest = machine.clone();
    for cpu in &mut rest.cpus {
        cpu.isolated = false;
        cpu.capacity = if capacity { cpu.capacity } else { 1024 };
    }
    rest
}

#[test]
fn a_snapshot_of_sys_tells_all() {
    let machine = read("sys", SYS);
    assert_eq!(machine.len(), 16);
    let cpu = machine.cpus[11];
    assert_eq!((cpu.node, cpu.package, cpu.capacity), (Some(3), Some(1), 512));
    assert_eq!(machine.sharing(wastenot_model::CpuId(3), |cpu| cpu.core).to_string(), "3,11");
    assert_eq!(machine.sharing(wastenot_model::CpuId(3), |cpu| cpu.llc).to_string(), "3,7,11,15");
    let isolated: Vec<usize> = (0..16).filter(|&cpu| machine.cpus[cpu].isolated).collect();
    assert_eq!((isolated, machine.online().to_string()), (vec![3, 11], "0-12,14-15".into()));
    assert_eq!(machine.cpus[13].core, None);
    let distances = machine.distances.clone().expect("distances");
    assert_eq!(distances[1], [12, 10, 22, 24]);
    let (a, b) = (wastenot_model::CpuId(0), wastenot_model::CpuId(4));
    assert_eq!(machine.distance(a, b), Distance::Llc);
}

#[test]
fn all_tools_tell_the_same_machine() {
    let sys = read("sys", SYS);
    for (name, xml) in [
        ("v1", include_str!("../data/interleaved.v1.xml")),
        ("v2", include_str!("../data/interleaved.v2.xml")),
    ] {
        // Version 1 has no kinds of CPUs.
        let told = without(&sys, name == "v2");
        assert_eq!(read(name, xml), told, "{name}");
    }
    let mut told = without(&sys, false);
    told.distances = None;
    assert_eq!(read("lscpu", include_str!("../data/interleaved.lscpu.txt")), told);
    let physical = include_str!("../data/interleaved.lscpu-physical.txt");
    assert_eq!(read("lscpu --physical", physical), told);
}

#[test]
fn the_host_is_read_as_a_snapshot_of_it_is() {
    let file = |path: &str| {
        let line =
            SYS.lines().find(|line| line.starts_with(path) && line[path.len()..].starts_with(':'));
        line.map(|line| format!("{}\n", &line[path.len() + 1..]))
    };
    assert_eq!(from_sys(file).expect("reads"), read("sys", SYS));
    assert!(matches!(from_sys(|_| None), Err(Undescribed::NoCpus)));
}

#[test]
fn a_snapshot_without_the_lists_is_read_by_its_paths() {
    let lists = ["cpu/online:", "cpu/present:", "cpu/possible:", "node/online:"];
    let rest: Vec<&str> =
        SYS.lines().filter(|line| !lists.iter().any(|list| line.contains(list))).collect();
    assert_eq!(read("some", &rest.join("\n")), read("sys", SYS));
}

#[test]
fn sysfs_without_numa_caches_or_package_leaves_them_unknown() {
    let arm = "/sys/devices/system/cpu/present:0-1\n\
               /sys/devices/system/cpu/cpu0/topology/physical_package_id:-1\n\
               /sys/devices/system/cpu/cpu0/topology/thread_siblings_list:0\n\
               /sys/devices/system/cpu/cpu1/topology/thread_siblings_list:1\n";
    let machine = read("arm", arm);
    assert_eq!((machine.count(|cpu| cpu.core), machine.node_count()), (2, 0));
    assert!(machine.cpus.iter().all(|cpu| cpu.package.is_none() && cpu.llc.is_none()));
}

#[test]
fn nodes_keep_their_numbers_and_a_node_without_distance_leaves_them_unknown() {
    let sparse = "/sys/devices/system/cpu/online:0-1\n\
                  /sys/devices/system/node/online:0,8\n\
                  /sys/devices/system/node/node0/cpulist:0\n\
                  /sys/devices/system/node/node8/cpulist:1\n\
                  /sys/devices/system/node/node0/distance:10 40\n";
    let machine = read("sparse", sparse);
    assert_eq!((machine.cpus[1].node, machine.distances.as_ref()), (Some(8), None));
    let whole = format!("{sparse}/sys/devices/system/node/node8/distance:40 10\n");
    let machine = read("whole", &whole);
    assert_eq!((machine.node_distance(0, 8), machine.node_distance(3, 4)), (Some(40), Some(255)));
}

#[test]
fn lscpu_columns_go_by_name() {
    let text = "# Core,CPU,SOCKET\r\n0,1,0\r\n0,0,0\r\n\r\n";
    let machine = read("lscpu", text);
    assert_eq!((machine.len(), machine.count(|cpu| cpu.core)), (2, 1));
    assert_eq!(machine.node_count(), 0);
    let offline = read("lscpu", "# CPU,Core\n0,0\n1,-\n");
    assert!(!offline.cpus[1].online);
}

#[test]
fn broken_files_are_told_with_their_line() {
    for (content, expected) in [
        ("# CPU,Core\n0,0\n0,0\n", "x: lscpu -p: CPU 0 is in the file twice (line 3)"),
        ("# CPU,Core\n0,0\nz,0\n", "x: lscpu -p: the row has no CPU number (line 3)"),
        (
            "# a comment\n0,0\n",
            "x: lscpu -p: the comment that names the columns (# CPU,Core,...) is missing (line 2)",
        ),
        ("# CPU,Core\n", "x: lscpu -p: the file has no CPU"),
        ("<topology></topology>", "x: hwloc XML: the file has no PU"),
        (
            "<topology>\n<object></topology>",
            "x: hwloc XML: expected 'object' tag, not 'topology' at 2:9 (line 2)",
        ),
        ("<svg/>", "x: the file does not describe a machine in a known format"),
        ("hello", "x: the file does not describe a machine in a known format"),
        ("", "x: the file does not describe a machine in a known format"),
        (
            "/sys/devices/system/cpu/online:0-x\n",
            "x: /sys: /sys/devices/system/cpu/online: `0-x` is not a valid list of CPUs",
        ),
        (
            "/sys/devices/system/cpu/vulnerabilities/l1tf:Not affected\n",
            "x: the file does not describe a machine in a known format",
        ),
    ] {
        let error = machine_from("x", content.as_bytes()).expect_err(content);
        assert_eq!(error.to_string(), expected);
        assert!(error.help().contains("lscpu -p > FILE"), "{}", error.help());
    }
    let large = machine_from("x", b"# CPU\n9999\n").expect_err("too many CPUs");
    assert_eq!(large.to_string(), "the machine `x` has more than 8192 CPUs");
}

#[test]
fn hwloc_tells_the_host_capacities_and_nodes_behind_a_cache_of_memory() {
    let xml = r#"<topology version="2.0"><info name="HostName" value="host7"/>
        <object type="Machine" os_index="0" complete_cpuset="0x00000003,0x00000001">
          <object type="MemCache"><object type="NUMANode" os_index="4"/></object>
          <object type="NUMANode" os_index="5"/>
          <object type="PU" os_index="0"/><object type="PU" os_index="32"/>
        </object>
        <cpukind cpuset="0x00000001,0x0"><info name="LinuxCapacity" value="300"/></cpukind>
        </topology>"#;
    let machine = read("xml", xml);
    assert_eq!((machine.name.as_str(), machine.len()), ("host7", 34));
    assert_eq!((machine.cpus[0].capacity, machine.cpus[32].capacity), (1024, 300));
    assert_eq!((machine.cpus[0].node, machine.online().to_string()), (Some(4), "0,32".into()));
}
