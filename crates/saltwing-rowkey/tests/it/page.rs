//! The examples of docs/row-key-format.md: each row of its tables is encoded, and decoded again.

use std::ops::Bound;

use crate::declared::{items, name, sql_type};
use saltwing_rowkey::{ColumnSpan, KeyRange, RowKeyCodec, ValueCodec};
use saltwing_types::text::{self, hex, unhex};
use saltwing_types::{
    ColumnRef, Expr, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V, key_expression,
    number, typing,
};

const PAGE: &str = include_str!("../../../../docs/row-key-format.md");

/// The rows of the first table below a heading, cells without code marks.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let section = PAGE.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading}")).1;
    let lines = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cell = |cell: &str| cell.trim().trim_matches('`').trim().to_owned();
    let rows: Vec<Vec<String>> =
        lines.skip(2).map(|line| line.trim_matches('|').split('|').map(cell).collect()).collect();
    assert!(rows.len() >= 9, "{heading}: {} rows", rows.len());
    rows
}

fn bytes(written: &str) -> Vec<u8> {
    unhex(&written.replace(' ', "")).unwrap_or_else(|| panic!("{written}"))
}

/// A value as SQL writes it, brought to the column's type.
fn value(ty: T, written: &str) -> V {
    if written == "NULL" {
        return V::Null;
    }
    let plain = written.strip_prefix('X').unwrap_or(written).trim_matches('\'');
    number::assign(text::parse(plain, ty).unwrap(), ty).unwrap()
}

/// `SUBSTR(MD5(phone), 1, 3)`, the one computed part of the page, over the only column of the table.
fn md5_prefix() -> Expr {
    let phone = ColumnRef { index: 0, name: "phone".into(), ty: T::Varchar(None), nullable: false, span: None };
    let md5 = typing::call_named("MD5", vec![Expr::Column(phone)]).unwrap();
    let int = |n| Expr::Literal(V::Int(n), T::BigInt);
    typing::call_named("SUBSTR", vec![md5, int(1), int(3)]).unwrap()
}

/// A key of the page: `a VARCHAR NOT NULL DESC, b INTEGER; SALT_BUCKETS = 4, SALT_BY = (a)`.
fn key(declared: &str) -> KeySchema {
    let (columns, options) = declared.split_once("; ").unwrap_or((declared, ""));
    let mut source_index = 0;
    let column = |definition: &String| {
        if definition == "SUBSTR(MD5(phone), 1, 3)" {
            let expr = md5_prefix();
            let ty = key_expression::key_type(&expr).unwrap();
            let source = KeySource::Computed(expr);
            return KeyColumn { source, name: definition.clone(), ty, order: SortOrder::Asc, nullable: false };
        }
        let (name, rest) = name(definition);
        let ty = sql_type(rest);
        let order = if rest.ends_with("DESC") { SortOrder::Desc } else { SortOrder::Asc };
        let nullable = ty.fixed_key_bytes().is_none() && !rest.contains("NOT NULL");
        source_index += 1;
        KeyColumn { source: KeySource::Column(source_index - 1), name: name.into(), ty, order, nullable }
    };
    let columns: Vec<KeyColumn> = items(columns).iter().map(column).collect();
    let option = |name: &str| {
        items(options).into_iter().find_map(|item| Some(item.strip_prefix(name)?.trim_start_matches(" = ").to_owned()))
    };
    let by = option("SALT_BY").map(|list| items(list.trim_matches(['(', ')'])).len());
    let salt = option("SALT_BUCKETS").map(|buckets| Salt { buckets: buckets.parse().unwrap(), by });
    KeySchema { columns, salt }
}

/// The values of leading key columns, computed ones among them, from the values of the table's columns.
fn key_values(schema: &KeySchema, written: &str) -> Vec<V> {
    let own = schema.columns.iter().filter(|column| column.computed().is_none());
    let written = if written.is_empty() { Vec::new() } else { items(written) };
    let row: Vec<V> = own.zip(&written).map(|(column, written)| value(column.ty, written)).collect();
    let count = written.len() + schema.columns.iter().filter(|column| column.computed().is_some()).count();
    schema.columns.iter().take(count).map(|column| column.value(&row).unwrap()).collect()
}

