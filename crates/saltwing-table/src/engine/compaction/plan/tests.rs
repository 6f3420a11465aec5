//! Plans of directories that are written down.
//!
//! ```text
//! fence | rows of the block | when written | last key | runs | new rows
//! a     | 90                | 100          | e        | 5 2  | b c*30 -d f@20
//! ```
//! An entry a line, by fence; the first has none. Runs are their rows, newest first. `c*30` is 30 rows from `c00` on, `-d` says
//! that `d` is deleted, `f@20` was written at 20 ms; other rows at 100. Blocks take 100 rows, which have 40 bytes each; `!90` is a
//! block of 90 that cannot be read.

use saltwing_store::MemoryStore;
use saltwing_types::Value;

use super::*;
use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::{BlockContext, BlockStore};
use crate::engine::run::Run;
use crate::format::block_columns::BlockColumns;
use crate::format::row_format::FamilyLayout;
use crate::format::summary::Summary;

const ROW_BYTES: u32 = 40;
const TABLE: TableId = TableId(7);
/// The number of every block that can be read.
const WHOLE: u64 = 1;
/// The number of every block that cannot.
const DAMAGED: u64 = 2;

/// The inputs of a plan besides the directory.
struct Case {
    reason: CompactionReason,
    limit_ms: Option<i64>,
    run_share: Option<u64>,
}

/// New rows of a table that has runs.
const NEW_ROWS: Case = Case { reason: CompactionReason::None, limit_ms: None, run_share: Some(8) };
const IDLE: Case = Case { reason: CompactionReason::Runs, ..NEW_ROWS };
const COMPACT: Case = Case { reason: CompactionReason::Undersized(TABLE), ..NEW_ROWS };
const SWEEP: Case = Case { reason: CompactionReason::Expired, limit_ms: Some(50), ..NEW_ROWS };

fn row(time_ms: i64) -> StoredRow {
    let mut out = Vec::new();
    StoredRow::write(1, &mut out, |_, out| FamilyLayout::new([]).encode(time_ms, |_| &Value::Null, out));
    StoredRow(Bytes::from(out))
}

fn new_rows(text: &str) -> Vec<RecentRow> {
    let (text, is_deleted) = text.strip_prefix('-').map_or((text, false), |key| (key, true));
    let (text, time_ms) = text.split_once('@').map_or((text, 100), |(key, time)| (key, time.parse().unwrap()));
    let row = |key: String| (Bytes::from(key.into_bytes()), (!is_deleted).then(|| row(time_ms)));
    match text.split_once('*') {
        Some((key, count)) => (0..count.parse().unwrap()).map(|i: u32| row(format!("{key}{i:02}"))).collect(),
        None => vec![row(text.to_owned())],
    }
}

fn block(rows: &str, times: &str, last_key: &str, context: &Arc<BlockContext>) -> Arc<BlockRef> {
    let (rows, id) = match rows.strip_prefix('!') {
        Some(rows) => {
            context.counters.damage.note(DAMAGED, "a test");
            (rows, DAMAGED)
        }
        None => (rows, WHOLE),
    };
    let (rows, last_key) = (rows.parse().unwrap(), Bytes::from(last_key.as_bytes()));
    let (oldest, newest) = times.split_once('-').unwrap_or((times, times));
    let times_ms = (oldest.parse().unwrap(), newest.parse().unwrap());
    let columns = BlockColumns::new(&[0], &[]);
    let summary = Summary { rows, bytes: ROW_BYTES * rows, last_key, times_ms, columns };
    Arc::new(BlockRef::new(id, summary, Vec::new(), context.clone()))
}

