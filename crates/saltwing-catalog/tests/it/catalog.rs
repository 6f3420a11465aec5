//! The catalog over a store that is opened again and again.

use std::sync::Arc;

use saltwing_access::{Durability, Projection, SystemClock, Table, TableStore};
use saltwing_catalog::{
    CATALOG_FORMAT, Catalog, CatalogError, Dependents, DropList, GivenName, ListError, SessionCatalog,
};
use saltwing_store::conformance::fault::{Fault, FaultStore};
use saltwing_store::{Direction, KeyBounds, MemoryStore, OrderedKv, Space};
use saltwing_table::EmbeddedTables;
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, ColumnRef, Expr, KeyColumn, KeySchema, KeySource, SequenceDef, SortOrder, SqlType, TableDef, TableId,
    TableName, Value, ViewColumn, ViewDef, ViewUse, typing,
};

fn tables(kv: &Arc<dyn OrderedKv>) -> Arc<EmbeddedTables> {
    Arc::new(EmbeddedTables::open(kv.clone(), Arc::new(SystemClock)).unwrap())
}

fn boot(kv: &Arc<dyn OrderedKv>) -> Catalog {
    Catalog::boot(tables(kv), false).unwrap()
}

fn memory() -> Arc<dyn OrderedKv> {
    Arc::new(MemoryStore::new())
}

