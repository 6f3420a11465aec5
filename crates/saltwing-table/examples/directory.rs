//! How long opening takes with a large directory: `directory BLOCKS [ROUNDS]`.
//!
//! Blocks of four rows, as many as asked for, are made of a log with random keys; then the database is opened again and again. What
//! it takes depends on the directory's entries alone, so that a million blocks of four rows stand for 50 GB in blocks of 256.

#![allow(clippy::unwrap_used)]

mod log;
mod process;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use saltwing_store::directory::{Access, OpenOptions};
use saltwing_store::{Direction, KeyBounds, OrderedKv, Space};
use saltwing_table::{Durability, EmbeddedTables, LayoutOptions, SystemClock, WriteSet};

use log::{definition, mixed, row};
use process::{cpu_ms, resident_mb};

const BLOCK_ROWS: u64 = 4;
const COMMIT_ROWS: u64 = 1_000;
/// The space of directories.
const DIR: Space = Space::new(4);

fn open_store(path: &Path) -> Arc<saltwing_fjall::FjallStore> {
    let options = OpenOptions { access: Access::Create, cache_bytes: 64 << 20, trace: None };
    Arc::new(saltwing_fjall::open(path, options).unwrap())
}

fn fill(path: &Path, blocks: u64) {
    let layout = LayoutOptions {
        block_rows: BLOCK_ROWS as usize,
        delta_rows: u64::MAX / 4,
        delta_bytes: u64::MAX / 4,
        run_deltas: 0,
        run_share: 1,
        step_blocks: 1024,
        cache_bytes: 1 << 20,
        ..LayoutOptions::default()
    };
    let kv = open_store(path);
    let tables = EmbeddedTables::open_with(kv.clone(), Arc::new(SystemClock), layout).unwrap();
    let table = tables.register(Arc::new(definition())).unwrap();
    let rows = blocks * BLOCK_ROWS;
    // Most rows at once, others twice into runs.
    for rows in [0..rows, rows..rows + blocks / 4, rows + blocks / 4..rows + blocks / 2] {
        for first in rows.clone().step_by(COMMIT_ROWS as usize) {
            let mut writes = WriteSet::new();
            for number in first..rows.end.min(first + COMMIT_ROWS) {
                writes.put(&table, row(mixed(number), 0)).unwrap();
            }
            tables.commit(&writes, None, Durability::Buffered).unwrap();
        }
        tables.merge().unwrap();
    }
    kv.sync().unwrap();
    kv.close().unwrap();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(default, |argument| argument.parse().unwrap());
    let (blocks, rounds) = (number(200_000), number(3));
    let temporary = tempfile::tempdir().unwrap();
    // Filling takes much longer than what is measured: a folder that is named is kept, and filled only once.
    let named = std::env::var_os("DIRECTORY_HOME");
    let home = named.as_ref().map_or(temporary.path(), Path::new);
    if std::fs::read_dir(home).is_ok_and(|mut files| files.next().is_none()) {
        let started = Instant::now();
        fill(home, blocks);
        println!("filled in {:.1?}", started.elapsed());
    }
    for _ in 0..rounds {
        // By a store of its own: what it keeps in memory is not the next one's.
        let kv = open_store(home);
        let started = Instant::now();
        let (mut cursor, mut bytes) = (kv.cursor(DIR, KeyBounds::all(), Direction::Forward).unwrap(), 0);
        while let Some((key, value)) = cursor.next().unwrap() {
            bytes += key.len() + value.len();
        }
        let reading = started.elapsed();
        drop((cursor, kv));
        let started = Instant::now();
        let kv = open_store(home);
        let store = started.elapsed();
        let memory = resident_mb();
        let (started, cpu) = (Instant::now(), cpu_ms());
        let tables = EmbeddedTables::open_with(kv, Arc::new(SystemClock), LayoutOptions::default()).unwrap();
        let (layout, layout_cpu) = (started.elapsed(), cpu_ms() - cpu);
        tables.register(Arc::new(definition())).unwrap();
        let stats = tables.storage_stats().tables.remove(0);
        let held = resident_mb() - memory;
        let started = Instant::now();
        drop(tables);
        println!(
            "{} entries and {} runs, {:.1} MB: the store opens in {store:.3?}, a cursor walks over them in {reading:.3?}, \
             the layout opens in {layout:.3?} ({layout_cpu} ms of processors), takes {held} MB, and is dropped in {:.3?}",
            stats.blocks,
            stats.runs,
            bytes as f64 / 1e6,
            started.elapsed(),
        );
    }
}
