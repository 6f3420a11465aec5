//! Every entry of a store is damaged in turn: a check reports it, and a salvage reports every lost row.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::{Budget, ScanContext};
use saltwing_catalog::CatalogChange;
use saltwing_store::{Bytes, Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};
use saltwing_table::SPACES;
use saltwing_types::{ErrorCode, Value};

use super::CheckReport;
use super::check::{Source, check};
use super::salvage::{Copying, SalvageReport};
use crate::Database;

const NAMES: [&str; 3] = ["t", "s.u", "gone"];

/// The spaces of recent rows, whose checksums are in the store's own files, and of obsolete blocks.
const UNCHECKED: [u8; 3] = [2, 3, 7];
/// The space of directories.
const DIR: u8 = 4;
/// The space of the fixed parts of blocks. A key begins with its table's number.
const FIX: u8 = 5;
/// The number of the first table that is not the catalog's.
const FIRST_TABLE: u32 = 100;

type Entry = (Space, Bytes, Bytes);
type Rows = BTreeMap<&'static str, Vec<Vec<Value>>>;

/// A store whose tables have blocks of a few rows, runs, separately stored values, families, salt, a history, and recent rows.
fn filled() -> MemoryStore {
    let store = MemoryStore::new();
    let database =
        Database::start(Arc::new(store.clone()), Database::memory_builder().tiny_layout().sweep_every(None)).unwrap();
    let connection = database.connect().blocking();
    let run = |sql: &str| drop(connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}")));
    run("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, n INTEGER, v VARCHAR, f.w DECIMAL(9,2), f.x DOUBLE, d DATE)");
    run("CREATE TABLE s.u (a VARCHAR, b INTEGER, c VARBINARY, CONSTRAINT pk PRIMARY KEY (a, b DESC)) SALT_BUCKETS = 3");
    run("CREATE TABLE gone (k BIGINT NOT NULL PRIMARY KEY)");
    for k in 0..60 {
        run(&format!("UPSERT INTO t VALUES ({k}, {}, 'row {k}', {k}.25, {k}, NULL)", k * 3));
        run(&format!("UPSERT INTO s.u VALUES ('a{}', {k}, NULL)", k % 7));
    }
    run(&format!("UPSERT INTO t (k, v) VALUES (7, '{}'), (8, '{}')", "long ".repeat(9000), "longer ".repeat(900)));
    run("COMPACT t, s.u");
    run("ALTER TABLE t DROP COLUMN n");
    run("ALTER TABLE t ADD m INTEGER DEFAULT 4");
    (0..60).step_by(4).for_each(|k| run(&format!("UPSERT INTO t (k, v) VALUES ({k}, 'newer')")));
    run("DELETE FROM t WHERE k IN (3, 33)");
    run("UPSERT INTO gone VALUES (1)");
    run("TRUNCATE TABLE gone");
    // The frozen rows become runs; a few rows stay recent.
    database.sweep().unwrap();
    run("UPSERT INTO t (k, v) VALUES (10, 'newest'), (20, 'newest')");
    store
}

fn entries(store: &dyn OrderedKv) -> Vec<Entry> {
    let mut entries = Vec::new();
    for space in SPACES {
        let mut cursor = store.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
        while let Some((key, value)) = cursor.next().unwrap() {
            entries.push((space, key, value));
        }
    }
    entries
}

fn store_of(entries: &[Entry]) -> Arc<dyn OrderedKv> {
    let (store, mut batch) = (MemoryStore::new(), WriteBatch::new());
    entries.iter().for_each(|(space, key, value)| batch.put(*space, key.clone(), value.clone()));
    store.write(batch, Durability::Buffered).unwrap();
    Arc::new(store)
}

fn rows(database: &Database) -> Rows {
    let connection = database.connect().blocking();
    let mut found = Rows::new();
    for name in NAMES {
        if let Ok(rows) = connection.query(&format!("SELECT /*+ FULL_SCAN */ * FROM {name}"), ()) {
            let mut rows: Vec<_> = rows.map(|row| row.unwrap().values().unwrap()).collect();
            // The order of buckets is not defined, and a build without the relational engine cannot sort.
            rows.sort_by_key(|row| format!("{row:?}"));
            found.insert(name, rows);
        }
    }
    found
}

