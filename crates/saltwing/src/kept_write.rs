//! What is kept of a statement that writes, from one run to the next.

use std::sync::Arc;

use saltwing_bind::BoundUpdate;
use saltwing_exec::Returning;

use crate::kept::Kept;
use crate::kept_select::KeptSelect;

/// What is kept of a statement that writes.
#[derive(Default)]
pub(crate) struct KeptWrite {
    /// Its RETURNING; `None` if it has none. Planning it takes longer than the write of a row.
    pub(crate) returning: Kept<Option<Arc<Returning>>>,
    /// An UPDATE.
    pub(crate) update: Kept<Arc<KeptUpdate>>,
    /// The plan of the query whose rows an UPSERT or INSERT writes.
    pub(crate) source: KeptSelect,
}

/// An UPDATE, bound on one version of the catalog: it does not depend on the values of its parameters.
pub(crate) struct KeptUpdate {
    pub(crate) bound: BoundUpdate,
    /// The plan of its query.
    pub(crate) select: KeptSelect,
}
