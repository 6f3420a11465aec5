//! Power cuts: a trace of a writer is cut at many places, and what a disk would have then is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::child::{self, Ended};
use crate::disk::{Disk, Rule};
use crate::trace::{self, Record};
use history_tests::Random;

/// What is to be tried.
pub struct Plan {
    pub store: String,
    pub seed: u64,
    pub threads: u64,
    /// Places where the trace is cut, for each rule.
    pub cuts: usize,
    pub rules: Vec<Rule>,
    /// Statements of each thread.
    pub statements: usize,
    /// Of this many cuts by a rule, one has the opening of its database recorded and cut, too; 0: none has.
    pub opening_of: usize,
    /// Most failures of a rule that are printed and kept.
    pub shown_max: usize,
}

/// Records a writer, cuts its trace, and prints what came of it; whether all was well, `None` where nothing can be recorded.
///
/// # Errors
/// Those of files and processes.
pub fn run(plan: &Plan, home: &Path) -> io::Result<Option<bool>> {
    let Some(library) = trace::compile(home) else {
        println!("skipped: no C compiler, or not Linux: nothing can be recorded");
        return Ok(None);
    };
    let (database, log, traced) = (home.join("live"), home.join("log"), home.join("trace"));
    let mut writer = child::role("write", &plan.store, plan.seed, plan.threads, &database)?;
    writer.arg(&log).arg("--statements").arg(plan.statements.to_string());
    let output = trace::recorded(&mut writer, &library, &database, &log, &traced).output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("the writer ended with {}: {errors}", output.status)));
    }
    let records = trace::read(&traced)?;
    let acknowledged = records.iter().filter(|record| record.kind == 'A').count();
    println!("recorded {} calls, {acknowledged} acknowledged statements", records.len());
    let outcomes = cut_all(plan, home, &database, &records, &library)?;
    print(&outcomes);
    Ok(Some(outcomes.keys().all(|(_, outcome)| outcome == RIGHT)))
}

const RIGHT: &str = "right";
/// The outcomes so far are printed each time that this many cuts were tried.
const PLACES_PRINTED: usize = 50;

fn print(outcomes: &Outcomes) {
    let counts: Vec<String> =
        outcomes.iter().map(|((rule, outcome), count)| format!("{rule}: {count} {outcome}")).collect();
    println!("{}", counts.join(", "));
}

type Outcomes = BTreeMap<(String, String), usize>;

fn cut_all(plan: &Plan, home: &Path, root: &Path, records: &[Record], library: &Path) -> io::Result<Outcomes> {
    let mut random = Random::new(plan.seed);
    let places = places(plan.cuts, records, &mut random);
    let (mut disk, mut log, mut outcomes) = (Disk::new(root), Vec::new(), Outcomes::new());
    let mut tried = 0;
    for (index, record) in records.iter().enumerate() {
        if places.contains(&index) {
            for rule in &plan.rules {
                let rebuilt = home.join("rebuilt");
                rebuild(&disk, *rule, &mut random_of(plan, index, *rule), &rebuilt)?;
                let mut outcome = hold(plan, home, &rebuilt, &log)?;
                if outcome.kind == RIGHT && plan.opening_of > 0 && tried % plan.opening_of == 0 {
                    rebuild(&disk, *rule, &mut random_of(plan, index, *rule), &rebuilt)?;
                    outcome = cut_opening(plan, home, *rule, library, &log)?;
                }
                let count = outcomes.entry((format!("{rule:?}").to_lowercase(), outcome.kind.clone())).or_default();
                *count += 1;
                if outcome.kind != RIGHT && *count <= plan.shown_max {
                    let kept =
                        std::env::temp_dir().join(format!("crash-{}-{}-{rule:?}-{index}", plan.store, plan.seed));
                    keep(&disk, *rule, &mut random_of(plan, index, *rule), &log, &kept)?;
                    let kept = kept.display();
                    println!("cut at {index} of {}, {rule:?}: {}; kept in {kept}", records.len(), outcome.detail);
                }
            }
            tried += 1;
            if tried % PLACES_PRINTED == 0 && tried < places.len() {
                print(&outcomes);
            }
        }
        if record.kind == 'A' {
            log.extend_from_slice(&record.text);
        }
        disk.apply(record);
    }
    Ok(outcomes)
}

fn rebuild(disk: &Disk, rule: Rule, random: &mut Random, to: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to)?;
    disk.rebuild(rule, random, to)
}

