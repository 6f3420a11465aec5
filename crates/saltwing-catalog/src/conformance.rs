//! The laws of [`CatalogStore`] as tests, for every implementation.
//!
//! An implementation calls [`check`] in its tests, with a function that opens an empty catalog.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc)]

use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, ColumnRef, Expr, GrantedObject, Grants, IndexDef, IndexPart, IndexState, KeyColumn, KeySchema,
    KeySource, ObjectId, Privilege, Rebuild, ScramVerifier, SequenceDef, SequencePosition, SortOrder, SqlType,
    TableDef, TableId, TableName, UserDef, ViewColumn, ViewDef, ViewUse,
};

use crate::{
    CatalogChange, CatalogError, CatalogStore, ChangeError, Dependents, DropList, GivenName, GivenObject, GrantList,
    PUBLIC_SCHEMA, change, optional,
};

/// Opens an empty catalog.
pub type Open<'a> = &'a dyn Fn() -> Arc<dyn CatalogStore>;

/// Checks an implementation.
pub fn check(open: Open<'_>) {
    a_snapshot_stays_as_it_was(&*open());
    names_match_in_any_case_and_clash_in_any_case(&*open());
    public_is_the_default_schema(&*open());
    a_schema_public_of_an_earlier_version_is_meant(&*open());
    what_is_missing_is_told_from_what_is_there(&*open());
    a_change_of_an_earlier_state_is_refused(&*open());
    changes_at_the_same_time_are_all_made(&*open());
    the_objects_of_a_list_go_together_or_not_at_all(&*open());
    ids_are_never_used_again(&*open());
    a_table_keeps_its_number(&*open(), false);
    other_objects_keep_their_numbers(&*open());
    views_keep_what_they_use(&*open());
    no_value_is_given_out_twice(&*open());
    a_position_stays_or_is_moved(&*open());
    users_are_there_until_they_are_dropped(&*open());
    grants_follow_their_object(&*open());
}

/// Checks the temporary tables of a session's catalog; `open` opens an empty one.
pub fn check_temporary(open: Open<'_>) {
    a_table_keeps_its_number(&*open(), true);
}