#[test]
fn values() {
    for row in rows("### Examples: values") {
        let [ty, written, ascending, descending] = row.as_slice() else { panic!("{row:?}") };
        let ty = sql_type(ty);
        let value = value(ty, written);
        for (order, expected) in [(SortOrder::Asc, ascending), (SortOrder::Desc, descending)] {
            let mut encoded = Vec::new();
            ValueCodec::new(ty, order).encode(&value, &mut encoded).unwrap();
            assert_eq!(hex(&encoded), hex(&bytes(expected)), "{row:?}");
            assert_eq!(ValueCodec::new(ty, order).decode(&encoded).unwrap(), value, "{row:?}");
        }
    }
}

#[test]
fn keys() {
    for row in rows("## Examples: keys") {
        let [declared, written, expected] = row.as_slice() else { panic!("{row:?}") };
        let schema = key(declared);
        let codec = RowKeyCodec::new(&schema).unwrap();
        let values = key_values(&schema, written);
        assert_eq!(hex(&codec.encode(&values).unwrap()), hex(&bytes(expected)), "{row:?}");
        assert_eq!(codec.decode(&bytes(expected)).unwrap(), values, "{row:?}");
    }
}

#[test]
fn refusals() {
    for row in rows("### Examples: refusals") {
        let [declared, written, code] = row.as_slice() else { panic!("{row:?}") };
        let schema = key(declared);
        let codec = RowKeyCodec::new(&schema).unwrap();
        // What is too long, or not of the type, is refused before a key is made; here the codec is tested alone.
        let plain = |(column, written): (&KeyColumn, &String)| match column.ty {
            T::Char(_) => V::text(written.trim_matches('\'')),
            T::UnsignedInt => V::Int(written.parse().unwrap()),
            ty => value(ty, written),
        };
        let values: Vec<V> = schema.columns.iter().zip(&items(written)).map(plain).collect();
        assert_eq!(codec.encode(&values).unwrap_err().code().as_str(), code, "{row:?}");
    }
}

/// The span of one key column that a condition of the page means.
fn span_ranges(codec: &RowKeyCodec, prefix: &[V], ty: T, condition: &str) -> Vec<KeyRange> {
    use Bound::{Excluded, Included, Unbounded};
    let (operator, written) = condition.split_once(' ').unwrap();
    let value = if operator == "IS" { V::Null } else { value(ty, written) };
    let (lo, hi, nulls) = match (operator, written) {
        (">", _) => (Excluded(&value), Unbounded, false),
        (">=", _) => (Included(&value), Unbounded, false),
        ("<", _) => (Unbounded, Excluded(&value), false),
        ("<=", _) => (Unbounded, Included(&value), false),
        ("IS", "NULL") => return codec.prefix_range(&[prefix, &[V::Null]].concat()).unwrap().into_iter().collect(),
        ("IS", "NOT NULL") => (Unbounded, Unbounded, false),
        _ => panic!("{condition}"),
    };
    codec.span_ranges(prefix, &ColumnSpan { lo, hi, nulls }).unwrap()
}

#[test]
fn ranges() {
    for row in rows("## Ranges of keys") {
        let [declared, written, condition, expected] = row.as_slice() else { panic!("{row:?}") };
        let schema = key(declared);
        let codec = RowKeyCodec::new(&schema).unwrap();
        let prefix = key_values(&schema, written);
        let ranges = match condition.as_str() {
            "" => codec.prefix_range(&prefix).unwrap().into_iter().collect(),
            condition => span_ranges(&codec, &prefix, schema.columns[prefix.len()].ty, condition),
        };
        let (start, end) = expected.split_once("..").unwrap();
        let end = Some(bytes(end)).filter(|end| !end.is_empty());
        assert_eq!(ranges, [KeyRange::new(bytes(start), end).unwrap()], "{row:?}");
    }
}
