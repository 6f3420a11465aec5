//! The contract's conformance suite on redb.

saltwing_store::store_contract_tests!(saltwing_redb::open);
