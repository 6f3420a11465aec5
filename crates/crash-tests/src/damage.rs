//! Damage: one change to one file of a database; what opening and reading it say, and what a salvage saves of it.
//!
//! # Laws
//! 1. Each damage is reported or has no effect: no row is missing or changed without an error.
//! 2. A salvage loses the rows of the damaged pages and no others: each loss that it reports names one of them, and it misses
//!    no more rows than it reports. A page of the catalog costs the tables whose definitions are in it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::child::{self, Ended};
use crate::roles::NOT_OPENED;
use history_tests::Random;

/// How the database was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Left {
    /// Closed in order.
    Closed,
    /// Its writer was killed: much is in the journal alone.
    Killed,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
enum Change {
    Bit,
    Byte,
    Page,
    Cut,
    Ones,
}

const CHANGES: [Change; 7] =
    [Change::Bit, Change::Bit, Change::Bit, Change::Byte, Change::Page, Change::Cut, Change::Ones];

/// What is to be tried.
pub struct Plan {
    pub store: String,
    pub seed: u64,
    pub threads: u64,
    pub trials: usize,
    pub left: Left,
    /// Statements of each thread.
    pub statements: usize,
}

/// Damages one file after another, and prints the outcomes; whether each damage was reported or had no effect.
///
/// # Errors
/// Those of files and processes.
pub fn run(plan: &Plan, home: &Path) -> io::Result<bool> {
    let base = home.join("base");
    make(plan, home, &base)?;
    // Reading opens: what that leaves is not what is damaged.
    let work = home.join("work");
    copy(&base, &work)?;
    let whole = read(plan, home, &work)?;
    if whole.0 != Ended::Code(0) || whole.1.iter().any(|line| !line.starts_with("rows ")) {
        return Err(io::Error::other(format!("the database cannot be read before it is damaged: {whole:?}")));
    }
    let whole_saved = Saved::of(&salvage(plan, home, &work)?);
    let files = by_kind(&base)?;
    let kinds: Vec<&String> = files.keys().collect();
    let mut random = Random::new(plan.seed);
    let (mut outcomes, mut is_well) = (BTreeMap::<(String, &str), usize>::new(), true);
    let mut losses = Losses::default();
    for trial in 0..plan.trials {
        let kind = kinds[trial % kinds.len()];
        let file = &files[kind][random.below(files[kind].len() as u64) as usize];
        let _ = fs::remove_dir_all(&work);
        copy(&base, &work)?;
        let change = random.pick(&CHANGES);
        let (at, pages) = damage(&work.join(file), change, &mut random)?;
        let read = read(plan, home, &work)?;
        let outcome = judge(&whole.1, &read);
        *outcomes.entry((kind.clone(), outcome)).or_default() += 1;
        if !["told at opening", "told at reading", "no effect"].contains(&outcome) {
            is_well = false;
            println!("{}: {change:?} at {at}: {outcome}: {}", file.display(), read.1.join(" | "));
        }
        if kind != PAGES || matches!(change, Change::Cut) {
            continue;
        }
        let salvaged = salvage(plan, home, &work)?;
        match Saved::of(&salvaged).loss(&whole_saved, &salvaged, &pages) {
            Ok(loss) => losses.add(loss),
            Err(why) => {
                is_well = false;
                println!(
                    "{}: {change:?} at {at}, page {pages:?}: salvage: {why}: {}",
                    file.display(),
                    salvaged.1.join(" | ")
                );
            }
        }
    }
    println!("{:?}, salvage: {losses}", plan.left);
    for ((kind, outcome), count) in &outcomes {
        println!("{:?}, {kind}: {count} {outcome}", plan.left);
    }
    Ok(is_well)
}

/// A database with blocks, recent rows, long values and tables that came and went.
fn make(plan: &Plan, home: &Path, base: &Path) -> io::Result<()> {
    let live = home.join("live");
    let mut writer = child::role("write", &plan.store, plan.seed, plan.threads, &live)?;
    writer.arg(home.join("log")).arg("--statements").arg(plan.statements.to_string());
    if plan.left == Left::Killed {
        writer.arg("--killed");
    }
    let mut writer = writer.stdout(Stdio::piped()).spawn()?;
    if plan.left == Left::Killed {
        let output = writer.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        BufReader::new(output).lines().map_while(Result::ok).find(|line| line == "written");
        writer.kill()?;
        writer.wait()?;
    } else if !writer.wait()?.success() {
        return Err(io::Error::other("the writer failed"));
    }
    copy(&live, base)
}

/// How a child ended, and the lines that it printed.
type Printed = (Ended, Vec<String>);

fn read(plan: &Plan, home: &Path, database: &Path) -> io::Result<Printed> {
    let reader = child::role("read", &plan.store, plan.seed, plan.threads, database)?;
    let (ended, printed) = child::watched(reader, home, Duration::from_secs(60))?;
    Ok((ended, printed.lines().map(str::to_owned).collect()))
}

/// The file of pages, as [`by_kind`] names it.
const PAGES: &str = "data/pages";
const PAGE: u64 = 4096;
/// Pages of the file that have one page of checksums in front of them.
const GROUP_PAGES: u64 = 1024;

fn salvage(plan: &Plan, home: &Path, database: &Path) -> io::Result<Printed> {
    let target = home.join("salvaged");
    let _ = fs::remove_dir_all(&target);
    let mut command = child::role("salvage", &plan.store, plan.seed, plan.threads, database)?;
    command.arg(&target);
    let (ended, printed) = child::watched(command, home, Duration::from_secs(60))?;
    Ok((ended, printed.lines().map(str::to_owned).collect()))
}

/// What a salvage has saved: the rows of each table.
struct Saved(BTreeMap<String, u64>);

