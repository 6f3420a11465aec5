//! Counts of instructions: what a clock cannot tell on a busy machine, and CI can.
//!
//! The program runs itself under callgrind, once for each path, in memory, and counts instructions over many runs. They are
//! held to those in `hot_paths.txt`: more than [`TOLERANCE_PERCENT`] beyond is a failure. `--record` writes the file anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::engine::{EngineKind, Opening};
use crate::read::{Arguments, Read};
use crate::rows::{Log, LogRow, Mix, Urls};
use crate::work::indexes::INDEXES;

/// The `hot-paths` command.
#[derive(clap::Args)]
pub struct Args {
    /// Writes the counts to the file instead of holding them to it.
    #[arg(long)]
    record: bool,
    /// The file.
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/hot_paths.txt"))]
    baseline: PathBuf,
    /// Runs one path, to be counted from outside.
    #[arg(long, hide = true, value_name = "PATH")]
    run: Option<String>,
}

/// By how much a count may grow.
const TOLERANCE_PERCENT: u64 = 5;
/// The processors whose instructions the file counts.
const ARCH: &str = "x86_64";
/// Rows that are read, and runs of each path.
const ROWS: u64 = 5000;
const RUNS: usize = 200;

/// The paths that read: the name, the read, and the percentage of the rows that are in the delta, too.
const READS: [(&str, Read, u64); 10] = [
    ("point", Read::Point, 0),
    ("latest10", Read::Latest10, 0),
    ("prefix500", Read::Prefix500Arrow, 0),
    ("prefix500_dirty10", Read::Prefix500Arrow, 10),
    ("prefix500_rows", Read::Prefix500Rows, 0),
    ("page1000", Read::Page1000, 0),
    ("agg401", Read::Agg401, 0),
    ("agg401_dirty10", Read::Agg401, 10),
    ("filter_all", Read::FilterAll, 0),
    ("index_point", Read::IndexPoint, 0),
];
/// What is written.
const UPSERT: &str = "upsert";

type Counts = BTreeMap<String, u64>;

/// Counts, and holds the counts to the file or writes it.
pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.run {
        return run_path(path);
    }
    if std::env::consts::ARCH != ARCH {
        println!("hot paths: skipped, their counts are {ARCH}'s");
        return Ok(());
    }
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        println!("hot paths: skipped, valgrind is not there");
        return Ok(());
    }
    let counts = count()?;
    if args.record {
        return record(&counts, &args.baseline);
    }
    let text = std::fs::read_to_string(&args.baseline).map_err(|e| format!("{}: {e}", args.baseline.display()))?;
    judge(&counts, &parse(&text)?)
}

/// Instructions of one run of each path; the paths are counted at once.
fn count() -> Result<Counts> {
    let folder = tempfile::tempdir()?;
    let mut running = Vec::new();
    for name in READS.map(|(name, ..)| name).into_iter().chain([UPSERT]) {
        let dump = folder.path().join(name);
        let child = Command::new("valgrind")
            .args(["--tool=callgrind", "--toggle-collect=*counted_runs*"])
            .arg(format!("--callgrind-out-file={}", dump.display()))
            .arg(std::env::current_exe()?)
            .args(["hot-paths", "--run", name])
            .stderr(Stdio::piped())
            .spawn()?;
        running.push((name, dump, child));
    }
    let mut counts = Counts::new();
    for (name, dump, child) in running {
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let total = total(&std::fs::read_to_string(dump)?).ok_or_else(|| format!("nothing was counted of {name}"))?;
        counts.insert(name.to_owned(), total / RUNS as u64);
    }
    Ok(counts)
}

/// The instructions of a dump.
fn total(dump: &str) -> Option<u64> {
    let line = dump.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok().filter(|total| *total > 0)
}

fn parse(text: &str) -> Result<Counts> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.trim().parse::<u64>().ok()?))
    };
    lines.map(|line| count(line).ok_or_else(|| format!("not a count: {line}").into())).collect()
}

fn record(counts: &Counts, file: &Path) -> Result<()> {
    let mut text = format!(
        "# Instructions of one run of each hot path, on {ARCH}. Written by\n\
         # cargo run --release -p benches -- hot-paths --record\n"
    );
    for (name, count) in counts {
        println!("{name:<18} {count}");
        text.push_str(&format!("{name} {count}\n"));
    }
    Ok(std::fs::write(file, text)?)
}

