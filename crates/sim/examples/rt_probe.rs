use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Span, Time};
use wastenot_sim::edf::{Design, Mailboxes, Order, Profile, Real, Tie, run};
use wastenot_sim::{Options, Overhead, Spin};
fn main() {
    let until_us: u64 = std::env::args().nth(1).map_or(200_000, |it| it.parse().unwrap());
    for sockets in [1u32, 2, 4, 8] {
        let cpus = sockets * 8;
        let machine =
            wastenot_scenario::machine(&format!("pack:{sockets} numa:1 l3:1 core:8 pu:1")).unwrap();
        let mut random = Random::stream(1, 0, 0);
        let n = cpus * 4;
        let tasks: Vec<_> = (0..n)
            .map(|_| {
                let p = 10_000 + random.below(90_000);
                Sporadic::implicit((p as f64 * 0.12) as u64 + random.below(p / 10), p)
            })
            .collect();
        let tasks = TaskSet::new(tasks).unwrap();
        for (name, design) in [
            ("gsn", Design::Coarse { master: false }),
            ("gsn-m", Design::Coarse { master: true }),
            ("dl", Design::PerCpu { master: false, spare: Some(Span::ms(1)) }),
            ("dl-m", Design::PerCpu { master: true, spare: Some(Span::ms(1)) }),
            ("mp", Design::Messages(Mailboxes::Shared(8))),
            ("mp-own", Design::Messages(Mailboxes::Own)),
        ] {
            for spin in [Spin::Ticket, Spin::Own] {
                let profile = Profile { spin, ..Profile::X7550_ASSUMED };
                let real = Real {
                    design: design.clone(),
                    order: Order::Deadline,
                    tie: Tie::First,
                    profile,
                };
                let options = Options { limit: Time(until_us * 1000), ..Options::default() };
                let (mut jobs, mut missed) = (0u64, 0u64);
                let start = std::time::Instant::now();
                let (history, outcome, seen) = {
                    let periods: Vec<u64> = tasks.iter().map(|t| t.period_us).collect();
                    run(
                        &machine,
                        &tasks,
                        &real,
                        &options,
                        move |t, l| l.map_or(0, |l| l + periods[t as usize]),
                        |done| {
                            jobs += 1;
                            missed += u64::from(done.at_us > done.deadline_us);
                        },
                    )
                };
                let took = start.elapsed().as_secs_f64();
                print!(
                    "{cpus:3} {name:7} {spin:?} {:?} jobs {jobs} missed {missed} {:.2} Mjobs/s rows {} transfers {} ",
                    outcome.end,
                    jobs as f64 / took / 1e6,
                    history.len(),
                    seen.transfers
                );
                for kind in Overhead::ALL {
                    let s = seen.seen(kind);
                    print!(
                        " {}={:.1}/{:.1}({})",
                        kind.name(),
                        s.max.0 as f64 / 1e3,
                        s.mean().0 as f64 / 1e3,
                        s.count
                    );
                }
                let c = seen.locks.iter().map(|l| l.contenders_max).max().unwrap();
                let w = seen.locks.iter().map(|l| l.wait_max.0).max().unwrap();
                println!(
                    "  contenders {c} wait {:.1} taken {} writers {:?}",
                    w as f64 / 1e3,
                    seen.locks.iter().map(|l| l.taken).sum::<u64>(),
                    seen.mailbox_writers.iter().max()
                );
            }
        }
    }
}
