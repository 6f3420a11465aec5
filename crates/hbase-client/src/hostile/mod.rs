//! Hostile bytes for every decoder: an error or a value, and memory in proportion to the bytes that came.
//!
//! `cargo test --release -p hbase-client --lib hostile -- --ignored --nocapture` damages bytes for as many seconds as `HBASE_FUZZ_SECONDS`
//! says (60 by default), beginning with the seed `HBASE_FUZZ_SEED`.

mod conversation;
mod damage;
mod damaged_bytes;
mod decoders;
mod lengths;
mod memory;
