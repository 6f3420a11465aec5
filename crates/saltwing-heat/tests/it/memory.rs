//! The bound of memory.

use proptest::prelude::*;
use saltwing_heat::{BYTES_MAX, SLOTS_MAX, SPANS_MAX, Slot, Span};

use crate::world::World;

fn bytes(slots: &[Slot]) -> usize {
    slots.iter().map(|slot| size_of::<Slot>() + slot.spans.len() * size_of::<Span>()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 32 + 1, ..ProptestConfig::default() })]

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

#[test]
fn a_relation_takes_less_than_a_megabyte() {
    assert!(BYTES_MAX < 1_000_000, "{BYTES_MAX}");
}