/// The definition of a table with one key column, `k`.
pub fn table_def(schema: Option<&str>, name: &str) -> TableDef {
    let column = ColumnDef { nullable: false, family: None, ..ColumnDef::new("k", SqlType::BigInt) };
    let key = KeyColumn {
        source: KeySource::Column(0),
        name: "k".into(),
        ty: SqlType::BigInt,
        order: SortOrder::Asc,
        nullable: false,
    };
    TableDef {
        id: TableId(0),
        object_id: ObjectId::NEW,
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

/// The definition of a sequence with the values from 1 to 1,000, reserved in blocks of 10.
pub fn sequence_def(schema: Option<&str>, name: &str) -> SequenceDef {
    let name = TableName { schema: schema.map(str::to_owned), name: name.into() };
    SequenceDef { id: ObjectId::NEW, name, start: 1, increment: 1, min: 1, max: 1_000, cycles: false, cache: 10 }
}

/// The definition of a view that reads columns of a table or view.
pub fn view_def(name: &str, of: &str, columns: &[&str]) -> ViewDef {
    let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let shown = |name: &String| ViewColumn { name: name.clone(), ty: SqlType::BigInt, nullable: false, comment: None };
    ViewDef {
        id: ObjectId::NEW,
        name: TableName::bare(name),
        columns: columns.iter().map(shown).collect(),
        query: format!("SELECT {} FROM {of}", columns.join(", ")),
        uses: vec![ViewUse { name: TableName::bare(of), columns }],
        comment: None,
    }
}

/// The definition of a user without grants, with an arbitrary password.
pub fn user_def(name: &str) -> UserDef {
    let verifier = ScramVerifier {
        iterations: ScramVerifier::ITERATIONS_MIN,
        salt: vec![7; 16],
        stored_key: [1; 32],
        server_key: [2; 32],
    };
    UserDef { id: ObjectId::NEW, name: name.into(), verifier, grants: Grants::default() }
}

/// Adds a user to a catalog.
///
/// # Errors
/// As [`CatalogChange::CreateUser`].
pub fn create_user(catalog: &dyn CatalogStore, def: UserDef) -> Result<(), CatalogError> {
    let change = CatalogChange::CreateUser { def, secret: [9; 32] };
    catalog.apply(change).map(drop).map_err(|failed| failed.error)
}

/// Grants privileges on an object to users.
///
/// # Errors
/// As [`CatalogChange::Grant`].
pub fn grant(
    catalog: &dyn CatalogStore,
    privileges: &[Privilege],
    object: GivenObject<'_>,
    users: &[&str],
) -> Result<(), ChangeError> {
    let privileges = privileges.iter().copied().collect();
    catalog.apply(CatalogChange::Grant(GrantList { privileges, object, users })).map(drop)
}

/// Adds a table to a catalog.
///
/// # Errors
/// As [`CatalogChange::CreateTable`].
pub fn create_table(catalog: &dyn CatalogStore, def: TableDef) -> Result<Arc<Table>, CatalogError> {
    let name = def.name.clone();
    let change = CatalogChange::CreateTable { def, sequences: Vec::new(), temporary: false };
    catalog.apply(change).map_err(|failed| failed.error)?;
    catalog.snapshot()?.resolve(name.schema.as_deref(), &name.name)
}

/// Adds a view to a catalog, or replaces it.
///
/// # Errors
/// As [`CatalogChange::CreateView`].
pub fn create_view(catalog: &dyn CatalogStore, def: ViewDef, replaces: bool) -> Result<(), CatalogError> {
    let version = catalog.snapshot()?.version();
    let change = CatalogChange::CreateView { def, replaces, version };
    catalog.apply(change).map(drop).map_err(|failed| failed.error)
}

/// Drops a table.
///
/// # Errors
/// As [`CatalogChange::DropTables`].
pub fn drop_table(catalog: &dyn CatalogStore, name: GivenName<'_>, views: Dependents) -> Result<(), CatalogError> {
    let list = DropList { names: &[name], if_exists: false, dependents: views };
    catalog.apply(CatalogChange::DropTables(list)).map(drop).map_err(|failed| failed.error)
}

/// A list of objects that must exist, and that no view uses.
pub fn drop_list<'n>(names: &'n [GivenName<'n>]) -> DropList<'n> {
    DropList { names, if_exists: false, dependents: Dependents::Refuse }
}

fn code<T>(result: Result<T, CatalogError>) -> &'static str {
    result.map(drop).unwrap_err().code().as_str()
}

fn table(catalog: &dyn CatalogStore, name: &str) -> Arc<Table> {
    catalog.snapshot().unwrap().resolve(None, name).unwrap()
}

fn names(catalog: &dyn CatalogStore) -> Vec<String> {
    catalog.snapshot().unwrap().tables().unwrap().iter().map(|table| table.def().name.to_string()).collect()
}

fn schemas(catalog: &dyn CatalogStore) -> Vec<String> {
    catalog.snapshot().unwrap().schemas().unwrap().iter().map(|schema| schema.name.clone()).collect()
}

fn a_snapshot_stays_as_it_was(catalog: &dyn CatalogStore) {
    let before = catalog.snapshot().unwrap();
    assert_eq!(before.version(), catalog.version());
    create_table(catalog, table_def(Some("s"), "t")).unwrap();
    assert!(before.tables().unwrap().is_empty() && !before.has_schema("s").unwrap());
    let after = catalog.snapshot().unwrap();
    assert_eq!(after.version(), catalog.version());
    assert_ne!(after.version(), before.version());
    assert_eq!((after.tables().unwrap().len(), schemas(catalog)), (1, vec!["s".to_owned()]));
    assert_eq!(catalog.snapshot().unwrap().version(), after.version(), "nothing has changed");
}

fn names_match_in_any_case_and_clash_in_any_case(catalog: &dyn CatalogStore) {
    create_table(catalog, table_def(Some("Sales"), "Orders")).unwrap();
    create_table(catalog, table_def(Some("SALES"), "Items")).unwrap();
    assert_eq!(names(catalog), ["Sales.Items", "Sales.Orders"], "a schema keeps its first spelling");
    let snapshot = catalog.snapshot().unwrap();
    assert_eq!(snapshot.resolve(Some("sales"), "ORDERS").unwrap().def().name.to_string(), "Sales.Orders");
    assert_eq!(code(create_table(catalog, table_def(Some("sales"), "oRDERS"))), "duplicate_table");
    let view = ViewDef {
        name: TableName { schema: Some("sales".into()), ..TableName::bare("items") },
        ..view_def("v", "t", &[])
    };
    assert_eq!(code(create_view(catalog, ViewDef { uses: Vec::new(), ..view }, false)), "duplicate_table");
    let schema = |name| catalog.apply(CatalogChange::CreateSchema(name)).map_err(|failed| failed.error);
    assert_eq!((code(schema("sales")), code(schema("information_schema"))), ("duplicate_schema", "duplicate_schema"));
}

/// All spellings of `public`.
fn spellings() -> impl Iterator<Item = String> {
    (0..1 << PUBLIC_SCHEMA.len()).map(|upper: usize| {
        let letters = PUBLIC_SCHEMA.chars().enumerate();
        letters.map(|(place, it)| if upper >> place & 1 == 1 { it.to_ascii_uppercase() } else { it }).collect()
    })
}

fn apply(catalog: &dyn CatalogStore, change: CatalogChange<'_>) -> Result<(), CatalogError> {
    catalog.apply(change).map(drop).map_err(|failed| failed.error)
}

fn sequence(catalog: &dyn CatalogStore, schema: Option<&str>, name: &str) -> Result<(), CatalogError> {
    let (def, position) = (sequence_def(schema, name), sequence_def(schema, name).beginning());
    apply(catalog, CatalogChange::CreateSequence { def, position })
}

fn public_is_the_default_schema(catalog: &dyn CatalogStore) {
    create_user(catalog, user_def("ann")).unwrap();
    create_table(catalog, table_def(None, "orders")).unwrap();
    for spelling in spellings() {
        let public = Some(spelling.as_str());
        let made = create_table(catalog, table_def(public, "t")).unwrap();
        assert_eq!(made.def().name, TableName::bare("t"));
        sequence(catalog, public, "q").unwrap();
        let name = TableName { schema: public.map(str::to_owned), name: "v".into() };
        let uses = vec![ViewUse { name: TableName { name: "t".into(), ..name.clone() }, columns: vec!["k".into()] }];
        create_view(catalog, ViewDef { name, uses, ..view_def("v", "t", &["k"]) }, false).unwrap();
        let snapshot = catalog.snapshot().unwrap();
        for schema in [None, public, Some("")] {
            assert_eq!(snapshot.resolve(schema, "T").unwrap().def().object_id, made.def().object_id);
            assert_eq!(snapshot.sequence(schema, "q").unwrap().name, TableName::bare("q"));
            assert_eq!(snapshot.view(schema, "v").unwrap().unwrap().name, TableName::bare("v"));
            assert_eq!(code(create_table(catalog, table_def(schema, "t"))), "duplicate_table");
            assert_eq!(code(sequence(catalog, schema, "v")), "duplicate_table");
        }
        match snapshot.resolve(public, "order").unwrap_err() {
            CatalogError::NoSuchTable { name, nearest } => {
                assert_eq!((name.as_str(), nearest.as_deref()), ("order", Some("orders")));
            }
            other => panic!("{other}"),
        }
        let public = spelling.as_str();
        assert!(snapshot.has_schema(public).unwrap() && snapshot.canonical_schema(public).unwrap().is_empty());
        assert_eq!(code(apply(catalog, CatalogChange::CreateSchema(public))), "duplicate_schema");
        let named = [(None, public)];
        let dropped = DropList { if_exists: true, ..drop_list(&named) };
        assert_eq!(code(apply(catalog, CatalogChange::DropSchemas(dropped))), "invalid_definition");
        let on_schema = grant(catalog, &[Privilege::Select], GivenObject::Schema(public), &["ann"]);
        assert_eq!(code(on_schema.map_err(|failed| failed.error)), "not_supported");
        grant(catalog, &[Privilege::Select], GivenObject::Relation((Some(public), "t")), &["ann"]).unwrap();
        assert_eq!(grants(catalog, "ann"), [format!("SELECT on {:?}", GrantedObject::Relation(TableName::bare("t")))]);
        let privileges = [Privilege::Select].into_iter().collect();
        let revoked = GrantList { privileges, object: GivenObject::Relation((None, "t")), users: &["ann"] };
        apply(catalog, CatalogChange::Revoke(revoked)).unwrap();
        assert!(grants(catalog, "ann").is_empty());
        assert_eq!(code(drop_table(catalog, (Some(public), "t"), Dependents::Refuse)), "dependents");
        apply(catalog, CatalogChange::TruncateTables(&[(Some(public), "t")])).unwrap();
        drop_table(catalog, (Some(public), "t"), Dependents::Drop).unwrap();
        apply(catalog, CatalogChange::DropSequences(drop_list(&[(Some(public), "q")]))).unwrap();
        assert!(schemas(catalog).is_empty() && names(catalog) == ["orders"]);
    }
}

fn a_schema_public_of_an_earlier_version_is_meant(catalog: &dyn CatalogStore) {
    apply(catalog, CatalogChange::RestoreSchema("Public")).unwrap();
    assert_eq!(code(apply(catalog, CatalogChange::RestoreSchema("public"))), "duplicate_schema");
    let default = create_table(catalog, table_def(None, "t")).unwrap();
    for spelling in spellings() {
        let public = Some(spelling.as_str());
        let own = create_table(catalog, table_def(public, "t")).unwrap();
        assert_eq!(own.def().name.to_string(), "Public.t");
        let snapshot = catalog.snapshot().unwrap();
        assert_eq!(snapshot.canonical_schema(&spelling).unwrap(), spelling);
        assert_eq!(snapshot.resolve(None, "t").unwrap().def().object_id, default.def().object_id);
        assert_eq!(snapshot.resolve(public, "t").unwrap().def().object_id, own.def().object_id);
        drop_table(catalog, (public, "t"), Dependents::Refuse).unwrap();
    }
    assert_eq!(code(apply(catalog, CatalogChange::CreateSchema("public"))), "duplicate_schema");
    apply(catalog, CatalogChange::DropSchemas(drop_list(&[(None, "PUBLIC")]))).unwrap();
    let found = catalog.snapshot().unwrap().resolve(Some("public"), "t").unwrap();
    assert_eq!(found.def().object_id, default.def().object_id);
}

fn what_is_missing_is_told_from_what_is_there(catalog: &dyn CatalogStore) {
    create_table(catalog, table_def(Some("s"), "orders")).unwrap();
    let snapshot = catalog.snapshot().unwrap();
    match snapshot.resolve(Some("s"), "order").unwrap_err() {
        CatalogError::NoSuchTable { nearest, .. } => assert_eq!(nearest.as_deref(), Some("s.orders")),
        other => panic!("{other}"),
    }
    assert_eq!(code(snapshot.resolve(Some("nowhere"), "t")), "no_such_schema");
    for name in ["tables", "nothing"] {
        assert_eq!(code(snapshot.resolve(Some("INFORMATION_SCHEMA"), name)), "read_only");
    }
    assert_eq!(code(snapshot.sequence(None, "s")), "no_such_sequence");
    assert!(optional(snapshot.resolve(Some("nowhere"), "t")).unwrap().is_none());
    assert!(snapshot.view(None, "v").unwrap().is_none() && !snapshot.has_schema("nowhere").unwrap());
}

/// An index of the only column of a table.
fn index_def(name: &str) -> IndexDef {
    let column = ColumnRef { index: 0, name: "k".into(), ty: SqlType::BigInt, nullable: false, span: None };
    IndexDef {
        id: TableId(0),
        object_id: ObjectId::NEW,
        name: name.into(),
        parts: vec![IndexPart { expr: Expr::Column(column), text: "k".into(), order: SortOrder::Desc }],
        include: Vec::new(),
        predicate: None,
        local: false,
        unique: false,
        salt: None,
        state: IndexState::Ready,
        rebuild: None,
    }
}

fn a_table_keeps_its_number(catalog: &dyn CatalogStore, temporary: bool) {
    let create = || {
        let change = CatalogChange::CreateTable { def: table_def(None, "t"), sequences: Vec::new(), temporary };
        catalog.apply(change).unwrap();
    };
    let alter = |name: &str, change: &dyn Fn(&mut TableDef)| {
        let old = table(catalog, name).def().clone();
        let mut new = TableDef::clone(&old);
        change(&mut new);
        catalog.apply(CatalogChange::AlterTable { old, new }).unwrap();
    };
    let index = |name: &str| table(catalog, name).def().indexes.first().cloned().unwrap();
    let numbers = |name: &str| (table(catalog, name).def().object_id, index(name).object_id);

    create();
    let first = table(catalog, "t").def().object_id;
    alter("t", &|def| def.indexes.push(index_def("i")));
    let before = numbers("t");
    assert!(before.0 == first && before.1 != first && first != ObjectId::NEW && before.1 != ObjectId::NEW);
    let (rows, entries) = (table(catalog, "t").def().id, index("t").id);
    alter("t", &|def| def.comment = Some("the same".into()));
    alter("t", &|def| def.name.name = "U".into());
    catalog.apply(CatalogChange::TruncateTables(&[(None, "u")])).unwrap();
    assert!(table(catalog, "u").def().id != rows && index("u").id != entries);
    assert_eq!(numbers("u"), before);
    let rebuild = Some(Rebuild { id: TableId(0), ttl_s: None });
    alter("u", &|def| def.indexes.iter_mut().for_each(|index| index.rebuild = rebuild));
    let complete = |index: &IndexDef| IndexDef { state: IndexState::Ready, ..index.rebuilt().unwrap() };
    let entries = index("u").id;
    alter("u", &|def| def.indexes.iter_mut().for_each(|index| *index = complete(index)));
    assert!(index("u").id != entries && numbers("u") == before);
    // New objects with the same names.
    alter("u", &|def| def.indexes.clear());
    alter("u", &|def| def.indexes.push(index_def("i")));
    let second = numbers("u");
    assert!(second.0 == first && second.1 != before.1);
    drop_table(catalog, (None, "u"), Dependents::Refuse).unwrap();
    create();
    alter("t", &|def| def.indexes.push(index_def("i")));
    let third = numbers("t");
    let all = BTreeSet::from([first, before.1, second.1, third.0, third.1]);
    assert_eq!(all.len(), 5);
}

/// The numbers of a schema, a table, a view, a sequence and a user.
fn numbers(catalog: &dyn CatalogStore) -> [ObjectId; 5] {
    let snapshot = catalog.snapshot().unwrap();
    let schema = snapshot.schemas().unwrap().iter().find(|schema| schema.name == "s").unwrap().id;
    let table = snapshot.resolve(None, "t").unwrap().def().object_id;
    let (view, sequence) =
        (snapshot.view(None, "v").unwrap().unwrap().id, snapshot.sequence(Some("s"), "q").unwrap().id);
    [schema, table, view, sequence, snapshot.user("ann").unwrap().unwrap().id]
}

fn other_objects_keep_their_numbers(catalog: &dyn CatalogStore) {
    let create = || {
        create_table(catalog, table_def(None, "t")).unwrap();
        create_view(catalog, view_def("v", "t", &["k"]), false).unwrap();
        // The first object of a schema creates the schema.
        let (def, position) = (sequence_def(Some("s"), "q"), sequence_def(None, "q").beginning());
        catalog.apply(CatalogChange::CreateSequence { def, position }).unwrap();
        create_user(catalog, user_def("ann")).unwrap();
        numbers(catalog)
    };
    let first = create();
    create_view(catalog, view_def("V", "t", &["k", "k"]), true).unwrap();
    let version = catalog.snapshot().unwrap().version();
    catalog.apply(CatalogChange::AlterView { def: view_def("v", "t", &["k"]), version }).unwrap();
    let old = catalog.snapshot().unwrap().sequence(Some("s"), "q").unwrap();
    let new = SequenceDef { cache: 2, ..SequenceDef::clone(&old) };
    catalog.apply(CatalogChange::AlterSequence { old, new, position: None }).unwrap();
    let verifier = ScramVerifier { salt: vec![5; 8], ..user_def("ann").verifier };
    catalog.apply(CatalogChange::AlterUser { name: "ann", verifier }).unwrap();
    grant(catalog, &[Privilege::Ddl], GivenObject::Schema("s"), &["ann"]).unwrap();
    create_table(catalog, table_def(Some("s"), "later")).unwrap();
    assert_eq!(numbers(catalog), first);
    drop_table(catalog, (Some("s"), "later"), Dependents::Refuse).unwrap();
    drop_table(catalog, (None, "t"), Dependents::Drop).unwrap();
    catalog.apply(CatalogChange::DropSequences(drop_list(&[(Some("s"), "q")]))).unwrap();
    catalog.apply(CatalogChange::DropSchemas(drop_list(&[(None, "s")]))).unwrap();
    catalog.apply(CatalogChange::DropUser("ann")).unwrap();
    let all: BTreeSet<ObjectId> = first.into_iter().chain(create()).collect();
    assert!(all.len() == 10 && !all.contains(&ObjectId::NEW));
}

/// The definition with a comment.
fn commented(def: &TableDef, text: &str) -> TableDef {
    TableDef { comment: Some(text.to_owned()), ..def.clone() }
}

fn is_changed(result: Result<crate::Applied, ChangeError>) -> bool {
    matches!(result, Err(ChangeError { error: CatalogError::Changed(_), .. }))
}

fn a_change_of_an_earlier_state_is_refused(catalog: &dyn CatalogStore) {
    let old = create_table(catalog, table_def(None, "t")).unwrap().def().clone();
    let alter = |old: &Arc<TableDef>, text: &str| {
        catalog.apply(CatalogChange::AlterTable { old: old.clone(), new: commented(old, text) })
    };
    let version = catalog.version();
    alter(&old, "first").unwrap();
    assert!(is_changed(alter(&old, "second")));
    assert_eq!(table(catalog, "t").def().comment.as_deref(), Some("first"));
    alter(table(catalog, "t").def(), "second").unwrap();

    let view = || CatalogChange::CreateView { def: view_def("v", "t", &["k"]), replaces: false, version };
    assert!(is_changed(catalog.apply(view())), "what it reads may be something else now");
    assert!(catalog.snapshot().unwrap().view(None, "v").unwrap().is_none());

    let (def, position) = (sequence_def(None, "s"), sequence_def(None, "s").beginning());
    catalog.apply(CatalogChange::CreateSequence { def, position }).unwrap();
    let old = catalog.snapshot().unwrap().sequence(None, "s").unwrap();
    let alter = |cache| {
        let new = SequenceDef { cache, ..SequenceDef::clone(&old) };
        catalog.apply(CatalogChange::AlterSequence { old: old.clone(), new, position: None })
    };
    alter(2).unwrap();
    assert!(is_changed(alter(3)));
    assert_eq!(catalog.snapshot().unwrap().sequence(None, "s").unwrap().cache, 2);
}

fn changes_at_the_same_time_are_all_made(catalog: &dyn CatalogStore) {
    const THREADS: usize = 4;
    const CHANGES: usize = 8;
    create_table(catalog, commented(&table_def(None, "t"), "")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..CHANGES {
                    let longer = |catalog: &dyn crate::CatalogReader| -> Result<_, ChangeError> {
                        let old = catalog.resolve(None, "t")?.def().clone();
                        let text = format!("{}x", old.comment.as_deref().unwrap_or_default());
                        Ok(Some(CatalogChange::AlterTable { new: commented(&old, &text), old }))
                    };
                    change(catalog, longer).unwrap();
                }
            });
        }
    });
    assert_eq!(table(catalog, "t").def().comment.as_ref().map(String::len), Some(THREADS * CHANGES));
}

