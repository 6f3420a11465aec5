//! `pg_depend`: what goes with what when it is dropped.

use super::attributes::defaults;
use super::cells::{Cell, row};
use super::constraints::constraints;
use super::object_text::sequence_of;
use super::relation::Entry;
use crate::CatalogError;
use crate::definitions::{Column, Definitions, Table, key_index_oid};

/// The numbers of the relations in which objects are.
const CLASSES: u32 = 1259;
const CONSTRAINTS: u32 = 2606;
const DEFAULTS: u32 = 2604;

/// An object in a relation, and a part of it or 0.
type Object = (u32, u32, i16);

pub(super) static RELATIONS: &[Entry] = &[Entry::table(
    "pg_depend",
    2608,
    "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, deptype char",
    |definitions| {
        let mut rows = sequences(definitions);
        rows.extend(of_constraints(definitions)?);
        rows.extend(indexes(definitions));
        rows.extend(defaults(definitions)?.into_iter().map(|it| {
            let kind = if it.column.generated.is_some() { 'i' } else { 'a' };
            dependency((DEFAULTS, it.oid, 0), column(it.table, it.column), kind)
        }));
        Ok(rows)
    },
)];

/// `i`: the object is a part of the other one; `a`: it goes with it.
fn dependency(object: Object, on: Object, kind: char) -> Vec<Cell> {
    row![object.0, object.1, i32::from(object.2), on.0, on.1, i32::from(on.2), kind]
}

fn column(table: &Table, column: &Column) -> Object {
    (CLASSES, table.oid, column.number)
}

/// The sequences of identity columns.
fn sequences(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let columns = definitions.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let owned = columns.filter_map(|(table, of)| {
        let sequence = sequence_of(definitions, of)?;
        Some(dependency((CLASSES, sequence.oid, 0), column(table, of), 'i'))
    });
    owned.collect()
}

/// Constraints hang on their columns, and the index of a key on its constraint.
fn of_constraints(definitions: &Definitions) -> Result<Vec<Vec<Cell>>, CatalogError> {
    let mut rows = Vec::new();
    for constraint in constraints(definitions)? {
        let own = (CONSTRAINTS, constraint.oid, 0);
        rows.extend(constraint.columns().into_iter().map(|of| dependency(own, column(constraint.table, of), 'a')));
        if constraint.condition.is_none() {
            rows.push(dependency((CLASSES, key_index_oid(constraint.table.oid), 0), own, 'i'));
        }
    }
    Ok(rows)
}

/// Other indexes hang on their columns, or on the table if they have expressions alone.
fn indexes(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for index in &definitions.indexes {
        let Some(table) = definitions.table_of(index) else { continue };
        let own = (CLASSES, index.oid, 0);
        let parts = index.parts.iter().filter(|part| part.is_column).map(|part| &part.text);
        let mut columns: Vec<&Column> = parts.chain(&index.included).filter_map(|name| table.column(name)).collect();
        columns.sort_by_key(|column| column.number);
        columns.dedup_by_key(|column| column.number);
        if columns.is_empty() {
            rows.push(dependency(own, (CLASSES, table.oid, 0), 'a'));
        }
        rows.extend(columns.into_iter().map(|of| dependency(own, column(table, of), 'a')));
    }
    rows
}
