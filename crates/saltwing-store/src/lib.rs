//! The ordered key-value contract, a memory store and the conformance suite