fn the_objects_of_a_list_go_together_or_not_at_all(catalog: &dyn CatalogStore) {
    for name in ["a", "b", "c"] {
        create_table(catalog, table_def(None, name)).unwrap();
    }
    create_view(catalog, view_def("v", "c", &["k"]), false).unwrap();
    create_view(catalog, view_def("w", "v", &["k"]), false).unwrap();
    catalog.apply(CatalogChange::CreateSchema("s")).unwrap();
    let refused = |change: CatalogChange<'_>, code: &str, place: usize| {
        let failed = catalog.apply(change).unwrap_err();
        assert_eq!((failed.error.code().as_str(), failed.place), (code, Some(place)));
    };
    let all = || (names(catalog), catalog.snapshot().unwrap().views().unwrap().len(), catalog.version());
    let before = all();
    let nope = [(None, "a"), (None, "b"), (None, "nope")];
    refused(CatalogChange::DropTables(drop_list(&nope)), "no_such_table", 2);
    refused(CatalogChange::TruncateTables(&nope), "no_such_table", 2);
    refused(CatalogChange::DropTables(drop_list(&[(None, "a"), (None, "c")])), "dependents", 1);
    refused(CatalogChange::DropViews(drop_list(&[(None, "w"), (None, "a")])), "wrong_object", 1);
    refused(CatalogChange::DropSequences(drop_list(&[(None, "q")])), "no_such_sequence", 0);
    refused(CatalogChange::DropSchemas(drop_list(&[(None, "s"), (None, "z")])), "no_such_schema", 1);
    assert_eq!(all(), before);

    // Views of one list may use each other, in any order.
    catalog.apply(CatalogChange::DropViews(drop_list(&[(None, "v"), (None, "w")]))).unwrap();
    let some = DropList { if_exists: true, ..drop_list(&nope) };
    assert!(catalog.apply(CatalogChange::DropTables(some)).unwrap().left.is_empty());
    catalog.apply(CatalogChange::DropSchemas(drop_list(&[(None, "S")]))).unwrap();
    assert_eq!((names(catalog), schemas(catalog).len()), (vec!["c".to_owned()], 0));
}

