//! Random operations against a model, on a cluster in this process whose regions move and whose calls fail in every way.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::scripted::run;
use crate::steps::{ScanStep, step};
use crate::world::World;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn the_cluster_is_as_the_model(steps in vec(step(), 1..80)) {
        run(async move {
            let mut world = World::new();
            for step in steps {
                world.take(step).await;
            }
            world.cluster.clear_faults();
            world.scan(ScanStep {
                from: 0,
                to: 255,
                reversed: false,
                limit: None,
                rows_per_call: 7,
                disturbances: Vec::new(),
            })
            .await;
        });
    }
}
