//! Skips inside the ranges: the next key that the columns after a gap allow.
//!
//! ```text
//! key (a, b, c)     a = 1 AND c = 3       range [(1) .. (1)], over b to c = 3
//!
//!   at (1, 5, 1)    unwanted up to (1, 5, 3)
//!   at (1, 5, 3)    wanted up to the place after (1, 5, 3)
//!   at (1, 5, 4)    unwanted up to (1, 6, 3); if b were a text, up to the place after (1, 'x')
//! ```
//!
//! Ranges are made of the columns up to the first span; skips use all columns of the boxes. Skips are optional: a scan that
//! does not skip reads too much, and the residual filter has each condition that the ranges do not imply.
//!
//! # Laws
//! For any key that rows can have, in both directions:
//! 1. no row of an unwanted stretch meets the conditions;
//! 2. the stretch contains the requested key, so a scan that continues after it advances;
//! 3. each row of a wanted stretch lies in one of the boxes.

mod boxes;
mod stretch;

use std::sync::Arc;

use saltwing_rowkey::{Bound, KeySlices, RowKeyCodec};
use saltwing_types::{Direction, Value};

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::extent::Extent;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::notation;
use crate::skip::boxes::{Boxes, SkipBox};
use crate::skip::stretch::{Places, Typed};
use crate::value_set::ValueSet;

/// Most texts that EXPLAIN shows for as many boxes.
const TEXTS_MAX: usize = 4;

/// The skips of an access inside its ranges. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Skip {
    plan: Arc<SkipPlan>,
}

#[derive(Debug)]
struct SkipPlan {
    codec: Arc<RowKeyCodec>,
    domains: Vec<Domain>,
    boxes: Boxes,
    /// Key columns that have a say.
    reach: usize,
    text: String,
}

/// A region of adjacent keys that starts at the requested key, in the direction of the scan.
///
/// A place is a byte string above all keys before it and not above any key after it. A forward stretch has the keys
/// below its place; a reverse one has the keys from its place on. `None` is the end of all keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRegion<'p> {
    /// All of them may be wanted.
    Match(Option<&'p [u8]>),
    /// None of them is.
    Gap(Option<&'p [u8]>),
}

/// What boxes tell beyond their ranges.
#[derive(Clone, Debug)]
pub(crate) enum Gaps {
    /// The skips.
    Known(Skip),
    /// Skips by values that are not known yet, over so many key columns.
    Open(usize),
}

impl Gaps {
    /// What boxes tell beyond ranges that reach so far; `None` if that is nothing.
    pub(crate) fn new(
        boxes: &[KeyBox],
        extents: &[Extent],
        codec: &Arc<RowKeyCodec>,
        space: &KeySpace,
    ) -> Option<Self> {
        let has_gap = |(key_box, extent): (&KeyBox, &Extent)| reach(key_box) > extent.columns;
        // An index may keep values in another type than that of the sets.
        let is_as_kept = |position| space.domain(position).ty() == space.column(position).ty;
        if !boxes.iter().zip(extents).any(has_gap) || !(0..space.len()).all(is_as_kept) {
            return None;
        }
        let full = |position| Arc::new(ValueSet::full(space.domain(position)));
        let full: Vec<Arc<ValueSet>> = (0..space.len()).map(full).collect();
        let skip_box = |key_box: &KeyBox| {
            let set = |(position, full)| match key_box.get(position) {
                None => Some(Arc::clone(full)),
                Some(ColumnSet::Known(set)) => Some(Arc::clone(set)),
                Some(ColumnSet::Open(_)) => None,
            };
            Some(SkipBox { sets: full.iter().enumerate().map(set).collect::<Option<_>>()?, reach: reach(key_box) })
        };
        let reach = boxes.iter().map(reach).max().unwrap_or_default();
        let Some(skip_boxes) = boxes.iter().map(skip_box).collect::<Option<Vec<_>>>() else {
            return Boxes::are_few(boxes.len()).then_some(Self::Open(reach));
        };
        let domains: Vec<Domain> = (0..space.len()).map(|position| space.domain(position).clone()).collect();
        let skip_boxes = Boxes::new(skip_boxes, &domains)?;
        let text = text(boxes, extents, space);
        let plan = SkipPlan { codec: Arc::clone(codec), domains, boxes: skip_boxes, reach, text };
        Some(Self::Known(Skip { plan: Arc::new(plan) }))
    }

    /// Key columns that decide about skips, the leading ones included.
    pub(crate) fn reach(&self) -> usize {
        match self {
            Self::Known(skip) => skip.plan.reach,
            Self::Open(reach) => *reach,
        }
    }

    /// The skips, if they are known.
    pub(crate) fn known(&self) -> Option<&Skip> {
        if let Self::Known(skip) = self { Some(skip) } else { None }
    }
}

impl Skip {
    /// Which columns are skipped to reach which values, as EXPLAIN has it: `over b to c = 3`.
    pub fn text(&self) -> &str {
        &self.plan.text
    }

    /// The regions as a scan in this direction meets them.
    pub fn regions(&self, direction: Direction) -> KeyRegions {
        KeyRegions::new(self.plan.clone(), direction)
    }
}

/// Key columns up to the last that a box says anything of.
fn reach(key_box: &KeyBox) -> usize {
    key_box.columns().last().map_or(0, |(position, _)| position + 1)
}

/// The skips of each box.
fn text(boxes: &[KeyBox], extents: &[Extent], space: &KeySpace) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (key_box, extent) in boxes.iter().zip(extents) {
        let text = box_text(key_box, extent, space);
        if text.is_empty() || texts.contains(&text) {
            continue;
        }
        if texts.len() == TEXTS_MAX {
            texts.push("…".into());
            break;
        }
        texts.push(text);
    }
    texts.join("; ")
}

