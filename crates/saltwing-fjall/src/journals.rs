//! The journals of a database before fjall opens them: where they end, and whether that is where they should.
//!
//! Batches are numbered without gaps ([`CommitMark`]). The bytes after the last good batch are one of:
//!
//! * zeros, or nothing: the end;
//! * a torn end: batches that were being written when the process or machine stopped. They were never acknowledged,
//!   because the newest number on the disk is not above the last good one. The end is copied and cut off;
//! * damage: a number at or above the bad place was on the disk. Opening is refused, and nothing is changed.
//!
//! After an orderly close every batch is also in tables ([`Marks::settled`]). The journals are then not needed, and
//! damage in them is cut off like a torn end.

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

use saltwing_store::StoreError;
use saltwing_store::directory::sync_directory;
use saltwing_store::torn::{self, Cut, CutCopy, SALVAGE};
use saltwing_store::watermark::Marks;

use crate::journal::{Batch, Journal, Next};

/// The most by which fjall's order number may exceed the lower bound in a batch's mark. What runs in the background takes
/// numbers too, a handful for each table.
const ORDER_SLACK: u64 = 1 << 24;

/// The content of the journals.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The number that the tables and journals together must reach; 0 is none.
    pub(crate) required: u64,
    /// The newest number that stays in the journals.
    pub(crate) newest: Option<u64>,
    /// The journals that stay, oldest first, with how many bytes of each hold batches that are needed.
    pub(crate) kept: Vec<(PathBuf, u64)>,
    /// The ends to cut off, oldest journal first.
    cuts: Vec<Cut>,
    /// The journal to create if there is none and none is needed: without a journal fjall would not look for the
    /// highest sequence number in tables, and would give new batches lower numbers.
    is_missing: Option<PathBuf>,
    /// Why, in the words of a notice.
    why: Option<String>,
}

/// The batches of all journals, in order.
#[derive(Default)]
struct Sequence {
    /// The last good batch's number.
    number: Option<u64>,
    order: Option<u64>,
    /// The newest number that a good batch says was on the disk.
    synced: u64,
    /// Whether the last good batch has no number: a release before the numbers has written it.
    is_unnumbered: bool,
}

/// The first bad place.
struct Bad {
    /// Which journal, counting from the oldest.
    journal: usize,
    at: u64,
    why: &'static str,
    /// The number of the batch there, if it can still be read.
    number: Option<u64>,
}

/// The marks of good batches after the bad place.
#[derive(Default)]
struct Behind {
    synced: u64,
    number: u64,
    is_unnumbered: bool,
    /// The journal that the last one is in, and its place there.
    last: Option<(usize, u64)>,
}

impl Sequence {
    /// Goes on by a batch, if it comes next.
    fn follow(&mut self, batch: &Batch) -> Result<(), &'static str> {
        self.is_unnumbered = batch.mark.is_none();
        let Some(mark) = batch.mark else { return Ok(()) };
        if self.number.is_some_and(|number| number.saturating_add(1 + mark.skipped) != mark.number) {
            return Err("batches are missing before this one");
        }
        let in_order = self.order.is_none_or(|order| order < batch.order);
        let bounds = mark.order_min..=mark.order_min.saturating_add(ORDER_SLACK);
        if !in_order || !bounds.contains(&batch.order) {
            return Err("the batch's order number does not hold");
        }
        (self.number, self.order) = (Some(mark.number), Some(batch.order));
        self.synced = self.synced.max(mark.synced);
        Ok(())
    }
}

