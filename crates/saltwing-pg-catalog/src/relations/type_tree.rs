//! Each type with those that it is made of, for the look-up that asyncpg does before it takes values of a type apart.
//!
//! In PostgreSQL it is a recursive query. Here a type is made of no other, or is an array of one.

use super::cells::{Cell, row};
use super::relation::Entry;
use crate::pg_type::{BUILT_IN, BuiltIn, PgType, format_type};

pub(super) static RELATIONS: &[Entry] = &[Entry::internal(
    "type_tree",
    "root oid, oid oid, ns name, name name, kind char, basetype oid, elemtype oid, elemdelim char, range_subtype oid, \
     attrtypoids _oid, attrnames _text, depth int4, basetype_name text, elemtype_name text, range_subtype_name text",
    |_| {
        let mut rows = Vec::new();
        for entry in BUILT_IN {
            rows.push(plain(entry, entry.oid, 0));
            if let Some(array) = PgType(entry.oid).array() {
                rows.push(row![
                    array.0,
                    array.0,
                    "pg_catalog",
                    format!("_{}", entry.name),
                    if entry.is_pseudo() { 'p' } else { 'b' },
                    Cell::Null,
                    entry.oid,
                    ',',
                    Cell::Null,
                    Cell::Null,
                    Cell::Null,
                    0,
                    Cell::Null,
                    format_type(entry.oid.into(), None),
                    Cell::Null
                ]);
                rows.push(plain(entry, array.0, 1));
            }
        }
        Ok(rows)
    },
)];

/// A type that is no array, as a part of the type `root`.
fn plain(entry: &BuiltIn, root: u32, depth: i32) -> Vec<Cell> {
    let kind = if entry.is_pseudo() { 'p' } else { 'b' };
    row![
        root,
        entry.oid,
        "pg_catalog",
        entry.name,
        kind,
        Cell::Null,
        0,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        depth,
        Cell::Null,
        "-",
        Cell::Null
    ]
}