/// Fails where a count is beyond the stored one by more than [`TOLERANCE_PERCENT`].
fn judge(counts: &Counts, stored: &Counts) -> Result<()> {
    let mut slower = Vec::new();
    println!("{:<18} {:>12} {:>12} {:>8}", "path", "stored", "now", "change");
    for (name, now) in counts {
        let before = *stored.get(name).ok_or_else(|| format!("{name} is not in the file: --record writes it"))?;
        let (too_many, fewer) = (100 + TOLERANCE_PERCENT, 100 - TOLERANCE_PERCENT);
        let remark = match 100 * now {
            now if now > too_many * before => "  too many",
            now if now < fewer * before => "  fewer: --record keeps them so",
            _ => "",
        };
        let change = (*now as f64 / before as f64 - 1.0) * 100.0;
        println!("{name:<18} {before:>12} {now:>12} {change:>+7.1}%{remark}");
        if 100 * now > too_many * before {
            slower.push(name.as_str());
        }
    }
    if slower.is_empty() {
        return Ok(());
    }
    Err(format!("more instructions than {TOLERANCE_PERCENT}% beyond the stored ones: {}", slower.join(", ")).into())
}

/// Runs a path often enough, after as many runs that warm it, with what differs from run to run made before.
fn run_path(name: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut engine =
        EngineKind::SaltwingMemory.open(folder.path(), Opening { cache_bytes: None, keep_recent: true })?;
    let log = Log { rows: ROWS, urls: Urls::Paths };
    let path = READS.iter().find(|(path, ..)| *path == name);
    if matches!(path, Some((_, Read::IndexPoint, _))) {
        let [(index, option), ..] = INDEXES;
        engine.run(&format!("{index}{option}"))?;
    }
    for from in (0..ROWS).step_by(1000) {
        engine.load(&log.rows(from, from + 1000))?;
    }
    engine.settle()?;
    if let Some((_, read, percent)) = path {
        let mut mix = Mix(3);
        if *percent > 0 {
            let recent: Vec<LogRow> = log.some(*percent, &mut mix).into_iter().map(|index| log.row(index)).collect();
            recent.chunks(1000).try_for_each(|rows| engine.load(rows))?;
        }
        let argument_lists: Vec<Arguments> = (0..RUNS).map(|_| read.arguments(log, &mut mix)).collect();
        engine.ask(*read, &argument_lists)?;
        return counted_runs(&mut || engine.ask(*read, &argument_lists).map(drop));
    }
    if name != UPSERT {
        return Err(format!("no path is called {name}").into());
    }
    let rows: Vec<LogRow> = log.rows(ROWS, ROWS + 2 * RUNS as u64);
    let (warm, counted) = rows.split_at(RUNS);
    warm.iter().try_for_each(|row| engine.load(std::slice::from_ref(row)))?;
    counted_runs(&mut || counted.iter().try_for_each(|row| engine.load(std::slice::from_ref(row))))
}

/// What callgrind counts: it knows the function by its name, from entry to return.
#[inline(never)]
fn counted_runs(runs: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    // A jump in place of the call would be no return.
    std::hint::black_box(runs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(list: &[(&str, u64)]) -> Counts {
        list.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_count_may_grow_a_little() {
        let stored = parse("# a remark\n\npoint 1000\nupsert 2000\n").unwrap();
        assert_eq!(stored, counts(&[("point", 1000), ("upsert", 2000)]));
        assert!(judge(&counts(&[("point", 1050), ("upsert", 100)]), &stored).is_ok());
        assert!(
            judge(&counts(&[("point", 1051), ("upsert", 2000)]), &stored).unwrap_err().to_string().contains("point")
        );
        assert!(judge(&counts(&[("agg401", 1)]), &stored).is_err());
        assert!(parse("point").is_err());
    }

    #[test]
    fn the_stored_counts_are_of_these_paths() {
        let stored = parse(include_str!("../hot_paths.txt")).unwrap();
        let mut names: Vec<&str> = READS.map(|(name, ..)| name).into_iter().chain([UPSERT]).collect();
        names.sort_unstable();
        assert_eq!(stored.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_dump_tells_its_total() {
        assert_eq!(total("events: Ir\nfn=(1)\n1 5\n\ntotals: 1234\n"), Some(1234));
        assert_eq!(total("events: Ir\nsummary: 0\n"), None);
    }
}
