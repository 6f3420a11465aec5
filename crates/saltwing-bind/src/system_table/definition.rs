//! The form of a system table: its columns, each with what it has of a row.

use std::fmt;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_types::{ObjectId, SqlType, Value, ViewDef};

use crate::error::{BindErrorKind, Result};

/// The name of the only catalog, in the columns that have one.
pub(crate) const CATALOG: &str = "saltwing";

/// What the rows of system tables are made of: the catalog as a session sees it.
pub struct SystemFacts<'a> {
    /// The definitions, with those that are the session's own.
    pub(crate) catalog: &'a dyn CatalogReader,
    /// Which tables and views have rows.
    pub(crate) objects: Objects,
    /// The system tables, which have rows themselves.
    pub(crate) system_tables: &'static [&'static dyn SystemTable],
    /// Whether a view takes writes: the binder tells, which lies above these tables.
    pub(crate) is_updatable: fn(&Arc<ViewDef>, &dyn CatalogReader) -> Result<bool>,
}

/// Tables and views that have rows in system tables.
#[derive(Clone)]
pub enum Objects {
    /// Those of the database, and the session's temporary tables: what queries see.
    Own,
    /// Those of attached databases, too.
    WithAttached,
    /// This table alone.
    Table(Arc<Table>),
}

impl SystemFacts<'_> {
    /// The same with rows of these tables and views.
    #[must_use]
    pub fn with(self, objects: Objects) -> Self {
        Self { objects, ..self }
    }

    /// # Errors
    /// The catalog's.
    pub(super) fn tables(&self) -> Result<Vec<Arc<Table>>> {
        Ok(match &self.objects {
            Objects::Own => self.catalog.tables()?,
            Objects::WithAttached => [self.catalog.tables()?, self.catalog.attached_tables()].concat(),
            Objects::Table(table) => vec![table.clone()],
        })
    }

    /// # Errors
    /// The catalog's.
    pub(super) fn views(&self) -> Result<Vec<Arc<ViewDef>>> {
        Ok(match &self.objects {
            Objects::Own => self.catalog.views()?,
            Objects::WithAttached => [self.catalog.views()?, self.catalog.attached_views()].concat(),
            Objects::Table(_) => Vec::new(),
        })
    }
}

/// A table whose rows are computed from the catalog whenever a statement reads it. All columns may be NULL.
pub trait SystemTable: Sync {
    /// Name, in lower case.
    fn name(&self) -> &'static str;

    /// The columns in order.
    fn columns(&self) -> Vec<SystemColumn>;

    /// The rows: a value for each of these columns, by place. The others are not computed.
    ///
    /// # Errors
    /// The catalog's.
    fn rows(&self, facts: &SystemFacts<'_>, columns: &[usize]) -> Result<Vec<Vec<Value>>>;
}

impl dyn SystemTable + '_ {
    /// The places of the columns of these names.
    ///
    /// # Errors
    /// [`BindErrorKind::Bug`] if it has no such column.
    pub fn places(&self, names: &[&str]) -> Result<Vec<usize>> {
        let columns = self.columns();
        let place = |name: &&str| columns.iter().position(|column| column.name == *name);
        let places: Option<Vec<usize>> = names.iter().map(place).collect();
        Ok(places.ok_or(BindErrorKind::Bug("a system table does not have a column that a statement shows"))?)
    }
}

impl fmt::Debug for dyn SystemTable + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "system table {}", self.name())
    }
}

/// A column of a system table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemColumn {
    /// Name, in lower case.
    pub name: &'static str,
    /// Type.
    pub ty: SqlType,
}

/// A column, and its value of an object `T`.
pub(super) struct Column<T> {
    name: &'static str,
    value: ValueOf<T>,
}

/// The value that a column has of an object. The type of the column is that of the value.
enum ValueOf<T> {
    Text(fn(&T) -> Option<String>),
    Integer(fn(&T) -> Option<i32>),
    BigInt(fn(&T) -> Option<i64>),
    ObjectId(fn(&T) -> Option<ObjectId>),
    YesOrNo(fn(&T) -> bool),
    /// `YES` or `NO`, which the binder computes.
    Computed(fn(&T, &SystemFacts<'_>) -> Result<bool>),
}

impl<T> Column<T> {
    pub(super) const fn text(name: &'static str, value: fn(&T) -> Option<String>) -> Self {
        Self { name, value: ValueOf::Text(value) }
    }

    pub(super) const fn integer(name: &'static str, value: fn(&T) -> Option<i32>) -> Self {
        Self { name, value: ValueOf::Integer(value) }
    }

    pub(super) const fn big_int(name: &'static str, value: fn(&T) -> Option<i64>) -> Self {
        Self { name, value: ValueOf::BigInt(value) }
    }

    /// `object_id`: the number of the object.
    pub(super) const fn object_id(value: fn(&T) -> Option<ObjectId>) -> Self {
        Self { name: "object_id", value: ValueOf::ObjectId(value) }
    }

    /// `YES` or `NO`.
    pub(super) const fn yes_or_no(name: &'static str, value: fn(&T) -> bool) -> Self {
        Self { name, value: ValueOf::YesOrNo(value) }
    }

    /// `YES` or `NO`, computed from the object and the other facts.
    pub(super) const fn computed(name: &'static str, value: fn(&T, &SystemFacts<'_>) -> Result<bool>) -> Self {
        Self { name, value: ValueOf::Computed(value) }
    }

    fn ty(&self) -> SqlType {
        match self.value {
            ValueOf::Text(_) | ValueOf::YesOrNo(_) | ValueOf::Computed(_) => SqlType::Varchar(None),
            ValueOf::Integer(_) => SqlType::Integer,
            ValueOf::BigInt(_) | ValueOf::ObjectId(_) => SqlType::BigInt,
        }
    }

    fn of(&self, object: &T, facts: &SystemFacts<'_>) -> Result<Value> {
        let yes_or_no = |is_so: bool| Value::text(if is_so { "YES" } else { "NO" });
        Ok(match self.value {
            ValueOf::Text(value) => value(object).into(),
            ValueOf::Integer(value) => value(object).into(),
            ValueOf::BigInt(value) => value(object).into(),
            ValueOf::ObjectId(value) => value(object).map(|id| i64::from(id.0)).into(),
            ValueOf::YesOrNo(value) => yes_or_no(value(object)),
            ValueOf::Computed(value) => yes_or_no(value(object, facts)?),
        })
    }
}

/// A system table with a row for each of some objects.
pub(super) struct Definition<T: 'static> {
    pub(super) name: &'static str,
    pub(super) columns: &'static [Column<T>],
    /// The objects, in the order of the rows.
    pub(super) objects: fn(&SystemFacts<'_>) -> Result<Vec<T>>,
}

impl<T: 'static> SystemTable for Definition<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> Vec<SystemColumn> {
        self.columns.iter().map(|column| SystemColumn { name: column.name, ty: column.ty() }).collect()
    }

    fn rows(&self, facts: &SystemFacts<'_>, columns: &[usize]) -> Result<Vec<Vec<Value>>> {
        let columns: Option<Vec<&Column<T>>> = columns.iter().map(|place| self.columns.get(*place)).collect();
        let columns = columns.ok_or(BindErrorKind::Bug("a system table does not have a column that a query reads"))?;
        let row = |object: &T| columns.iter().map(|column| column.of(object, facts)).collect();
        (self.objects)(facts)?.iter().map(row).collect()
    }
}
