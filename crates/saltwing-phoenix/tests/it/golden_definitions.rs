//! Definitions that Phoenix's classes made, and what is not understood of them.

use proptest::prelude::*;
use saltwing_phoenix::{
    DefinitionError, IndexKind, IndexState, QualifierScheme, RowCodec, StorageScheme, TableDefinition, TableKind,
    TableReply, TableRequest, ViewKind,
};
use saltwing_types::text::{hex, unhex};
use saltwing_types::{ErrorCode, SortOrder, SqlType as T, Value as V};

use crate::golden::{Definitions, definitions};
use crate::hostile::{byte, changes, mutate};

fn of(id: &str) -> Definitions {
    definitions().into_iter().find(|definitions| definitions.id == id).unwrap()
}

#[test]
fn every_definition_is_read() {
    let (mut tables, mut local) = (0, 0);
    for definitions in definitions() {
        for name in definitions.tables.keys() {
            let table = definitions.table(name);
            assert_eq!(table.full_name(), name.trim_start_matches("@tn1@").trim_start_matches("@acme@"));
            match table.row_format() {
                Ok(format) => drop(RowCodec::new(format).unwrap_or_else(|error| panic!("{name}: {error}"))),
                Err(error) => {
                    assert_eq!(error.to_string(), format!("{name}: rows of a local index"));
                    local += 1;
                }
            }
            tables += 1;
        }
    }
    assert_eq!((tables, local), (76, 1));
}

#[test]
fn keys_types_and_salt() {
    let table = of("types").table("SC.TYPES");
    assert_eq!((table.schema.as_deref(), table.name.as_str()), (Some("SC"), "TYPES"));
    assert_eq!((table.physical_name.as_str(), table.salt_buckets), ("SC.TYPES", Some(16)));
    let key: Vec<_> = table.columns.iter().filter(|column| column.is_key()).collect();
    let key: Vec<_> =
        key.iter().map(|column| (column.name.as_str(), column.ty, column.order, column.nullable)).collect();
    let (asc, desc) = (SortOrder::Asc, SortOrder::Desc);
    assert_eq!(
        key,
        [
            ("A", T::Varchar(Some(10)), asc, false),
            ("B", T::Decimal(Some((10, 2))), desc, false),
            ("C", T::Char(3), desc, false),
            ("D", T::Binary(4), asc, false),
            ("E", T::UnsignedDate, asc, false),
            ("F", T::UnsignedTimestamp, asc, false),
            ("G", T::Timestamp, desc, false),
            ("H", T::Varchar(None), asc, true),
        ]
    );
    let values: Vec<_> = table.columns.iter().filter(|column| !column.is_key()).collect();
    let types: Vec<_> = values.iter().map(|column| column.ty.to_string()).collect();
    assert_eq!(
        types,
        [
            "CHAR(5) ARRAY",
            "VARCHAR(7) ARRAY[3]",
            "DECIMAL(12,4)",
            "BINARY(4) ARRAY",
            "UNSIGNED_TIME",
            "VARBINARY",
            "UNSIGNED_DOUBLE ARRAY",
            "DATE ARRAY",
        ]
    );
    assert_eq!(values[0].qualifier.as_deref(), Some(&[0x80, 11][..]));
}

#[test]
fn storage_names_and_defaults() {
    let table = of("quoted").table("low");
    assert_eq!((table.immutable, table.storage), (true, StorageScheme::CellPerFamily));
    assert_eq!(table.qualifiers, QualifierScheme::FourBytes);
    let columns: Vec<_> = table.columns.iter().map(|column| (column.name.as_str(), column.family.as_deref())).collect();
    assert_eq!(columns, [("k", None), ("v", Some("f")), ("Dy n", Some("0"))]);
    assert_eq!(table.columns[2].expression.as_deref(), Some("5"));
    let format = table.row_format().unwrap();
    assert_eq!(format.empty_family, "f");
    assert_eq!(format.columns.iter().map(|column| column.has_default).collect::<Vec<_>>(), [false, true]);
    let table = of("cells-0012").table("CA12");
    assert_eq!(table.default_family.as_deref(), Some("cf"));
    let table = of("cells-0008").table("CA8");
    assert!(table.store_nulls && table.indexes.is_empty());
    let names = of("cells-0002").table("CA2");
    assert_eq!((names.qualifiers, names.columns[1].qualifier.as_deref()), (QualifierScheme::Names, Some(&b"A"[..])));
    assert!(of("ns_row_timestamp").table("RT").columns[1].is_row_timestamp);
}