/// The plan of a directory, an entry a line.
fn plan(case: &Case, directory: &str) -> String {
    let context = BlockContext::new(TABLE, &Arc::new(BlockStore::new(Arc::new(MemoryStore::new()), 0)));
    let (mut entries, mut frozen) = (Vec::new(), Vec::new());
    for line in directory.lines().filter(|line| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [fence, rows, times, last_key, runs, new] = fields[..] else { panic!("{line}") };
        frozen.extend(new.split_whitespace().flat_map(new_rows));
        let fence = Bytes::from(fence.as_bytes());
        if rows.is_empty() {
            entries.push(Arc::new(Entry::new(fence, None)));
            continue;
        }
        let run = |rows: &str| {
            let run = Arc::new(Run::new(block(rows, times, last_key, &context), vec![255; rows.parse().unwrap()]));
            RunPart::new(run, 0..rows.parse().unwrap(), 1)
        };
        let runs = runs.split_whitespace().map(run).collect();
        entries.push(Arc::new(Entry::of_parts(fence, block(rows, times, last_key, &context), runs, false)));
    }
    let planner = Planner {
        directory: &Directory::new(entries),
        frozen: &frozen.into_iter().collect(),
        limits: BlockLimits { rows: 100, bytes: 100 * ROW_BYTES as usize },
        limit_ms: case.limit_ms,
        run_share: case.run_share,
        reason: case.reason,
        block_bytes: |row: &StoredRow| row.0.len(),
    };
    let (mut lines, mut from) = (String::new(), 0);
    while let Some(index) = planner.next_work(from) {
        let plan = planner.plan(index).unwrap();
        lines += &format!("{plan}\n");
        from = if let Target::Blocks { until } = plan.target { until } else { index + 1 };
    }
    lines
}

#[test]
fn entries_without_new_rows_are_left_alone() {
    let directory = "
          | 90 | 100 | e |    |
        f | 10 | 100 | h | 60 |
        k | 90 | 10  | m |    |";
    assert_eq!(plan(&NEW_ROWS, directory), "");
    assert_eq!(plan(&NEW_ROWS, ""), "");
}

#[test]
fn new_rows_of_an_empty_table_become_blocks() {
    assert_eq!(plan(&NEW_ROWS, "| | | | | a b c*30"), "..: no block, new 32 -> blocks of 1 entries (new rows)\n");
}

#[test]
fn few_new_rows_go_into_runs() {
    let directory = "
          | 90 | 100 | e |         | b
        f | 90 | 100 | i | 2 30    | g
        k | 90 | 100 | n | 9 21 9  | l
        p | 90 | 100 | r |         | -q";
    let wanted = "\
..f: block 90, new 1 -> run with 0 runs (new rows)
f..k: block 90, runs 2 30, new 1 -> run with 1 runs (new rows)
k..p: block 90, runs 9 21 9, new 1 -> run with 1 runs (new rows)
p..: block 90, new 1 -> run with 0 runs (new rows)
";
    assert_eq!(plan(&NEW_ROWS, directory), wanted);
}

#[test]
fn new_rows_that_are_many_beside_their_block_are_written_with_it() {
    let directory = "
          | 90 | 100 | e |       | b*11
        f | 90 | 100 | i |       | g*12
        k | 90 | 100 | n | 40    | l*4
        p | 90 | 100 | s | 40    | q*5";
    let wanted = "\
..f: block 90, new 11 -> run with 0 runs (new rows)
f..k: block 90, new 12 -> blocks of 1 entries (new rows)
k..p: block 90, runs 40, new 4 -> run with 0 runs (new rows)
p..: block 90, runs 40, new 5 -> blocks of 1 entries (new rows)
";
    assert_eq!(plan(&NEW_ROWS, directory), wanted);
}

#[test]
fn a_table_without_runs_writes_blocks() {
    let directory = "| 90 | 100 | e | | b -c";
    let wanted = "..: block 90, new 2 -> blocks of 1 entries (new rows)\n";
    assert_eq!(plan(&Case { run_share: None, ..NEW_ROWS }, directory), wanted);
}

#[test]
fn new_rows_of_a_damaged_block_go_into_runs_whatever_the_table() {
    let directory = "
          | !90 | 100 | e |    | b*20
        f | !90 | 100 | i | 30 | g
        k | 5   | 100 | n |    | l
        p | !5  | 100 | r |    |";
    let wanted = "\
..f: block 90, new 20 -> run with 0 runs (new rows)
f..k: block 90, runs 30, new 1 -> run with 1 runs (new rows)
k..p: block 5, new 1 -> blocks of 1 entries (new rows)
";
    for run_share in [None, Some(8)] {
        assert_eq!(plan(&Case { run_share, ..NEW_ROWS }, directory), wanted);
    }
}