fn def(schema: Option<&str>, name: &str) -> TableDef {
    let column = ColumnDef {
        name: "k".into(),
        ty: SqlType::BigInt,
        nullable: false,
        default: None,
        family: None,
        slot: 0,
        hidden: false,
        comment: None,
    };
    let key = KeyColumn {
        source: KeySource::Column(0),
        name: "k".into(),
        ty: SqlType::BigInt,
        order: SortOrder::Asc,
        nullable: false,
    };
    TableDef {
        id: TableId(0),
        name: TableName { schema: schema.map(str::to_owned), name: name.into() },
        columns: vec![column],
        key: KeySchema { columns: vec![key], salt: None },
        key_name: None,
        families: vec![None],
        ttl_s: None,
        options: Vec::new(),
        history: TableHistory::default(),
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.snapshot().tables().iter().map(|t| t.def().name.to_string()).collect()
}

#[test]
fn names_match_in_any_case_and_clash_in_any_case() {
    let kv = memory();
    let catalog = boot(&kv);
    catalog.create_table(def(Some("Sales"), "Orders")).unwrap();
    catalog.create_table(def(Some("SALES"), "Items")).unwrap();
    let snapshot = catalog.snapshot();
    assert_eq!(snapshot.resolve(Some("sales"), "ORDERS").unwrap().def().name.to_string(), "Sales.Orders");
    assert_eq!(names(&catalog), ["Sales.Items", "Sales.Orders"], "a schema keeps its first spelling");
    let clash = catalog.create_table(def(Some("sales"), "oRDERS")).unwrap_err();
    assert_eq!(clash.code().as_str(), "duplicate_table");
    match snapshot.resolve(Some("sales"), "order").unwrap_err() {
        CatalogError::NoSuchTable { nearest, .. } => assert_eq!(nearest.as_deref(), Some("Sales.Orders")),
        other => panic!("{other}"),
    }
    assert_eq!(snapshot.resolve(Some("nowhere"), "t").unwrap_err().code().as_str(), "no_such_schema");
    assert!(catalog.create_schema("sales").is_err());
    assert!(catalog.create_schema("information_schema").is_err());
    assert_eq!(
        catalog.drop_schemas(&list(&[(None, "sales")])).unwrap_err().error.code().as_str(),
        "invalid_definition"
    );
}

#[test]
fn tables_come_back_and_ids_are_never_used_again() {
    let kv = memory();
    let ids: Vec<TableId> = ["a", "b"].map(|name| boot(&kv).create_table(def(None, name)).unwrap().def().id).to_vec();
    boot(&kv).drop_table(None, "B", Dependents::Refuse).unwrap();
    let catalog = boot(&kv);
    assert_eq!(names(&catalog), ["a"]);
    let third = catalog.create_table(def(None, "c")).unwrap().def().id;
    assert!(third > ids[1] && ids[1] > ids[0]);
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let catalog = boot(&memory());
    let before = catalog.snapshot();
    catalog.create_table(def(None, "t")).unwrap();
    assert_eq!(before.tables().len(), 0);
    assert!(catalog.snapshot().version() > before.version());
}

/// Writes a row of the catalog's own tables as a damaged file might have it.
fn plant(kv: &Arc<dyn OrderedKv>, id: u32, row: Vec<Value>) {
    let tables = tables(kv);
    drop(Catalog::boot(tables.clone(), false).unwrap());
    let mut writes = tables.batch();
    writes.put(&tables.table(TableId(id)).unwrap(), row).unwrap();
    writes.commit(Durability::Buffered).unwrap();
}

#[test]
fn damage_and_newer_formats_are_told() {
    let code = |id: u32, row: Vec<Value>| {
        let kv = memory();
        plant(&kv, id, row);
        Catalog::boot(tables(&kv), false).map(drop).unwrap_err().code().as_str()
    };
    let text = Value::text;
    assert_eq!(code(1, vec![text(""), text("t"), text("{ not json")]), "corrupt");
    let definition = |name: &str, column: usize, version: u32| {
        let columns =
            r#"[{"name":"k","type":"BIGINT","nullable":false,"default":null,"family":null,"slot":0,"hidden":false}]"#;
        let key = format!(r#"{{"column":{column},"name":"k","type":"BIGINT","order":"asc","nullable":false}}"#);
        Value::Text(format!(
            r#"{{"record_version":{version},"id":100,"name":{{"schema":null,"name":"{name}"}},"columns":{columns},
            "key":{{"columns":[{key}],"salt":null}},"key_name":null,"families":[null],"ttl_s":null,"options":[]}}"#
        ))
    };
    let boots = |definition: Value| {
        let kv = memory();
        plant(&kv, 4, vec![text("catalog_format"), Value::text(CATALOG_FORMAT.to_string())]);
        plant(&kv, 1, vec![text(""), text("t"), definition]);
        Catalog::boot(tables(&kv), false).map(drop).map_err(|error| error.code().as_str())
    };
    assert_eq!(boots(definition("t", 0, 1)), Ok(()));
    assert_eq!(boots(definition("other", 0, 1)), Err("corrupt"), "the name of another table");
    assert_eq!(boots(definition("t", 7, 1)), Err("corrupt"), "a key column that is not there");
    assert_eq!(boots(definition("t", 0, 2)), Err("not_supported"), "a record of a later version");
    let newer = Value::text((CATALOG_FORMAT + 1).to_string());
    assert_eq!(code(4, vec![text("catalog_format"), newer]), "not_supported");
    assert_eq!(code(4, vec![text("catalog_format"), text("x")]), "corrupt");
}

/// Every write of CREATE and DROP lost in turn: after reopening the table is there whole or not at all.
#[test]
fn a_crash_leaves_no_half_table() {
    for lost in 0..12 {
        let kept = MemoryStore::new();
        drop(boot(&(Arc::new(kept.clone()) as Arc<dyn OrderedKv>)));
        let faulty: Arc<dyn OrderedKv> = Arc::new(FaultStore::new(kept.clone(), Fault::LoseMutation(lost)));
        let catalog = boot(&faulty);
        let created = catalog.create_table(def(Some("s"), "t")).is_ok();
        let dropped = created && catalog.drop_table(Some("s"), "t", Dependents::Refuse).is_ok();
        drop(catalog);
        let survived: Arc<dyn OrderedKv> = Arc::new(kept);
        let again = boot(&survived);
        let there = again.snapshot().resolve(Some("s"), "t").is_ok();
        // What was lost was acknowledged by a process that is gone: either state is a whole one.
        assert!(!there || created, "{lost}: dropped {dropped}");
        if !there {
            again.create_table(def(Some("s"), "t")).unwrap();
        }
        again.drop_table(Some("s"), "t", Dependents::Refuse).unwrap();
        assert!(names(&boot(&survived)).is_empty());
    }
}

