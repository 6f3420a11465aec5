//! Slots and spans that merge.

use proptest::prelude::*;
use saltwing_heat::{DAY_S, SPANS_MAX, Slot, Span};

use crate::world::{World, key, span, sum, sum_of};

fn spans() -> impl Strategy<Value = Vec<Span>> {
    let one = (0u64..500, 0u64..50, 0u64..1000, 0u64..1000);
    prop::collection::vec(
        one.prop_map(|(first, length, reads, writes)| span(first, first + length, reads, writes)),
        0..120,
    )
}

proptest! {
    #[test]
    fn weights_stay_and_lie_inside_of_a_span_that_has_them(parts in prop::collection::vec(spans(), 1..6), spans_max in 1usize..40) {
        let mut slot = Slot::new(0, 1);
        parts.iter().for_each(|spans| slot.add(spans, spans_max));
        prop_assert_eq!(sum(&slot.spans), sum(parts.iter().flatten()));
        prop_assert!(slot.spans.len() <= SPANS_MAX.min(spans_max));
        prop_assert!(slot.spans.is_sorted_by_key(|span| (span.first, span.last)));
        for added in parts.iter().flatten() {
            let holds = |span: &Span| {
                span.first <= added.first && added.last <= span.last
                    && span.weights.reads >= added.weights.reads && span.weights.writes >= added.weights.writes
            };
            prop_assert!(slot.spans.iter().any(holds), "{added:?} is nowhere in {:?}", slot.spans);
        }
        // The hull of all does not grow.
        let first = |spans: &[Span]| spans.iter().map(|span| span.first).min();
        let all: Vec<Span> = parts.concat();
        prop_assert_eq!(first(&slot.spans), first(&all));
    }

    /// Accesses at any times are in slots of these times, whatever layers they are in.
    #[test]
    fn ages_move_no_weight_out_of_its_time(steps in prop::collection::vec((0i64..2_000_000, 0u64..100, 1u64..40), 1..60)) {
        let world = World::new(1);
        let mut written: Vec<i64> = Vec::new();
        for (wait_ms, number, count) in steps {
            world.wait_ms(wait_ms);
            (0..count).for_each(|_| world.write(number));
            written.extend((0..count).map(|_| world.now_s()));
        }
        let slots = world.recorder.slots();
        prop_assert!(slots.is_sorted_by_key(|slot| slot.start_s));
        prop_assert!(slots.windows(2).all(|pair| pair[0].end_s() <= pair[1].start_s));
        // A sample stands for accesses since the one before, so a slot has at most the accesses until its end.
        let mut recorded = 0;
        for slot in &slots {
            recorded += sum(&slot.spans).writes;
            let until = written.iter().filter(|at| **at < slot.end_s()).count() as u64;
            prop_assert!(recorded <= until);
            prop_assert!(written.iter().any(|at| (slot.start_s..slot.end_s()).contains(at)));
        }
        let kept = written.iter().filter(|at| **at > world.now_s() - DAY_S).count() as u64;
        prop_assert!(recorded + 127 >= kept);
    }

    /// What is recorded is what was counted, but for the gap that runs.
    #[test]
    fn samples_stand_for_all_accesses(counts in prop::collection::vec((1usize..300, any::<bool>(), 0i64..400), 1..200)) {
        let world = World::new(7);
        let (mut reads, mut writes) = (0, 0);
        for (count, is_read, wait_ms) in counts {
            world.wait_ms(wait_ms);
            let asked = std::cell::RefCell::new(Vec::new());
            let of_index = |index: usize| {
                asked.borrow_mut().push(index);
                Some(key(index as u64))
            };
            match is_read {
                true => world.recorder.read(count, of_index),
                false => world.recorder.write(count, of_index),
            }
            *(if is_read { &mut reads } else { &mut writes }) += count as u64;
            let asked = asked.into_inner();
            prop_assert!(asked.iter().all(|index| *index < count) && asked.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let recorded = sum_of(&world.recorder.slots());
        prop_assert!(recorded.reads <= reads && reads <= recorded.reads + 127);
        prop_assert!(recorded.writes <= writes && writes <= recorded.writes + 127);
    }
}

#[test]
fn few_accesses_are_all_recorded() {
    let world = World::new(3);
    for number in 0..20 {
        world.read(number);
        world.wait_ms(400);
    }
    assert_eq!(sum_of(&world.recorder.slots()).reads, 20);
    world.wait_ms(2 * DAY_S * 1000);
    assert_eq!(sum_of(&world.recorder.slots()).reads, 0, "they are forgotten");
}

#[test]
fn a_hot_key_keeps_a_span_of_its_own() {
    let world = World::new(5);
    for number in 0..50_000_u64 {
        world.read(number * 7919 % 50_000);
        world.read(25_000);
        world.wait_ms(2);
    }
    let slots = world.recorder.slots();
    let of_key =
        slots.iter().flat_map(|slot| &slot.spans).filter(|span| (span.first, span.last) == (key(25_000), key(25_000)));
    let (own, all) = (sum(of_key).reads, sum_of(&slots).reads);
    assert!(own * 100 > all * 35, "{own} of {all}");
}
