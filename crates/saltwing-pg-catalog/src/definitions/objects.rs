//! The objects of a database as its catalog knows them.

use std::collections::HashMap;

use saltwing::{SqlType, key_constraint_shown};

use super::oids::{INFORMATION_SCHEMA, OWNER, PG_CATALOG, PUBLIC};

/// All definitions that a user sees.
#[derive(Clone)]
pub(crate) struct Definitions {
    /// The name of the database, as the client knows it.
    pub(crate) database: String,
    /// The name of the database's owner.
    pub(crate) owner: String,
    /// The user whose view this is; `None` is the owner.
    pub(crate) user: Option<String>,
    pub(crate) schemas: Vec<Schema>,
    /// Tables, then views.
    pub(crate) tables: Vec<Table>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) users: Vec<User>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) functions: Vec<Function>,
    /// Rows and bytes by the number of a table or an index.
    pub(crate) sizes: HashMap<u32, Size>,
}

/// A schema of the database.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) oid: u32,
    pub(crate) name: String,
}

/// A table or a view.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) oid: u32,
    /// `public` if it has none.
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) comment: Option<String>,
    pub(crate) columns: Vec<Column>,
    /// The query of a view.
    pub(crate) view: Option<View>,
    /// The name of the constraint of a declared primary key.
    pub(crate) key: Option<String>,
    pub(crate) checks: Vec<Check>,
}

/// What only views have.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) query: String,
    pub(crate) is_updatable: bool,
}

/// A column of a table or a view.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// From 1.
    pub(crate) number: i16,
    pub(crate) ty: SqlType,
    pub(crate) is_nullable: bool,
    pub(crate) default: Option<String>,
    pub(crate) generated: Option<String>,
    pub(crate) identity: Option<Identity>,
    /// Its place in the primary key, from 1, and whether the key is descending there.
    pub(crate) key: Option<(i32, bool)>,
    pub(crate) comment: Option<String>,
}

/// How an identity column gets its values.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) is_always: bool,
    /// Schema and name of its sequence, if the definition of the table shows them.
    pub(crate) sequence: Option<(String, String)>,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) condition: String,
}

/// A secondary index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) oid: u32,
    pub(crate) schema: String,
    pub(crate) name: String,
    /// The name of its table, in the same schema.
    pub(crate) table: String,
    pub(crate) is_unique: bool,
    pub(crate) parts: Vec<IndexPart>,
    /// Columns beside the key.
    pub(crate) included: Vec<String>,
    pub(crate) predicate: Option<String>,
    /// Whether statements read it.
    pub(crate) is_ready: bool,
}

/// A part of an index's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexPart {
    /// The name of a column, or the text of an expression.
    pub(crate) text: String,
    pub(crate) is_column: bool,
    pub(crate) is_descending: bool,
}

/// A sequence.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) oid: u32,
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) start: i64,
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) increment: i64,
    pub(crate) cache: i64,
    pub(crate) cycles: bool,
}

/// A user of the database.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) oid: u32,
    pub(crate) name: String,
}

/// What a user was granted on an object.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) user: String,
    pub(crate) object: GrantedObject,
    /// Of SELECT, UPSERT, DELETE, DDL, ALL.
    pub(crate) privileges: Vec<String>,
}

/// What a grant is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GrantedObject {
    Database,
    Schema(String),
    /// A table, a view or a sequence.
    Relation {
        schema: String,
        name: String,
    },
}

/// A function of the library, in one of its forms.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) oid: u32,
    pub(crate) name: String,
    /// `f`, `a` of an aggregate, `w` of a window function.
    pub(crate) kind: char,
    /// Names and types of the arguments; 0 stands for any type.
    pub(crate) arguments: Vec<(String, u32)>,
    pub(crate) result: u32,
    /// `i`, `s` or `v`.
    pub(crate) volatility: char,
    pub(crate) description: String,
}

/// How much a table or an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: i64,
    pub(crate) bytes: i64,
}

impl Definitions {
    /// The number of a schema.
    pub(crate) fn schema_oid(&self, name: &str) -> Option<u32> {
        match name {
            "pg_catalog" => Some(PG_CATALOG),
            "information_schema" => Some(INFORMATION_SCHEMA),
            "public" => Some(PUBLIC),
            _ => self.schemas.iter().find(|schema| schema.name == name).map(|schema| schema.oid),
        }
    }

    /// The number of a user, or of the owner.
    pub(crate) fn user_oid(&self, name: &str) -> Option<u32> {
        match self.users.iter().find(|user| user.name == name) {
            Some(user) => Some(user.oid),
            None => (name == self.owner).then_some(OWNER),
        }
    }

    /// The table or view of this number.
    pub(crate) fn table(&self, oid: u32) -> Option<&Table> {
        self.tables.iter().find(|table| table.oid == oid)
    }

    /// The table of an index.
    pub(crate) fn table_of(&self, index: &Index) -> Option<&Table> {
        self.tables.iter().find(|table| table.schema == index.schema && table.name == index.table)
    }

    /// The indexes of a table, without its key.
    pub(crate) fn indexes_of<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'a Index> {
        self.indexes.iter().filter(|index| index.schema == table.schema && index.table == table.name)
    }

    /// The name of the user whose view this is.
    pub(crate) fn user_name(&self) -> &str {
        self.user.as_deref().unwrap_or(&self.owner)
    }
}

impl Table {
    /// The columns of the primary key, in its order.
    pub(crate) fn key_columns(&self) -> Vec<&Column> {
        let mut columns: Vec<&Column> = self.columns.iter().filter(|column| column.key.is_some()).collect();
        columns.sort_by_key(|column| column.key.map(|(place, _)| place));
        columns
    }

    /// Whether it has a primary key that was declared.
    pub(crate) fn has_key(&self) -> bool {
        self.view.is_none() && self.columns.iter().any(|column| column.key.is_some())
    }

    /// The name of the primary key's constraint and of its index. Unless it was given one, all keys have the same name here, and one made of
    /// the table's name in PostgreSQL, in which the index has its place among the names of a schema.
    pub(crate) fn key_index_name(&self) -> String {
        key_constraint_shown(&self.name, self.key.as_deref())
    }

    /// The column of this name, in any case.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        let exact = self.columns.iter().find(|column| column.name == name);
        exact.or_else(|| self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)))
    }
}
