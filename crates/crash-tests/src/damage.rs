//! Damage: one change to one file of a database, and what opening and reading it say.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
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
    pub seconds: f64,
}

/// Damages one file after another, and prints what came of it; whether each damage was told or of no effect.
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
    let files = by_kind(&base)?;
    let kinds: Vec<&String> = files.keys().collect();
    let mut random = Random::new(plan.seed);
    let (mut outcomes, mut is_well) = (BTreeMap::<(String, &str), usize>::new(), true);
    for trial in 0..plan.trials {
        let kind = kinds[trial % kinds.len()];
        let file = &files[kind][random.below(files[kind].len() as u64) as usize];
        let _ = fs::remove_dir_all(&work);
        copy(&base, &work)?;
        let change = random.pick(&CHANGES);
        let at = damage(&work.join(file), change, &mut random)?;
        let read = read(plan, home, &work)?;
        let outcome = judge(&whole.1, &read);
        *outcomes.entry((kind.clone(), outcome)).or_default() += 1;
        if !["told at opening", "told at reading", "no effect"].contains(&outcome) {
            is_well = false;
            println!("{}: {change:?} at {at}: {outcome}: {}", file.display(), read.1.join(" | "));
        }
    }
    for ((kind, outcome), count) in &outcomes {
        println!("{:?}, {kind}: {count} {outcome}", plan.left);
    }
    Ok(is_well)
}

/// A database with blocks, recent rows, long values and tables that came and went.
fn make(plan: &Plan, home: &Path, base: &Path) -> io::Result<()> {
    let live = home.join("live");
    let mut writer = child::role("write", &plan.store, plan.seed, plan.threads, &live)?;
    writer.arg(home.join("told")).arg("--seconds").arg(plan.seconds.to_string());
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

type Said = (Ended, Vec<String>);

fn read(plan: &Plan, home: &Path, database: &Path) -> io::Result<Said> {
    let reader = child::role("read", &plan.store, plan.seed, plan.threads, database)?;
    let (ended, said) = child::watched(reader, home, Duration::from_secs(60))?;
    Ok((ended, said.lines().map(str::to_owned).collect()))
}

fn judge(whole: &[String], (ended, said): &Said) -> &'static str {
    let has_panicked = said.iter().any(|line| line.contains("panicked"));
    match ended {
        Ended::Late => "hang",
        Ended::Signal => "abort",
        Ended::Code(NOT_OPENED) => "told at opening",
        Ended::Code(0) => {
            let has_error = said.iter().any(|line| line.starts_with("error "));
            let is_same = |line: &String| !line.starts_with("rows ") || whole.contains(line);
            match (said.iter().all(is_same), has_error) {
                (true, _) if has_panicked => "panic",
                (true, true) => "told at reading",
                (true, false) => "no effect",
                (false, _) => "SILENT",
            }
        }
        Ended::Code(_) => "panic",
    }
}

fn damage(path: &Path, change: Change, random: &mut Random) -> io::Result<u64> {
    let mut bytes = fs::read(path)?;
    let at = random.below(bytes.len() as u64) as usize;
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
    Ok(at as u64)
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

/// Copies a database, a file without the zeros at its end: they would take nearly all of the damage.
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
        if path.extension().is_some_and(|extension| extension == "jnl") {
            bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        }
        fs::write(target, bytes)?;
    }
    Ok(())
}