/// Rows that a salvage misses.
enum Lost {
    Rows(u64),
    /// Tables, with a page of the catalog.
    Definitions,
}

impl Saved {
    fn of((_, lines): &Printed) -> Self {
        let saved = lines.iter().filter_map(|line| line.strip_prefix("saved ")?.split_once(' '));
        Self(saved.map(|(rows, table)| (table.to_owned(), rows.parse().unwrap_or(0))).collect())
    }

    /// The loss, if it is that of the damaged pages.
    fn loss(&self, whole: &Self, (ended, lines): &Printed, pages: &Range<u64>) -> Result<Lost, &'static str> {
        if *ended != Ended::Code(0) {
            return Err("it failed");
        }
        let lost: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("lost ")).collect();
        let is_of_pages = |line: &&str| pages.clone().any(|page| line.contains(&format!("page {page} of data/pages")));
        let is_definition = lost.iter().any(|line| line.contains("no definition of it can be read"));
        if is_definition && lost.iter().any(is_of_pages) {
            return Ok(Lost::Definitions);
        }
        if !lost.iter().all(is_of_pages) {
            return Err("a loss names another place");
        }
        let missing = |(table, rows): (&String, &u64)| rows.saturating_sub(self.0.get(table).copied().unwrap_or(0));
        let missing: u64 = whole.0.iter().map(missing).sum();
        let count = |line: &&str| line.split_once(' ').map(|(rows, _)| rows.parse().unwrap_or(u64::MAX));
        let reported = lost.iter().filter_map(count).fold(0, u64::saturating_add);
        if missing <= reported { Ok(Lost::Rows(missing)) } else { Err("rows are missing that it does not tell") }
    }
}

/// The losses of all salvages.
#[derive(Default)]
struct Losses {
    salvages: usize,
    with_losses: usize,
    rows: u64,
    rows_max: u64,
    definitions: usize,
}

impl Losses {
    fn add(&mut self, lost: Lost) {
        self.salvages += 1;
        match lost {
            Lost::Definitions => self.definitions += 1,
            Lost::Rows(rows) => {
                self.with_losses += usize::from(rows > 0);
                self.rows += rows;
                self.rows_max = self.rows_max.max(rows);
            }
        }
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { salvages, with_losses, rows, rows_max, definitions } = self;
        write!(
            f,
            "{salvages} damages of pages, {with_losses} cost rows: {rows} in all, {rows_max} at most; {definitions} cost definitions"
        )
    }
}

fn judge(whole: &[String], (ended, lines): &Printed) -> &'static str {
    let has_panicked = lines.iter().any(|line| line.contains("panicked"));
    match ended {
        Ended::Late => "hang",
        Ended::Signal => "abort",
        Ended::Code(NOT_OPENED) => "told at opening",
        Ended::Code(0) => {
            let has_error = lines.iter().any(|line| line.starts_with("error "));
            let is_same = |line: &String| !line.starts_with("rows ") || whole.contains(line);
            match (lines.iter().all(is_same), has_error) {
                (true, _) if has_panicked => "panic",
                (true, true) => "told at reading",
                (true, false) => "no effect",
                (false, _) => "SILENT",
            }
        }
        Ended::Code(_) => "panic",
    }
}

/// Changes a file: where, and which pages of redb's that are if it is the file of pages.
fn damage(path: &Path, change: Change, random: &mut Random) -> io::Result<(u64, Range<u64>)> {
    let mut bytes = fs::read(path)?;
    let mut at = random.below(bytes.len() as u64) as usize;
    // Pages that nothing was written to would take most of the damage.
    for _ in 0..20 {
        let page = at / PAGE as usize * PAGE as usize;
        if bytes.iter().skip(page).take(PAGE as usize).any(|byte| *byte != 0) {
            break;
        }
        at = random.below(bytes.len() as u64) as usize;
    }
    let changed = match change {
        Change::Page => at as u64 / PAGE * PAGE..at as u64 / PAGE * PAGE + PAGE,
        Change::Ones => at as u64..at as u64 + 16,
        _ => at as u64..at as u64 + 1,
    };
    match change {
        Change::Bit => bytes[at] ^= 1 << random.below(8),
        Change::Byte => bytes[at] = random.number() as u8,
        Change::Page => {
            let end = bytes.len().min(at / 4096 * 4096 + 4096);
            bytes[at / 4096 * 4096..end].fill(0);
        }
        Change::Cut => bytes.truncate(at),
        Change::Ones => {
            let end = bytes.len().min(at + 16);
            bytes[at..end].fill(0xff);
        }
    }
    fs::write(path, bytes)?;
    Ok((at as u64, page_of(changed.start)..page_of(changed.end - 1) + 1))
}

/// The page of redb's at a place of the file of pages. Checksums have none: their copies help.
fn page_of(at: u64) -> u64 {
    let (group, place) = (at / PAGE / (GROUP_PAGES + 1), at / PAGE % (GROUP_PAGES + 1));
    group * GROUP_PAGES + place.saturating_sub(1)
}

/// The files of a database that are not empty, by kind: names without numbers.
fn by_kind(base: &Path) -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut folders = vec![base.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if fs::metadata(&path)?.len() > 0 {
                let relative = path.strip_prefix(base).map_err(io::Error::other)?.to_path_buf();
                let name = relative.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
                kinds.entry(name).or_default().push(relative);
            }
        }
    }
    kinds.values_mut().for_each(|files| files.sort());
    Ok(kinds)
}

/// Copies a database, the journal without the zeros at its end: they would take nearly all of the damage.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &target)?;
            continue;
        }
        let mut bytes = fs::read(&path)?;
        if path.file_name().is_some_and(|name| name == "journal") {
            bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        }
        fs::write(target, bytes)?;
    }
    Ok(())
}
