//! `pg_type` and what belongs to types: collations, access methods, operator classes, languages.

use super::cells::{Cell, row};
use super::classes::{BTREE, HEAP};
use super::functions::{Conversion, INTERNAL_LANGUAGE};
use super::relation::Entry;
use crate::definitions::{OWNER, PG_CATALOG};
use crate::pg_type::{BUILT_IN, BuiltIn, PgType};

/// The class by which indexes compare values, the same for all types.
pub(super) const OPERATOR_CLASS: u32 = 9_001;
/// The type of rows, whose arrays stand for types as it does.
const RECORD: u32 = 2249;
/// The family of this class.
const OPERATOR_FAMILY: u32 = 9_002;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::table(
        "pg_type",
        1247,
        "oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char, typcategory char, \
         typispreferred bool, typisdefined bool, typdelim char, typrelid oid, typsubscript regproc, typelem oid, typarray oid, \
         typinput regproc, typoutput regproc, typreceive regproc, typsend regproc, typmodin regproc, typmodout regproc, \
         typanalyze regproc, typalign char, typstorage char, typnotnull bool, typbasetype oid, typtypmod int4, typndims int4, \
         typcollation oid, typdefaultbin pg_node_tree, typdefault text, typacl _aclitem",
        |_| Ok(BUILT_IN.iter().flat_map(|entry| [Some(type_row(entry)), array_row(entry)]).flatten().collect()),
    ),
    Entry::table(
        "pg_collation",
        3456,
        "oid oid, collname name, collnamespace oid, collowner oid, collprovider char, collisdeterministic bool, collencoding int4, \
         collcollate text, collctype text, colliculocale text, collversion text",
        |_| {
            let collation = |oid: u32, name: &str, provider: char, locale: Option<&str>| {
                row![oid, name, PG_CATALOG, OWNER, provider, true, -1, locale, locale, Cell::Null, Cell::Null]
            };
            let all = [(100, "default", 'd', None), (950, "C", 'c', Some("C"))];
            Ok(all.into_iter().map(|(oid, name, provider, locale)| collation(oid, name, provider, locale)).collect())
        },
    ),
    Entry::table("pg_am", 2601, "oid oid, amname name, amhandler regproc, amtype char", |_| {
        Ok(vec![row![HEAP, "heap", 0, 't'], row![BTREE, "btree", 0, 'i']])
    }),
    Entry::table(
        "pg_opclass",
        2616,
        "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, opcintype oid, opcdefault bool, \
         opckeytype oid",
        |_| Ok(vec![row![OPERATOR_CLASS, BTREE, "key_ops", PG_CATALOG, OWNER, OPERATOR_FAMILY, 2276, true, 0]]),
    ),
    Entry::table("pg_opfamily", 2753, "oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid", |_| {
        Ok(vec![row![OPERATOR_FAMILY, BTREE, "key_ops", PG_CATALOG, OWNER]])
    }),
    Entry::table(
        "pg_language",
        2612,
        "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, laninline oid, lanvalidator oid, \
         lanacl _aclitem",
        |_| Ok(vec![row![INTERNAL_LANGUAGE, "internal", OWNER, false, false, 0, 0, 0, Cell::Null]]),
    ),
];

fn type_row(entry: &BuiltIn) -> Vec<Cell> {
    let element = match entry.oid {
        19 => PgType::CHAR.0,
        22 => PgType::INT2.0,
        30 => PgType::OID.0,
        _ => 0,
    };
    let kind = if entry.is_pseudo() { 'p' } else { 'b' };
    let function = |conversion: Conversion| conversion.oid(entry.oid).unwrap_or(0);
    let storage = match (entry.length, entry.oid) {
        (-1, 1700) => 'm',
        (-1, _) => 'x',
        _ => 'p',
    };
    row![
        entry.oid,
        entry.name,
        PG_CATALOG,
        OWNER,
        entry.length,
        entry.is_by_value(),
        kind,
        entry.category,
        entry.is_preferred(),
        true,
        ',',
        0,
        0,
        element,
        entry.array,
        function(Conversion::In),
        function(Conversion::Out),
        function(Conversion::Receive),
        function(Conversion::Send),
        0,
        0,
        0,
        entry.alignment(),
        storage,
        false,
        0,
        -1,
        0,
        entry.collation(),
        Cell::Null,
        Cell::Null,
        Cell::Null
    ]
}

fn array_row(entry: &BuiltIn) -> Option<Vec<Cell>> {
    let array = PgType(entry.oid).array()?;
    let function = |conversion: Conversion| conversion.oid(array.0).unwrap_or(0);
    let kind = if entry.is_pseudo() { 'p' } else { 'b' };
    let align = if entry.alignment() == 'd' { 'd' } else { 'i' };
    Some(row![
        array.0,
        format!("_{}", entry.name),
        PG_CATALOG,
        OWNER,
        -1,
        false,
        kind,
        if entry.oid == RECORD { 'P' } else { 'A' },
        false,
        true,
        ',',
        0,
        0,
        entry.oid,
        0,
        function(Conversion::In),
        function(Conversion::Out),
        function(Conversion::Receive),
        function(Conversion::Send),
        0,
        0,
        0,
        align,
        'x',
        false,
        0,
        -1,
        0,
        entry.collation(),
        Cell::Null,
        Cell::Null,
        Cell::Null
    ])
}
