//! What the tests of this crate share.

pub(crate) use saltwing_access::conformance::ManualClock;
