//! The description of a prepared statement.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use saltwing_bind::{ColumnOrigin, QueryRead, ResultColumn};
use saltwing_types::{SqlType, TableName};

use super::target::{Object, Privilege, Target};

/// The properties of a statement known before its parameters have values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// What the statement does, in the words of PostgreSQL's command tags: `SELECT`, `INSERT`, `CREATE TABLE`.
    pub tag: &'static str,
    /// The type of each parameter, by number from 0. `None`: the statement does not tell it, and takes any value.
    pub parameters: Vec<Option<SqlType>>,
    /// The columns of the rows. `None`: it gives no rows, or only a run tells their columns.
    pub columns: Option<Arc<[ResultColumn]>>,
    /// The column of a table that each of the columns is; `None` of one that is computed. Empty if the rows are not those of a query.
    pub origins: Vec<Option<ColumnOrigin>>,
    /// How a query runs: a plan of the direct path by its word in `EXPLAIN (FORMAT JSON)`, `system_table` over a table of
    /// `information_schema`, or `relational`.
    pub plan: Option<&'static str>,
    /// What it touches, and the privilege that it takes for each: each pair once, in the order of the text. What a view reads is among it,
    /// with the view through which the statement comes to it: the view's owner answers for that.
    pub touches: Vec<Touch>,
}

/// An object that a statement touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// What the statement does to it.
    pub privilege: Privilege,
    /// The object.
    pub object: TouchedObject,
    /// The view that the statement names, and that reads the object.
    pub through: Option<TableName>,
}

/// An object that statements touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TouchedObject {
    /// A table, a view or a sequence.
    Relation(TableName),
    /// All of a schema.
    Schema(String),
    /// All of the database.
    Database,
    /// A user.
    User(String),
}

impl Display for Touch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.privilege.as_str())?;
        match &self.object {
            TouchedObject::Relation(name) => write!(f, "{name}")?,
            TouchedObject::Schema(name) => write!(f, "SCHEMA {name}")?,
            TouchedObject::Database => f.write_str("DATABASE")?,
            TouchedObject::User(name) => write!(f, "USER {name}")?,
        }
        self.through.iter().try_for_each(|view| write!(f, " through {view}"))
    }
}

impl Description {
    /// Adds an object that the statement names.
    pub(crate) fn touch(&mut self, Target { object, privilege }: Target<'_>) {
        let object = match object {
            Object::Relation(name) | Object::Stored(name) | Object::Temporary(name) => {
                TouchedObject::Relation(name.to_name())
            }
            Object::Schema(name) => TouchedObject::Schema(name.text.clone()),
            Object::Database => TouchedObject::Database,
            Object::User(name) => TouchedObject::User(name.text.clone()),
        };
        self.push(Touch { privilege, object, through: None });
    }

    /// Adds a table or view that a query of the statement reads. To read the rows that it writes is a part of the privilege to write
    /// them.
    pub(crate) fn read(&mut self, read: QueryRead) {
        let QueryRead { name, through } = read;
        let object = TouchedObject::Relation(name);
        if !self.touches.iter().any(|known| known.object == object && known.through == through) {
            self.push(Touch { privilege: Privilege::Select, object, through });
        }
    }

    fn push(&mut self, touch: Touch) {
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }
}
