//! How long opening takes with a large directory: `directory BLOCKS [ROUNDS] [apart]`.
//!
//! `BLOCKS` blocks of four rows are made of a log with random keys; then the database is opened again and again. The time depends
//! on the directory's entries alone, so that a million blocks of four rows stand for 50 GB in blocks of 256.
//!
//! With `apart` it is what 50 GB in blocks of 256 rows have in the trees of their store: parts of blocks are not there, as if they lay
//! in files of values, and entries name two runs on average, which many neighbours share. Blocks have 16 rows then.

#![allow(clippy::unwrap_used)]

mod log;
mod parts;
mod process;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use saltwing_access::{Durability, KeyRanges, KeySet, SystemClock, Table, TableStore};
use saltwing_rowkey::KeyRange;
use saltwing_store::directory::{Access, OpenOptions};
use saltwing_store::{Direction, KeyBounds, OrderedKv, Space};
use saltwing_table::{EmbeddedTables, LayoutOptions};
use saltwing_types::Value;

use log::{definition, mixed, row};
use parts::PartsApart;
use process::{cpu_ms, resident_mb};

const BLOCK_ROWS: u64 = 4;
const COMMIT_ROWS: u64 = 1_000;
/// Of blocks whose parts lie apart: their rows, and new rows of each in runs, oldest first.
const APART_ROWS: u64 = 16;
const APART_RUN_ROWS: [u64; 2] = [4, 1];
/// Rows that are merged at once.
const MERGE_ROWS: u64 = 1_000_000;
/// Looks into the directory, each in all buckets.
const LOOKS: u64 = 20_000;
/// The space of directories.
const DIR: Space = Space::new(4);

fn open_store(path: &Path) -> Arc<saltwing_redb::RedbStore> {
    let options = OpenOptions { access: Access::Create, cache_bytes: 64 << 20, trace: None };
    Arc::new(saltwing_redb::open(path, options).unwrap())
}

fn layout(block_rows: u64) -> LayoutOptions {
    LayoutOptions {
        block_rows: block_rows as usize,
        delta_rows: u64::MAX / 4,
        delta_bytes: u64::MAX / 4,
        run_deltas: 0,
        run_share: 1,
        step_blocks: 1024,
        cache_bytes: 1 << 20,
        ..LayoutOptions::default()
    }
}

fn commit(tables: &EmbeddedTables, table: &Arc<Table>, rows: impl Iterator<Item = Vec<Value>>) {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut writes = tables.batch();
        for row in rows.by_ref().take(COMMIT_ROWS as usize) {
            writes.put(table, row).unwrap();
        }
        writes.commit(Durability::Buffered).unwrap();
    }
}

fn fill(path: &Path, blocks: u64) {
    let kv = open_store(path);
    let tables = EmbeddedTables::open_with(kv.clone(), Arc::new(SystemClock), layout(BLOCK_ROWS)).unwrap();
    let table = tables.open_table(Table::new(Arc::new(definition())).unwrap());
    let rows = blocks * BLOCK_ROWS;
    // Most rows at once, others twice into runs.
    for rows in [0..rows, rows..rows + blocks / 4, rows + blocks / 4..rows + blocks / 2] {
        commit(&tables, &table, rows.map(|number| row(mixed(number), 0)));
        tables.merge().unwrap();
    }
    kv.sync().unwrap();
    kv.close().unwrap();
}

