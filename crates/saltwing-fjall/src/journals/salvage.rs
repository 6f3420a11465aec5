//! The readable parts of damaged journals.
//!
//! A damaged place takes the commits in it. Whole batches behind it are used as well, if all of these hold:
//!
//! * they follow each other without a gap up to the end of the journal's batches, or start at the start of a later journal.
//!   Bytes inside a stored value that look like a batch do not do that;
//! * they have marks, whose numbers are above all before;
//! * their order numbers grow.
//!
//! The result is not a state that the database ever had: a row may be present without an older one of a lost commit.
//! Each commit is present as a whole or not at all, and the report names each lost part.

use std::ops::Range;
use std::path::{Path, PathBuf};

use saltwing_store::watermark::Marks;
use saltwing_store::{LeftOut, StoreError};

use super::{Sequence, list};
use crate::files::below;
use crate::journal::{Batch, Journal, Next};

/// The usable parts of journals.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// The journals, oldest first, with the parts that hold whole batches.
    pub(crate) journals: Vec<(PathBuf, Vec<Range<u64>>)>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A part of a journal that cannot be used.
struct Gap {
    file: PathBuf,
    at: u64,
    /// The offset in the same journal at which batches continue.
    end: Option<u64>,
    why: &'static str,
    /// The numbers of the commits that are lost; without an end where none is known to follow.
    first: u64,
    last: Option<u64>,
}

/// A reading of all journals.
#[derive(Default)]
struct Reading {
    sequence: Sequence,
    /// The highest number of a batch that is used.
    newest: u64,
    /// The batch that was taken last in this journal, and the order number before it.
    last: Option<(Batch, Option<u64>)>,
    gaps: Vec<Gap>,
    /// Whether it is not known yet which batch comes behind the last gap.
    is_open: bool,
}

/// Finds the usable parts of the journals in `data`. Changes nothing.
///
/// # Errors
/// [`StoreError::Io`]; [`StoreError::Corrupt`] for a file with the name of a journal that is not one.
pub(crate) fn salvage(data: &Path, marks: Marks) -> Result<Saved, StoreError> {
    let (mut reading, mut journals) = (Reading::default(), Vec::new());
    for path in list(data)? {
        let parts = reading.journal(&path).map_err(|error| StoreError::io("read", &path, error))?;
        journals.push((path, parts));
    }
    if journals.is_empty() {
        reading.newest = marks.settled;
        // fjall looks for the highest order number in tables only where there is a journal.
        journals.push((data.join("0.jnl"), Vec::new()));
        reading.lose(&data.join("0.jnl"), 0, "the journal is missing");
    }
    let acknowledged = marks.acknowledged.max(reading.sequence.synced);
    let is_told = reading.is_open || acknowledged <= reading.newest;
    if let Some((path, parts)) = journals.last().filter(|_| !is_told) {
        reading.lose(path, parts.last().map_or(0, |part| part.end), "commits are missing at its end");
    }
    let left_out = reading.gaps.iter().map(|gap| gap.told(data, acknowledged)).collect();
    Ok(Saved { journals, left_out })
}

impl Reading {
    /// The usable parts of the next journal.
    fn journal(&mut self, path: &Path) -> std::io::Result<Vec<Range<u64>>> {
        let mut journal = Journal::open(path)?;
        let (mut parts, mut part) = (Vec::new(), 0..0);
        // Batches can continue at its start, regardless of earlier losses.
        (self.sequence.number, self.last) = (None, None);
        loop {
            let why = match journal.next()? {
                Next::End => break,
                Next::Bad { why, .. } => why,
                Next::Batch(batch) => {
                    if let Some(start) = self.drop_misnumbered(path, &batch) {
                        part.end = start;
                        parts.push(std::mem::replace(&mut part, batch.start..batch.start));
                    }
                    match self.take(path, &batch) {
                        Ok(()) => {
                            part.end = batch.end;
                            continue;
                        }
                        Err(why) => why,
                    }
                }
            };
            let at = part.end;
            self.lose(path, at, why);
            parts.push(std::mem::replace(&mut part, 0..0));
            journal.skip_to(at)?;
            let Some(start) = self.find_tail(&mut journal)? else { break };
            part = start..start;
            self.gaps.last_mut().into_iter().for_each(|gap| gap.end = Some(start));
            (self.sequence.number, self.last) = (None, None);
            journal.skip_to(start)?;
        }
        parts.push(part);
        parts.retain(|part| !part.is_empty());
        Ok(parts)
    }

