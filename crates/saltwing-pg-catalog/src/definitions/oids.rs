//! The numbers (OIDs) of objects.
//!
//! ```text
//! 0 ..            built-in types, schemas and relations of the catalog: fixed
//! 16,384 ..       objects of the database: 16,384 + the object's number, which it keeps over restarts
//! 268,435,456 ..  the index of a table's primary key; 536,870,912 .. its constraint: + the table's OID
//! 805,306,368 ..  CHECK constraints, 939,524,096 .. DEFAULTs: by their place in the list of all
//! 1,073,741,824 ..  functions: by their place in the list of all
//! ```
//!
//! # Laws
//! 1. Two objects have different OIDs.
//! 2. An OID is below 2^31, so that clients may take it for a signed number.

use crate::CatalogError;

/// The schema `pg_catalog`.
pub(crate) const PG_CATALOG: u32 = 11;
/// The schema `public`, in which objects without a schema are.
pub(crate) const PUBLIC: u32 = 2200;
/// The schema `information_schema`.
pub(crate) const INFORMATION_SCHEMA: u32 = 13_000;
/// The owner of the database.
pub(crate) const OWNER: u32 = 10;

const OBJECTS: u32 = 16_384;
const KEY_INDEXES: u32 = 0x1000_0000;
const KEY_CONSTRAINTS: u32 = 0x2000_0000;
const CHECKS: u32 = 0x3000_0000;
const DEFAULTS: u32 = 0x3800_0000;
const FUNCTIONS: u32 = 0x4000_0000;
const END: u32 = 0x8000_0000;

/// The OID of an object of the database by the object's number.
///
/// # Errors
/// [`CatalogError::NoOid`] from 268 million objects on.
pub(crate) fn object_oid(number: i64) -> Result<u32, CatalogError> {
    let oid = u32::try_from(number).ok().and_then(|number| number.checked_add(OBJECTS));
    oid.filter(|oid| *oid < KEY_INDEXES).ok_or(CatalogError::NoOid(number))
}

/// The OID of the index of a table's primary key.
pub(crate) fn key_index_oid(table: u32) -> u32 {
    KEY_INDEXES | table
}

/// The OID of the constraint of a table's primary key.
pub(crate) fn key_constraint_oid(table: u32) -> u32 {
    KEY_CONSTRAINTS | table
}

/// The OID of the CHECK constraint at a place among all.
///
/// # Errors
/// [`CatalogError::NoOid`] from 134 million constraints on.
pub(crate) fn check_oid(place: usize) -> Result<u32, CatalogError> {
    numbered(place, CHECKS, DEFAULTS)
}

/// The OID of the DEFAULT at a place among all.
///
/// # Errors
/// As [`check_oid`].
pub(crate) fn attrdef_oid(place: usize) -> Result<u32, CatalogError> {
    numbered(place, DEFAULTS, FUNCTIONS)
}

/// The OID of the function at a place among all.
///
/// # Errors
/// As [`check_oid`].
pub(crate) fn function_oid(place: usize) -> Result<u32, CatalogError> {
    numbered(place, FUNCTIONS, END)
}

fn numbered(place: usize, start: u32, end: u32) -> Result<u32, CatalogError> {
    let oid = u32::try_from(place).ok().and_then(|place| place.checked_add(start));
    oid.filter(|oid| *oid < end).ok_or_else(|| CatalogError::NoOid(i64::try_from(place).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn oids_of_different_kinds_never_meet() {
        let numbers = [1, 2, 3, 1000, i64::from(KEY_INDEXES - OBJECTS - 1)];
        let mut seen = HashSet::new();
        for (place, number) in numbers.into_iter().enumerate() {
            let oid = object_oid(number).unwrap();
            let others = [check_oid(place), attrdef_oid(place), function_oid(place)].map(Result::unwrap);
            for oid in [oid, key_index_oid(oid), key_constraint_oid(oid)].into_iter().chain(others) {
                assert!(oid < END && seen.insert(oid), "{oid}");
            }
        }
        assert!(object_oid(i64::from(KEY_INDEXES - OBJECTS)).is_err());
        assert!(object_oid(-1).is_err());
    }
}
