//! The objects that statements name.

use saltwing_sql::{Name, TableRef};
pub use saltwing_types::Privilege;

/// An object that a statement names, and the privilege that the statement needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) privilege: Privilege,
}

/// An object, as the statement names it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object<'a> {
    /// A table, a view or a sequence. A temporary table of the session takes precedence.
    Relation(&'a TableRef),
    /// A stored table, view or sequence, never a temporary table.
    Stored(&'a TableRef),
    /// A view. A temporary view of the session takes precedence; a temporary table of its name does not hide it.
    View(&'a TableRef),
    /// A temporary table or view that the statement creates.
    Temporary(&'a TableRef),
    Schema(&'a Name),
    Database,
    User(&'a Name),
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

    /// A table, a view or a sequence that is, or will be, stored, even if a temporary table has its name.
    pub(crate) fn stored(name: &'a TableRef, privilege: Privilege) -> Self {
        Self { object: Object::Stored(name), privilege }
    }

    pub(crate) fn view(name: &'a TableRef, privilege: Privilege) -> Self {
        Self { object: Object::View(name), privilege }
    }

    /// A table that the statement creates.
    pub(crate) fn new_table(name: &'a TableRef, is_temporary: bool) -> Self {
        let object = if is_temporary { Object::Temporary(name) } else { Object::Stored(name) };
        Self { object, privilege: Privilege::Ddl }
    }

    pub(crate) fn schema(name: &'a Name, privilege: Privilege) -> Self {
        Self { object: Object::Schema(name), privilege }
    }

    pub(crate) fn database(privilege: Privilege) -> Self {
        Self { object: Object::Database, privilege }
    }

    /// A user. The user itself has the privilege, and so have users with all privileges on the database.
    pub(crate) fn user(name: &'a Name, privilege: Privilege) -> Self {
        Self { object: Object::User(name), privilege }
    }
}
