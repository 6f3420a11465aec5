use std::collections::BTreeSet;

use proptest::prelude::*;
use saltwing_types::{KeyColumn, KeySource, Salt, SortOrder, SqlType};

use super::*;

fn schema(salt: Option<u16>) -> KeySchema {
    let column = |name: &str| KeyColumn {
        source: KeySource::Column(0),
        name: name.into(),
        ty: SqlType::Varbinary,
        order: SortOrder::Asc,
        nullable: false,
    };
    KeySchema { columns: vec![column("k")], salt: salt.map(|buckets| Salt { buckets, by: None }) }
}

/// Keys of one byte, as ends of ranges.
fn range(start: u8, end: Option<u8>) -> Option<KeyRange> {
    KeyRange::new(vec![start], end.map(|end| vec![end]))
}

/// Of the keys of one byte those that are read in a bucket, in the order in which they are met, and how many seeks that takes.
fn read(keys: &KeySet, bucket: Option<u8>, direction: Direction) -> (Vec<u8>, usize) {
    let (mut found, mut seeks) = (Vec::new(), 0);
    let mut ranges = keys.ranges(bucket, direction);
    while let Some(range) = ranges.next() {
        seeks += usize::from(!ranges.continues());
        let mut inside: Vec<u8> = (0..=u8::MAX).filter(|key| range.contains(&[*key])).collect();
        if direction == Direction::Reverse {
            inside.reverse();
        }
        found.extend(inside);
    }
    (found, seeks)
}

proptest! {
    #[test]
    fn parts_have_the_keys_and_seeks_of_the_whole(
        // Each begins after the one before.
        widths in prop::collection::vec((1u8..20, 1u8..20, prop::option::weighted(0.4, 0u8..3)), 0..6),
        cuts in prop::collection::btree_set((0u8..4, 0u8..120), 0..6),
        is_salted: bool,
        rest in prop::option::of((0u8..60, prop::option::of(60u8..120))),
    ) {
        let key = schema(is_salted.then_some(3));
        let mut at = 0;
        let list: Vec<ScanRange> = widths.iter().filter_map(|(gap, width, bucket)| {
            let start = at + gap;
            at = start + width;
            Some(ScanRange { range: range(start, Some(at))?, bucket: bucket.filter(|_| is_salted) })
        }).collect();
        let is_read = |bucket: Option<u8>, one: u8| {
            let inside = |own: &&ScanRange| own.range.contains(&[one]) && (own.bucket.is_none() || own.bucket == bucket);
            let rest = rest.is_none_or(|(start, end)| one >= start && end.is_none_or(|end| one < end));
            rest && list.iter().any(|own| inside(&own))
        };
        let mut ranges = KeyRanges::from(RangeList::new(list.clone()));
        if let Some((start, end)) = rest {
            ranges = ranges.rest(range(start, end).unwrap());
        }
        let whole = KeySet::everywhere(ranges);
        let cuts: Vec<Vec<u8>> = cuts.into_iter().map(|(bucket, one)| if is_salted { vec![bucket, one] } else { vec![one] }).collect();
        let cuts: BTreeSet<Vec<u8>> = cuts.into_iter().collect();
        let ends = cuts.iter().cloned().map(Some).chain([None]);
        let starts = std::iter::once(Vec::new()).chain(cuts.iter().cloned());
        let parts: Vec<KeySet> = starts.zip(ends).filter_map(|(start, end)| KeyRange::new(start, end)).filter_map(|part| whole.within(&key, &part)).collect();
        for bucket in whole.buckets(&key) {
            let wanted: Vec<u8> = (0..=u8::MAX).filter(|one| is_read(bucket, *one)).collect();
            let (found, seeks) = read(&whole, bucket, Direction::Forward);
            prop_assert_eq!(&found, &wanted);
            let (mut reverse, _) = read(&whole, bucket, Direction::Reverse);
            reverse.reverse();
            prop_assert_eq!(&reverse, &wanted);
            let of_parts = parts.iter().filter(|part| part.buckets(&key).contains(&bucket));
            let of_parts: Vec<_> = of_parts.map(|part| read(part, bucket, Direction::Forward)).collect();
            prop_assert_eq!(of_parts.iter().flat_map(|(found, _)| found.clone()).collect::<Vec<_>>(), wanted);
            prop_assert_eq!(of_parts.iter().map(|(_, seeks)| seeks).sum::<usize>(), seeks);
        }
        let sample = whole.sample(&key);
        prop_assert!(sample.total >= sample.ranges.len() as u64);
    }
}
