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

    use saltwing_datafusion::Template;

    use crate::kept::Kept;

    /// The plan that is kept for a statement, if it has run.
    pub(crate) type KeptPlan = Kept<PlanSlot>;

    /// The cached knowledge about a statement's plan on one version of the catalog.
    #[derive(Clone)]
    pub(crate) enum PlanSlot {
        /// It ran, and was planned for that run.
        SeenOnce,
        /// It runs by this.
        Template(Arc<Template>),
        /// It is planned for each run.
        Never,
    }
}
