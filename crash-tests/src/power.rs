//! Power cuts: a trace of a writer is cut at many places, and what a disk would have then is opened.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::child::{self, Ended};
use crate::disk::{Disk, Rule};
use crate::random::Random;
use crate::trace::{self, Record};

/// What is to be tried.
pub struct Plan {
    pub store: String,
    pub seed: u64,
    pub threads: u64,
    /// Places where the trace is cut, for each rule.
    pub cuts: usize,
    pub rules: Vec<Rule>,
    pub seconds: f64,
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
    let (database, told, traced) = (home.join("live"), home.join("told"), home.join("trace"));
    let mut writer = child::role("write", &plan.store, plan.seed, plan.threads, &database)?;
    writer.arg(&told).arg("--seconds").arg(plan.seconds.to_string());
    let output = trace::recorded(&mut writer, &library, &database, &told, &traced).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("the writer ended with {}: {said}", output.status)));
    }
    let records = trace::read(&traced)?;
    let acknowledged = records.iter().filter(|record| record.kind == 'A').count();
    println!("recorded {} calls, {acknowledged} acknowledged statements", records.len());
    let outcomes = cut_all(plan, home, &database, &records)?;
    print(&outcomes);
    Ok(Some(outcomes.keys().all(|(_, outcome)| outcome == RIGHT)))
}

const RIGHT: &str = "right";
/// The outcomes so far are printed each time that this many cuts were tried.
const PLACES_PRINTED: usize = 50;

fn print(outcomes: &Outcomes) {
    let told: Vec<String> =
        outcomes.iter().map(|((rule, outcome), count)| format!("{rule}: {count} {outcome}")).collect();
    println!("{}", told.join(", "));
}

type Outcomes = BTreeMap<(String, String), usize>;

fn cut_all(plan: &Plan, home: &Path, root: &Path, records: &[Record]) -> io::Result<Outcomes> {
    let mut random = Random::new(plan.seed);
    let places = places(plan.cuts, records, &mut random);
    let (mut disk, mut log, mut outcomes) = (Disk::new(root), Vec::new(), Outcomes::new());
    let mut tried = 0;
    for (index, record) in records.iter().enumerate() {
        if places.contains(&index) {
            for rule in &plan.rules {
                let rebuilt = home.join("rebuilt");
                let _ = fs::remove_dir_all(&rebuilt);
                fs::create_dir_all(&rebuilt)?;
                disk.rebuild(*rule, &mut random_of(plan, index, *rule), &rebuilt)?;
                let outcome = hold(plan, home, &rebuilt, &log)?;
                let count = outcomes.entry((format!("{rule:?}").to_lowercase(), outcome.kind.clone())).or_default();
                *count += 1;
                if outcome.kind != RIGHT && *count <= plan.shown_max {
                    let kept =
                        std::env::temp_dir().join(format!("crash-{}-{}-{rule:?}-{index}", plan.store, plan.seed));
                    keep(&disk, *rule, &mut random_of(plan, index, *rule), &log, &kept)?;
                    let kept = kept.display();
                    println!("cut at {index} of {}, {rule:?}: {}; kept in {kept}", records.len(), outcome.told);
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

/// Half of the places anywhere, half right behind what syncs or changes names.
fn places(cuts: usize, records: &[Record], random: &mut Random) -> std::collections::BTreeSet<usize> {
    let first = records.iter().position(|record| record.kind == 'A').unwrap_or(0);
    let is_point = |record: &Record| matches!(record.kind, 'f' | 'd' | 'R' | 'U' | 'M' | 'C');
    let points: Vec<usize> = (first..records.len()).filter(|at| is_point(&records[*at])).collect();
    let mut places = std::collections::BTreeSet::new();
    for n in 0..cuts * 20 {
        if places.len() == cuts {
            break;
        }
        let anywhere = first as u64 + random.below((records.len() - first) as u64);
        let point = if points.is_empty() { anywhere } else { random.pick(&points) as u64 + random.below(3) };
        places.insert((if n % 2 == 0 { anywhere } else { point }) as usize);
    }
    places
}

/// How a rebuilt directory stood up.
struct Outcome {
    kind: String,
    told: String,
}

fn hold(plan: &Plan, home: &Path, rebuilt: &Path, log: &[u8]) -> io::Result<Outcome> {
    let told = home.join("told-by-then");
    fs::write(&told, log)?;
    let mut checker: Command = child::role("check", &plan.store, plan.seed, plan.threads, rebuilt)?;
    checker.arg(&told);
    let (ended, said) = child::watched(checker, home, Duration::from_secs(60))?;
    let kind = match ended {
        Ended::Code(0) if !said.contains("panicked") => RIGHT,
        Ended::Code(crate::roles::NOT_OPENED) => "not opened",
        Ended::Code(crate::roles::WRONG) => "rows lost or changed",
        Ended::Code(_) => "panic",
        Ended::Signal => "abort",
        Ended::Late => "hang",
    };
    let told = said.lines().take(4).collect::<Vec<_>>().join(" | ");
    Ok(Outcome { kind: kind.to_owned(), told })
}

/// The random numbers of one rebuilding.
fn random_of(plan: &Plan, index: usize, rule: Rule) -> Random {
    Random::new(plan.seed ^ ((index as u64) << 8) ^ rule as u64)
}

/// Keeps what a cut left, as it was before it was opened.
fn keep(disk: &Disk, rule: Rule, random: &mut Random, log: &[u8], kept: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(kept);
    fs::create_dir_all(kept.join("db"))?;
    disk.rebuild(rule, random, &kept.join("db"))?;
    fs::write(kept.join("told"), log)
}
