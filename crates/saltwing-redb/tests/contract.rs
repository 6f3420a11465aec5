//! The contract's conformance suite on redb.

#![allow(clippy::unwrap_used, reason = "these are tests")]

saltwing_store::store_contract_tests!(saltwing_redb::open);
