//! The definitions that functions read.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::lookups::Lookups;

/// The definitions that the functions see.
pub(crate) type Shared = Arc<RwLock<Arc<Lookups>>>;

/// The number of an object, if it is one.
pub(super) fn number(oid: i64) -> Option<u32> {
    u32::try_from(oid).ok()
}

/// A function that reads the current definitions.
pub(super) fn with<A, T, F: Fn(&Lookups, A) -> T>(shared: &Shared, function: F) -> impl Fn(A) -> T + use<A, T, F> {
    let shared = shared.clone();
    move |argument| {
        let lookups = shared.read().clone();
        function(&lookups, argument)
    }
}
