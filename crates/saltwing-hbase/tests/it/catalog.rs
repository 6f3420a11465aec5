//! The catalog: names, definitions that change, and what is refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use saltwing_access::{KeySet, Projection, ScanRoute, ScanSpec};
use saltwing_catalog::{CatalogChange, CatalogError, CatalogReader, optional};
use saltwing_hbase::{Options, open};
use saltwing_types::{ErrorCode, Expr, Value};

use crate::golden::definitions;
use crate::world::{World, context, rows_of};

fn names(catalog: &dyn CatalogReader) -> Vec<String> {
    catalog.tables().unwrap().iter().map(|table| table.def().name.to_string()).collect()
}

/// A golden definition under another name of the same length.
fn renamed(of: &str, name: &str) -> Vec<u8> {
    // Also in the name of its HBase table.
    let mut message = definitions()[of].clone();
    while let Some(at) = message.windows(of.len()).position(|part| part == of.as_bytes()) {
        message[at..at + of.len()].copy_from_slice(name.as_bytes());
    }
    message
}

#[test]
fn names_are_found_in_any_case() {
    let world = World::new();
    let all = definitions();
    for name in ["CA1", "S3.X3", "low", "SC.TYPES", "CA31I1", "CA31"] {
        world.define(&all[name], &[]);
    }
    let catalog = world.catalog.snapshot().unwrap();
    assert_eq!(names(&*catalog), ["CA1", "CA31", "low", "S3.X3", "SC.TYPES"]);
    for (schema, name, found) in [
        (None, "ca1", "CA1"),
        (Some("public"), "Ca1", "CA1"),
        (None, "LOW", "low"),
        (Some("s3"), "x3", "S3.X3"),
        (Some("Sc"), "Types", "SC.TYPES"),
    ] {
        assert_eq!(catalog.resolve(schema, name).unwrap().def().name.to_string(), found);
    }
    let (first, again) = (catalog.resolve(None, "ca1").unwrap(), catalog.resolve(None, "ca1").unwrap());
    assert!(Arc::ptr_eq(&first, &again), "a snapshot has one definition of a table");
    assert!(catalog.has_schema("s3").unwrap() && catalog.has_schema("").unwrap() && !catalog.has_schema("s4").unwrap());
    let schemas: Vec<String> = catalog.schemas().unwrap().iter().map(|schema| schema.name.clone()).collect();
    assert_eq!(schemas, ["S3", "SC"]);
    let missing = catalog.resolve(None, "ca2").unwrap_err();
    assert!(
        matches!(&missing, CatalogError::NoSuchTable { name, nearest: Some(near) } if name == "ca2" && near == "CA1")
    );
    assert!(matches!(catalog.resolve(Some("s4"), "x").unwrap_err(), CatalogError::NoSuchSchema(name) if name == "s4"));
    assert!(optional(catalog.resolve(None, "ca2")).unwrap().is_none());
    assert!(matches!(catalog.resolve(Some("information_schema"), "tables"), Err(CatalogError::SystemTable(_))));
}

#[test]
fn definitions_are_those_of_phoenix() {
    let world = World::new();
    let all = definitions();
    for name in ["CA10", "CA12", "CA21", "RT", "X2"] {
        world.define(&all[name], &[]);
    }
    let families = |name: &str| world.table(None, name).def().families.clone();
    // Names alone, as statements write them; the default family has none.
    assert_eq!(families("CA10"), [Some("F1".to_owned()), Some("F2".to_owned()), None, Some("AA".to_owned())]);
    assert_eq!(families("CA12"), [None]);
    let defaults = world.table(None, "CA21");
    assert_eq!([1, 2].map(|column| defaults.absent(column).clone()), [Value::text("dflt"), Value::Int(42)]);
    assert!(matches!(&defaults.def().columns[2].default.as_ref().unwrap().expr, Expr::Literal(Value::Int(42), _)));
    let time = world.table(None, "RT").time_column().unwrap();
    assert_eq!((time.column, time.is_row_timestamp), (1, true));
    assert_eq!(world.table(None, "X2").def().key.salt.unwrap().buckets, 4);
}