    /// Takes a batch, if it may come here.
    fn take(&mut self, path: &Path, batch: &Batch) -> Result<(), &'static str> {
        let before = batch.mark.map(|mark| mark.number.saturating_sub(1 + mark.skipped));
        if batch.mark.is_some_and(|mark| mark.number <= self.newest) {
            return Err("the batch's number does not hold");
        }
        let order = self.sequence.order;
        self.sequence.follow(batch)?;
        self.last = Some((*batch, order));
        let Some((mark, before)) = batch.mark.zip(before) else { return Ok(()) };
        if !self.is_open && self.newest > 0 && before > self.newest {
            self.lose(path, batch.start, "batches are missing before this one");
            self.gaps.last_mut().into_iter().for_each(|gap| gap.end = Some(batch.start));
        }
        if std::mem::take(&mut self.is_open) {
            self.gaps.last_mut().into_iter().for_each(|gap| gap.last = Some(before));
        }
        self.newest = mark.number;
        Ok(())
    }

    /// Drops the last batch if the mark of the next one, which has a checksum, shows that its sequence number is too
    /// high: it would hide later batches. Returns its offset.
    fn drop_misnumbered(&mut self, path: &Path, next: &Batch) -> Option<u64> {
        let order_min = next.mark?.order_min;
        let (batch, order) = self.last.take_if(|(last, _)| last.order >= order_min)?;
        (self.sequence.number, self.sequence.order) = (None, order);
        self.newest = batch.mark?.number.saturating_sub(1);
        self.lose(path, batch.start, "the batch's order number does not hold");
        self.gaps.last_mut()?.end = Some(next.start);
        Some(batch.start)
    }

    fn lose(&mut self, file: &Path, at: u64, why: &'static str) {
        let (file, first) = (file.to_path_buf(), self.newest + 1);
        self.gaps.push(Gap { file, at, end: None, why, first, last: None });
        self.is_open = true;
    }

    /// Where the batches start that run up to the journal's end, behind a bad place.
    fn find_tail(&self, journal: &mut Journal) -> std::io::Result<Option<u64>> {
        while let Some(first) = journal.find_batch()? {
            let mut tail = Sequence { order: self.sequence.order, ..Sequence::default() };
            let is_newer = first.mark.is_some_and(|mark| mark.number > self.newest);
            if !is_newer || tail.follow(&first).is_err() {
                continue;
            }
            loop {
                match journal.next()? {
                    Next::End => return Ok(Some(first.start)),
                    Next::Batch(batch) if batch.mark.is_some() && tail.follow(&batch).is_ok() => {}
                    Next::Batch(_) | Next::Bad { .. } => break,
                }
            }
        }
        Ok(None)
    }
}

impl Gap {
    fn told(&self, data: &Path, acknowledged: u64) -> LeftOut {
        let Self { file, at, end, why, first, last } = self;
        let place = match end {
            Some(end) if end > at => format!("bytes {at} to {end}"),
            _ => format!("from byte {at} on"),
        };
        let lost = match last {
            Some(last) if last < first => "no commit is missing by its number".to_owned(),
            Some(last) if last == first => format!("commit {first} is lost"),
            Some(last) => format!("commits {first} to {last} are lost"),
            None if acknowledged < *first => "no commit that was acknowledged is known to be lost".to_owned(),
            None => format!("commits from {first} on are lost, which were acknowledged up to {acknowledged}"),
        };
        LeftOut { file: below(data, file), place, what: format!("{why}; {lost}") }
    }
}
