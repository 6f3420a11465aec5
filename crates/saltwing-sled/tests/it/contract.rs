//! The contract's conformance suite on sled.

saltwing_store::store_contract_tests!(saltwing_sled::open);
