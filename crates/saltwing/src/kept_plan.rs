//! The relational plan that is kept for a statement.

#[cfg(feature = "datafusion")]
pub(crate) use of_engine::{KeptPlan, PlanSlot};

/// A build without the relational engine keeps none.
#[cfg(not(feature = "datafusion"))]
#[derive(Default)]
pub(crate) struct KeptPlan {}

#[cfg(feature = "datafusion")]
mod of_engine {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use saltwing_datafusion::Template;

    /// The plan that is kept for a statement, if there is one.
    #[derive(Default)]
    pub(crate) struct KeptPlan(Mutex<(u64, PlanSlot)>);

    /// The cached knowledge about a statement's plan on one version of the catalog.
    #[derive(Clone, Default)]
    pub(crate) enum PlanSlot {
        /// It did not run yet.
        #[default]
        New,
        /// It ran, and was planned for that run.
        SeenOnce,
        /// It runs by this.
        Template(Arc<Template>),
        /// It is planned for each run.
        Never,
    }

    impl KeptPlan {
        pub(crate) fn of(&self, version: u64) -> PlanSlot {
            let known = self.0.lock();
            if known.0 == version { known.1.clone() } else { PlanSlot::New }
        }

        pub(crate) fn put(&self, version: u64, kept: PlanSlot) {
            *self.0.lock() = (version, kept);
        }
    }
}
