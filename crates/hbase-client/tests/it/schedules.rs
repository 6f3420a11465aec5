//! Several clients with rows of their own, while a schedule changes the cluster at random.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fake_hbase::{Cluster, Kind, Schedule};
use hbase_client::{Client, Registry};

use crate::scripted::run;
use crate::steps::{ScanStep, Step};
use crate::world::World;

const STEPS: u32 = 60;
/// The changes end at some time: a client that waits long between its tries meets another one at each of them.
const CHANGES: u32 = 300;

fn random_step(random: &mut fastrand::Rng) -> Step {
    let row = random.u8(0..40);
    match random.u8(0..12) {
        0 | 1 => Step::Get(row),
        2 | 3 => Step::Put(row, random.u8(..)),
        4 => Step::Delete(row),
        5 => Step::PutIfAbsent(row, random.u8(..)),
        6 => Step::PutIfThere(row, random.u8(..)),
        7 => Step::Increment(row, random.i8(..)),
        8 | 9 => {
            let count = random.u8(1..20);
            Step::Multi((0..count).map(|_| (random.u8(0..40), random.bool().then(|| random.u8(..)))).collect())
        }
        _ => {
            let other = random.u8(0..40);
            Step::Scan(ScanStep {
                from: row.min(other),
                to: row.max(other),
                reversed: random.bool(),
                limit: (random.u8(0..3) == 0).then(|| random.u8(1..20)),
                rows_per_call: random.u8(1..12),
                disturbances: Vec::new(),
            })
        }
    }
}

/// Clients work on one table until each has done its steps. Every read gives what the client knows.
fn work(seed: u64, kinds: &'static [Kind]) {
    run(async move {
        let cluster = Arc::new(Cluster::start(3).unwrap());
        cluster.create_table("t", &["f"], &[b"b", b"c", b"c020"]).unwrap();
        let master = cluster.master();
        let client = Client::new(Registry::servers([master.as_str()]).unwrap());
        let table = client.table_named("t").unwrap();
        let clients: Vec<_> = ['a', 'b', 'c']
            .into_iter()
            .map(|prefix| {
                let mut world = World::of(Arc::clone(&cluster), table.clone(), prefix);
                let mut random = fastrand::Rng::with_seed(seed ^ u64::from(prefix));
                tokio::spawn(async move {
                    for _ in 0..STEPS {
                        world.take(random_step(&mut random)).await;
                    }
                    world
                })
            })
            .collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, changed) = (Arc::clone(&is_over), Arc::clone(&cluster));
        let changes = tokio::spawn(async move {
            let mut schedule = Schedule::new(seed, "t", kinds);
            for _ in 0..CHANGES {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                schedule.step(&changed);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            schedule.settle(&changed).unwrap();
        });
        let mut worlds = Vec::new();
        for client in clients {
            worlds.push(client.await.unwrap());
        }
        is_over.store(true, Ordering::Relaxed);
        changes.await.unwrap();
        for mut world in worlds {
            let (from, to, rows_per_call) = (0, 255, 100);
            let all = ScanStep { from, to, reversed: false, limit: None, rows_per_call, disturbances: Vec::new() };
            world.scan(all).await;
        }
    });
}

fn seeds() -> impl Iterator<Item = u64> {
    let first = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let cases = proptest::prelude::ProptestConfig::default().cases / 64;
    (0..u64::from(cases.max(1))).map(move |case| first.wrapping_mul(1_000).wrapping_add(case))
}

#[test]
fn clients_survive_regions_that_split_merge_and_move() {
    seeds().for_each(|seed| work(seed, &[Kind::Split, Kind::Merge, Kind::Move, Kind::Lease, Kind::Scan]));
}

#[test]
fn clients_survive_calls_that_fail() {
    seeds().for_each(|seed| {
        work(seed, &[Kind::Exception, Kind::CutBefore, Kind::CutAfter, Kind::Delay, Kind::Scan, Kind::Lease]);
    });
}

#[test]
fn clients_survive_servers_that_die() {
    seeds().for_each(|seed| work(seed, &Kind::ALL));
}
