//! `pg_class`: tables, views, indexes, sequences, and the relations of the catalog themselves.

use super::cells::{Cell, row};
use super::relation::{Entry, INFORMATION_SCHEMA_NAME, Relation, visible};
use crate::definitions::{
    AclEntry, Definitions, INFORMATION_SCHEMA, OWNER, PG_CATALOG, Size, acl_entries, key_index_oid,
};

/// Bytes of what clients take for a page.
const PAGE_BYTES: i64 = 8192;
/// The access method of tables, `heap`.
pub(super) const HEAP: u32 = 2;
/// The access method of indexes, `btree`: keys in order.
pub(super) const BTREE: u32 = 403;

pub(super) static RELATIONS: &[Entry] = &[Entry::empty_table(
    "pg_class",
    1259,
    "oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, relfilenode oid, reltablespace oid, \
     relpages int4, reltuples float4, relallvisible int4, reltoastrelid oid, relhasindex bool, relisshared bool, relpersistence char, \
     relkind char, relnatts int2, relchecks int2, relhasrules bool, relhastriggers bool, relhassubclass bool, relrowsecurity bool, \
     relforcerowsecurity bool, relispopulated bool, relreplident char, relispartition bool, relrewrite oid, relfrozenxid xid, \
     relminmxid xid, relacl _aclitem, reloptions _text, relpartbound pg_node_tree",
)
.listing(|definitions, relations| {
    Ok(classes(definitions, relations).into_iter().map(|class| class.row(definitions)).collect())
})];

/// A row of `pg_class`.
pub(super) struct Class<'a> {
    pub(super) oid: u32,
    pub(super) name: String,
    pub(super) namespace: u32,
    pub(super) schema: &'a str,
    /// `r`, `v`, `i` or `S`.
    pub(super) kind: char,
    columns: usize,
    checks: usize,
    has_index: bool,
    acl: Option<Vec<AclEntry>>,
    size: Size,
}

impl Class<'_> {
    fn row(self, definitions: &Definitions) -> Vec<Cell> {
        let access_method = match self.kind {
            'r' => HEAP,
            'i' => BTREE,
            _ => 0,
        };
        let pages = i32::try_from(self.size.bytes.div_euclid(PAGE_BYTES)).unwrap_or(i32::MAX);
        let count = |count: usize| i16::try_from(count).unwrap_or(i16::MAX);
        // Estimates are counts of rows, far below what a float holds exactly.
        let tuples = Cell::Float(if self.kind == 'v' { -1.0 } else { self.size.rows as f64 });
        let file = if self.kind == 'v' { 0 } else { self.oid };
        let replica_identity = if self.kind == 'r' { 'd' } else { 'n' };
        row![
            self.oid,
            self.name,
            self.namespace,
            0,
            0,
            OWNER,
            access_method,
            file,
            0,
            pages,
            tuples,
            0,
            0,
            self.has_index,
            false,
            'p',
            self.kind,
            count(self.columns),
            count(self.checks),
            // The rule of a view is its query.
            self.kind == 'v',
            false,
            false,
            false,
            false,
            true,
            replica_identity,
            false,
            0,
            0,
            0,
            self.acl.map(|acl| acl_entries(&acl, &definitions.owner)),
            Cell::Null,
            Cell::Null
        ]
    }
}

/// All rows of `pg_class`.
fn classes<'a>(definitions: &'a Definitions, relations: &'static [Relation]) -> Vec<Class<'a>> {
    let mut classes = Vec::new();
    let size = |oid: u32| definitions.sizes.get(&oid).copied().unwrap_or_default();
    // The schema of an object that its user sees is seen, too.
    let namespace = |schema: &str| definitions.schema_oid(schema).unwrap_or(0);
    for table in &definitions.tables {
        let (schema, has_key) = (table.schema.as_str(), table.has_key());
        classes.push(Class {
            oid: table.oid,
            name: table.name.clone(),
            namespace: namespace(schema),
            schema,
            kind: if table.view.is_some() { 'v' } else { 'r' },
            columns: table.columns.len(),
            checks: table.checks.len(),
            has_index: has_key || definitions.indexes_of(table).next().is_some(),
            acl: definitions.relation_acl(schema, &table.name, false),
            size: size(table.oid),
        });
        if has_key {
            let of_key = Class {
                oid: key_index_oid(table.oid),
                name: table.key_index_name(),
                ..of_index(namespace(schema), schema)
            };
            let rows = size(table.oid).rows;
            // The rows themselves are in the order of the key: its index takes no space.
            classes.push(Class { columns: table.key_columns().len(), size: Size { rows, bytes: 0 }, ..of_key });
        }
    }
    classes.extend(definitions.indexes.iter().map(|index| Class {
        oid: index.oid,
        name: index.name.clone(),
        columns: index.parts.len().saturating_add(index.included.len()),
        size: size(index.oid),
        ..of_index(namespace(&index.schema), &index.schema)
    }));
    classes.extend(definitions.sequences.iter().map(|sequence| Class {
        oid: sequence.oid,
        name: sequence.name.clone(),
        kind: 'S',
        columns: 3,
        acl: definitions.relation_acl(&sequence.schema, &sequence.name, true),
        size: Size { rows: 1, bytes: 0 },
        ..of_index(namespace(&sequence.schema), &sequence.schema)
    }));
    classes.extend(visible(relations).map(|relation| {
        let is_information = relation.schema == INFORMATION_SCHEMA_NAME;
        Class {
            oid: relation.oid,
            name: relation.name.to_owned(),
            kind: relation.kind,
            columns: relation.attributes.len(),
            ..of_index(if is_information { INFORMATION_SCHEMA } else { PG_CATALOG }, relation.schema)
        }
    }));
    classes
}

/// An index without name and columns.
fn of_index(namespace: u32, schema: &str) -> Class<'_> {
    let (name, size) = (String::new(), Size::default());
    Class { oid: 0, name, namespace, schema, kind: 'i', columns: 0, checks: 0, has_index: false, acl: None, size }
}

/// Schema, name and kind of the relation of each number.
pub(crate) fn class_names(
    definitions: &Definitions,
    relations: &'static [Relation],
) -> Vec<(u32, String, String, char)> {
    let classes = classes(definitions, relations).into_iter();
    classes.map(|class| (class.oid, class.schema.to_owned(), class.name, class.kind)).collect()
}
