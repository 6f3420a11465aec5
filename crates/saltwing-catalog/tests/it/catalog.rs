//! The catalog over a store that is opened again and again.

use std::sync::Arc;

use saltwing_access::{Durability, Projection, SystemClock, Table, TableStore};
use saltwing_catalog::conformance::{
    create_table, create_user, create_view, drop_list, drop_table, grant, sequence_def, table_def as def, user_def,
    view_def as view,
};
use saltwing_catalog::{
    CATALOG_FORMAT, Catalog, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError, Dependents,
    DropList, GivenObject, SessionCatalog, change,
};
use saltwing_store::conformance::fault::{Fault, FaultStore};
use saltwing_store::{Direction, KeyBounds, MemoryStore, OrderedKv, Space};
use saltwing_table::EmbeddedTables;
use saltwing_types::{
    ColumnDef, ColumnRef, Expr, KeyColumn, KeySchema, KeySource, Privilege, SequenceDef, SortOrder, SqlType, TableDef,
    TableId, TableName, Value, typing,
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

/// Adds a table to a session.
fn create_temporary(session: &SessionCatalog, def: TableDef) -> Result<(), CatalogError> {
    let change = CatalogChange::CreateTable { def, sequences: Vec::new(), temporary: true };
    session.apply(change).map(drop).map_err(|failed| failed.error)
}

/// Gives a table another definition.
fn alter(
    catalog: &dyn CatalogStore,
    name: &str,
    make: impl Fn(&TableDef) -> Result<Option<TableDef>, CatalogError>,
) -> Result<(), CatalogError> {
    let altered = |catalog: &dyn CatalogReader| -> Result<_, ChangeError> {
        let old = catalog.resolve(None, name)?.def().clone();
        Ok(make(&old)?.map(|new| CatalogChange::AlterTable { old, new }))
    };
    change(catalog, altered).map_err(|failed| failed.error)
}

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.snapshot().unwrap().tables().unwrap().iter().map(|t| t.def().name.to_string()).collect()
}

