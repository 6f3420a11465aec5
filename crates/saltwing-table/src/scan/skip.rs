//! Skips inside a range: past rows whose keys show that none can match.
//!
//! ```text
//! rows        w w . . . . . . . w . . w w w w w ..
//! probes      ^   ^             ^ ^   ^             which stretch contains this row's key?
//! seeks           └────────────>                    past 4 rows or more
//! read over                       └──>              past fewer: they are looked at one by one
//! ```
//!
//! A probe costs about as much as reading a few rows. After several probes without a seek, rows are therefore
//! returned without probes for a while, each time for longer; the filter rejects the unwanted ones.
//!
//! # Law
//! Rows are skipped only in unwanted stretches. The returned rows and the counters do not depend on whether rows are in
//! blocks or in deltas, except for blocks that a filter prunes.

use saltwing_access::{KeyRegion, KeyRegions, ScanContext, TableError};
use saltwing_store::Direction;

use crate::scan::cursor::Walk;
use crate::scan::cursor::segment::RowSegment;

/// Rows that are passed over by a seek. Fewer are read over.
const SEEK_ROWS_MIN: usize = 4;
/// Probes without a seek, after which rows are returned without probes.
const PROBES_MAX: u32 = 16;
/// Rows that are returned without probes at first, and at most.
const UNPROBED_ROWS_MIN: usize = 256;
const UNPROBED_ROWS_MAX: usize = 4096;
/// Probes between checks of cancel and time.
const CHECK_PROBES: u32 = 1024;

/// Leaves out rows of a bucket's walks.
pub(crate) struct Skipper {
    skip_filter: KeyRegions,
    direction: Direction,
    /// The bytes before a logical key.
    bucket: Option<u8>,
    context: ScanContext,
    /// Rows of the walk that come next.
    held: Option<RowSegment>,
    state: State,
    /// Where the stretch ends, unless it has no end.
    place: Vec<u8>,
    has_end: bool,
    /// The buffer of the probed key.
    key: Vec<u8>,
    /// Rows of the unwanted stretch that were met so far.
    passed: usize,
    /// Probes since the last seek, and since the last check of cancel.
    probes: u32,
    unchecked: u32,
    /// Rows still to be returned without probes, and how many the next time.
    unprobed: usize,
    unprobed_next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next row's stretch is unknown.
    Unknown,
    /// Rows up to the place are wanted.
    Match,
    /// They are not.
    Unwanted,
}

impl Skipper {
    pub(crate) fn new(skip_filter: KeyRegions, direction: Direction, bucket: Option<u8>, context: ScanContext) -> Self {
        Self {
            skip_filter,
            direction,
            bucket,
            context,
            held: None,
            state: State::Unknown,
            place: Vec::new(),
            has_end: false,
            key: Vec::new(),
            passed: 0,
            probes: 0,
            unchecked: 0,
            unprobed: 0,
            unprobed_next: UNPROBED_ROWS_MIN,
        }
    }

    /// The next rows of a walk that may be wanted, `most` at most; `None` where it ends.
    pub(crate) fn next(&mut self, walk: &mut Walk, most: usize) -> Result<Option<RowSegment>, TableError> {
        loop {
            let segment = match self.held.take() {
                Some(segment) => segment,
                None => match walk.next(usize::MAX)? {
                    Some(segment) => segment,
                    None => return self.end(),
                },
            };
            if matches!(segment, RowSegment::Pruned(_)) {
                return Ok(Some(self.take(segment, most)));
            }
            if self.unprobed > 0 {
                let segment = self.take(segment, most.min(self.unprobed));
                self.unprobed -= segment.len();
                return Ok(Some(segment));
            }
            match self.state {
                State::Unknown => {
                    self.probe(&segment)?;
                    self.held = Some(segment);
                }
                State::Match => match self.rows_before_place(&segment)? {
                    0 => {
                        self.state = State::Unknown;
                        self.held = Some(segment);
                    }
                    inside => return Ok(Some(self.take(segment, most.min(inside)))),
                },
                State::Unwanted if !self.has_end || !walk.reaches(&self.place) => return self.end(),
                State::Unwanted => self.pass(segment, walk)?,
            }
        }
    }

    /// Finds the stretch that contains the first row of a segment, unless that was in vain too often.
    fn probe(&mut self, segment: &RowSegment) -> Result<(), TableError> {
        if self.probes == PROBES_MAX {
            self.probes = 0;
            self.unprobed = self.unprobed_next;
            self.unprobed_next = (2 * self.unprobed_next).min(UNPROBED_ROWS_MAX);
            return Ok(());
        }
        self.probes += 1;
        self.unchecked += 1;
        if self.unchecked == CHECK_PROBES {
            self.unchecked = 0;
            self.context.check()?;
        }
        segment.first_key(self.direction, &mut self.key)?;
        let logical = self.key.get(usize::from(self.bucket.is_some())..).unwrap_or_default();
        let (state, place) = match self.skip_filter.at(logical) {
            KeyRegion::Match(place) => (State::Match, place),
            KeyRegion::Gap(place) => (State::Unwanted, place),
        };
        self.state = state;
        self.has_end = place.is_some();
        self.place.clear();
        self.place.extend(self.bucket);
        self.place.extend_from_slice(place.unwrap_or_default());
        Ok(())
    }

    /// Skips the unwanted rows of a segment; if they are many and reach its end, the cursor seeks to the place.
    fn pass(&mut self, mut segment: RowSegment, walk: &mut Walk) -> Result<(), TableError> {
        let unwanted = self.rows_before_place(&segment)?;
        self.passed += unwanted;
        if unwanted < segment.len() {
            if unwanted > 0 {
                segment.split(unwanted, self.direction);
            }
            self.held = Some(segment);
            return self.arrive();
        }
        if self.passed < SEEK_ROWS_MIN {
            return Ok(());
        }
        walk.seek(&self.place)?;
        self.arrive()
    }

    /// All unwanted rows were passed over.
    fn arrive(&mut self) -> Result<(), TableError> {
        self.state = State::Unknown;
        let passed = std::mem::take(&mut self.passed);
        if passed < SEEK_ROWS_MIN {
            return if passed > 0 { self.context.charge(passed as u64, 0) } else { Ok(()) };
        }
        self.probes = 0;
        self.unprobed_next = UNPROBED_ROWS_MIN;
        self.context.counters.count_seek();
        Ok(())
    }

    /// The cursor has no more rows that may be wanted. The stretch ahead stays valid for the next cursor.
    fn end(&mut self) -> Result<Option<RowSegment>, TableError> {
        let passed = std::mem::take(&mut self.passed);
        if passed > 0 {
            self.context.charge(passed as u64, 0)?;
        }
        Ok(None)
    }

    /// The first rows of a segment, `most` at most; the others are held.
    fn take(&mut self, mut segment: RowSegment, most: usize) -> RowSegment {
        if segment.len() <= most {
            return segment;
        }
        let taken = segment.split(most, self.direction);
        self.held = Some(segment);
        taken
    }

    /// How many rows of a segment are before the place, in the direction of the scan.
    fn rows_before_place(&self, segment: &RowSegment) -> Result<usize, TableError> {
        if !self.has_end {
            return Ok(segment.len());
        }
        segment.rows_before(&self.place, self.direction)
    }
}
