//! Changes of the catalog: the rows are those that Phoenix's client sends.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use saltwing_phoenix::{
    CatalogReply, CatalogRow, ColumnDefinition, QualifierScheme, RefusedChange, RowChange, StorageScheme,
    TableDefinition, TableProperties, added_columns, dropped_columns, dropped_table, new_table, numbered_columns,
};
use saltwing_types::text::{hex, unhex};
use saltwing_types::{SortOrder, SqlType};

use crate::golden::lines;

/// A row: its key, and its cells by qualifier; `None` if it is deleted.
type Rows = BTreeMap<String, Option<BTreeMap<String, String>>>;

fn golden_rows(line: &serde_json::Value) -> Rows {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let row = |row: &serde_json::Value| match row.get("delete") {
        Some(key) => (text(key), None),
        None => {
            let cells = row["cells"].as_object().unwrap();
            (text(&row["put"]), Some(cells.iter().map(|(name, value)| (name.clone(), text(value))).collect()))
        }
    };
    line["rows"].as_array().unwrap().iter().map(row).collect()
}

fn rows(rows: &[CatalogRow]) -> Rows {
    let cells = |change: &RowChange| match change {
        RowChange::Put(cells) => {
            let cell = |(qualifier, value): &(&str, Vec<u8>)| ((*qualifier).to_owned(), hex(value));
            Some(cells.iter().map(cell).collect())
        }
        RowChange::Delete => None,
    };
    rows.iter().map(|row| (hex(&row.key), cells(&row.change))).collect()
}

fn table(line: &serde_json::Value) -> TableDefinition {
    TableDefinition::from_bytes(&unhex(line["table"].as_str().unwrap()).unwrap()).unwrap()
}

/// The definition as a statement has it before the columns have numbers.
fn without_numbers(mut table: TableDefinition) -> TableDefinition {
    table.counters.clear();
    (table.timestamp, table.sequence_number) = (0, 0);
    table.columns.iter_mut().for_each(|column| column.qualifier = None);
    table
}

#[test]
fn rows_of_new_tables_are_those_of_phoenix() {
    let mut count = 0;
    for line in lines("ddl.jsonl").iter().filter(|line| line["call"] == "createTable") {
        let (sql, after) = (line["sql"].as_str().unwrap(), table(line));
        let mut new = without_numbers(after.clone());
        numbered_columns(&mut new).unwrap();
        assert_eq!(new.columns, after.columns, "{sql}");
        let properties = match sql.contains("GUIDE_POSTS_WIDTH") {
            true => {
                TableProperties { update_cache_ms: 1000, guide_posts_width: Some(1_000_000), uses_statistics: None }
            }
            false => TableProperties::default(),
        };
        let made = new_table(&new, &properties).unwrap();
        assert_eq!(rows(&made.rows), golden_rows(line), "{sql}");
        assert_eq!((made.call.method, &made.call.row), ("createTable", &made.rows[0].key), "{sql}");
        count += 1;
    }
    assert_eq!(count, 9);
}

/// Columns of the statement, for a table whose definition is the golden one.
fn added(sql: &str) -> Vec<ColumnDefinition> {
    let column = |name: &str, family: Option<&str>, ty| ColumnDefinition {
        name: name.to_owned(),
        family: family.map(str::to_owned),
        ty,
        nullable: true,
        order: SortOrder::Asc,
        expression: None,
        qualifier: None,
        view_constant: None,
        is_row_timestamp: false,
    };
    let (zero, decimal) = (Some("0"), SqlType::Decimal(Some((7, 2))));
    match sql.split_whitespace().nth(4).unwrap() {
        "C" => vec![column("C", zero, SqlType::Varchar(Some(10)))],
        "D" => {
            vec![column("D", zero, SqlType::Integer), column("E", zero, SqlType::Date), column("H", Some("G"), decimal)]
        }
        "G.X" => vec![column("X", Some("G"), SqlType::Varchar(None))],
        "Z" if sql.contains("F.Y") => vec![
            column("Z", zero, SqlType::Integer),
            column("Y", Some("F"), SqlType::Char(3)),
            column("I", Some("H"), SqlType::Double),
        ],
        "Z" if sql.contains("DEFAULT") => {
            vec![ColumnDefinition { expression: Some("5".into()), ..column("Z", zero, SqlType::Integer) }]
        }
        "Z" => vec![column("Z", Some("D"), SqlType::array(SqlType::Varchar(None)).unwrap())],
        "L" => vec![column("L", None, SqlType::Varchar(None))],
        other => panic!("{other}"),
    }
}