#[test]
fn a_table_that_is_not_understood_is_unreadable_alone() {
    let world = World::new();
    let all = definitions();
    for name in ["CA1", "RO", "CA31I1"] {
        world.define(&all[name], &[]);
    }
    world.phoenix.define(&world.cluster, &all["ROV"]);
    let (phoenix, cluster) = (&world.phoenix, &world.cluster);
    phoenix.list(cluster, None, "BROKEN", b"u");
    phoenix.answer("BROKEN", 7, b"\xff\xff");
    phoenix.list(cluster, None, "STRANGE", b"u");
    let transactional = [&all["CA1"][..], &[27 << 3 & 0x7f | 0x80, 27 >> 4, 1]].concat();
    phoenix.answer("STRANGE", 8, &transactional);
    let catalog = world.catalog.snapshot().unwrap();
    for (name, reason) in [
        ("broken", "damaged"),
        ("strange", "transactional tables"),
        ("rov", "B > 5"),
        ("ca31i1", "it is an index of CA31"),
    ] {
        let error = catalog.resolve(None, name).unwrap_err();
        assert!(matches!(error, CatalogError::UnreadableDefinition { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.code(), ErrorCode::Corrupt, "{error}");
    }
    assert_eq!(names(&*catalog), ["CA1", "RO"]);
}

#[test]
fn a_view_has_the_rows_that_meet_its_equalities() {
    let world = World::with_golden_views();
    let rows = |name: &str, limit: Option<u64>, columns: &[usize]| {
        let table = world.table(None, name);
        let spec = ScanSpec::new(&table, columns.to_vec(), Vec::new()).unwrap();
        let route = ScanRoute { limit, ..ScanRoute::of(KeySet::all()) };
        let mut scan = world.store.snapshot().unwrap().scan(&spec, route, context()).unwrap();
        rows_of(&mut *scan, &table, columns)
    };
    let (text, int, null) = (|text: &str| Value::text(text), Value::Int, Value::Null);
    assert_eq!(rows("CA39", None, &[0]), [[text("r1")], [text("r2")], [text("r3")]]);
    let ants =
        [vec![text("r1"), text("ant"), int(5), text("😀")], vec![text("r2"), text("ant"), null.clone(), null.clone()]];
    assert_eq!(rows("CA39V", None, &[0, 1, 2, 3]), ants);
    // The column of the condition is read without being asked for, and a limit counts the rows of the view.
    assert_eq!(rows("CA39V", Some(2), &[3]), [[text("😀")], [null.clone()]]);
    assert_eq!(rows("CA40", None, &[0, 1]), [[text("fixed"), int(1)], [text("q"), int(7)]]);
    assert_eq!(rows("CA40V", None, &[0, 1, 2]), [[text("fixed"), int(1), int(2)]]);
    // A view with a key column more.
    assert_eq!(
        rows("CA40W", Some(1), &[0, 1, 2, 3, 4]),
        [[text("q"), int(7), null.clone(), text("it's"), text("ext")]]
    );
    let (view, table) = (world.table(None, "CA40V"), world.table(None, "CA40"));
    let key = table.row_key(&[text("q"), int(7), null]).unwrap();
    let key = [&key[..], b"ext"].concat();
    let snapshot = world.store.snapshot().unwrap();
    assert!(snapshot.contains(&table, &key).unwrap() && !snapshot.contains(&view, &key).unwrap());
}

fn until_changed(world: &World, version: u64) {
    let began = Instant::now();
    while world.catalog.version() == version {
        assert!(began.elapsed() < Duration::from_secs(20), "the change is noticed");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn changes_are_noticed() {
    let world = World::new();
    let all = definitions();
    let first = all["CA1"].clone();
    world.define(&first, &[]);
    let (before, table) = (world.catalog.snapshot().unwrap(), world.table(None, "CA1"));
    let version = world.catalog.version();
    assert_eq!(before.version(), version);
    // Nothing has changed: the server gives no definition again, and the version stays.
    assert!(Arc::ptr_eq(&world.table(None, "CA1"), &table));
    // Another client alters the table: the column B is gone.
    let second = renamed("CA9", "CA1");
    world.phoenix.answer("CA1", 2, &second);
    until_changed(&world, version);
    let altered = world.table(None, "CA1");
    assert_eq!((table.def().columns.len(), altered.def().columns.len()), (4, 2));
    assert_eq!((table.def().id, table.version() + 1), (altered.def().id, altered.version()));
    assert!(Arc::ptr_eq(&before.resolve(None, "CA1").unwrap(), &table), "a snapshot never changes");
    let stale = world.store.snapshot().unwrap().get(&Projection::all(&table), b"k1").unwrap_err();
    assert!(stale.to_string().contains("the definition of CA1 was changed"), "{stale}");
    // It is dropped.
    let version = world.catalog.version();
    world.phoenix.forget("CA1");
    until_changed(&world, version);
    assert!(matches!(world.catalog.snapshot().unwrap().resolve(None, "CA1"), Err(CatalogError::NoSuchTable { .. })));
    // It is created again.
    world.phoenix.define(&world.cluster, &first);
    assert_ne!(world.table(None, "CA1").def().id, table.def().id, "another table has another number");
}

#[test]
fn known_tables_are_not_asked_for_again_and_again() {
    let mut options = Options::default();
    options.definitions_checked_every = Duration::from_secs(3600);
    let world = World::with_options(options);
    world.define(&definitions()["CA1"], &[]);
    world.cluster.take_calls();
    for _ in 0..10 {
        world.table(None, "ca1");
        assert_eq!(world.catalog.snapshot().unwrap().tables().unwrap().len(), 1);
    }
    let asked = |method: &str| world.cluster.count_calls(method, None);
    assert_eq!((asked("ExecService"), asked("Get")), (2, 0), "as it is written, then as Phoenix folds it");
    assert!(asked("Scan") <= 2, "one listing");
}

#[test]
fn changes_of_the_catalog_are_refused_by_name() {
    let world = World::new();
    let (catalog, store) = (&world.catalog, &world.store);
    let refused = |error: CatalogError, text: &str| {
        assert_eq!(error.code(), ErrorCode::NotSupported);
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(catalog.apply(CatalogChange::CreateSchema("s")).unwrap_err().error, "with its first table");
    refused(catalog.apply(CatalogChange::DropUser("u")).unwrap_err().error, "HBase gives to the user");
    refused(catalog.lease_ids(1).unwrap_err(), "temporary tables");
    assert!(catalog.finish_drops().is_ok() && catalog.return_sequence_values().is_ok());
    world.define(&definitions()["CA1"], &[]);
    let table = world.table(None, "CA1");
    assert!(store.allocate_row_ids(&table, 1).is_err());
}

#[test]
fn what_is_no_cluster_of_phoenix_is_told() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let entered = runtime.enter();
    let cluster = fake_hbase::Cluster::start(1).unwrap();
    drop(entered);
    let opened = |address: &str| open(address, Options::default()).err().unwrap();
    let error = opened(&format!("{}?registry=servers", cluster.master()));
    assert!(error.to_string().contains("has no table SYSTEM.CATALOG"), "{error}");
    assert!(opened("?registry=servers").to_string().contains("it has no host"));
    let mut options = Options::default();
    options.call_time = Duration::from_millis(300);
    let error = open("127.0.0.1:1?registry=servers", options).err().unwrap();
    assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

/// A write looks at the definition again: an index that was made a moment ago must be kept by it.
#[test]
fn a_write_by_an_earlier_definition_is_refused() {
    let mut options = Options::default();
    options.definitions_checked_every = Duration::from_secs(3600);
    let world = World::with_options(options);
    let first = definitions()["CA1"].clone();
    world.define(&first, &[]);
    let table = world.table(None, "CA1");
    let put = |table: &Arc<saltwing_access::Table>, row: &[Value]| {
        let mut batch = world.store.batch();
        batch.put(table, row).unwrap();
        batch.commit(saltwing_access::Durability::Synced)
    };
    let row = |width: usize| [vec![Value::text("k"), Value::Int(1)], vec![Value::Null; width - 2]].concat();
    put(&table, &[Value::text("k"), Value::text("a"), Value::Null, Value::Null]).unwrap();
    world.phoenix.answer("CA1", 2, &renamed("CA9", "CA1"));
    let error = put(&table, &[Value::text("k"), Value::text("b"), Value::Null, Value::Null]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
    let altered = world.table(None, "CA1");
    assert_eq!(altered.version(), table.version() + 1);
    put(&altered, &row(2)).unwrap();
    world.phoenix.forget("CA1");
    assert!(put(&altered, &row(2)).unwrap_err().to_string().contains("the definition of CA1 was changed"));
}
