//! Joining boxes: those that differ in one column only become one.

use std::collections::HashMap;

use saltwing_types::interrupt;

use crate::column_set::ColumnSet;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;

/// Most boxes among which each is held against each other one.
const COMPARED_BOXES_MAX: usize = 64;

/// Joins boxes that differ in one column only, and drops boxes inside others.
///
/// ```text
/// {a = 1}, {a = 2}                      ->  {a in {1, 2}}
/// {a = 1, b = 2}, {a = 1, b > 5}        ->  {a = 1, b in {2}, (5 ..]}
/// ```
pub(crate) fn join(mut boxes: Vec<KeyBox>, space: &KeySpace) -> Vec<KeyBox> {
    if boxes.iter().any(KeyBox::is_full) {
        return vec![KeyBox::default()];
    }
    let mut positions: Vec<usize> = boxes.iter().flat_map(|b| b.sets.iter().map(|(position, _)| *position)).collect();
    positions.sort_unstable();
    positions.dedup();
    // Last columns first: boxes that become equal there can then be joined by the columns before.
    for position in positions.into_iter().rev() {
        // Boxes that are not joined hold the same rows.
        if boxes.len() < 2 || interrupt::spend(boxes.len()).is_err() {
            break;
        }
        boxes = join_by(boxes, position, space);
    }
    if boxes.len() <= COMPARED_BOXES_MAX {
        drop_inner(&mut boxes, space);
    }
    boxes
}

/// Joins the boxes that are equal but for the column at `position`.
fn join_by(boxes: Vec<KeyBox>, position: usize, space: &KeySpace) -> Vec<KeyBox> {
    let domain = space.domain(position);
    // Groups keep the order in which their first boxes came, so that plans are stable.
    let mut groups: Vec<(KeyBox, Vec<ColumnSet>)> = Vec::with_capacity(boxes.len());
    let mut index: HashMap<KeyBox, usize> = HashMap::with_capacity(boxes.len());
    let mut joined = Vec::new();
    for mut key_box in boxes {
        match key_box.sets.iter().position(|(at, _)| *at == position) {
            None => joined.push(key_box),
            Some(at) => {
                let (_, set) = key_box.sets.remove(at);
                let group = *index.entry(key_box.clone()).or_insert_with(|| {
                    groups.push((key_box, Vec::new()));
                    groups.len() - 1
                });
                if let Some((_, sets)) = groups.get_mut(group) {
                    sets.push(set);
                }
            }
        }
    }
    for (mut rest, sets) in groups {
        let all = match sets.as_slice() {
            [one] => one.clone(),
            many => ColumnSet::union(many, domain),
        };
        if !all.is_full(domain) {
            let at = rest.sets.partition_point(|(other, _)| *other < position);
            rest.sets.insert(at, (position, all));
        }
        joined.push(rest);
    }
    if joined.iter().any(KeyBox::is_full) { vec![KeyBox::default()] } else { joined }
}

fn drop_inner(boxes: &mut Vec<KeyBox>, space: &KeySpace) {
    let mut i = 0;
    while let Some(candidate) = boxes.get(i) {
        let inside = boxes
            .iter()
            .enumerate()
            // Of two equal boxes the first stays.
            .any(|(j, other)| {
                j != i && candidate.is_within(other, space) && (j < i || !other.is_within(candidate, space))
            });
        if inside {
            boxes.remove(i);
        } else {
            i += 1;
        }
    }
}