fn checked(store: Arc<dyn OrderedKv>) -> CheckReport {
    let clock = Database::memory_builder().clock;
    check(store, clock, &ScanContext::new(Budget::default())).unwrap()
}

fn salvaged(store: Arc<dyn OrderedKv>) -> (SalvageReport, Rows) {
    let context = ScanContext::new(Budget::default());
    let source = Source::open(store, Database::memory_builder().clock, &context).unwrap();
    let target = Database::memory_builder().sweep_every(None).open().unwrap();
    let report = Copying { source: &source, target: &target, context, report: SalvageReport::default() }.run().unwrap();
    (report, rows(&target))
}

#[test]
fn a_sound_database_has_no_fault_and_loses_nothing() {
    let store = filled();
    let report = checked(Arc::new(store.clone()));
    assert!(report.is_sound(), "{:#?}", report.faults);
    assert_eq!((report.tables, report.rows), (3, 118));
    assert!(report.blocks > 20 && report.bytes > 1000, "{report:?}");
    let (report, saved) = salvaged(Arc::new(store.clone()));
    assert_eq!((report.lost, report.mended), (vec![], vec![]));
    let database =
        Database::start(Arc::new(store), Database::memory_builder().tiny_layout().sweep_every(None)).unwrap();
    assert_eq!(saved, rows(&database));
    assert_eq!(saved.values().map(Vec::len).sum::<usize>(), 118);
}

#[test]
fn damage_of_any_entry_is_told_and_costs_no_row_in_silence() {
    let whole = entries(&filled());
    let (_, right) = salvaged(store_of(&whole));
    assert!(whole.iter().any(|(space, key, _)| space.id() == DIR && key.get(4) == Some(&1)), "there is a run");
    assert!(whole.iter().any(|(space, ..)| space.id() == 9), "a value lies by itself");
    // Parts of blocks that no reader needs any more are waiting to be deleted.
    let is_dead = |space: &Space, key: &Bytes| {
        let id = key.get(..12).unwrap_or_default();
        (5..=9).contains(&space.id()) && whole.iter().any(|(space, key, _)| space.id() == 7 && **key == *id)
    };
    for (at, (space, key, value)) in whole.iter().cloned().enumerate() {
        if is_dead(&space, &key) {
            continue;
        }
        let mut flipped = value.to_vec();
        if let Some(byte) = flipped.get_mut(at % value.len().max(1)) {
            *byte ^= 1 << (at % 8);
        }
        let cut = Bytes::new(&value[..value.len() / 2]);
        for (how, damaged) in [("flipped", Some(Bytes::from(flipped))), ("cut", Some(cut)), ("missing", None)] {
            let place = format!("{space}, {key:?} {how}");
            let mut entries = whole.clone();
            match damaged {
                Some(damaged) => entries[at].2 = damaged,
                None => drop(entries.remove(at)),
            }
            if UNCHECKED.contains(&space.id()) {
                // Nothing panics, and the rest is readable.
                checked(store_of(&entries));
                salvaged(store_of(&entries));
                continue;
            }
            let report = checked(store_of(&entries));
            assert!(!report.is_sound(), "{place}: nothing is told");
            assert!(report.faults.iter().all(|fault| !fault.to_string().is_empty()));
            let (report, saved) = salvaged(store_of(&entries));
            // A mended run may bring back rows that were deleted after it.
            let is_mended_run = space.id() == DIR && key.get(4) == Some(&1) && !report.mended.is_empty();
            assert!(saved == right || !report.lost.is_empty() || is_mended_run, "{place}: lost in silence");
            let is_entry = space.id() == DIR && key.get(4) == Some(&0);
            if is_entry && how != "missing" {
                // The block exists, so its entry in the directory is rebuilt.
                assert_eq!(saved, right, "{place}");
                assert_eq!((report.lost.len(), report.mended.is_empty()), (0, false), "{place}");
            }
        }
    }
}

