//! Rows of `SYSTEM.CATALOG` that Phoenix's client sends for CREATE TABLE, VIEW and INDEX.

use proptest::prelude::*;
use saltwing_phoenix::{
    CATALOG_FAMILY, CatalogKey, CatalogKeys, CatalogListing, CellRef, ListedKind, ListedTable, PhoenixError,
};
use saltwing_types::ErrorCode;
use saltwing_types::text::{hex, unhex};

use crate::golden::CATALOG_ROWS;
use crate::hostile::{byte, changes, mutate};

fn listed(key: &[u8], cells: &[(String, Vec<u8>)]) -> Result<Option<ListedTable>, PhoenixError> {
    let family = CATALOG_FAMILY.as_bytes();
    let cells = cells.iter().map(|(name, value)| CellRef { family, qualifier: name.as_bytes(), value });
    CatalogListing::new().unwrap().read(key, cells)
}

#[test]
fn tables_views_and_indexes_are_listed() {
    assert_eq!(CATALOG_ROWS.len(), 29);
    let tables = CATALOG_ROWS.iter().filter_map(|(key, cells)| listed(key, cells).unwrap());
    let shown = |table: ListedTable| {
        assert_eq!(table.tenant, None);
        (table.schema.unwrap_or_default(), table.name, table.kind, table.data_table.unwrap_or_default())
    };
    let tables: Vec<_> = tables.map(shown).collect();
    let expected = [
        ("", "MT", ListedKind::Table, ""),
        ("", "U", ListedKind::Table, ""),
        ("", "UI", ListedKind::Index, "U"),
        ("S", "T", ListedKind::Table, ""),
        ("S", "TL", ListedKind::Index, "T"),
        ("S", "W", ListedKind::View, ""),
    ];
    assert_eq!(tables, expected.map(|(schema, name, kind, data)| (schema.into(), name.into(), kind, data.into())));
}

#[test]
fn keys_of_the_catalog() {
    let keys = CatalogKeys::new().unwrap();
    let key = |names: [&str; 5]| {
        let [tenant, schema, table, column, family] =
            names.map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()));
        CatalogKey { tenant, schema, table, column, family }
    };
    for (names, bytes) in [
        (["", "S", "T", "", ""], "00530054"),
        (["", "", "T", "", ""], "000054"),
        (["", "S", "T", "K", ""], "00530054004b"),
        (["", "S", "T", "V", "0"], "0053005400560030"),
        (["", "S", "T", "", "IX"], "0053005400004958"),
        (["acme", "S", "T", "", ""], "61636d65005300 54"),
    ] {
        let bytes = bytes.replace(' ', "");
        let key = key(names);
        assert_eq!(hex(&keys.encode(&key).unwrap()), bytes, "{names:?}");
        assert_eq!(keys.decode(&unhex(&bytes).unwrap()), Ok(key.clone()), "{names:?}");
        assert_eq!(key.is_header(), names[3].is_empty() && names[4].is_empty());
    }
}

#[test]
fn a_damaged_header_is_named() {
    let cells = |kind: &[u8], data: &[u8]| {
        [("TABLE_TYPE".to_owned(), kind.to_vec()), ("DATA_TABLE_NAME".to_owned(), data.to_vec())]
    };
    let error = |kind: &[u8], data: &[u8]| listed(b"\0S\0T", &cells(kind, data)).unwrap_err();
    assert_eq!(error(b"uu", b"").to_string(), "T in Phoenix's catalog: its TABLE_TYPE is no letter");
    assert_eq!(error(b"u", b"\xff").to_string(), "T in Phoenix's catalog: its DATA_TABLE_NAME is not UTF-8");
    assert_eq!(error(b"\0", b"").code(), ErrorCode::Corrupt);
    let other = listed(b"\0S\0T", &cells(b"c", b"")).unwrap().unwrap();
    assert_eq!((other.kind, other.data_table), (ListedKind::Other('c'), None));
    assert_eq!(listed(b"\0S\0T", &[]), Ok(None));
    assert_eq!(listed(b"\0S", &cells(b"u", b"")), Ok(None), "a schema");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn names_read_back(names in prop::array::uniform5(prop::option::of("[A-C\"é_.:]{1,4}"))) {
        let [tenant, schema, table, column, family] = names;
        let key = CatalogKey { tenant, schema, table, column, family };
        let keys = CatalogKeys::new().unwrap();
        if key != CatalogKey::default() {
            prop_assert_eq!(keys.decode(&keys.encode(&key).unwrap()), Ok(key));
        }
    }

    #[test]
    fn damaged_rows(which in any::<prop::sample::Index>(), changes in changes(), random in prop::collection::vec(byte(), 0..20)) {
        let (mut key, mut cells) = which.get(&CATALOG_ROWS).clone();
        mutate(&mut key, &changes);
        for (_, value) in &mut cells {
            mutate(value, &changes);
        }
        for key in [key, random] {
            if let Err(error) = listed(&key, &cells) {
                prop_assert_eq!(error.code(), ErrorCode::Corrupt);
            }
        }
    }
}