/// Rows of a table whose drop was cut short are gone when the next process has finished it, and the note with them.
#[test]
fn a_drop_that_was_cut_short_is_finished() {
    let kept = MemoryStore::new();
    let store: Arc<dyn OrderedKv> = Arc::new(kept.clone());
    // Whatever the layout keeps of a table begins with its number.
    let keys = |id: TableId| {
        let keys_of = |space| {
            let bounds = KeyBounds::prefix(&id.0.to_be_bytes());
            let mut cursor = kept.cursor(Space::new(space), bounds, Direction::Forward).unwrap();
            std::iter::from_fn(|| cursor.next().unwrap()).count()
        };
        (0..=255).map(keys_of).sum::<usize>()
    };
    let first = tables(&store);
    let catalog = Catalog::boot(first.clone(), false).unwrap();
    let table = catalog.create_table(def(None, "t")).unwrap();
    let id = table.def().id;
    assert_eq!(keys(id), 0);
    let mut writes = first.batch();
    for k in 0..9 {
        writes.put(&table, vec![Value::Int(k)]).unwrap();
    }
    writes.commit(Durability::Buffered).unwrap();
    drop(catalog);
    let written = keys(id);
    assert!(written > 0);

    plant(&store, 3, vec![Value::Int(id.0.into())]);
    let again = boot(&store);
    assert_eq!(keys(id), written, "opening deletes nothing itself");
    again.finish_drops().unwrap();
    assert_eq!(keys(id), 0);
    again.finish_drops().unwrap();
}

/// A temporary table is before the stored one of its name, and no two catalogs have one version.
#[test]
fn temporary_tables_lie_over_the_catalog_of_a_session() {
    let kv = memory();
    // An earlier version may have made a schema with the name that stands before them.
    plant(&kv, 2, vec![Value::text("Temp")]);
    let catalog = Arc::new(boot(&kv));
    let stored_table = catalog.create_table(def(None, "t")).unwrap();
    let stored = stored_table.def().id;
    let in_schema = catalog.create_table(def(Some("temp"), "u")).unwrap().def().id;
    let (one, other) = (SessionCatalog::new(catalog.clone()), SessionCatalog::new(catalog.clone()));
    assert!(one.is_empty() && one.snapshot().version() == catalog.snapshot().version());
    [&one, &other].iter().for_each(|session| session.create_table(def(None, "T")).unwrap());
    one.create_table(def(None, "u")).unwrap();
    let id = |session: &SessionCatalog, schema, name| session.snapshot().resolve(schema, name).unwrap().def().id;
    let own = id(&one, None, "t");
    assert!(own != stored && own != id(&other, None, "t") && own == id(&one, Some("TEMP"), "T"));
    assert_eq!(id(&one, Some(""), "t"), stored);
    assert_eq!((id(&other, Some("temp"), "u"), id(&one, Some("temp"), "u") == in_schema), (in_schema, false));
    let snapshot = one.snapshot();
    let own_table = snapshot.resolve(None, "t").unwrap();
    assert!(
        snapshot.hides("t") && snapshot.is_temporary(own_table.def()) && !snapshot.is_temporary(stored_table.def())
    );
    assert_eq!(snapshot.tables().len(), 4);
    let versions = || [catalog.snapshot(), one.snapshot(), other.snapshot()].map(|catalog| catalog.version());
    let before = versions();
    assert_eq!(before, versions());
    one.alter_table("t", |table| {
        Ok::<_, CatalogError>(Some(TableDef { ttl_s: Some(5), ..TableDef::clone(table.def()) }))
    })
    .unwrap();
    assert_eq!((versions()[1] != before[1], versions()[2] == before[2]), (true, true));
    catalog.create_schema("s").unwrap();
    let after = versions();
    assert!(after.iter().all(|version| !before.contains(version)) && after[0] < after[1] && after[1] != after[2]);
    assert_eq!(one.create_table(def(None, "t")).unwrap_err().code().as_str(), "duplicate_table");
    assert!(one.truncate_tables(&[(None, "t")]).unwrap().is_empty());
    assert!(id(&one, None, "t") != own);
    assert!(other.drop_tables(&list(&[(None, "t"), (None, "T")])).unwrap().is_empty());
    assert!(other.is_empty());
    assert_eq!(id(&other, None, "t"), stored);
}