/// Its tables are not those of the default schema, also if only they are left of it.
#[test]
fn a_schema_public_of_an_earlier_version_stays_one() {
    let store = MemoryStore::new();
    let builder = || Database::memory_builder().sweep_every(None);
    let database = Database::start(Arc::new(store.clone()), builder()).unwrap();
    database.shared.catalog.apply(CatalogChange::RestoreSchema("Public")).unwrap();
    let connection = database.connect().blocking();
    for sql in [
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)",
        "CREATE TABLE public.t (k BIGINT PRIMARY KEY, v VARCHAR)",
        "UPSERT INTO t VALUES (1, 'default')",
        "UPSERT INTO public.t VALUES (1, 'own')",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    drop((connection, database));
    for is_lost in [false, true] {
        let context = ScanContext::new(Budget::default());
        let mut source = Source::open(Arc::new(store.clone()), builder().clock, &context).unwrap();
        if is_lost {
            source.catalog.schemas.clear();
        }
        let target = builder().open().unwrap();
        let copying = Copying { source: &source, target: &target, context, report: SalvageReport::default() };
        let report = copying.run().unwrap();
        assert_eq!(report.lost, vec![]);
        let connection = target.connect().blocking();
        let found =
            |sql: &str| connection.query(sql, ()).unwrap().map(|row| row?.values()).collect::<Result<Vec<_>, _>>();
        assert_eq!(found("SELECT v FROM public.t WHERE k = 1").unwrap(), [[Value::text("own")]]);
        assert_eq!(found("SELECT v FROM t WHERE k = 1").unwrap(), [[Value::text("default")]]);
    }
}

/// A scan, two writes that read, and a join, which the relational engine runs.
#[test]
fn indexes_are_made_anew() {
    let store = MemoryStore::new();
    let builder = || Database::memory_builder().tiny_layout().sweep_every(None);
    let database = Database::start(Arc::new(store.clone()), builder()).unwrap();
    let connection = database.connect().blocking();
    let run = |sql: &str| drop(connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}")));
    run("CREATE TABLE s.t (k BIGINT PRIMARY KEY, v VARCHAR, n INTEGER) SALT_BUCKETS = 2");
    run("CREATE UNIQUE INDEX \"By v\" ON s.t (v DESC) INCLUDE (n) SALT_BUCKETS = 0");
    run("CREATE LOCAL INDEX by_n ON s.t (n, UPPER(v)) WHERE n > 0");
    (0..60).for_each(|k| run(&format!("UPSERT INTO s.t VALUES ({k}, 'v{k}', {})", k % 7)));
    run("ALTER INDEX by_n ON s.t DISABLE");
    run("COMPACT s.t");
    // A damaged entry loses no row, and is not in the salvaged database.
    let mut whole = entries(&store);
    let report = checked(store_of(&whole));
    assert!(report.is_sound(), "{:#?}", report.faults);
    // The schema and the table have the two numbers before the index.
    let first_of_index = (FIRST_TABLE + 2).to_be_bytes();
    let block = whole.iter().position(|(space, key, _)| space.id() == FIX && key.starts_with(&first_of_index)).unwrap();
    whole.remove(block);
    let report = checked(store_of(&whole));
    assert!(!report.is_sound());
    for fault in &report.faults {
        assert!(["s.t", "index By v of s.t"].contains(&fault.table.as_deref().unwrap()), "{fault}");
        assert_eq!(fault.loss, saltwing_access::Loss::Nothing, "{fault}");
    }
    let context = ScanContext::new(Budget::default());
    let source = Source::open(store_of(&whole), Database::memory_builder().clock, &context).unwrap();
    let target = Database::memory_builder().sweep_every(None).open().unwrap();
    let report = Copying { source: &source, target: &target, context, report: SalvageReport::default() }.run().unwrap();
    assert_eq!((report.lost, report.mended), (vec![], vec![]));
    assert!(target.check().unwrap().is_sound());
    let connection = target.connect().blocking();
    let found = |sql: &str| connection.query(sql, ()).unwrap().map(|row| row?.values()).collect::<Result<Vec<_>, _>>();
    assert_eq!(found("SELECT k, n FROM s.t WHERE v = 'v33'").unwrap(), [[Value::Int(33), Value::Int(5)]]);
    let states = found("SHOW INDEXES FROM s.t").unwrap();
    let states: Vec<&str> = states.iter().filter_map(|row| row.last()?.as_text()).collect();
    assert_eq!(states, ["ready", "disabled"]);
    let error = connection.execute("UPSERT INTO s.t VALUES (100, 'v33', 1)", ()).unwrap_err();
    assert_eq!(error.sqlstate(), "23505");
    // A new table does not get the number of an index.
    connection.execute("CREATE TABLE u (k BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO u VALUES (1)", ()).unwrap();
    assert!(target.check().unwrap().is_sound());
}

