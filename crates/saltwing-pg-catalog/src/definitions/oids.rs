//! The numbers (OIDs) of objects.
//!
//! ```text
//! 0 ..            built-in types, schemas and relations of the catalog: fixed
//! 16,384 ..       objects of the database: 16,384 + the object's number, which it keeps over restarts
//! 268,435,456 ..  the index of a table's primary key; 536,870,912 .. its constraint: + the table's OID
//! 805,306,368 ..  CHECK constraints, 939,524,096 .. DEFAULTs: by their table and their place in it
//! 1,073,741,824 ..  functions: by their place in the list of all
//! ```
//!
//! # Laws
//! 1. Two objects have different OIDs.
//! 2. An OID is below 2^31, so that clients may take it for a signed number.
//! 3. An object keeps its OID while others come and go, up to 131,072 objects of the database that have come. Beyond, a CHECK or a DEFAULT may
//!    have the OID next to its own.

use std::collections::HashSet;

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

/// The OIDs of parts of tables that have no numbers of their own. Ask for all of them, in the same order each time.
pub(crate) struct PartOids {
    start: u32,
    span: u32,
    taken: HashSet<u32>,
}

/// Parts of a table that have OIDs next to each other: as many as the columns that it may have, rounded up.
const PARTS: u32 = 1024;

impl PartOids {
    /// Those of CHECK constraints.
    pub(crate) fn of_checks() -> Self {
        Self { start: CHECKS, span: DEFAULTS - CHECKS, taken: HashSet::new() }
    }

    /// Those of DEFAULTs.
    pub(crate) fn of_defaults() -> Self {
        Self { start: DEFAULTS, span: FUNCTIONS - DEFAULTS, taken: HashSet::new() }
    }

    /// The OID of a part by the OID of its table and its place there.
    ///
    /// # Errors
    /// [`CatalogError::NoOid`] from 134 million parts on.
    pub(crate) fn next(&mut self, table: u32, place: usize) -> Result<u32, CatalogError> {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let wanted = table.saturating_sub(OBJECTS).wrapping_mul(PARTS).wrapping_add(place);
        // The span is a power of two, so numbers that wrap around keep their order.
        let offsets = (0..self.span).map(|step| wanted.wrapping_add(step).checked_rem(self.span).unwrap_or(0));
        let oid = offsets.map(|offset| self.start.saturating_add(offset)).find(|oid| !self.taken.contains(oid));
        let oid = oid.ok_or(CatalogError::NoOid(table.into()))?;
        self.taken.insert(oid);
        Ok(oid)
    }
}

/// The OID of the function at a place among all.
///
/// # Errors
/// [`CatalogError::NoOid`] from a billion functions on.
pub(crate) fn function_oid(place: usize) -> Result<u32, CatalogError> {
    let oid = u32::try_from(place).ok().and_then(|place| place.checked_add(FUNCTIONS));
    oid.filter(|oid| *oid < END).ok_or_else(|| CatalogError::NoOid(i64::try_from(place).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_of_different_kinds_never_meet() {
        let numbers = [1, 2, 3, 1000, i64::from(KEY_INDEXES - OBJECTS - 1)];
        let mut seen = HashSet::new();
        let (mut checks, mut defaults) = (PartOids::of_checks(), PartOids::of_defaults());
        for (place, number) in numbers.into_iter().enumerate() {
            let oid = object_oid(number).unwrap();
            let others = [checks.next(oid, 0), defaults.next(oid, 1_000), function_oid(place)].map(Result::unwrap);
            for oid in [oid, key_index_oid(oid), key_constraint_oid(oid)].into_iter().chain(others) {
                assert!(oid < END && seen.insert(oid), "{oid}");
            }
        }
        assert!(object_oid(i64::from(KEY_INDEXES - OBJECTS)).is_err());
        assert!(object_oid(-1).is_err());
    }

    #[test]
    fn parts_keep_their_oids_and_never_meet() {
        let first = PartOids::of_checks().next(OBJECTS + 7, 2).unwrap();
        let mut oids = PartOids::of_checks();
        // A table that came before, and one whose number is as far away as the whole span.
        let before = oids.next(OBJECTS + 5, 1023).unwrap();
        assert_eq!(oids.next(OBJECTS + 7, 2).unwrap(), first);
        let far = oids.next(OBJECTS + 7 + (DEFAULTS - CHECKS) / PARTS, 2).unwrap();
        assert!(far != first && far != before && (CHECKS..DEFAULTS).contains(&far));
    }
}
