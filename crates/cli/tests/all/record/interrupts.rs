//! What interrupts and softirqs take from CPUs that seem idle, recorded here.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};

use super::held::{agree, check, check_with, lost, ns, window};
use super::machine;
use super::witness::{self, Crew, Tracefs, Undone, common, in_idle_states, served, sum, waking};
use crate::shell::{Desk, said};

const EVENTS: [&str; 8] = [
    "sched/sched_switch",
    "sched/sched_wakeup",
    "sched/sched_migrate_task",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "power/cpu_idle",
];

/// How often a packet is sent, ns.
const TURN: u64 = 500_000;
/// How many sockets get a copy of each, one after the other in one softirq.
const COPIES: usize = 400;

/// A socket that gets what is sent to all.
fn listener(port: u16) -> UdpSocket {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).expect("a socket");
    sockopt::set_socket_reuseaddr(&socket, true).expect("an option");
    sockopt::set_socket_recv_buffer_size(&socket, 4096).expect("an option");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)).expect("a free port");
    socket.into()
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_task_that_starts_late_because_of_softirqs_does_so_for_as_long_as_the_kernel_says() {
    let test = "a_task_that_starts_late_because_of_softirqs_does_so_for_as_long_as_the_kernel_says";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    // What comes through the loopback device is received on CPU 1.
    let file = Path::new("/sys/class/net/lo/queues/rx-0/rps_cpus");
    let saved = desk.path().join("rps_cpus");
    let steered = Undone::after(test, "cat $0 >$1 && echo 2 >$0", "cat $1 >$0", [file, &saved]);
    let Some(_steered) = steered else { return };
    let Some(tracefs) = Tracefs::begin(test, &desk, &EVENTS) else { return };
    let mut sockets = vec![listener(0)];
    let port = sockets[0].local_addr().expect("an address").port();
    sockets.extend((1..COPIES).map(|_| listener(port)));
    // The kernel begins at one end or the other, with the last one but one.
    let ends = [sockets.swap_remove(COPIES - 2), sockets.swap_remove(1)];
    let from = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    from.set_broadcast(true).expect("an option");
    let mut crew = Crew::new();
    let mut due = witness::now();
    crew.add(
        "wnsend",
        || witness::bind(&[0]),
        move || {
            due = due.max(witness::now()) + TURN;
            witness::sleep_until(due);
            let _ = from.send_to(&[0; 64], (Ipv4Addr::new(127, 255, 255, 255), port));
            Vec::new()
        },
    );
    for socket in ends {
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("an option");
        let receive = move || {
            let _ = socket.recv(&mut [0; 64]);
            Vec::new()
        };
        crew.add("wnlate", || witness::bind(&[1]), receive);
    }
    let (text, code) = said(&desk.bash("sleep 0.2; wastenot record -o a.wn --interrupts --for 2s"));
    crew.dismiss(0);
    drop(sockets);
    assert_eq!(code, 0, "{text}");
    let rows = tracefs.end();
    let json = check(&desk);
    let (mut late, mut all, mut slept, mut told) = (0, 0, 0, 0);
    let states = json["idle_states"].as_array().expect("a table");
    for cpu in 0..2 {
        let served = common(&served(&rows, cpu), &window(&json));
        late += sum(&common(&served, &waking(&rows, cpu, "wnlate")));
        all += sum(&served);
        let idle = common(&in_idle_states(&rows, cpu), &window(&json));
        // On some guests tracefs has no idle states of some CPUs.
        if !idle.is_empty() {
            slept += sum(&idle) - sum(&common(&idle, &served));
            let of_cpu = states.iter().filter(|row| ns(row, &["cpu"]) == cpu as u64);
            told += of_cpu.map(|row| ns(row, &["idle_ns"])).sum::<u64>();
        }
    }
    agree(test, ns(&json, &["interrupts", "cpu_ns"]), all, &json);
    agree(test, told, slept, &json);
    // Others wait meanwhile, too, some of them bound to CPU 0.
    let json = check_with(&desk, "--task wnlate");
    agree(test, lost(&json, "host/interrupts"), late, &json);
}