#[test]
fn views() {
    let view = |id: &str, name: &str| match of(id).table(name).kind {
        TableKind::View(view) => view,
        other => panic!("{other:?}"),
    };
    let updatable = view("cells-0039", "CA39V");
    assert_eq!((updatable.kind, updatable.parent.as_deref()), (ViewKind::Updatable, Some("CA39")));
    assert_eq!(view("readonlyview", "ROV").kind, ViewKind::ReadOnly);
    let tenants = of("multitenant").table("@acme@MTV");
    assert_eq!((tenants.tenant.as_deref(), tenants.multi_tenant), (Some("acme"), true));
    assert_eq!((tenants.physical_name.as_str(), tenants.salt_buckets), ("MT", Some(4)));
    // The key column is descending, and so are the bytes of its constant.
    let constants: Vec<_> = tenants.columns.iter().map(|column| column.view_constant.clone()).collect();
    assert_eq!(constants, [None, Some(V::Int(7)), None, None]);
}

#[test]
fn indexes() {
    let index = |id: &str, name: &str| match of(id).table(name).kind {
        TableKind::Index(index) => index,
        other => panic!("{other:?}"),
    };
    let global = index("cells-0031", "CA31I1");
    assert_eq!((global.kind, global.state), (IndexKind::Global, IndexState::Active));
    assert_eq!((global.data_table.as_deref(), global.condition), (Some("CA31"), None));
    assert_eq!(index("cells-0038", "CA38I1").kind, IndexKind::Local);
    assert_eq!(index("uncovered", "UCI").kind, IndexKind::UncoveredGlobal);
    assert_eq!(index("partial", "PII").condition.as_deref(), Some("A = 'x'"));
    assert!(index("view index", "VBI").view_index_id.is_some());
    assert_eq!(of("view index").table("VBI").physical_name, "_IDX_VB");
    let table = of("cells-0033").table("CA33");
    let names: Vec<_> = table.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["CA33I1", "CA33I2"]);
    let second = table.indexes[1].definition.as_ref().unwrap();
    assert_eq!(second.salt_buckets, Some(2));
    let columns: Vec<_> = second.columns.iter().map(|column| (column.name.as_str(), column.ty, column.order)).collect();
    assert_eq!(
        columns,
        [
            ("0:C", T::Decimal(None), SortOrder::Desc),
            (":K", T::Varchar(None), SortOrder::Asc),
            ("0:A", T::Varchar(None), SortOrder::Asc),
        ]
    );
}

/// Fields of protobuf that come later win: so a known definition becomes one that is not understood.
fn with(fields: &str) -> Vec<u8> {
    let definitions = of("cells-0001");
    [&definitions.tables["CA1"][..], &unhex(fields).unwrap()].concat()
}

#[test]
fn what_is_not_understood_is_named() {
    for (fields, message) in [
        ("d80101", "CA1: transactional tables"),
        ("9a0300", "CA1: a table that is being transformed"),
        ("d0020a", "CA1: rows of a view that expire"),
        ("9a020109", "CA1: encoding scheme 9"),
        ("9202010a", "CA1: storage scheme 10"),
        ("1805", "CA1: table type 5"),
        ("40ac02", "CA1: 300 salt buckets"),
        // A column X of type BSON.
        ("4a0d0a01581a0442534f4e30003809", "CA1: column X: type BSON"),
        ("4a0d0a01581a045555494430003809", "CA1: column X: type UUID"),
        ("4a0d0a01581a044348415230003809", "CA1: column X: CHAR without a length"),
        ("4a070a015830003809", "CA1: column X: a column without a type"),
    ] {
        let error = TableDefinition::from_bytes(&with(fields)).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (message, ErrorCode::NotSupported));
    }
    let cut = TableDefinition::from_bytes(&with("4a0d0a")).unwrap_err();
    assert_eq!(cut.code(), ErrorCode::Corrupt);
}

/// Without a physical name of its own, a table's HBase table is named after schema and table.
#[test]
fn physical_names() {
    let name = |fields: &str| {
        let column = "4a100a014b1a075641524348415230003800";
        let bytes = format!("0a0153120154180128003000{column}{fields}");
        TableDefinition::from_bytes(&unhex(&bytes).unwrap()).unwrap().physical_name
    };
    assert_eq!(name(""), "S.T");
    assert_eq!(name("fa0200"), "S.T");
    assert_eq!(name("f00101"), "S:T");
    assert_eq!(name("fa02025431f00101"), "S:T1");
    assert_eq!(name("9a010158"), "X");
}

