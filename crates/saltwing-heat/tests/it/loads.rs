//! Loads and their pictures.

use proptest::prelude::*;
use saltwing_heat::{Picture, cuts_by_weight};

use crate::world::{World, key};

/// The share of the heaviest row in the writes of each column that has some.
fn heaviest_shares(picture: &Picture) -> Vec<f64> {
    let columns = picture.writes.iter().filter(|column| column.iter().sum::<f64>() > 0.0);
    columns.map(|column| column.iter().copied().fold(0.0, f64::max) / column.iter().sum::<f64>()).collect()
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8 + 1, ..ProptestConfig::default() })]

    /// Growing keys burn in one row at a time, the rows one after the other; even keys burn nowhere.
    #[test]
    fn a_monotonic_key_is_a_line_and_an_even_load_is_a_field(seed: u64, per_second in 200i64..2000) {
        let (growing, even) = (World::new(seed), World::new(seed));
        let mut state = seed;
        for number in 0..40 * per_second {
            growing.write(number.unsigned_abs());
            even.write(random(&mut state) % 1_000_000);
            let until_ms = |number: i64| number * 1000 / per_second;
            let step_ms = until_ms(number + 1) - until_ms(number);
            growing.wait_ms(step_ms);
            even.wait_ms(step_ms);
        }
        let picture = |world: &World| {
            let slots = world.recorder.slots();
            Picture::of(&slots, &cuts_by_weight(&slots, 8), world.now_s() + 1, 40, 8)
        };
        let line = picture(&growing);
        let mean = |shares: Vec<f64>| shares.iter().sum::<f64>() / shares.len() as f64;
        let share = mean(heaviest_shares(&line));
        prop_assert!(share > 0.6, "{share}");
        let hottest = |column: &Vec<f64>| (0..column.len()).max_by(|a, b| column[*a].total_cmp(&column[*b]));
        let rows: Vec<_> = line.writes.iter().filter(|column| column.iter().sum::<f64>() > 0.0).map(hottest).collect();
        prop_assert!(rows.is_sorted(), "{rows:?}");
        let share = mean(heaviest_shares(&picture(&even)));
        prop_assert!(share < 0.3, "{share}");
    }

    /// A load that goes through buckets in turn has an even picture, also if the number of buckets is near the mean gap.
    #[test]
    fn no_period_deceives_the_samples(seed: u64, buckets in 2u64..140) {
        let world = World::new(seed);
        let each = 3000;
        for number in 0..buckets * each {
            world.write(number % buckets);
            if number % 5000 == 0 {
                world.wait_ms(100);
            }
        }
        let slots = world.recorder.slots();
        // Of the slots' spans each has few buckets, so groups of buckets are compared: halves of them.
        let half = key(buckets / 2);
        let picture = Picture::of(&slots, &[half], world.now_s() + 1, 3600, 1);
        let all: f64 = picture.writes[0].iter().sum();
        let expected = (buckets / 2) as f64 / buckets as f64;
        let share = picture.writes[0][0] / all;
        prop_assert!((share - expected).abs() < 0.15, "{share} instead of {expected}");
    }
}

/// Each bucket of a salted load has its share, to a quarter.
#[test]
fn every_bucket_of_a_cycle_is_seen() {
    for buckets in [2_u64, 3, 8, 16, 24, 32] {
        let world = World::new(buckets);
        for number in 0..buckets * 20_000 {
            world.write(number % buckets);
            if number % 4000 == 0 {
                world.wait_ms(50);
            }
        }
        let cuts: Vec<_> = (1..buckets).map(key).collect();
        let picture = Picture::of(&world.recorder.slots(), &cuts, world.now_s() + 1, 3600, 1);
        let all: f64 = picture.writes[0].iter().sum();
        for (bucket, weight) in picture.writes[0].iter().enumerate() {
            let share = weight * buckets as f64 / all;
            assert!((0.75..1.25).contains(&share), "bucket {bucket} of {buckets} has {share} of its share");
        }
    }
}

/// Threads lose no access.
#[test]
fn threads_count_together() {
    let world = World::new(11);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let recorder = &world.recorder;
            scope.spawn(move || {
                (0..100_000).for_each(|number| recorder.read(1, |_| Some(key(thread * 1_000_000 + number))))
            });
        }
    });
    let reads = crate::world::sum_of(&world.recorder.slots()).reads;
    assert!((400_000 - 127..=400_000).contains(&reads), "{reads}");
}