/// Their rows are noted as to be deleted, and deleted when the session has ended, or by the next process.
#[test]
fn temporary_tables_end_with_their_session_or_process() {
    for is_killed in [false, true] {
        let kv = memory();
        let store = tables(&kv);
        let catalog = Arc::new(Catalog::boot(store.clone(), false).unwrap());
        let session = SessionCatalog::new(catalog.clone());
        session.create_table(def(None, "t")).unwrap();
        let table = session.snapshot().resolve(None, "t").unwrap();
        let stored = || {
            let bounds = KeyBounds::prefix(&table.def().id.0.to_be_bytes());
            (0..=255).any(|space| {
                let cursor = kv.cursor(Space::new(space), bounds.clone(), Direction::Forward);
                cursor.unwrap().next().unwrap().is_some()
            })
        };
        let mut writes = store.batch();
        writes.put(&table, vec![Value::Int(1)]).unwrap();
        writes.commit(Durability::Synced).unwrap();
        catalog.finish_drops().unwrap();
        assert!(stored(), "the session has it");
        let next = match is_killed {
            true => Arc::new(boot(&kv)),
            false => {
                assert!(session.end() && session.is_empty() && !session.end());
                catalog.clone()
            }
        };
        next.finish_drops().unwrap();
        assert!(!stored(), "{is_killed}");
        assert_eq!(names(&boot(&kv)), [""; 0]);
    }
}

/// The format that the catalog has.
fn format(kv: &Arc<dyn OrderedKv>) -> Value {
    let tables = tables(kv);
    drop(Catalog::boot(tables.clone(), false).unwrap());
    let settings = tables.table(TableId(4)).unwrap();
    let key = settings.codec().encode(&[Value::text("catalog_format")]).unwrap();
    tables.snapshot().unwrap().get(&Projection::all(&settings), &key).unwrap().unwrap()[1].clone()
}

/// Versions before the first record refuse a catalog that has one; until then they can open it.
#[test]
fn the_first_definition_raises_the_format() {
    let kv = memory();
    assert_eq!(format(&kv), Value::text("1"));
    boot(&kv).create_schema("s").unwrap();
    assert_eq!(format(&kv), Value::text("1"));
    boot(&kv).create_table(def(None, "t")).unwrap();
    assert_eq!(format(&kv), Value::text("5"));
    boot(&kv).create_sequence(sequence(), sequence().beginning()).unwrap();
    assert_eq!(format(&kv), Value::text("6"));
    boot(&kv).create_table(def(None, "u")).unwrap();
    assert_eq!(format(&kv), Value::text("6"));
    create(&boot(&kv), view("v", "t", &["k"]), false).unwrap();
    assert_eq!(format(&kv), Value::text("7"));
}

/// A view that reads columns of a table or view.
fn view(name: &str, of: &str, columns: &[&str]) -> ViewDef {
    let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let shown = |name: &String| ViewColumn { name: name.clone(), ty: SqlType::BigInt, nullable: false, comment: None };
    ViewDef {
        name: TableName::bare(name),
        columns: columns.iter().map(shown).collect(),
        query: format!("SELECT {} FROM {of}", columns.join(", ")),
        uses: vec![ViewUse { name: TableName::bare(of), columns }],
        comment: None,
    }
}

fn create(catalog: &Catalog, view: ViewDef, replaces: bool) -> Result<(), CatalogError> {
    catalog.create_view(replaces, |_| Ok(view))
}