/// Reads all journals in `data` and compares them with the watermark. Changes nothing.
///
/// # Errors
/// [`StoreError::Corrupt`] for damage, with the file and the place; [`StoreError::Io`].
pub(crate) fn check(data: &Path, marks: Marks) -> Result<Verdict, StoreError> {
    let paths = list(data)?;
    if paths.is_empty() {
        return missing(data, marks);
    }
    let mut sequence = Sequence::default();
    let (bad, ends) = first_bad(&paths, &mut sequence)?;
    let end = ends.last().copied().unwrap_or_default();
    let required = marks.acknowledged.max(sequence.synced);
    let is_short = sequence.number.is_some_and(|number| number < required);
    let short = Bad { journal: paths.len() - 1, at: end, why: "commits are missing at its end", number: None };
    let Some(bad) = bad.or(is_short.then_some(short)) else {
        let kept = paths.into_iter().zip(ends).collect();
        return Ok(Verdict { required, newest: sequence.number, kept, ..Verdict::default() });
    };
    let behind = look_behind(&paths, &bad)?;
    let required = required.max(behind.synced);
    let Some(path) = paths.get(bad.journal) else {
        debug_assert!(false, "journal {} of {}", bad.journal, paths.len());
        return Err(damaged(data, &bad, &behind, required));
    };
    let newest = sequence.number.unwrap_or(0).max(behind.number);
    // A close says nothing of what an earlier release has written since.
    let is_numbered = !sequence.is_unnumbered && !behind.is_unnumbered;
    let is_settled = marks.settled > 0 && marks.settled >= required.max(newest) && is_numbered;
    let is_torn = is_torn(&sequence, &bad, &behind, required);
    if !is_torn && !is_settled {
        return Err(damaged(path, &bad, &behind, required));
    }
    // Where no batch is needed all go: the bad one may be that before the place.
    let (kept, at, why) = match is_settled {
        true => (paths.len() - 1, 0, "damaged, and no row needs it any more"),
        false => (bad.journal, bad.at, torn::NEVER_ACKNOWLEDGED),
    };
    let why = torn::why(path, bad.at, why);
    let cuts = paths.iter().enumerate().filter(|(journal, _)| is_settled || *journal >= kept);
    let cuts = cuts.map(|(journal, path)| {
        let is_removed = journal != kept;
        Cut { log: path.clone(), at: if is_removed { 0 } else { at }, end: None, is_removed }
    });
    let cuts = cuts.collect();
    let before = ends.into_iter().take(if is_settled { 0 } else { kept });
    let last = paths.get(kept).cloned().map(|path| (path, at));
    let kept = paths.iter().cloned().zip(before).chain(last).collect();
    let newest = sequence.number.filter(|_| !is_settled);
    Ok(Verdict { required, newest, kept, cuts, is_missing: None, why: Some(why) })
}

/// Whether a bad place is the torn end of the journals, and no damage.
fn is_torn(sequence: &Sequence, bad: &Bad, behind: &Behind, required: u64) -> bool {
    let is_before_another = behind.last.is_some_and(|(journal, _)| journal > bad.journal);
    let was_on_disk = bad.number.is_some_and(|number| number <= required);
    // A journal is closed only after all of it is on the disk, and the next one starts after that.
    if is_before_another || was_on_disk {
        return false;
    }
    match sequence.number {
        // Later batches were in flight too; releases without numbers cannot show it.
        Some(number) => number >= required && !behind.is_unnumbered,
        // Batches of releases that did not number them.
        None if required == 0 && behind.number == 0 => behind.last.is_none(),
        // The tables must have all numbers up to the one required: that shows when fjall has opened them.
        None => true,
    }
}

impl Verdict {
    /// The parts of the journals that a reader needs.
    pub(crate) fn parts(&self) -> Vec<(PathBuf, Vec<Range<u64>>)> {
        self.kept.iter().map(|(path, bytes)| (path.clone(), std::iter::once(0..*bytes).collect())).collect()
    }

    /// The notice for a reader, which leaves the journals as they are.
    pub(crate) fn notice(&self) -> Option<String> {
        self.why.as_deref().map(torn::left_out)
    }

    /// Copies and cuts off torn ends, and creates a missing journal. Returns the cuts and the notices.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub(crate) fn cut(self, directory: &Path) -> Result<(Vec<CutCopy>, Option<String>), StoreError> {
        if let Some(path) = &self.is_missing {
            File::create_new(path).map_err(|error| StoreError::io("create", path, error))?;
            path.parent().map_or(Ok(()), sync_directory)?;
        }
        let made: Vec<CutCopy> = self.cuts.into_iter().map(|cut| cut.make(directory)).collect::<Result<_, _>>()?;
        let notice = self.why.map(|why| torn::notice(&why, &made));
        Ok((made, notice))
    }
}

