//! The storage engine: memtables, the directory of blocks, the block cache, compaction and recovery.
//!
//! [`storage_engine`] commits rows, [`table_rows`] is a reader's view of a table, [`directory`] finds the block of a
//! key, [`compaction`] merges recent rows into blocks, [`recovery`] opens the tables.

pub(crate) mod block_cache;
pub(crate) mod block_ids;
pub(crate) mod block_ref;
pub(crate) mod block_store;
pub(crate) mod chunk;
pub(crate) mod compaction;
pub(crate) mod counters;
pub(crate) mod directory;
pub(crate) mod entry;
pub(crate) mod failure;
pub(crate) mod fence_heads;
pub(crate) mod memtable;
pub(crate) mod merge;
pub(crate) mod named_runs;
pub(crate) mod options;
pub(crate) mod overflow;
pub(crate) mod pinned;
pub(crate) mod recovery;
pub(crate) mod run;
pub(crate) mod signal;
pub(crate) mod stats;
pub(crate) mod storage_engine;
pub(crate) mod stored_chunk;
pub(crate) mod stored_directory;
pub(crate) mod stored_table;
pub(crate) mod table_rows;
pub(crate) mod versions;
pub(crate) mod worker;
pub(crate) mod zone_sum;