fn fill_apart(path: &Path, blocks: u64) {
    let kv = Arc::new(PartsApart::new(open_store(path)));
    let tables = EmbeddedTables::open_with(kv.clone(), Arc::new(SystemClock), layout(APART_ROWS)).unwrap();
    let table = tables.open_table(Table::new(Arc::new(definition())).unwrap());
    let rows = blocks * APART_ROWS;
    // In key order, so that no block is written twice.
    let in_order = |number: u64| {
        let mut row = row(number, 0);
        row[0] = Value::Int((u128::from(number) * 100_000_000 / u128::from(rows)) as i64);
        row
    };
    for first in (0..rows).step_by(MERGE_ROWS as usize) {
        commit(&tables, &table, (first..rows.min(first + MERGE_ROWS)).map(in_order));
        tables.merge().unwrap();
    }
    let mut first = rows;
    for each in APART_RUN_ROWS {
        commit(&tables, &table, (first..first + each * blocks).map(|number| row(mixed(number), 0)));
        tables.merge().unwrap();
        first += each * blocks;
    }
    kv.sync().unwrap();
    kv.close().unwrap();
}

/// Looks into the directory at random places of all buckets; no block is read.
fn look_everywhere(tables: &EmbeddedTables, table: &Table) {
    let view = tables.snapshot().unwrap();
    let key = |phone: i64| table.codec().encode_logical(&[Value::Int(phone), Value::Int(0)]).unwrap();
    for look in 0..LOOKS {
        let phone = (mixed(look) % 100_000_000) as i64;
        let range = KeyRange::new(key(phone), Some(key(phone + 1))).unwrap();
        view.estimate(table, &KeySet::everywhere(KeyRanges::from_iter([range]))).unwrap();
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(default, |argument| argument.parse().unwrap());
    let (blocks, rounds) = (number(200_000), number(3));
    let is_apart = arguments.next().is_some_and(|argument| argument == "apart");
    let temporary = tempfile::tempdir().unwrap();
    // Filling takes much longer than what is measured: a folder that is named is kept, and filled only once.
    let named = std::env::var_os("DIRECTORY_HOME");
    let home = named.as_ref().map_or(temporary.path(), Path::new);
    if std::fs::read_dir(home).is_ok_and(|mut files| files.next().is_none()) {
        let started = Instant::now();
        if is_apart {
            fill_apart(home, blocks)
        } else {
            fill(home, blocks)
        }
        println!("filled in {:.1?}", started.elapsed());
    }
    for _ in 0..rounds {
        // By a store of its own: what it keeps in memory is not the next one's.
        let kv = open_store(home);
        let (started, cpu) = (Instant::now(), cpu_ms());
        let (mut cursor, mut bytes) = (kv.cursor(DIR, KeyBounds::all(), Direction::Forward).unwrap(), 0);
        while let Some((key, value)) = cursor.next().unwrap() {
            bytes += key.len() + value.len();
        }
        let (reading, reading_cpu) = (started.elapsed(), cpu_ms() - cpu);
        drop((cursor, kv));
        let started = Instant::now();
        let kv = open_store(home);
        let store = started.elapsed();
        let memory = resident_mb();
        let (started, cpu) = (Instant::now(), cpu_ms());
        let tables = EmbeddedTables::open_with(kv, Arc::new(SystemClock), LayoutOptions::default()).unwrap();
        let (layout, layout_cpu) = (started.elapsed(), cpu_ms() - cpu);
        let table = tables.open_table(Table::new(Arc::new(definition())).unwrap());
        let stats = tables.storage_stats().tables.remove(0);
        let held = resident_mb() - memory;
        let looks = [(), ()].map(|()| {
            let started = Instant::now();
            look_everywhere(&tables, &table);
            started.elapsed()
        });
        let held_then = resident_mb() - memory;
        let started = Instant::now();
        drop((table, tables));
        println!(
            "{} entries and {} runs, {:.1} MB: the store opens in {store:.3?}, a cursor walks over them in {reading:.3?} \
             ({reading_cpu} ms of processors), the layout opens in {layout:.3?} ({layout_cpu} ms of processors) and takes {held} MB; \
             {} looks take {:.3?}, again {:.3?}, and it takes {held_then} MB; it is dropped in {:.3?}",
            stats.blocks,
            stats.runs,
            bytes as f64 / 1e6,
            8 * LOOKS,
            looks[0],
            looks[1],
            started.elapsed(),
        );
    }
}