/// The journals, oldest first.
fn list(data: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error| StoreError::io("list the journals in", data, error);
    let mut journals = Vec::new();
    for entry in fs::read_dir(data).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jnl")) {
            continue;
        }
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let is_journal = entry.file_type().map_err(failed)?.is_file() && path.extension().is_some_and(|e| e == "jnl");
        match number {
            Some(number) if is_journal => journals.push((number, path)),
            _ => return Err(StoreError::Corrupt { path, why: "not a journal, though it has the name of one".into() }),
        }
    }
    journals.sort();
    Ok(journals.into_iter().map(|(_, path)| path).collect())
}

/// No journal exists: either one was lost, or an empty one is created.
fn missing(data: &Path, marks: Marks) -> Result<Verdict, StoreError> {
    let path = data.join("0.jnl");
    if marks.settled == 0 || marks.settled < marks.acknowledged {
        let why = format!("the journal is missing. Nothing was changed; {SALVAGE}");
        return Err(StoreError::Corrupt { path, why });
    }
    let why = format!("{} is missing, and no row needs it any more: it counts as empty", path.display());
    let (kept, is_missing) = (vec![(path.clone(), 0)], Some(path));
    Ok(Verdict { required: marks.acknowledged, newest: None, kept, cuts: Vec::new(), is_missing, why: Some(why) })
}

/// Reads all journals up to the first bad place, or to the end of the last one; with where the batches of each end.
fn first_bad(paths: &[PathBuf], sequence: &mut Sequence) -> Result<(Option<Bad>, Vec<u64>), StoreError> {
    let mut ends = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let failed = |error| StoreError::io("read", path, error);
        let mut journal = Journal::open(path).map_err(failed)?;
        loop {
            let bad = |at, why, number| Some(Bad { journal: index, at, why, number });
            match journal.next().map_err(failed)? {
                Next::Batch(batch) => {
                    if let Err(why) = sequence.follow(&batch) {
                        return Ok((bad(batch.start, why, None), ends));
                    }
                }
                // A closed journal holds batches: fjall closes it when there are too many.
                Next::End if journal.position() == 0 && index + 1 < paths.len() => {
                    return Ok((bad(0, "a closed journal is empty", None), ends));
                }
                Next::End => break ends.push(journal.position()),
                Next::Bad { why, mark } => {
                    return Ok((bad(journal.position(), why, mark.map(|mark| mark.number)), ends));
                }
            }
        }
    }
    Ok((None, ends))
}

/// Looks for good batches behind a bad place.
fn look_behind(paths: &[PathBuf], bad: &Bad) -> Result<Behind, StoreError> {
    let mut behind = Behind::default();
    for (index, path) in paths.iter().enumerate().skip(bad.journal) {
        let failed = |error| StoreError::io("read", path, error);
        let mut journal = Journal::open(path).map_err(failed)?;
        if index == bad.journal {
            journal.skip_to(bad.at).map_err(failed)?;
        }
        loop {
            let batch = match journal.next().map_err(failed)? {
                // The bad place itself, if it is a batch out of order.
                Next::Batch(batch) => Some(batch),
                Next::End => None,
                Next::Bad { .. } => journal.find_batch().map_err(failed)?,
            };
            let Some(batch) = batch else { break };
            behind.last = Some((index, batch.start));
            behind.is_unnumbered |= batch.mark.is_none();
            if let Some(mark) = batch.mark {
                behind.synced = behind.synced.max(mark.synced);
                behind.number = behind.number.max(mark.number);
            }
        }
    }
    Ok(behind)
}

fn damaged(path: &Path, bad: &Bad, behind: &Behind, required: u64) -> StoreError {
    let number = bad.number.map_or(String::new(), |number| format!(", in commit {number}"));
    let later = match behind.last {
        Some((journal, at)) if journal == bad.journal => format!("; a whole batch follows at byte {at}"),
        Some(_) => "; whole batches follow in a later journal".to_owned(),
        None => String::new(),
    };
    let acknowledged = match required {
        0 => String::new(),
        _ => format!("; commits up to {required} were acknowledged"),
    };
    let why = format!("{} at byte {}{number}{later}{acknowledged}. Nothing was changed; {SALVAGE}", bad.why, bad.at);
    StoreError::Corrupt { path: path.to_path_buf(), why }
}

mod salvage;
#[cfg(test)]
mod tests;

pub(crate) use salvage::salvage;
