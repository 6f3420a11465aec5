//! The contract's conformance suite on sled.

#![allow(clippy::unwrap_used, reason = "these are tests")]

saltwing_store::store_contract_tests!(saltwing_sled::open);