#[test]
fn tables_come_back_and_ids_are_never_used_again() {
    let kv = memory();
    let ids: Vec<TableId> = ["a", "b"].map(|name| create_table(&boot(&kv), def(None, name)).unwrap().def().id).to_vec();
    drop_table(&boot(&kv), (None, "B"), Dependents::Refuse).unwrap();
    let catalog = boot(&kv);
    assert_eq!(names(&catalog), ["a"]);
    let third = create_table(&catalog, def(None, "c")).unwrap().def().id;
    assert!(third > ids[1] && ids[1] > ids[0]);
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
    assert_eq!(boots(definition("t", 0, 4)), Err("not_supported"), "a record of a later version");
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
        let created = create_table(&catalog, def(Some("s"), "t")).is_ok();
        let dropped = created && drop_table(&catalog, (Some("s"), "t"), Dependents::Refuse).is_ok();
        drop(catalog);
        let survived: Arc<dyn OrderedKv> = Arc::new(kept);
        let again = boot(&survived);
        let there = again.snapshot().unwrap().resolve(Some("s"), "t").is_ok();
        // What was lost was acknowledged by a process that is gone: either state is a whole one.
        assert!(!there || created, "{lost}: dropped {dropped}");
        if !there {
            create_table(&again, def(Some("s"), "t")).unwrap();
        }
        drop_table(&again, (Some("s"), "t"), Dependents::Refuse).unwrap();
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
    let table = create_table(&catalog, def(None, "t")).unwrap();
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

/// An earlier version may have made a schema with the name of the default schema.
#[test]
fn a_stored_schema_public_is_meant_after_each_opening() {
    let kv = memory();
    create_table(&boot(&kv), def(None, "t")).unwrap();
    plant(&kv, 2, vec![Value::text("Public"), Value::Null]);
    create_table(&boot(&kv), def(Some("public"), "t")).unwrap();
    assert_eq!(names(&boot(&kv)), ["t", "Public.t"]);
    drop_table(&boot(&kv), (Some("PUBLIC"), "t"), Dependents::Refuse).unwrap();
    boot(&kv).apply(CatalogChange::DropSchemas(drop_list(&[(None, "public")]))).unwrap();
    assert_eq!(boot(&kv).snapshot().unwrap().resolve(Some("public"), "t").unwrap().def().name, TableName::bare("t"));
}

/// A temporary table is before the stored one of its name, and no two catalogs have one version.
#[test]
fn temporary_tables_lie_over_the_catalog_of_a_session() {
    let kv = memory();
    // An earlier version may have made a schema with the name that stands before them.
    plant(&kv, 2, vec![Value::text("Temp"), Value::Null]);
    let store = tables(&kv);
    let catalog = Arc::new(Catalog::boot(store.clone(), false).unwrap());
    let stored_table = create_table(&*catalog, def(None, "t")).unwrap();
    let stored = stored_table.def().id;
    let in_schema = create_table(&*catalog, def(Some("temp"), "u")).unwrap().def().id;
    let session = || SessionCatalog::new(catalog.clone(), store.clone());
    let (one, other) = (session(), session());
    assert!(one.is_empty() && one.snapshot().unwrap().version() == catalog.snapshot().unwrap().version());
    [&one, &other].iter().for_each(|session| create_temporary(session, def(None, "T")).unwrap());
    create_temporary(&one, def(None, "u")).unwrap();
    let id =
        |session: &SessionCatalog, schema, name| session.snapshot().unwrap().resolve(schema, name).unwrap().def().id;
    let own = id(&one, None, "t");
    assert!(own != stored && own != id(&other, None, "t") && own == id(&one, Some("TEMP"), "T"));
    assert_eq!(id(&one, Some(""), "t"), stored);
    assert_eq!((id(&other, Some("temp"), "u"), id(&one, Some("temp"), "u") == in_schema), (in_schema, false));
    let snapshot = one.snapshot().unwrap();
    let own_table = snapshot.resolve(None, "t").unwrap();
    assert!(
        snapshot.hides("t") && snapshot.is_temporary(own_table.def()) && !snapshot.is_temporary(stored_table.def())
    );
    assert_eq!(snapshot.tables().unwrap().len(), 4);
    let versions = || {
        [&*catalog as &dyn CatalogStore, &one, &other].map(|catalog| {
            let version = catalog.snapshot().unwrap().version();
            assert_eq!(catalog.version(), version);
            version
        })
    };
    let before = versions();
    assert_eq!(before, versions());
    alter(&one, "t", |def| Ok(Some(TableDef { ttl_s: Some(5), ..def.clone() }))).unwrap();
    assert_ne!(one.version(), before[1], "also before anybody asks for the next snapshot");
    assert_eq!((versions()[1] != before[1], versions()[2] == before[2]), (true, true));
    catalog.apply(CatalogChange::CreateSchema("s")).unwrap();
    let after = versions();
    assert!(after.iter().all(|version| !before.contains(version)) && after[0] < after[1] && after[1] != after[2]);
    assert_eq!(create_temporary(&one, def(None, "t")).unwrap_err().code().as_str(), "duplicate_table");
    assert!(one.apply(CatalogChange::TruncateTables(&[(None, "t")])).unwrap().left.is_empty());
    assert!(id(&one, None, "t") != own);
    let twice = [(None, "t"), (None, "T")];
    assert!(other.apply(CatalogChange::DropTables(drop_list(&twice))).unwrap().left.is_empty());
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
        let session = SessionCatalog::new(catalog.clone(), store.clone());
        create_temporary(&session, def(None, "t")).unwrap();
        let table = session.snapshot().unwrap().resolve(None, "t").unwrap();
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

/// A row of a catalog of format 7, by the definition that its table had.
fn plant_earlier(kv: &Arc<dyn OrderedKv>, id: u32, row: &[&str]) {
    let tables = tables(kv);
    let (names, key_count): (&[&str], usize) = match id {
        2 => (&["name"], 1),
        4 => (&["name", "value"], 1),
        _ => (&["schema", "name", "definition"], 2),
    };
    let column = |(place, name): (usize, &&str)| ColumnDef {
        nullable: false,
        family: (place >= key_count).then_some(0),
        ..ColumnDef::new(*name, SqlType::Varchar(None))
    };
    let key = |(place, name): (usize, &&str)| KeyColumn {
        source: KeySource::Column(place),
        name: (*name).into(),
        ty: SqlType::Varchar(None),
        order: SortOrder::Asc,
        nullable: false,
    };
    let earlier = TableDef {
        id: TableId(id),
        columns: names.iter().enumerate().map(column).collect(),
        key: KeySchema { columns: names.iter().enumerate().take(key_count).map(key).collect(), salt: None },
        ..def(None, "earlier")
    };
    let table = tables.open_table(Table::new(Arc::new(earlier)).unwrap());
    let mut writes = tables.batch();
    let row: Vec<Value> = row.iter().map(|value| Value::text(*value)).collect();
    writes.put(&table, row).unwrap();
    writes.commit(Durability::Synced).unwrap();
}

/// A catalog of format 7 with a table that has an index, and a schema and two views without numbers.
fn of_format_7(store: &MemoryStore) -> Arc<dyn OrderedKv> {
    let kv: Arc<dyn OrderedKv> = Arc::new(store.clone());
    plant_earlier(&kv, 4, &["catalog_format", "7"]);
    plant_earlier(&kv, 4, &["next_table_id", "105"]);
    let columns =
        r#"[{"name":"k","type":"BIGINT","nullable":false,"default":null,"family":null,"slot":0,"hidden":false}]"#;
    let key = r#"{"column":0,"name":"k","type":"BIGINT","order":"asc","nullable":false}"#;
    let index = r#"{"id":104,"name":"i","parts":[{"column":0,"text":"k","order":"desc"}],"include":[],"salt":null,"state":"ready"}"#;
    let table = format!(
        r#"{{"record_version":1,"id":103,"name":{{"schema":null,"name":"t"}},"columns":{columns},"key":{{"columns":[{key}],"salt":null}},"key_name":null,"families":[null],"ttl_s":null,"options":[],"indexes":[{index}]}}"#
    );
    plant_earlier(&kv, 1, &["", "t", &table]);
    plant_earlier(&kv, 2, &["S"]);
    for (schema, name) in [("", "w"), ("S", "v")] {
        let json = if schema.is_empty() { "null".to_owned() } else { format!("\"{schema}\"") };
        let view = format!(
            r#"{{"record_version":1,"name":{{"schema":{json},"name":"{name}"}},"columns":[{{"name":"k","type":"BIGINT","nullable":true}}],"query":"SELECT k FROM t","uses":[]}}"#
        );
        plant_earlier(&kv, 6, &[schema, name, &view]);
    }
    kv
}

/// The numbers of the table, its index, the schema, and the views.
fn numbers(catalog: &Catalog) -> Vec<u32> {
    let snapshot = catalog.snapshot().unwrap();
    let table = snapshot.resolve(None, "t").unwrap();
    let schema = snapshot.schemas().unwrap()[0].clone();
    assert_eq!((schema.name.as_str(), snapshot.schemas().unwrap().len()), ("S", 1));
    let views = [(None, "w"), (Some("s"), "v")].map(|(schema, name)| snapshot.view(schema, name).unwrap().unwrap().id);
    [table.def().object_id, table.def().indexes[0].object_id, schema.id].iter().chain(&views).map(|id| id.0).collect()
}

/// The first opening for writing numbers what has no number, and earlier versions refuse the catalog from then on.
#[test]
fn a_catalog_of_an_earlier_format_gets_numbers() {
    let kv = of_format_7(&MemoryStore::new());
    let wanted = [103, 104, 105, 106, 107];
    let readonly = || numbers(&Catalog::boot(tables(&kv), true).unwrap());
    assert_eq!((readonly(), readonly()), (wanted.to_vec(), wanted.to_vec()), "those that the next opening stores");
    assert_eq!(numbers(&boot(&kv)), wanted);
    assert_eq!(format(&kv), Value::text(CATALOG_FORMAT.to_string()));
    let catalog = boot(&kv);
    create_table(&catalog, def(Some("s"), "u")).unwrap();
    catalog.apply(CatalogChange::TruncateTables(&[(None, "t")])).unwrap();
    create_view(&catalog, view("w", "t", &["k", "k"]), true).unwrap();
    assert_eq!(catalog.snapshot().unwrap().resolve(Some("s"), "u").unwrap().def().object_id.0, 108);
    assert_eq!((numbers(&catalog), readonly(), numbers(&boot(&kv))), (wanted.into(), wanted.into(), wanted.into()));
}

/// A crash while they are written leaves all of it, or nothing.
#[test]
fn numbers_are_stored_in_one_commit() {
    for lost in 0..6 {
        let kept = MemoryStore::new();
        let kv = of_format_7(&kept);
        let faulty: Arc<dyn OrderedKv> = Arc::new(FaultStore::new(kept, Fault::LoseMutation(lost)));
        drop(Catalog::boot(tables(&faulty), false));
        assert_eq!(numbers(&boot(&kv)), [103, 104, 105, 106, 107], "{lost}");
    }
}

#[test]
fn a_new_catalog_has_the_newest_format() {
    assert_eq!(format(&memory()), Value::text(CATALOG_FORMAT.to_string()));
    let kv = memory();
    assert!(Catalog::boot(tables(&kv), true).unwrap().snapshot().unwrap().tables().unwrap().is_empty());
}

#[test]
fn users_and_their_grants_are_known_after_opening_again() {
    let kv = memory();
    let catalog = boot(&kv);
    create_table(&catalog, def(None, "t")).unwrap();
    create_table(&catalog, def(None, "u")).unwrap();
    create_view(&catalog, view("v", "t", &["k"]), false).unwrap();
    ["ann", "bob"].iter().for_each(|name| create_user(&catalog, user_def(name)).unwrap());
    for name in ["t", "u", "v"] {
        let object = GivenObject::Relation((None, name));
        grant(&catalog, &[Privilege::Select, Privilege::Ddl], object, &["ann", "bob"]).unwrap();
    }
    catalog.apply(CatalogChange::DropUser("bob")).unwrap();
    let renamed = |old: &TableDef| Ok(Some(TableDef { name: TableName::bare("w"), ..old.clone() }));
    alter(&catalog, "u", renamed).unwrap();
    // The view goes with its table, and the grants on it as well.
    drop_table(&catalog, (None, "t"), Dependents::Drop).unwrap();
    let known = catalog.snapshot().unwrap().users().unwrap();
    drop(catalog);
    let again = boot(&kv).snapshot().unwrap();
    assert_eq!((again.users().unwrap(), again.user_secret().unwrap()), (known.clone(), Some([9; 32])));
    let [ann] = known.as_slice() else { panic!("{known:?}") };
    let held: Vec<String> = ann.grants.iter().map(|(object, held)| format!("{held} {object:?}")).collect();
    assert_eq!(held, [r#"SELECT, DDL Relation(TableName { schema: None, name: "w" })"#]);
    // The report names a damaged row, and shows no value of it.
    plant(&kv, 7, vec![Value::text("ann"), Value::text(r#"{"record_version":1,"verifier":"secret"}"#)]);
    let error = Catalog::boot(tables(&kv), false).map(drop).unwrap_err();
    assert!(error.code().as_str() == "corrupt" && !error.to_string().contains("secret"), "{error}");
}

#[test]
fn what_views_use_is_known_after_opening_again() {
    let kv = memory();
    let catalog = boot(&kv);
    create_table(&catalog, def(None, "t")).unwrap();
    create_view(&catalog, view("v", "t", &["k"]), false).unwrap();
    create_view(&catalog, view("w", "v", &["k"]), false).unwrap();
    create_view(&catalog, view("V", "t", &["k", "k2"]), true).unwrap();
    drop(catalog);

    let catalog = boot(&kv);
    let code = |result: Result<(), CatalogError>| result.unwrap_err().code().as_str();
    assert_eq!(catalog.snapshot().unwrap().view(None, "v").unwrap().unwrap().columns.len(), 2);
    assert_eq!(code(drop_table(&catalog, (None, "t"), Dependents::Refuse)), "dependents");
    let without_k = |def: &TableDef| {
        let mut def = def.clone();
        def.columns[0].name = "l".into();
        Ok(Some(def))
    };
    assert_eq!(code(alter(&catalog, "t", without_k)), "dependents");
    drop_table(&catalog, (None, "t"), Dependents::Drop).unwrap();
    assert!(boot(&kv).snapshot().unwrap().views().unwrap().is_empty());
}

/// Temporary tables and stored ones in one list.
#[test]
fn a_list_goes_together_or_not_at_all() {
    let kv = memory();
    let store = tables(&kv);
    let catalog = Arc::new(Catalog::boot(store.clone(), false).unwrap());
    let session = SessionCatalog::new(catalog.clone(), store);
    for name in ["a", "b", "c"] {
        create_table(&*catalog, def(None, name)).unwrap();
    }
    create_temporary(&session, def(None, "own")).unwrap();
    create_view(&*catalog, view("v", "c", &["k"]), false).unwrap();
    let all = || (names(&catalog), session.snapshot().unwrap().tables().unwrap().len());
    let before = all();
    let refused = |change: CatalogChange<'_>, code: &str, place: usize| {
        let failed = session.apply(change).unwrap_err();
        assert_eq!((failed.error.code().as_str(), failed.place), (code, Some(place)));
    };
    let nope = [(None, "own"), (None, "a"), (None, "nope")];
    refused(CatalogChange::DropTables(drop_list(&nope)), "no_such_table", 2);
    refused(CatalogChange::TruncateTables(&nope), "no_such_table", 2);
    refused(CatalogChange::DropTables(drop_list(&[(None, "own"), (None, "a"), (None, "c")])), "dependents", 2);
    assert_eq!(all(), before);

    let ids = |table: &str| session.snapshot().unwrap().resolve(None, table).unwrap().def().id;
    let old = ["own", "b", "c"].map(ids);
    let truncated = [(None, "own"), (None, "b"), (None, "c"), (None, "B")];
    assert!(session.apply(CatalogChange::TruncateTables(&truncated)).unwrap().left.is_empty());
    let new = ["own", "b", "c"].map(ids);
    assert!(new.iter().all(|id| !old.contains(id)) && new[0] != new[1] && new[1] != new[2]);
    let some = DropList { if_exists: true, ..drop_list(&nope) };
    assert!(session.apply(CatalogChange::DropTables(some)).unwrap().left.is_empty());
    assert_eq!((names(&catalog), session.is_empty()), (vec!["b".to_owned(), "c".to_owned()], true));
    drop((session, catalog));
    assert_eq!(names(&boot(&kv)), ["b", "c"]);
}

fn create_sequence() -> CatalogChange<'static> {
    let def = sequence_def(Some("App"), "S");
    CatalogChange::CreateSequence { position: def.beginning(), def }
}

/// Two catalogs over one store are as two processes over one cluster.
#[test]
fn two_processes_reserve_different_values() {
    let kv = memory();
    let store = tables(&kv);
    let first = Catalog::boot(store.clone(), false).unwrap();
    first.apply(create_sequence()).unwrap();
    let second = Catalog::boot(store, false).unwrap();
    let def = second.snapshot().unwrap().sequence(Some("app"), "s").unwrap();
    assert_eq!(first.next_values(&def, 1, 2).unwrap(), [1, 2]);
    assert_eq!(second.next_values(&def, 1, 2).unwrap(), [11, 12]);
    // Only the block that was reserved last can be given back.
    first.return_sequence_values().unwrap();
    second.return_sequence_values().unwrap();
    assert_eq!(first.next_values(&def, 1, 12).unwrap(), (13..25).collect::<Vec<_>>());
    assert_eq!(second.next_values(&def, 5, 2).unwrap(), [25, 30]);
    assert_eq!(second.next_values(&def, 900, 1).unwrap(), [35]);
    assert_eq!(first.next_values(&def, 67, 1).unwrap_err().code().as_str(), "sequence_limit");
    assert_eq!(boot(&kv).snapshot().unwrap().sequences().unwrap(), [def]);
}

/// One of them finds the other's change when it makes its own.
#[test]
fn two_processes_alter_one_sequence() {
    let kv = memory();
    let store = tables(&kv);
    let first = Catalog::boot(store.clone(), false).unwrap();
    first.apply(create_sequence()).unwrap();
    let second = Catalog::boot(store, false).unwrap();
    let altered = |catalog: &Catalog, make: &dyn Fn(&mut SequenceDef)| {
        change(catalog, |catalog| -> Result<_, ChangeError> {
            let old = catalog.sequence(Some("app"), "s")?;
            let mut new = SequenceDef::clone(&old);
            make(&mut new);
            Ok(Some(CatalogChange::AlterSequence { old, new, position: None }))
        })
        .unwrap();
    };
    altered(&first, &|def| def.cache = 3);
    altered(&second, &|def| def.max = 99);
    let def = second.snapshot().unwrap().sequence(Some("app"), "s").unwrap();
    assert_eq!((def.cache, def.max), (3, 99));
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
    create_table(&boot(&kv), def.clone()).unwrap();
    assert_eq!(boot(&kv).snapshot().unwrap().resolve(None, "t").unwrap().def().key, def.key);
    let mut behind = def;
    behind.name = TableName::bare("u");
    behind.key.columns.reverse();
    create_table(&boot(&kv), behind).unwrap();
    let error = Catalog::boot(tables(&kv), false).map(drop).unwrap_err();
    assert_eq!(error.code().as_str(), "corrupt", "a part that is computed from what stands before it");
}

#[test]
fn a_definition_is_changed_once_at_a_time_and_kept() {
    let kv = memory();
    let catalog = boot(&kv);
    let before = create_table(&catalog, def(None, "t")).unwrap();
    let version = catalog.snapshot().unwrap().version();
    let with_ttl = |ttl_s| {
        alter(&catalog, "T", |old| {
            let def = TableDef { ttl_s, ..old.clone() };
            Ok((def != *old).then_some(def))
        })
    };
    with_ttl(None).unwrap();
    assert_eq!(catalog.snapshot().unwrap().version(), version, "nothing was changed");
    with_ttl(Some(5)).unwrap();
    let after = catalog.snapshot().unwrap().resolve(None, "t").unwrap();
    assert_eq!((after.def().history.version, after.def().ttl_s), (1, Some(5)));
    assert!(catalog.snapshot().unwrap().version() > version);
    assert_eq!(before.def().ttl_s, None, "who has the definition before keeps it");
    let failed = alter(&catalog, "t", |_| Err(CatalogError::ReservedName("x".into())));
    assert!(matches!(failed, Err(CatalogError::ReservedName(_))));
    with_ttl(Some(6)).unwrap();
    drop(catalog);
    let again = boot(&kv).snapshot().unwrap().resolve(None, "t").unwrap();
    assert_eq!((again.def().history.version, again.def().ttl_s), (2, Some(6)));
}