#[test]
fn the_catalog_keeps_what_views_use() {
    let kv = memory();
    let catalog = boot(&kv);
    let code = |result: Result<(), CatalogError>| result.unwrap_err().code().as_str();
    assert_eq!(code(create(&catalog, view("v", "t", &["k"]), false)), "no_such_table");
    catalog.create_table(def(None, "t")).unwrap();
    create(&catalog, view("v", "t", &["k"]), false).unwrap();
    create(&catalog, view("w", "v", &["k"]), false).unwrap();
    assert_eq!(code(create(&catalog, view("V", "t", &["k"]), false)), "duplicate_table");
    assert_eq!(code(create(&catalog, view("v", "w", &["k"]), true)), "invalid_definition", "a circle");
    assert_eq!(code(create(&catalog, view("v", "v", &["k"]), true)), "invalid_definition", "itself");
    assert_eq!(code(create(&catalog, view("v", "t", &["other"]), true)), "invalid_definition", "a column is gone");
    create(&catalog, view("V", "t", &["k", "k2"]), true).unwrap();
    drop(catalog);

    let catalog = boot(&kv);
    assert_eq!(catalog.snapshot().view(None, "v").unwrap().columns.len(), 2);
    assert_eq!(code(catalog.drop_table(None, "t", Dependents::Refuse).map(drop)), "dependents");
    assert_eq!(code(catalog.drop_views(&list(&[(None, "v")])).map_err(|listed| listed.error)), "dependents");
    let without_k = |table: &Arc<Table>| {
        let mut def = TableDef::clone(table.def());
        def.columns[0].name = "l".into();
        Ok(Some(def))
    };
    assert_eq!(code(catalog.alter_table(None, "t", without_k)), "dependents");
    catalog.drop_table(None, "t", Dependents::Drop).unwrap();
    assert!(boot(&kv).snapshot().views().is_empty());
}