fn ids_are_never_used_again(catalog: &dyn CatalogStore) {
    let mut known = BTreeSet::new();
    let mut is_new = |ids: &[TableId]| ids.iter().all(|id| known.insert(*id));
    let created = |name| create_table(catalog, table_def(None, name)).unwrap().def().id;
    assert!(is_new(&[created("a"), created("b")]));
    catalog.apply(CatalogChange::TruncateTables(&[(None, "a"), (None, "A")])).unwrap();
    assert!(is_new(&[table(catalog, "a").def().id]));
    let leased = catalog.lease_ids(3).unwrap();
    assert!(leased.len() == 3 && is_new(&leased));
    drop_table(catalog, (None, "b"), Dependents::Refuse).unwrap();
    catalog.release_ids(&leased[..2]);
    catalog.purge(leased[0]).unwrap();
    catalog.finish_drops().unwrap();
    let with_sequence = CatalogChange::CreateTable {
        def: table_def(None, "b"),
        sequences: vec![sequence_def(None, "s")],
        temporary: false,
    };
    catalog.apply(with_sequence).unwrap();
    let sequence = catalog.snapshot().unwrap().sequence(None, "s").unwrap().id;
    assert!(is_new(&[table(catalog, "b").def().id, TableId(sequence.0)]));
    assert!(is_new(&catalog.lease_ids(1).unwrap()));
}

