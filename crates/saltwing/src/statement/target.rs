//! The objects that statements name.

use saltwing_sql::{Name, TableRef};

/// What a statement may do to an object: the words of GRANT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    /// Reads its rows, or its definition.
    Select,
    /// Writes rows.
    Upsert,
    /// Deletes rows.
    Delete,
    /// Makes, changes or drops it, or works on how it is stored.
    Ddl,
}

impl Privilege {
    /// Its word in GRANT.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Upsert => "UPSERT",
            Self::Delete => "DELETE",
            Self::Ddl => "DDL",
        }
    }
}

/// An object that a statement names, and what it does to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) privilege: Privilege,
}

/// An object, as it is named.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object<'a> {
    /// A table, a view or a sequence.
    Relation(&'a TableRef),
    Schema(&'a Name),
    Database,
}

impl<'a> Target<'a> {
    /// A table, a view or a sequence.
    pub(crate) fn relation(name: &'a TableRef, privilege: Privilege) -> Self {
        Self { object: Object::Relation(name), privilege }
    }

    /// Each of these tables, views or sequences.
    pub(crate) fn relations(names: &'a [TableRef], privilege: Privilege) -> Vec<Self> {
        names.iter().map(|name| Self::relation(name, privilege)).collect()
    }

    pub(crate) fn schema(name: &'a Name, privilege: Privilege) -> Self {
        Self { object: Object::Schema(name), privilege }
    }

    pub(crate) fn database(privilege: Privilege) -> Self {
        Self { object: Object::Database, privilege }
    }
}