/// An index that is not understood does not make its table unreadable.
#[test]
fn an_index_fails_alone() {
    let table = TableDefinition::from_bytes(&with("52060a0012024958")).unwrap();
    let [index] = table.indexes.as_slice() else { panic!("{:?}", table.indexes) };
    assert_eq!(index.name, "IX");
    let error = index.definition.as_ref().unwrap_err();
    assert_eq!(error.to_string(), "IX: a table without a name or without columns");
}

#[test]
fn requests_and_replies() {
    let request = TableRequest { tenant: "", schema: "S", name: "T", known_timestamp: 0 };
    assert_eq!(hex(&request.catalog_row()), "00530054");
    assert_eq!(hex(&request.to_bytes()), "0a001201531a0154200028ffffffffffffffff7f30808414");
    let reply = |bytes: &str| request.read_reply(&unhex(bytes).unwrap());
    assert_eq!(reply("0801"), Ok(TableReply::NotFound));
    assert_eq!(reply("08001007"), Ok(TableReply::Unchanged));
    assert_eq!(reply("0805"), Err(DefinitionError::WrongRegion { table: "T".into() }));
    assert_eq!(reply("0809").unwrap_err().code(), ErrorCode::Corrupt);
    assert_eq!(reply("").unwrap_err().code(), ErrorCode::Corrupt);
    let table = of("cells-0001").tables["CA1"].clone();
    let mut bytes = vec![0x08, 0x00, 0x1a, table.len() as u8 | 0x80, (table.len() >> 7) as u8];
    bytes.extend(table);
    let Ok(TableReply::Table(table)) = request.read_reply(&bytes) else { panic!("{bytes:?}") };
    assert_eq!(table.name, "CA1");
}

fn try_to_use(bytes: &[u8]) {
    if let Ok(table) = TableDefinition::from_bytes(bytes)
        && let Ok(format) = table.row_format()
    {
        drop(RowCodec::new(format));
    }
    drop(TableRequest { tenant: "", schema: "", name: "", known_timestamp: 0 }.read_reply(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn damaged_definitions(which in any::<prop::sample::Index>(), changes in changes()) {
        thread_local!(static ALL: Vec<Vec<u8>> = definitions().into_iter().flat_map(|d| d.tables.into_values()).collect());
        let mut bytes = ALL.with(|all| which.get(all).clone());
        mutate(&mut bytes, &changes);
        try_to_use(&bytes);
    }

    #[test]
    fn random_definitions(bytes in prop::collection::vec(byte(), 0..60)) {
        try_to_use(&bytes);
    }

    /// Messages in messages use up neither stack nor memory.
    #[test]
    fn nested_definitions(depth in 1usize..3000) {
        let mut bytes = Vec::new();
        for _ in 0..depth {
            let mut outer = vec![0x52];
            let mut rest = bytes.len();
            while rest > 127 {
                outer.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            outer.push(rest as u8);
            outer.extend(&bytes);
            bytes = outer;
        }
        try_to_use(&with(&hex(&bytes)));
    }
}

/// A live server gives a view without what it inherits; classes without a cluster give it whole.
#[test]
fn views_inherit_columns_and_constants() {
    let all = definitions();
    let mut inherited = 0;
    for (id, view, table) in [
        ("cells-0039", "CA39V", "CA39"),
        ("cells-0040", "CA40V", "CA40"),
        ("cells-0040", "CA40W", "CA40"),
        ("view index", "VBV", "VB"),
    ] {
        let definitions = all.iter().find(|d| d.id == id).unwrap();
        let (whole, table) = (definitions.table(view), definitions.table(table));
        assert_eq!(whole.inherits_from(), Some(table.name.as_str()));
        let mut own = whole.clone();
        own.columns.retain(|column| !table.columns.iter().any(|other| other.name == column.name));
        inherited += whole.columns.len() - own.columns.len();
        assert_eq!(own.inheriting(&table).as_ref(), Ok(&whole), "{view}");
        assert_eq!(whole.clone().inheriting(&table).as_ref(), Ok(&whole), "{view} has all columns already");
    }
    assert_eq!(inherited, 11);
    let read_only = all.iter().find(|d| d.id == "readonlyview").unwrap();
    let error = read_only.table("ROV").inheriting(&read_only.table("RO")).unwrap_err();
    assert!(error.to_string().ends_with("B > 5"), "{error}");
    assert_eq!(read_only.table("RO").inherits_from(), None);
}