fn views_keep_what_they_use(catalog: &dyn CatalogStore) {
    assert_eq!(code(create_view(catalog, view_def("v", "t", &["k"]), false)), "no_such_table");
    let old = create_table(catalog, table_def(None, "t")).unwrap();
    create_view(catalog, view_def("v", "t", &["k"]), false).unwrap();
    create_view(catalog, view_def("w", "v", &["k"]), false).unwrap();
    assert_eq!(code(create_view(catalog, view_def("v", "w", &["k"]), true)), "invalid_definition", "a circle");
    assert_eq!(code(create_view(catalog, view_def("v", "v", &["k"]), true)), "invalid_definition", "itself");
    assert_eq!(
        code(create_view(catalog, view_def("v", "t", &["other"]), true)),
        "invalid_definition",
        "a column is gone"
    );
    let mut new = TableDef::clone(old.def());
    new.columns.iter_mut().for_each(|column| column.name = "l".into());
    let renamed = catalog.apply(CatalogChange::AlterTable { old: old.def().clone(), new });
    assert_eq!(code(renamed.map_err(|failed| failed.error)), "dependents");
    let version = catalog.snapshot().unwrap().version();
    let narrowed = catalog.apply(CatalogChange::AlterView { def: view_def("v", "t", &[]), version });
    assert_eq!(code(narrowed.map_err(|failed| failed.error)), "dependents", "w reads it");
    catalog.apply(CatalogChange::AlterView { def: view_def("v", "t", &["k", "m"]), version }).unwrap();
    assert_eq!(catalog.snapshot().unwrap().view(None, "V").unwrap().unwrap().columns.len(), 2);
    drop_table(catalog, (None, "t"), Dependents::Drop).unwrap();
    assert!(catalog.snapshot().unwrap().views().unwrap().is_empty());
}

