//! The laws of the picture.

use proptest::prelude::*;
use saltwing_heat::{KeyPrefix, Picture, Slot, cuts_by_weight};

use crate::world::{key, span, sum};

fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let one = (1u32..50, prop::collection::vec((0u64..200, 0u64..60, 0u64..1000, 0u64..1000), 1..20));
    prop::collection::vec(one, 0..12).prop_map(|list| {
        let mut start_s = 0;
        let slot = |(seconds, spans): (u32, Vec<(u64, u64, u64, u64)>)| {
            let mut slot = Slot::new(start_s, seconds);
            start_s += i64::from(seconds);
            let spans: Vec<_> =
                spans.into_iter().map(|(first, length, r, w)| span(first, first + length, r, w)).collect();
            slot.add(&spans, usize::MAX);
            slot
        };
        list.into_iter().map(slot).collect()
    })
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #[test]
    fn a_picture_of_all_time_has_all_weights(slots in slots(), rows in 1usize..20, columns in 1usize..30) {
        let cuts = cuts_by_weight(&slots, rows);
        prop_assert!(cuts.len() < rows.max(1) && cuts.is_sorted() && cuts.windows(2).all(|pair| pair[0] < pair[1]));
        let end_s = slots.last().map_or(1, Slot::end_s);
        let picture = Picture::of(&slots, &cuts, end_s, end_s.unsigned_abs(), columns);
        prop_assert!(picture.columns.len() <= columns);
        let follow = |pair: &[saltwing_heat::Column]| pair[0].start_s + pair[0].seconds as i64 == pair[1].start_s;
        prop_assert!(picture.columns.windows(2).all(follow));
        let all = sum(slots.iter().flat_map(|slot| &slot.spans));
        prop_assert!(is_near(picture.reads.iter().flatten().sum(), all.reads as f64));
        prop_assert!(is_near(picture.writes.iter().flatten().sum(), all.writes as f64));
    }

    /// A picture of one span has weight only where the span is, in keys and in time.
    #[test]
    fn weight_is_where_its_span_is(
        first in 0u64..100,
        length in 0u64..50,
        cuts in prop::collection::btree_set(0u64..160, 0..10),
        (start_s, seconds) in (0i64..50, 1u32..20),
        columns in 1usize..40,
    ) {
        let mut slot = Slot::new(start_s, seconds);
        slot.add(&[span(first, first + length, 100, 0)], usize::MAX);
        let cuts: Vec<KeyPrefix> = cuts.into_iter().map(key).collect();
        let picture = Picture::of(&[slot.clone()], &cuts, 80, 80, columns);
        for (column, reads) in picture.columns.iter().zip(&picture.reads) {
            let is_then = column.start_s < slot.end_s() && slot.start_s < column.start_s + column.seconds as i64;
            prop_assert_eq!(column.known_seconds > column.seconds, is_then && u64::from(seconds) > column.seconds);
            for (row, weight) in reads.iter().enumerate() {
                let begins = row == 0 || cuts[row - 1] <= key(first + length);
                let ends = row == cuts.len() || key(first) < cuts[row];
                prop_assert_eq!(*weight > 0.0, is_then && begins && ends);
            }
        }
        prop_assert!(is_near(picture.reads.iter().flatten().sum(), 100.0));
    }
}