/// Places at which an opening is cut.
const OPENING_CUTS: usize = 4;

/// Has the opening of the database in `rebuilt` recorded, and cuts it: nothing may be lost by that either. The first
/// outcome that is not right.
fn cut_opening(plan: &Plan, home: &Path, rule: Rule, library: &Path, log: &[u8]) -> io::Result<Outcome> {
    let [rebuilt, again, traced] = ["rebuilt", "again", "trace-of-opening"].map(|name| home.join(name));
    let mut disk = Disk::load(&rebuilt)?;
    let _ = fs::remove_file(&traced);
    let mut opener = child::role("open", &plan.store, plan.seed, plan.threads, &rebuilt)?;
    trace::recorded(&mut opener, library, &rebuilt, &home.join("nothing"), &traced).output()?;
    let records = trace::read(&traced)?;
    let mut random = random_of(plan, records.len(), rule);
    let places: Vec<u64> = (0..OPENING_CUTS).map(|_| random.below(records.len() as u64 + 1)).collect();
    for (index, record) in records.iter().enumerate() {
        if places.contains(&(index as u64)) {
            rebuild(&disk, rule, &mut random, &again)?;
            let outcome = hold(plan, home, &again, log)?;
            if outcome.kind != RIGHT {
                let detail = format!("its opening cut at {index} of {}: {}", records.len(), outcome.detail);
                return Ok(Outcome { detail, ..outcome });
            }
        }
        disk.apply(record);
    }
    Ok(Outcome { kind: RIGHT.to_owned(), detail: String::new() })
}

/// Half of the places anywhere, half around what syncs or cuts a file, or changes a name: each file has as many, however
/// often it is synced.
fn places(cuts: usize, records: &[Record], random: &mut Random) -> BTreeSet<usize> {
    let first = records.iter().position(|record| record.kind == 'A').unwrap_or(0);
    let mut points: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, record) in records.iter().enumerate().skip(first) {
        if matches!(record.kind, 'F' | 'D' | 'R' | 'U' | 'M' | 'C' | 'T') {
            points.entry(record.inode).or_default().push(at);
        }
    }
    let points: Vec<Vec<usize>> = points.into_values().collect();
    let mut places = BTreeSet::new();
    for n in 0..cuts * 20 {
        if places.len() == cuts {
            break;
        }
        let anywhere = first + random.below((records.len() - first) as u64) as usize;
        let around = random.below(AROUND) as usize;
        places.insert(match n % 2 {
            1 if !points.is_empty() => {
                let file = &points[random.below(points.len() as u64) as usize];
                (random.pick(file) + around).saturating_sub(AROUND as usize / 2).clamp(first, records.len() - 1)
            }
            _ => anywhere,
        });
    }
    places
}

/// Records around a sync in which it is cut.
const AROUND: u64 = 12;

/// How a rebuilt directory stood up.
struct Outcome {
    kind: String,
    /// The first lines that the checker printed.
    detail: String,
}

fn hold(plan: &Plan, home: &Path, rebuilt: &Path, log: &[u8]) -> io::Result<Outcome> {
    let log_path = home.join("log-until-cut");
    fs::write(&log_path, log)?;
    let mut checker: Command = child::role("check", &plan.store, plan.seed, plan.threads, rebuilt)?;
    checker.arg(&log_path);
    let (ended, printed) = child::watched(checker, home, Duration::from_secs(60))?;
    let kind = match ended {
        Ended::Code(0) if !printed.contains("panicked") => RIGHT,
        Ended::Code(crate::roles::NOT_OPENED) => "not opened",
        Ended::Code(crate::roles::WRONG) => "rows lost or changed",
        Ended::Code(_) => "panic",
        Ended::Signal => "abort",
        Ended::Late => "hang",
    };
    let detail = printed.lines().take(4).collect::<Vec<_>>().join(" | ");
    Ok(Outcome { kind: kind.to_owned(), detail })
}

/// The random numbers of one rebuilding.
fn random_of(plan: &Plan, index: usize, rule: Rule) -> Random {
    Random::new(plan.seed ^ ((index as u64) << 8) ^ rule as u64)
}

/// Keeps what a cut left, as it was before it was opened.
fn keep(disk: &Disk, rule: Rule, random: &mut Random, log: &[u8], kept: &Path) -> io::Result<()> {
    rebuild(disk, rule, random, &kept.join("db"))?;
    fs::write(kept.join("log"), log)
}