fn user(catalog: &dyn CatalogStore, name: &str) -> Arc<UserDef> {
    catalog.snapshot().unwrap().user(name).unwrap().unwrap()
}

/// The grants of a user, as text.
fn grants(catalog: &dyn CatalogStore, name: &str) -> Vec<String> {
    user(catalog, name).grants.iter().map(|(object, privileges)| format!("{privileges} on {object:?}")).collect()
}

fn users_are_there_until_they_are_dropped(catalog: &dyn CatalogStore) {
    assert_eq!(catalog.snapshot().unwrap().user_secret().unwrap(), None);
    let before = catalog.snapshot().unwrap();
    create_user(catalog, user_def("Ann")).unwrap();
    let first = user(catalog, "ANN");
    assert!(before.user("ann").unwrap().is_none() && before.version() != catalog.version());
    assert_eq!(code(create_user(catalog, user_def("aNN"))), "duplicate_user");
    let other = CatalogChange::CreateUser { def: user_def("bob"), secret: [8; 32] };
    catalog.apply(other).unwrap();
    assert_eq!(catalog.snapshot().unwrap().user_secret().unwrap(), Some([9; 32]), "the first user brings it");
    let names: Vec<String> =
        catalog.snapshot().unwrap().users().unwrap().iter().map(|user| user.name.clone()).collect();
    assert_eq!(names, ["Ann", "bob"]);

    let verifier = ScramVerifier { salt: vec![5; 8], ..first.verifier.clone() };
    let alter = |name| {
        let change = CatalogChange::AlterUser { name, verifier: verifier.clone() };
        catalog.apply(change).map_err(|failed| failed.error)
    };
    alter("ann").unwrap();
    assert_eq!((user(catalog, "ann").verifier.salt.len(), user(catalog, "ann").id), (8, first.id));
    let drop = |name| catalog.apply(CatalogChange::DropUser(name)).map_err(|failed| failed.error);
    assert_eq!((code(alter("nope")), code(drop("nope"))), ("no_such_user", "no_such_user"));
    match drop("bobb").unwrap_err() {
        CatalogError::NoSuchUser { nearest, .. } => assert_eq!(nearest.as_deref(), Some("bob")),
        other => panic!("{other}"),
    }
    drop("ann").unwrap();
    create_user(catalog, user_def("Ann")).unwrap();
    assert_ne!(user(catalog, "ann").id, first.id, "a later user of the name is another one");
}

