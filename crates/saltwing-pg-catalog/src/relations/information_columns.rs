//! `information_schema.columns`.

use super::cells::{Cell, row};
use super::object_text::{default_text, sequence_of};
use super::relation::{Entry, visible};
use crate::definitions::{Column, Definitions, Table};
use crate::pg_type::{PgType, format_type, of_column};

pub(super) static RELATIONS: &[Entry] = &[Entry::empty_information(
    "columns",
    "table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, column_default varchar, \
     is_nullable varchar, data_type varchar, character_maximum_length int4, character_octet_length int4, numeric_precision int4, \
     numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, \
     character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, \
     collation_name name, domain_catalog name, domain_schema name, domain_name name, udt_catalog name, udt_schema name, \
     udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, \
     is_self_referencing varchar, is_identity varchar, identity_generation varchar, identity_start varchar, \
     identity_increment varchar, identity_maximum varchar, identity_minimum varchar, identity_cycle varchar, is_generated varchar, \
     generation_expression varchar, is_updatable varchar",
)
.listing(
    |definitions, relations| {
        let own = definitions
            .tables
            .iter()
            .flat_map(|table| table.columns.iter().map(move |column| column_row(definitions, table, column)));
        let of_catalog = visible(relations).flat_map(|relation| {
            let columns = relation.attributes.iter().zip(1..);
            columns.map(move |(column, place)| {
                let facts = [&definitions.database, relation.schema, relation.name, column.name];
                catalog_row(facts, place, column.ty)
            })
        });
        Ok(own.chain(of_catalog).collect())
    },
)];

/// YES or NO.
pub(super) fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "YES" } else { "NO" }
}

/// The name of a type in `data_type`: of arrays it is one word.
pub(super) fn data_type(ty: PgType) -> String {
    match ty.element() {
        Some(_) if !matches!(ty, PgType::INT2VECTOR | PgType::OIDVECTOR) => "ARRAY".to_owned(),
        _ => format_type(ty.0.into(), None),
    }
}

/// The name of a type in `pg_type`.
fn catalog_name(ty: PgType) -> Option<String> {
    match ty.entry() {
        Some(entry) => Some(entry.name.to_owned()),
        None => ty.element().and_then(PgType::entry).map(|entry| format!("_{}", entry.name)),
    }
}

/// What a type says of its values.
struct Limits {
    characters: Option<i32>,
    bytes: Option<i32>,
    precision: Option<i32>,
    radix: Option<i32>,
    scale: Option<i32>,
    seconds: Option<i32>,
}

fn limits(ty: PgType, modifier: i32) -> Limits {
    let none = Limits { characters: None, bytes: None, precision: None, radix: None, scale: None, seconds: None };
    let given = modifier.checked_sub(4).filter(|given| *given >= 0);
    let binary = |bits| Limits { precision: Some(bits), radix: Some(2), ..none };
    match ty.0 {
        21 => Limits { scale: Some(0), ..binary(16) },
        23 => Limits { scale: Some(0), ..binary(32) },
        20 => Limits { scale: Some(0), ..binary(64) },
        700 => binary(24),
        701 => binary(53),
        1700 => {
            Limits { precision: given.map(|it| it >> 16), radix: Some(10), scale: given.map(|it| it & 0x7ff), ..none }
        }
        // A character of UTF-8 has four bytes at most.
        1042 | 1043 => {
            let bytes = given.map_or(1 << 30, |length| length.saturating_mul(4));
            Limits { characters: given, bytes: Some(bytes), ..none }
        }
        25 => Limits { bytes: Some(1 << 30), ..none },
        1083 | 1114 | 1184 | 1186 => Limits { seconds: Some(if modifier >= 0 { modifier } else { 6 }), ..none },
        _ => none,
    }
}

fn column_row(definitions: &Definitions, table: &Table, column: &Column) -> Vec<Cell> {
    let database = &definitions.database;
    let (ty, modifier) = of_column(column.ty);
    let Limits { characters, bytes, precision, radix, scale, seconds } = limits(ty, modifier);
    let sequence = sequence_of(definitions, column);
    let number = |value: fn(&crate::definitions::Sequence) -> i64| sequence.map(|sequence| value(sequence).to_string());
    let generation = column.identity.as_ref().map(|it| if it.is_always { "ALWAYS" } else { "BY DEFAULT" });
    let is_generated = if column.generated.is_some() { "ALWAYS" } else { "NEVER" };
    let is_updatable = table.view.as_ref().is_none_or(|view| view.is_updatable);
    row![
        database,
        &table.schema,
        &table.name,
        &column.name,
        column.number,
        default_text(column).filter(|_| column.generated.is_none()),
        // In PostgreSQL only columns of tables are NOT NULL.
        yes_or_no(column.is_nullable || table.view.is_some()),
        data_type(ty),
        characters,
        bytes,
        precision,
        radix,
        scale,
        seconds,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        database,
        "pg_catalog",
        catalog_name(ty),
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        column.number.to_string(),
        "NO",
        yes_or_no(column.identity.is_some()),
        generation,
        number(|it| it.start),
        number(|it| it.increment),
        number(|it| it.max),
        number(|it| it.min),
        yes_or_no(sequence.is_some_and(|it| it.cycles)),
        is_generated,
        column.generated.as_ref(),
        yes_or_no(is_updatable)
    ]
}

fn catalog_row([database, schema, table, column]: [&str; 4], place: i32, ty: PgType) -> Vec<Cell> {
    let Limits { characters, bytes, precision, radix, scale, seconds } = limits(ty, -1);
    let mut row = row![
        database,
        schema,
        table,
        column,
        place,
        Cell::Null,
        "YES",
        data_type(ty),
        characters,
        bytes,
        precision,
        radix,
        scale,
        seconds
    ];
    row.resize(25, Cell::Null);
    row.extend(row![
        database,
        "pg_catalog",
        catalog_name(ty),
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        place.to_string(),
        "NO",
        "NO"
    ]);
    row.resize(40, Cell::Null);
    row.extend(row!["NO", "NEVER", Cell::Null, "NO"]);
    row
}
