//! The definitions of a database as one user sees them, and their numbers (OIDs).
//!
//! They are read from `information_schema` and SHOW; every relation of the catalog is made of them.

mod acl;
mod index_parts;
mod objects;
mod oids;
mod reading;
mod signature;
mod table_text;

pub(crate) use self::acl::{AclEntry, acl_entries};
pub(crate) use self::objects::{Column, Definitions, Function, GrantedObject, Index, IndexPart, Sequence, Size, Table};
pub(crate) use self::oids::{
    INFORMATION_SCHEMA, OWNER, PG_CATALOG, PUBLIC, PartOids, key_constraint_oid, key_index_oid, object_oid,
};
pub(crate) use self::reading::{read, sizes};