fn grants_follow_their_object(catalog: &dyn CatalogStore) {
    use Privilege::{All, Ddl, Delete, Select, Upsert};
    let t = create_table(catalog, table_def(Some("S"), "T")).unwrap();
    let (def, position) = (sequence_def(None, "q"), sequence_def(None, "q").beginning());
    catalog.apply(CatalogChange::CreateSequence { def, position }).unwrap();
    ["ann", "bob"].iter().for_each(|name| create_user(catalog, user_def(name)).unwrap());
    let table = GivenObject::Relation((Some("s"), "t"));
    grant(catalog, &[Select, Upsert], table, &["ANN", "bob"]).unwrap();
    grant(catalog, &[Ddl], GivenObject::Schema("s"), &["ann"]).unwrap();
    grant(catalog, &[Upsert], GivenObject::Relation((None, "Q")), &["ann"]).unwrap();
    grant(catalog, &[All], GivenObject::Database, &["bob"]).unwrap();
    let version = catalog.snapshot().unwrap().version();
    grant(catalog, &[Select], table, &["ann"]).unwrap();
    assert_eq!(catalog.version(), version, "the user has the privilege already");
    let on_table = r#"SELECT, UPSERT on Relation(TableName { schema: Some("S"), name: "T" })"#;
    assert_eq!(grants(catalog, "ann")[2], on_table, "an object has its own spelling");
    assert_eq!((grants(catalog, "ann").len(), grants(catalog, "bob").len()), (3, 2));

    // A list is granted completely or not at all.
    let missing = grant(catalog, &[Delete], table, &["ann", "nope"]).unwrap_err();
    assert_eq!((missing.error.code().as_str(), missing.place), ("no_such_user", Some(1)));
    let nowhere = |object| grant(catalog, &[Delete], object, &["ann"]).unwrap_err().error.code().as_str();
    assert_eq!(nowhere(GivenObject::Relation((Some("s"), "nope"))), "no_such_table");
    assert_eq!(nowhere(GivenObject::Schema("nope")), "no_such_schema");
    assert_eq!((grants(catalog, "ann")[2].as_str(), catalog.version()), (on_table, version));

    let revoked = GrantList { privileges: [Select, Ddl].into_iter().collect(), object: table, users: &["bob"] };
    catalog.apply(CatalogChange::Revoke(revoked)).unwrap();
    assert!(grants(catalog, "bob")[1].starts_with("UPSERT on") && grants(catalog, "bob")[0] == "ALL on Database");

    let renamed = TableName { name: "U".into(), ..t.def().name.clone() };
    let new = TableDef { name: renamed, ..TableDef::clone(t.def()) };
    catalog.apply(CatalogChange::AlterTable { old: t.def().clone(), new }).unwrap();
    create_table(catalog, table_def(Some("S"), "T")).unwrap();
    assert!(grants(catalog, "ann")[2].contains("\"U\""), "{:?}", grants(catalog, "ann"));
    catalog.apply(CatalogChange::TruncateTables(&[(Some("s"), "u")])).unwrap();
    assert_eq!(grants(catalog, "ann").len(), 3, "a table that was emptied is the same");
    for name in ["t", "u"] {
        drop_table(catalog, (Some("s"), name), Dependents::Refuse).unwrap();
    }
    catalog.apply(CatalogChange::DropSequences(drop_list(&[(None, "q")]))).unwrap();
    assert_eq!((grants(catalog, "ann").len(), grants(catalog, "bob").len()), (1, 1));
    catalog.apply(CatalogChange::DropSchemas(drop_list(&[(None, "s")]))).unwrap();
    create_table(catalog, table_def(Some("s"), "u")).unwrap();
    assert_eq!((grants(catalog, "ann").len(), grants(catalog, "bob")), (0, vec!["ALL on Database".to_owned()]));
}

