//! What a table with random keys takes on the disk, and what was written for it: `disk ROWS DELTA_BYTES [ROUNDS] [THREADS]`.
//!
//! Loads that many rows of about 200 bytes into redb, in commits of 1,000, and overwrites a quarter of them in each
//! round. A small `DELTA_BYTES` makes the ratio of blocks to deltas that a large table has: 50 million rows over
//! the usual 128 MB are 10 million over 26 MB.

#![allow(clippy::unwrap_used)]

mod log;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use saltwing_access::{Durability, SystemClock, Table, TableStore};
use saltwing_store::directory::{Access, OpenOptions};
use saltwing_store::{Direction, KeyBounds, OrderedKv, Space};
use saltwing_table::{EmbeddedTables, LayoutOptions};

use log::{TABLE, definition, mixed, row};

const COMMIT_ROWS: u64 = 1_000;
struct Bench {
    kv: Arc<saltwing_redb::RedbStore>,
    tables: EmbeddedTables,
    table: Arc<Table>,
    home: tempfile::TempDir,
    started: Instant,
    slowest: Duration,
    written_before: u64,
}

impl Bench {
    fn write(&mut self, numbers: impl Iterator<Item = u64>, version: u64) {
        let mut numbers = numbers.peekable();
        while numbers.peek().is_some() {
            let mut writes = self.tables.batch();
            for number in numbers.by_ref().take(COMMIT_ROWS as usize) {
                writes.put(&self.table, row(number, version)).unwrap();
            }
            let started = Instant::now();
            writes.commit(Durability::Synced).unwrap();
            self.slowest = self.slowest.max(started.elapsed());
        }
    }

    /// Prints what there is, and what was done since the beginning.
    fn report(&mut self, what: &str) {
        let stats = self.tables.storage_stats();
        let table = stats.tables.first().unwrap();
        let live: u64 = (2..10).map(|space| bytes_in(&*self.kv, Space::new(space))).sum();
        let disk = bytes_under(self.home.path());
        let written = bytes_written() - self.written_before;
        println!(
            "{what:>12}: {:>9} rows, live {:>6.1} MB, disk {:>7.1} MB ({:.2}), rows written {:.2} a row, files {:>7.1} MB \
             ({:.2} a byte committed; layout {:.2}), slowest commit {:?}, {:?}",
            table.block_rows + table.delta_rows,
            mega(live),
            mega(disk),
            disk as f64 / live as f64,
            table.block_rows_written as f64 / table.rows_written as f64,
            mega(written),
            written as f64 / table.bytes_written as f64,
            table.write_amplification().unwrap_or_default(),
            self.slowest,
            self.started.elapsed(),
        );
        let mut files: Vec<(String, u64)> = std::fs::read_dir(self.home.path().join("data"))
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.file_name().to_string_lossy().into_owned(), bytes_under(&entry.path()))
            })
            .collect();
        files.sort();
        let files: Vec<String> = files.iter().map(|(name, bytes)| format!("{name}: {:.1}", mega(*bytes))).collect();
        println!("{:>14}files, MB: {}", "", files.join(", "));
        self.slowest = Duration::ZERO;
    }
}

fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn bytes_in(kv: &dyn OrderedKv, space: Space) -> u64 {
    let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
    std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, value)| (key.len() + value.len()) as u64).sum()
}

/// Bytes of all files under a folder; files may go meanwhile.
fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_under(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(bytes).sum()
}

/// Bytes that this process handed to files so far, where the system tells.
fn bytes_written() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok()).unwrap_or_default()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let (rows, delta_bytes) = (arguments.next().unwrap_or(2_000_000), arguments.next().unwrap_or(5 << 20));
    let (rounds, threads) = (arguments.next().unwrap_or(4), arguments.next().unwrap_or(1));
    let home = tempfile::tempdir().unwrap();
    let options = OpenOptions { access: Access::Create, cache_bytes: 64 << 20, trace: None };
    let kv = Arc::new(saltwing_redb::open(home.path(), options).unwrap());
    let layout = LayoutOptions { delta_bytes, merge_threads: threads as usize, ..LayoutOptions::default() };
    let tables = EmbeddedTables::open_with(kv.clone(), Arc::new(SystemClock), layout).unwrap();
    let table = tables.open_table(Table::new(Arc::new(definition())).unwrap());
    tables.start_merging().unwrap();
    let (started, written_before) = (Instant::now(), bytes_written());
    let mut bench = Bench { kv, tables, table, home, started, slowest: Duration::ZERO, written_before };
    for tenth in 0..10 {
        bench.write(rows * tenth / 10..rows * (tenth + 1) / 10, 0);
        bench.report("load");
    }
    for round in 1..=rounds {
        bench.write((0..rows / 4).map(|i| mixed(i ^ (round << 50)) % rows), round);
        bench.report("overwrite");
    }
    bench.tables.merge().unwrap();
    bench.report("merged");
    bench.tables.compact(TABLE, &saltwing_access::ScanContext::new(saltwing_access::Budget::default())).unwrap();
    bench.report("compacted");
    std::thread::sleep(Duration::from_secs(12));
    bench.report("at rest");
}