/// `over b to c = 3, over d to e IN (1, 2)`; nothing, where the ranges hold all columns.
fn box_text(key_box: &KeyBox, extent: &Extent, space: &KeySpace) -> String {
    let mut parts = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for position in extent.lists..reach(key_box) {
        let (name, domain) = (space.column(position).name.as_str(), space.domain(position));
        let set = key_box.get(position).and_then(ColumnSet::known);
        if let Some(set) = set.filter(|_| position >= extent.columns) {
            let target = notation::column_set(name, set, domain);
            parts.push(match open.is_empty() {
                true => target,
                false => format!("over {} to {target}", open.join(", ")),
            });
            open.clear();
        }
        if set.is_none_or(|set| !set.is_list(domain)) {
            open.push(name);
        }
    }
    parts.join(", ")
}

/// Tells of one key after the other in which stretch it lies.
#[derive(Debug)]
pub struct KeyRegions {
    plan: Arc<SkipPlan>,
    direction: Direction,
    slices: KeySlices,
    row: Vec<Value>,
    /// The end of the last stretch.
    until: Option<Vec<u8>>,
}

impl KeyRegions {
    fn new(plan: Arc<SkipPlan>, direction: Direction) -> Self {
        Self { plan, direction, slices: KeySlices::new(), row: Vec::new(), until: None }
    }

    /// The stretch from a logical key on, in the direction of travel.
    pub fn at(&mut self, logical: &[u8]) -> KeyRegion<'_> {
        let found =
            self.read(logical).and_then(|()| self.find()).filter(|(_, until)| self.moves(logical, until.as_deref()));
        // An unreadable row is not skipped: it becomes an error when it is decoded.
        let (wanted, until) = found.unwrap_or_else(|| (true, Some(self.after(logical))));
        self.until = until;
        if wanted { KeyRegion::Match(self.until.as_deref()) } else { KeyRegion::Gap(self.until.as_deref()) }
    }

    /// Decodes the columns that have a say.
    fn read(&mut self, logical: &[u8]) -> Option<()> {
        let Self { plan, slices, row, .. } = self;
        plan.codec.split_logical(logical, plan.reach, slices).ok()?;
        row.clear();
        for column in 0..plan.reach {
            row.push(plan.codec.decode_column(logical, slices, column).ok()?);
        }
        Some(())
    }

    /// The farthest stretch of the boxes that hold the row, else the nearest start of any; the outer `None` where a place has no bytes.
    fn find(&self) -> Option<(bool, Option<Vec<u8>>)> {
        let plan = &*self.plan;
        let (mut wanted, mut until) = (false, None::<Option<Vec<u8>>>);
        for skip_box in plan.boxes.around(&self.row, &plan.domains, self.direction) {
            let places =
                Places { sets: &skip_box.sets, domains: &plan.domains, row: &self.row, direction: self.direction };
            let (holds, place) = match places.outside(skip_box.reach) {
                None => (true, places.end_of_stretch(skip_box.reach)),
                Some(_) if wanted => continue,
                Some(column) => (false, places.next_from(column)),
            };
            let place = match place {
                Some(place) => self.bytes(&place)?,
                None => None,
            };
            if holds && !wanted {
                (wanted, until) = (true, Some(place));
                continue;
            }
            until = Some(match until {
                None => place,
                Some(other) if self.is_before(&place, &other) == holds => other,
                Some(_) => place,
            });
        }
        Some((wanted, until.unwrap_or_default()))
    }

    /// A typed place as bytes; the inner `None` if no key is after it in the direction of the scan, the outer one if a
    /// value has no place.
    fn bytes(&self, place: &Typed) -> Option<Option<Vec<u8>>> {
        let start = if place.after { Bound::Excluded(&place.values) } else { Bound::Included(&place.values) };
        let rest = self.plan.codec.bounds_range(start, Bound::Unbounded).ok()?;
        let start = rest.map(|range| range.into_bounds().0);
        Some(match self.direction {
            Direction::Forward => start,
            Direction::Reverse => Some(start?).filter(|start| !start.is_empty()),
        })
    }

    /// Whether a place is met before another one.
    fn is_before(&self, a: &Option<Vec<u8>>, b: &Option<Vec<u8>>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) if self.direction == Direction::Forward => a < b,
            (Some(a), Some(b)) => a > b,
            (a, b) => a.is_some() && b.is_none(),
        }
    }

    /// Whether a key is before a place.
    fn moves(&self, logical: &[u8], until: Option<&[u8]>) -> bool {
        until.is_none_or(|until| match self.direction {
            Direction::Forward => logical < until,
            Direction::Reverse => until <= logical,
        })
    }

    /// The place after a single key.
    fn after(&self, logical: &[u8]) -> Vec<u8> {
        match self.direction {
            Direction::Forward => [logical, &[0]].concat(),
            Direction::Reverse => logical.to_vec(),
        }
    }
}