fn no_value_is_given_out_twice(catalog: &dyn CatalogStore) {
    let (def, position) = (sequence_def(None, "s"), sequence_def(None, "s").beginning());
    catalog.apply(CatalogChange::CreateSequence { def, position }).unwrap();
    let def = catalog.snapshot().unwrap().sequence(None, "S").unwrap();
    assert_eq!(catalog.next_value_of(&def).unwrap(), Some(1));
    let taken = || {
        let take = |rows: usize| catalog.next_values(&def, 1, rows).unwrap();
        [1, 7, 15].into_iter().flat_map(take).collect::<Vec<i64>>()
    };
    let all: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(taken)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 4 * 23);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    let first = catalog.next_values(&def, 5, 2).unwrap();
    assert!(first.len() == 2 && first[1] >= first[0] + 5 && first[0] > *all.iter().max().unwrap());
    catalog.return_sequence_values().unwrap();
    assert!(catalog.next_value_of(&def).unwrap().unwrap() > first[1]);
    assert_eq!(code(catalog.next_values(&def, 1, 2_000)), "sequence_limit");
    catalog.apply(CatalogChange::DropSequences(drop_list(&[(None, "s")]))).unwrap();
    assert_eq!(code(catalog.next_values(&def, 1, 1)), "no_such_sequence");
}

fn a_position_stays_or_is_moved(catalog: &dyn CatalogStore) {
    let (def, position) = (sequence_def(None, "s"), sequence_def(None, "s").beginning());
    catalog.apply(CatalogChange::CreateSequence { def, position }).unwrap();
    let now = || catalog.snapshot().unwrap().sequence(None, "s").unwrap();
    let alter = |change: &dyn Fn(&mut SequenceDef), position: Option<SequencePosition>| {
        let (old, mut new) = (now(), SequenceDef::clone(&now()));
        change(&mut new);
        catalog.apply(CatalogChange::AlterSequence { old, new, position }).map_err(|failed| failed.error)
    };
    assert_eq!(catalog.next_values(&now(), 1, 3).unwrap(), [1, 2, 3]);
    // The remaining reserved values are no longer reserved.
    alter(&|def| def.cache = 5, None).unwrap();
    assert_eq!(catalog.next_values(&now(), 1, 1).unwrap(), [4]);
    alter(&|_| (), Some(SequencePosition { last: 50, is_taken: true })).unwrap();
    assert_eq!(catalog.next_values(&now(), 1, 1).unwrap(), [51]);
    assert_eq!(code(alter(&|def| def.max = 40, None)), "invalid_definition", "its position lies outside");
    assert_eq!((catalog.next_values(&now(), 1, 1).unwrap(), now().max), (vec![52], 1_000));
}