#[test]
fn an_error_of_a_damaged_block_names_its_table_and_what_to_do() {
    let mut entries = entries(&filled());
    for (space, key, value) in &mut entries {
        // The catalog's own tables are not damaged, so the database opens.
        if space.id() == FIX && key[..4] >= FIRST_TABLE.to_be_bytes()[..] {
            let mut flipped = value.to_vec();
            flipped.iter_mut().for_each(|byte| *byte ^= 0x10);
            *value = Bytes::from(flipped);
        }
    }
    let options = Database::memory_builder().tiny_layout().sweep_every(None);
    let database = Database::start(store_of(&entries), options).unwrap();
    let connection = database.connect().blocking();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    for name in ["t", "s.u"] {
        let mut texts = vec![
            format!("SELECT * FROM {name}"),
            format!("UPSERT INTO {name} SELECT * FROM {name}"),
            format!("DELETE FROM {name} WHERE f.x > 1 AND d IS NULL"),
        ];
        if cfg!(feature = "datafusion") {
            texts.push(format!("SELECT count(*) FROM {name} x JOIN {name} y USING (k)"));
        }
        let of_u = |sql: &str| sql.replace("f.x > 1 AND d IS NULL", "c IS NULL").replace("(k)", "(b)");
        for sql in texts.iter().map(|sql| if name == "t" { sql.clone() } else { of_u(sql) }) {
            let error = connection.execute(&sql, ()).expect_err(&sql);
            assert_eq!((error.code(), error.table()), (ErrorCode::Corrupt, Some(name)), "{sql}: {error}");
            assert!(error.to_string().contains(&format!(" of {name} is damaged: ")), "{sql}: {error}");
            assert!(error.help().is_some_and(|help| help.contains("saltwing salvage")), "{sql}: {error}");
        }
    }
}

#[test]
fn several_damages_at_once_leave_the_rest() {
    let whole = entries(&filled());
    let (_, right) = salvaged(store_of(&whole));
    for seed in 0..40usize {
        let mut entries = whole.clone();
        for step in 1..6 {
            let at = (seed * 7919 + step * 104_729) % entries.len();
            if !UNCHECKED.contains(&entries[at].0.id()) {
                let mut value = entries[at].2.to_vec();
                let byte = (seed + step) % value.len().max(1);
                value.get_mut(byte).into_iter().for_each(|byte| *byte ^= 0x10);
                entries[at].2 = Bytes::from(value);
            }
        }
        let (report, saved) = salvaged(store_of(&entries));
        assert!(saved == right || !report.lost.is_empty(), "{seed}: lost in silence");
        // Every saved row existed at some time: if newer versions of a row are lost, an older one may be saved.
        for (name, rows) in &saved {
            let keys = |rows: &[Vec<Value>]| rows.iter().map(|row| format!("{:?}", &row[..1])).collect::<Vec<_>>();
            let known = keys(&right[name]);
            let deleted = ["[Int(3)]", "[Int(33)]"];
            assert!(keys(rows).iter().all(|key| known.contains(key) || deleted.contains(&key.as_str())), "{seed}");
        }
    }
}
