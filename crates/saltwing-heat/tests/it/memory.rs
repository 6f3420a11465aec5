//! The bound of memory.

use std::sync::Arc;

use proptest::prelude::*;
use saltwing_heat::{BYTES_MAX, Room, SLOTS_MAX, SPANS_MAX, SPANS_MIN, Slot, Span};

use crate::world::{World, sum_of};

fn bytes(slots: &[Slot]) -> usize {
    slots.iter().map(|slot| size_of::<Slot>() + slot.spans.len() * size_of::<Span>()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 64 + 1, ..ProptestConfig::default() })]

    /// Days of load at any rate stay within the bound.
    #[test]
    fn counts_of_days_are_bounded(seed: u64, pauses_ms in prop::collection::vec(1i64..20_000, 1..20), keys in 1u64..100_000) {
        let world = World::new(seed);
        let mut random = seed | 1;
        let end_s = world.now_s() + 2 * saltwing_heat::DAY_S;
        for pause_ms in pauses_ms.iter().cycle() {
            if world.now_s() >= end_s {
                break;
            }
            for _ in 0..8 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                world.read((random >> 33) % keys);
            }
            world.wait_ms(*pause_ms + 700);
        }
        let slots = world.recorder.slots();
        prop_assert!(slots.len() <= SLOTS_MAX, "{} slots", slots.len());
        prop_assert!(slots.iter().all(|slot| slot.spans.len() <= SPANS_MAX));
        prop_assert!(bytes(&slots) <= BYTES_MAX);
    }
}

/// Many busy relations share a room: what is beyond it is coarse, nothing is lost, and a relation that goes gives its part back.
#[test]
fn recorders_share_a_room() {
    let bytes = 500_000;
    let room = Arc::new(Room::new(bytes));
    let worlds: Vec<World> = (0..100).map(|seed| World::within(seed, room.clone())).collect();
    for second in 0..300_u64 {
        for world in &worlds {
            (0..40).for_each(|number| world.read(number * 7919 % 997 + second));
            world.wait_ms(1000);
        }
    }
    for world in &worlds {
        let reads = sum_of(&world.recorder.slots()).reads;
        assert!((11_873..=12_000).contains(&reads), "{reads}");
    }
    let least = worlds.len() * SLOTS_MAX * SPANS_MIN * size_of::<Span>();
    assert!(room.bytes() > bytes / 2 && room.bytes() < bytes + least, "{}", room.bytes());
    drop(worlds);
    assert_eq!(room.bytes(), 0);
}

#[test]
fn a_relation_takes_less_than_a_megabyte() {
    const { assert!(BYTES_MAX < 1_000_000) };
}
