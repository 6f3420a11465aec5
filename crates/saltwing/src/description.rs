//! The description of a prepared statement.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use saltwing_bind::{ColumnOrigin, QueryRead, ResultColumn};
use saltwing_catalog::{CatalogReader, canonical_name};
use saltwing_types::{SqlType, TableName};

use crate::Error;
use crate::target::{Object, Privilege, Target};

/// The properties of a statement that do not depend on the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// What the statement does, in the words of PostgreSQL's command tags: `SELECT`, `INSERT`, `CREATE TABLE`.
    pub tag: &'static str,
    /// The type of each parameter, by number from 0. `None`: the statement does not determine the type, and accepts any value.
    pub parameters: Vec<Option<SqlType>>,
    /// The columns of the rows. `None`: the statement returns no rows, or only a run determines their columns.
    pub columns: Option<Arc<[ResultColumn]>>,
    /// For each result column, the table column that it copies; `None` for a computed column. Empty if the rows are not those of a query.
    pub origins: Vec<Option<ColumnOrigin>>,
    /// The plan of a query: the word of a direct plan in `EXPLAIN (FORMAT JSON)`, `system_table` for a table of
    /// `information_schema`, or `relational`.
    pub plan: Option<&'static str>,
    /// The objects that the statement touches, and the privilege that it needs for each: each pair once, in the order of the text. The list
    /// includes objects that views read, each with the view through which the statement reaches it: for these the view's owner has the rights.
    pub touches: Vec<Touch>,
}

/// An object that a statement touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The privilege that the statement needs.
    pub privilege: Privilege,
    /// The object.
    pub object: TouchedObject,
    /// The view that the statement names, and through which it reads the object.
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
    /// Adds an object that the statement names. A name in the default schema has no schema, also if the statement calls it `public`.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub(crate) fn touch(
        &mut self,
        Target { object, privilege }: Target<'_>,
        catalog: &dyn CatalogReader,
    ) -> Result<(), Error> {
        let object = match object {
            Object::Relation(name) | Object::Stored(name) | Object::View(name) | Object::Temporary(name) => {
                TouchedObject::Relation(canonical_name(catalog, name.to_name())?)
            }
            Object::Schema(name) => TouchedObject::Schema(name.text.clone()),
            Object::Database => TouchedObject::Database,
            Object::User(name) => TouchedObject::User(name.text.clone()),
        };
        self.push(Touch { privilege, object, through: None });
        Ok(())
    }

    /// Adds a table or view that a query of the statement reads. The privilege to write a table includes reading the rows to be
    /// written.
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