fn list<'n>(names: &'n [GivenName<'n>]) -> DropList<'n> {
    DropList { names, if_exists: false, dependents: Dependents::Refuse }
}

#[test]
fn the_objects_of_a_list_go_together_or_not_at_all() {
    let kv = memory();
    let catalog = Arc::new(boot(&kv));
    let session = SessionCatalog::new(catalog.clone());
    for table in ["a", "b", "c"] {
        catalog.create_table(def(None, table)).unwrap();
    }
    session.create_table(def(None, "own")).unwrap();
    create(&catalog, view("v", "c", &["k"]), false).unwrap();
    create(&catalog, view("w", "v", &["k"]), false).unwrap();
    catalog.create_schema("s").unwrap();
    let all = || (names(&catalog), session.snapshot().tables().len(), catalog.snapshot().views().len());
    let before = all();

    let nope = [(None, "own"), (None, "a"), (None, "nope")];
    let place = |failed: ListError, code: &str| {
        assert_eq!(failed.error.code().as_str(), code);
        failed.place
    };
    assert_eq!(place(session.drop_tables(&list(&nope)).unwrap_err(), "no_such_table"), Some(2));
    assert_eq!(place(session.truncate_tables(&nope).unwrap_err(), "no_such_table"), Some(2));
    let used = [(None, "own"), (None, "a"), (None, "c")];
    assert_eq!(place(session.drop_tables(&list(&used)).unwrap_err(), "dependents"), Some(2));
    assert_eq!(place(catalog.drop_views(&list(&[(None, "w"), (None, "a")])).unwrap_err(), "wrong_object"), Some(1));
    assert_eq!(place(catalog.drop_schemas(&list(&[(None, "s"), (None, "z")])).unwrap_err(), "no_such_schema"), Some(1));
    assert_eq!(all(), before);

    // Views of one list may use each other, in any order.
    catalog.drop_views(&list(&[(None, "v"), (None, "w")])).unwrap();
    let some = DropList { if_exists: true, ..list(&nope) };
    assert!(session.drop_tables(&some).unwrap().is_empty());
    assert_eq!((names(&catalog), session.is_empty()), (vec!["b".to_owned(), "c".to_owned()], true));
    let ids = |table: &str| catalog.snapshot().resolve(None, table).unwrap().def().id;
    let old = [ids("b"), ids("c")];
    assert!(session.truncate_tables(&[(None, "b"), (None, "c"), (None, "B")]).unwrap().is_empty());
    let new = [ids("b"), ids("c")];
    assert!(new[0] != new[1] && !old.contains(&new[0]) && !old.contains(&new[1]));
    drop((session, catalog));
    assert_eq!(names(&boot(&kv)), ["b", "c"]);
}

fn sequence() -> SequenceDef {
    let name = TableName { schema: Some("App".into()), name: "S".into() };
    SequenceDef { id: TableId(0), name, start: 1, increment: 1, min: 1, max: 1_000, cycles: false, cache: 10 }
}

/// Two catalogs over one store are as two processes over one cluster.
#[test]
fn two_processes_reserve_different_values() {
    let kv = memory();
    let store = tables(&kv);
    let first = Catalog::boot(store.clone(), false).unwrap();
    first.create_sequence(sequence(), sequence().beginning()).unwrap();
    let second = Catalog::boot(store, false).unwrap();
    let def = second.snapshot().sequence(Some("app"), "s").unwrap();
    assert_eq!(first.next_values(&def, 1, 2).unwrap(), [1, 2]);
    assert_eq!(second.next_values(&def, 1, 2).unwrap(), [11, 12]);
    // Only the block that was reserved last can be given back.
    first.return_sequence_values().unwrap();
    second.return_sequence_values().unwrap();
    assert_eq!(first.next_values(&def, 1, 12).unwrap(), (13..25).collect::<Vec<_>>());
    assert_eq!(second.next_values(&def, 5, 2).unwrap(), [25, 30]);
    assert_eq!(second.next_values(&def, 900, 1).unwrap(), [35]);
    assert_eq!(first.next_values(&def, 67, 1).unwrap_err().code().as_str(), "sequence_limit");
    assert_eq!(boot(&kv).snapshot().sequences(), [def]);
}

/// A table with the key (UPPER(name), name).
fn computed_def() -> TableDef {
    let mut def = def(None, "t");
    let ty = SqlType::Varchar(None);
    def.columns[0] = ColumnDef { name: "name".into(), ty, ..def.columns[0].clone() };
    let name = ColumnRef { index: 0, name: "name".into(), ty, nullable: false, span: None };
    let upper = typing::call_named("UPPER", vec![Expr::Column(name)]).unwrap();
    let key = KeyColumn { name: "name".into(), ty, ..def.key.columns[0].clone() };
    let part = KeyColumn { source: KeySource::Computed(upper), name: "UPPER(name)".into(), ..key.clone() };
    def.key.columns = vec![part, key];
    def
}

#[test]
fn keys_with_computed_parts_are_kept() {
    let kv = memory();
    let def = computed_def();
    boot(&kv).create_table(def.clone()).unwrap();
    assert_eq!(boot(&kv).snapshot().resolve(None, "t").unwrap().def().key, def.key);
    let mut behind = def;
    behind.name = TableName::bare("u");
    behind.key.columns.reverse();
    boot(&kv).create_table(behind).unwrap();
    let error = Catalog::boot(tables(&kv), false).map(drop).unwrap_err();
    assert_eq!(error.code().as_str(), "corrupt", "a part that is computed from what stands before it");
}

#[test]
fn a_definition_is_changed_once_at_a_time_and_kept() {
    let kv = memory();
    let catalog = boot(&kv);
    let before = catalog.create_table(def(None, "t")).unwrap();
    let version = catalog.snapshot().version();
    let with_ttl = |ttl_s| {
        catalog.alter_table(None, "T", |table| {
            let def = TableDef { ttl_s, ..TableDef::clone(table.def()) };
            Ok::<_, CatalogError>((def != **table.def()).then_some(def))
        })
    };
    with_ttl(None).unwrap();
    assert_eq!(catalog.snapshot().version(), version, "nothing was changed");
    with_ttl(Some(5)).unwrap();
    let after = catalog.snapshot().resolve(None, "t").unwrap();
    assert_eq!((after.def().history.version, after.def().ttl_s), (1, Some(5)));
    assert!(catalog.snapshot().version() > version);
    assert_eq!(before.def().ttl_s, None, "who has the definition before keeps it");
    let failed = catalog.alter_table(None, "t", |_| Err(CatalogError::ReservedName("x".into())));
    assert!(matches!(failed, Err(CatalogError::ReservedName(_))));
    with_ttl(Some(6)).unwrap();
    drop(catalog);
    let again = boot(&kv).snapshot().resolve(None, "t").unwrap();
    assert_eq!((again.def().history.version, again.def().ttl_s), (2, Some(6)));
}