#[test]
fn rows_of_added_and_dropped_columns_are_those_of_phoenix() {
    let mut methods = BTreeMap::new();
    for line in lines("ddl.jsonl").iter().filter(|line| line["call"] != "createTable") {
        let (sql, old) = (line["sql"].as_str().unwrap(), table(line));
        let made = match line["call"].as_str().unwrap() {
            "addColumn" => {
                let mut new = old.clone();
                new.columns.extend(added(sql));
                numbered_columns(&mut new).unwrap();
                added_columns(&old, &new).unwrap()
            }
            _ => {
                let names: Vec<&str> = sql.split("COLUMN ").nth(1).unwrap().split(", ").collect();
                let is_dropped = |place: &usize| names.contains(&old.columns[*place].name.as_str());
                let places: Vec<usize> = (0..old.columns.len()).filter(is_dropped).collect();
                assert_eq!(places.len(), names.len());
                dropped_columns(&old, &places).unwrap()
            }
        };
        assert_eq!(rows(&made.rows), golden_rows(line), "{sql}");
        *methods.entry(made.call.method).or_insert(0) += 1;
    }
    assert_eq!(methods, BTreeMap::from([("addColumn", 7), ("dropColumn", 4)]));
}

#[test]
fn replies_say_what_became_of_a_change() {
    let code = |code: u8| [8, code].to_vec();
    let made =
        |to_delete: &[&str]| CatalogReply::Made { to_delete: to_delete.iter().map(ToString::to_string).collect() };
    assert_eq!(CatalogReply::to_creation(&code(1)), Ok(made(&[])));
    assert_eq!(CatalogReply::to_creation(&code(0)), Ok(CatalogReply::Refused(RefusedChange::Exists)));
    let dropped = [&code(0)[..], &[4 << 3 | 2, 3], b"S.T"].concat();
    assert_eq!(CatalogReply::to_change(&dropped), Ok(made(&["S.T"])));
    for (number, refused) in [
        (1, RefusedChange::NotFound),
        (2, RefusedChange::ColumnNotFound),
        (3, RefusedChange::ColumnExists),
        (4, RefusedChange::Changed),
        (5, RefusedChange::WrongRegion),
        (7, RefusedChange::Used),
        (26, RefusedChange::Other(26)),
    ] {
        assert_eq!(CatalogReply::to_change(&code(number)), Ok(CatalogReply::Refused(refused)));
    }
    assert!(CatalogReply::to_change(&[]).is_err() && CatalogReply::to_creation(&[0xff]).is_err());
}

#[test]
fn a_dropped_table_is_named_by_its_header() {
    let golden = lines("ddl.jsonl");
    let table = table(golden.iter().find(|line| line["sql"].as_str().unwrap().contains("S.P3")).unwrap());
    let call = dropped_table(&table, true).unwrap();
    assert_eq!((call.method, call.row.as_slice()), ("dropTable", &b"\0S\0P3"[..]));
    // The mutation, the kind, and that views over it go, too.
    assert!(call.request.windows(6).any(|part| part == b"\0S\0P3\x10"[..6].as_ref()));
    assert!(call.request.windows(5).any(|part| part == [2 << 3 | 2, 1, b'u', 3 << 3, 1]));
}

fn any_name() -> impl Strategy<Value = String> {
    "[A-Za-z_é][A-Za-z0-9_]{0,5}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases))]

    /// Each numbered column of a counting family has a number of its own, from the first one on, and the counter is the next.
    #[test]
    fn numbers_are_used_once(
        columns in prop::collection::vec((any_name(), prop::option::of("[FGH]")), 1..20),
        before in 0usize..10,
        shared in any::<bool>(),
    ) {
        let mut table = table(&lines("ddl.jsonl")[0]);
        table.storage = if shared { StorageScheme::CellPerFamily } else { StorageScheme::CellPerColumn };
        table.counters.clear();
        let column = |(name, family): (String, Option<String>)| ColumnDefinition {
            name, family, ty: SqlType::Integer, nullable: true, order: SortOrder::Asc, expression: None, qualifier: None,
            view_constant: None, is_row_timestamp: false,
        };
        let mut columns: Vec<_> = columns.into_iter().map(column).collect();
        let later = columns.split_off(before.min(columns.len()));
        table.columns = columns;
        numbered_columns(&mut table).unwrap();
        table.columns.extend(later);
        numbered_columns(&mut table).unwrap();
        let mut used: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for column in table.columns.iter().filter(|column| !column.is_key()) {
            let number = QualifierScheme::TwoBytes.decode(column.qualifier.as_deref().unwrap()).unwrap();
            let family = table.counting_family(column.family.as_deref().unwrap()).to_owned();
            prop_assert!(used.entry(family).or_default().insert(number));
        }
        for (family, numbers) in &used {
            prop_assert!(numbers.iter().copied().eq(11..11 + numbers.len() as u32));
            prop_assert!(table.counters.contains(&(family.clone(), 11 + numbers.len() as u32)));
        }
        prop_assert_eq!(used.len(), table.counters.len());
    }

    #[test]
    fn any_bytes_are_a_reply_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = (CatalogReply::to_creation(&bytes), CatalogReply::to_change(&bytes));
    }
}
