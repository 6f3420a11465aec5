//! Views: named queries.

use crate::table::is_same_name;
use crate::{ObjectId, SqlType, TableName};

/// The definition of a view: a query, and the columns that it gives.
///
/// # Invariants
/// The query names its columns one by one, and `uses` names all tables and views in it. So a view gives the same columns
/// after its tables got more of them, and the catalog can refuse to drop what a view needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewDef {
    /// Its number.
    pub id: ObjectId,
    /// Its name. Views, tables and sequences share one name space.
    pub name: TableName,
    /// The columns, at least one, in the order of the query's; names differ in more than case.
    pub columns: Vec<ViewColumn>,
    /// The text of the query.
    pub query: String,
    /// The tables and views that the query names, each once.
    pub uses: Vec<ViewUse>,
    /// COMMENT ON VIEW.
    pub comment: Option<String>,
}

/// A column of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// COMMENT ON COLUMN.
    pub comment: Option<String>,
}

/// A table or view that a view uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewUse {
    /// Its name, as spelt at its creation.
    pub name: TableName,
    /// The columns of it that the query may name, as spelt: perhaps some too many.
    pub columns: Vec<String>,
}

impl ViewDef {
    /// The column of this name, in any case.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| is_same_name(&column.name, name))
    }

    /// The use of a table or view, if the view uses it.
    pub fn use_of(&self, name: &TableName) -> Option<&ViewUse> {
        self.uses.iter().find(|used| used.name == *name)
    }
}