#[test]
fn rows_after_a_full_block_become_blocks_of_their_own() {
    let directory = "
          | 50 | 100 | b |     | c*25
        f | 50 | 100 | g |     | h*24
        k | 49 | 100 | m |     | n*25
        p | 50 | 100 | q | 1   | r*25
        u | 50 | 100 | v |     | -w*25";
    let wanted = "\
..f: block 50, new 25 -> blocks behind (new rows)
f..k: block 50, new 24 -> blocks of 1 entries (new rows)
k..p: block 49, new 25 -> blocks of 1 entries (new rows)
p..u: block 50, runs 1, new 25 -> blocks of 1 entries (new rows)
u..: block 50, new 25 -> blocks of 1 entries (new rows)
";
    assert_eq!(plan(&NEW_ROWS, directory), wanted);
}

#[test]
fn expired_rows_are_no_reason_for_blocks_after() {
    let directory = "
          | 90 | 60    | b |   | c*25@50
        f | 90 | 50-60 | g |   | h*25
        k | 90 | 60    | m |   | n*24@50 o";
    let wanted = "\
..f: block 90, new 25 -> blocks of 1 entries (new rows)
f..k: block 90, new 25 -> blocks of 1 entries (new rows)
k..: block 90, new 25 -> blocks behind (new rows)
";
    assert_eq!(plan(&Case { limit_ms: Some(50), ..NEW_ROWS }, directory), wanted);
}

#[test]
fn an_idle_store_folds_runs_that_reading_pays_for() {
    let directory = "
          | 90 | 100 | e | 5   |
        f | 90 | 100 | i | 6   |
        k | 90 | 100 | n | 3 3 |
        p | 10 | 100 | r |     |";
    let wanted = "\
f..k: block 90, runs 6 -> blocks of 1 entries (many rows in runs)
k..p: block 90, runs 3 3 -> blocks of 1 entries (many rows in runs)
";
    assert_eq!(plan(&IDLE, directory), wanted);
}

#[test]
fn a_sweep_writes_entries_with_expired_rows_anew() {
    let directory = "
          | 90 | 51     | e |    |
        f | 90 | 50-100 | i |    |
        k | 90 | 100    | n |    | l
        p | 90 | 10     | r | 20 |";
    let wanted = "\
f..k: block 90 -> blocks of 1 entries (expired rows)
k..p: block 90, new 1 -> blocks of 1 entries (new rows)
p..: block 90, runs 20 -> blocks of 1 entries (expired rows)
";
    assert_eq!(plan(&SWEEP, directory), wanted);
    assert_eq!(plan(&Case { limit_ms: None, ..SWEEP }, directory), wanted.lines().nth(1).unwrap().to_owned() + "\n");
}

#[test]
fn a_compaction_leaves_full_blocks_alone() {
    let directory = "
          | 100 | 100 | a |   |
        b | 90  | 100 | b | 1 |
        c | 101 | 100 | c |   |
        d | 20  | 100 | d |   |
        e | 20  | 100 | e |   |
        f | 20  | 100 | f |   |
        g | 20  | 100 | g |   |
        h | 100 | 100 | h |   |
        i | 100 | 100 | i |   |
        j | 90  | 100 | j |   |";
    let wanted = "\
b..c: block 90, runs 1 -> blocks of 1 entries (runs)
c..d: block 101 -> blocks of 1 entries (too large)
d..e: block 20 -> blocks of 4 entries (sparse)
";
    assert_eq!(plan(&COMPACT, directory), wanted);
}

#[test]
fn blocks_that_are_not_full_take_in_what_changes_beside_them() {
    let context = BlockContext::new(TABLE, &Arc::new(BlockStore::new(Arc::new(MemoryStore::new()), 0)));
    let next = Entry::new(Bytes::from(&b"k"[..]), Some(block("90", "100", "p", &context)));
    let planner = Planner {
        directory: &Directory::default(),
        frozen: &Delta::default(),
        limits: BlockLimits { rows: 100, bytes: 100 * ROW_BYTES as usize },
        limit_ms: None,
        run_share: Some(8),
        reason: CompactionReason::None,
        block_bytes: |row: &StoredRow| row.0.len(),
    };
    let takes_in = |rows: usize, new: &str| planner.takes_in((rows, rows * ROW_BYTES as usize), &next, &new_rows(new));
    assert!(takes_in(49, "l"));
    assert!(!takes_in(50, "l"));
    assert!(takes_in(50, "l*12"));
    assert!(!takes_in(88, "l*12"));
    // Rows after the next block leave it unchanged.
    assert!(!takes_in(50, "q*12"));
}
