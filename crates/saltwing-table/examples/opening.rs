//! How long opening takes after a crash: `opening ROWS [COMMIT_ROWS] [BASE_ROWS]`.
//!
//! A process fills blocks with `BASE_ROWS` rows of about 200 bytes, writes `ROWS` more, which are not merged, and ends without closing
//! anything; another one opens what it left.

#![allow(clippy::unwrap_used)]

mod log;
mod process;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use saltwing_access::{Durability, SystemClock, Table, TableStore};
use saltwing_store::directory::{Access, OpenOptions};
use saltwing_store::{Direction, KeyBounds, OrderedKv, Space};
use saltwing_table::{EmbeddedTables, LayoutOptions, Merging};

use log::{definition, mixed, row};
use process::{cpu_ms, resident_mb};

fn open_store(path: &Path) -> Arc<saltwing_redb::RedbStore> {
    let options = OpenOptions { access: Access::Create, cache_bytes: 64 << 20, trace: None };
    Arc::new(saltwing_redb::open(path, options).unwrap())
}

/// Writes and ends, as if it were killed.
fn fill(path: &Path, rows: u64, commit_rows: u64, base_rows: u64) -> ! {
    // What is written last is not merged.
    let layout = LayoutOptions { idle: Duration::from_secs(3600), ..LayoutOptions::default() };
    let unmerged = LayoutOptions {
        delta_rows: u64::MAX / 4,
        delta_bytes: u64::MAX / 4,
        merging: Merging::Background,
        ..layout.clone()
    };
    let kv = open_store(path);
    let write = |layout: LayoutOptions, rows: std::ops::Range<u64>, merge: bool| {
        let tables = EmbeddedTables::open_with(kv.clone(), Arc::new(SystemClock), layout).unwrap();
        let table = tables.open_table(Table::new(Arc::new(definition())).unwrap());
        for first in rows.clone().step_by(commit_rows as usize) {
            let mut writes = tables.batch();
            for number in first..rows.end.min(first + commit_rows) {
                writes.put(&table, row(mixed(number), 0)).unwrap();
            }
            writes.commit(Durability::Buffered).unwrap();
        }
        if merge {
            tables.merge().unwrap();
        }
    };
    write(layout, 0..base_rows, true);
    write(unmerged, base_rows..base_rows + rows, false);
    kv.sync().unwrap();
    std::process::abort();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(default, |argument| argument.parse().unwrap());
    let (rows, commit_rows, base_rows) = (number(600_000), number(1_000), number(0));
    if let Some(path) = std::env::var_os("OPENING_FILLS") {
        fill(Path::new(&path), rows, commit_rows, base_rows);
    }
    let home = tempfile::tempdir().unwrap();
    let numbers = [rows, commit_rows, base_rows].map(|number| number.to_string());
    let filled =
        Command::new(std::env::current_exe().unwrap()).args(numbers).env("OPENING_FILLS", home.path()).status();
    assert!(!filled.unwrap().success());

    let (started, cpu) = (Instant::now(), cpu_ms());
    let kv = open_store(home.path());
    let (store, store_cpu) = (started.elapsed(), cpu_ms() - cpu);
    let started = Instant::now();
    let mut bytes = 0;
    for space in 2..10 {
        let mut cursor = kv.cursor(Space::new(space), KeyBounds::all(), Direction::Forward).unwrap();
        while let Some((_, value)) = cursor.next().unwrap().filter(|_| space < 5) {
            bytes += value.len();
        }
    }
    let reading = started.elapsed();
    let (started, cpu) = (Instant::now(), cpu_ms());
    let tables = EmbeddedTables::open_with(kv, Arc::new(SystemClock), LayoutOptions::default()).unwrap();
    let (layout, layout_cpu) = (started.elapsed(), cpu_ms() - cpu);
    tables.open_table(Table::new(Arc::new(definition())).unwrap());
    let stats = tables.storage_stats();
    println!(
        "{} recent rows: the store opens in {store:.3?} ({store_cpu} ms of processors), {:.1} MB of records and directories \
         are read in {reading:.3?}, the layout opens in {layout:.3?} ({layout_cpu} ms of processors); {} MB of memory are held",
        stats.tables.first().unwrap().delta_rows,
        bytes as f64 / 1e6,
        resident_mb(),
    );
}
