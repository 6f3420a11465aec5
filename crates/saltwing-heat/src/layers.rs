//! Slots of time: short ones for the recent past, longer ones for what is older.

use std::collections::VecDeque;

use crate::slot::{Slot, Span};

/// What is older is forgotten, in seconds.
pub const DAY_S: i64 = 24 * 60 * 60;

/// The length of a layer's slots, and the age up to which it keeps them, in seconds. A slot moves on with all others of its slot in the next
/// layer, so that slots do not overlap.
const LAYERS: [(u32, i64); 4] = [(1, 60), (10, 6 * 60), (60, 60 * 60), (600, DAY_S)];

/// Most slots of one relation: for each layer those of its ages, those that wait to fill a slot of the next layer, and one that is not full.
pub const SLOTS_MAX: usize = (60 + 10 + 1) + (30 + 6 + 1) + (54 + 10 + 1) + (138 + 1 + 1);

/// The slots of one relation, by layer.
///
/// # Laws
/// 1. The weights of all slots add up to those that were added in the last day; each is in the slot of its time.
///    Slots do not overlap.
/// 2. There are at most [`SLOTS_MAX`] slots.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    layers: [VecDeque<Slot>; LAYERS.len()],
}

impl Layers {
    /// Adds counts of the second `now_s`. If a later second was added before, they count as its.
    pub(crate) fn add(&mut self, now_s: i64, spans: &[Span], spans_max: usize) {
        if spans.is_empty() {
            return;
        }
        self.age(now_s, spans_max);
        let [newest, ..] = &mut self.layers;
        match newest.back_mut().filter(|last| last.start_s >= now_s) {
            Some(last) => last.add(spans, spans_max),
            None => {
                let mut slot = Slot::new(now_s, 1);
                slot.add(spans, spans_max);
                newest.push_back(slot);
            }
        }
    }

    /// Moves slots to the layers of their age at `now_s`.
    pub(crate) fn age(&mut self, now_s: i64, spans_max: usize) {
        for (index, (_, age_max)) in LAYERS.into_iter().enumerate() {
            let next_s = LAYERS.get(index + 1).map_or(1, |(seconds, _)| i64::from(*seconds));
            let limit_s = start_of(now_s.saturating_sub(age_max), next_s);
            while let Some(old) =
                self.layers.get_mut(index).and_then(|layer| layer.pop_front_if(|slot| slot.end_s() <= limit_s))
            {
                self.move_to(index + 1, &old, spans_max);
            }
        }
    }

    /// Adds a slot to the slot of a layer that has its time; forgets it if there is no such layer.
    fn move_to(&mut self, index: usize, old: &Slot, spans_max: usize) {
        let (Some(layer), Some((seconds, _))) = (self.layers.get_mut(index), LAYERS.get(index)) else { return };
        let start_s = start_of(old.start_s, i64::from(*seconds));
        if layer.back().is_none_or(|last| last.start_s < start_s) {
            layer.push_back(Slot::new(start_s, *seconds));
        }
        if let Some(slot) = layer.back_mut() {
            slot.add(&old.spans, spans_max);
        }
    }

    /// All slots, the oldest first.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.layers.iter().rev().flatten()
    }
}

/// The start of the slot of this length that has a second.
fn start_of(second: i64, length: i64) -> i64 {
    second.saturating_sub(second.rem_euclid(length))
}
