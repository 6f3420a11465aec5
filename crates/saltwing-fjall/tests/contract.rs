//! The contract's conformance suite on fjall.

#![allow(clippy::unwrap_used, reason = "these are tests")]

saltwing_store::store_contract_tests!(saltwing_fjall::open);
