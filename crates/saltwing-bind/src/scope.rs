//! The names that an expression may use.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::suggest;
use saltwing_types::table::{ColumnMatch, ROW_KEY_COLUMN, ROW_TIME_COLUMN, is_same_name};
use saltwing_types::{ColumnRef, Span, SqlType, TableDef, TableName};

use crate::error::{BindError, BindErrorKind, Result, invalid};

/// The place of expressions in VALUES.
const VALUES: &str = "VALUES";

/// The columns of one table, or none.
#[derive(Clone)]
pub struct Scope {
    table: Option<Arc<Table>>,
    /// Where expressions without columns stand.
    place: &'static str,
    /// How the statement calls the table, where it gives it another name.
    alias: Option<String>,
    /// Whether `excluded` is the row that an INSERT could not write.
    has_excluded: bool,
}

/// The name of the row that an INSERT could not write.
const EXCLUDED: &str = "excluded";

/// The table of a definition that is being made, whose columns its own expressions name.
///
/// # Errors
/// [`BindErrorKind::InvalidDefinition`] if there can be no such table.
pub(crate) fn table_of(def: TableDef) -> Result<Arc<Table>> {
    Table::new(Arc::new(def)).map(Arc::new).map_err(|error| invalid(error.to_string()))
}

impl Scope {
    /// No columns: VALUES.
    pub fn empty() -> Self {
        Self { table: None, place: VALUES, alias: None, has_excluded: false }
    }

    /// No columns: the DEFAULT of one.
    pub fn of_default() -> Self {
        Self { place: "a DEFAULT", ..Self::empty() }
    }

    /// Whether there are no columns at all.
    pub fn is_empty(&self) -> bool {
        self.table.is_none()
    }

    /// The columns of `table`, under its own name or `alias`.
    pub fn of(table: Arc<Table>, alias: Option<String>) -> Self {
        Self { table: Some(table), place: "", alias, has_excluded: false }
    }

    /// The same, and the columns of a second row of the table, `excluded`: they come behind [`Table::width`].
    #[must_use]
    pub fn with_excluded(self) -> Self {
        Self { has_excluded: true, ..self }
    }

    /// The column that `parts` name: `c`, `family.c`, `table.c`, `schema.table.c`, `alias.c`.
    ///
    /// # Errors
    /// [`BindErrorKind::NoSuchColumn`], with the nearest name; [`BindErrorKind::AmbiguousColumn`] for a name that columns of
    /// several families have.
    pub fn resolve(&self, parts: &[&str], span: Option<Span>) -> Result<ColumnRef> {
        let written = parts.join(".");
        let Some(table) = &self.table else {
            let error = BindErrorKind::ColumnInConstant { place: self.place, column: written };
            let help = match self.place {
                VALUES => {
                    "text stands in single quotes; what is computed from the row that is there is an UPSERT of a query: \
                           UPSERT INTO t (k, v) SELECT k, v + 1 FROM t WHERE k = 1"
                }
                _ => "text stands in single quotes",
            };
            return Err(BindError::from(error).at(span).help(help));
        };
        let def = table.def();
        let found = match parts {
            [excluded, rest @ ..] if !rest.is_empty() && self.is_excluded(excluded) => {
                let column = match rest {
                    [column] => self.column(column, None, span)?,
                    [family, column] => self.column(column, Some(family), span)?,
                    _ => None,
                };
                let column = column.filter(|column| column.index < table.row_key_index());
                column.map(|column| ColumnRef { index: table.width() + column.index, ..column })
            }
            [column] => self.column(column, None, span)?,
            [qualifier, column] if self.is_named(&[qualifier]) => self.column(column, None, span)?,
            [family, column] => self.column(column, Some(family), span)?,
            [schema, name, column] if self.is_named(&[schema, name]) => self.column(column, None, span)?,
            [name, family, column] if self.is_named(&[name]) => self.column(column, Some(family), span)?,
            [schema, name, family, column] if self.is_named(&[schema, name]) => {
                self.column(column, Some(family), span)?
            }
            _ => None,
        };
        found.ok_or_else(|| {
            let name = parts.last().copied().unwrap_or_default();
            let near = suggest(name, def.columns.iter().filter(|c| !c.hidden).map(|c| c.name.as_str()));
            let columns =
                def.columns.iter().filter(|c| !c.hidden).take(20).map(|c| c.name.as_str()).collect::<Vec<_>>();
            let help = near.map_or_else(|| format!("it has {}", columns.join(", ")), |near| format!("there is {near}"));
            let error = BindErrorKind::NoSuchColumn { table: def.name.to_string(), column: written };
            BindError::from(error).at(span).help(help)
        })
    }

    /// Whether `parts`, which stand before a column, are this table, one of its families, or both.
    pub fn is_qualifier(&self, parts: &[&str]) -> bool {
        self.is_row(parts)
            || self.family(parts).is_some()
            || matches!(parts, [rest @ .., family] if self.is_excluded_row(rest) && self.family(&[family]).is_some())
    }

    /// The family that `parts` name, by itself or behind the table: its index in the definition.
    pub fn family(&self, parts: &[&str]) -> Option<usize> {
        let (family, table) = parts.split_last()?;
        let mut families = self.table.as_ref()?.def().families.iter();
        let is_of_table = table.is_empty() || self.is_named(table);
        families.position(|name| is_of_table && name.as_ref().is_some_and(|name| is_same_name(name, family)))
    }

    /// Whether `parts`, which stand before a column, are this table or `excluded`.
    pub(crate) fn is_row(&self, parts: &[&str]) -> bool {
        self.is_named(parts) || self.is_excluded_row(parts)
    }

    /// Whether `parts`, which stand before a column, are `excluded`.
    pub(crate) fn is_excluded_row(&self, parts: &[&str]) -> bool {
        matches!(parts, [name] if self.is_excluded(name))
    }

    fn is_excluded(&self, name: &str) -> bool {
        self.has_excluded && name.eq_ignore_ascii_case(EXCLUDED)
    }

    /// Whether `parts` name the table of this scope.
    pub fn is_named(&self, parts: &[&str]) -> bool {
        match (parts, &self.alias, &self.table) {
            ([name], Some(alias), _) => is_same_name(name, alias),
            ([name], None, Some(table)) => is_same_name(name, &table.def().name.name),
            ([schema, name], None, Some(table)) => {
                let TableName { schema: of_table, name: table } = &table.def().name;
                is_same_name(name, table) && of_table.as_deref().is_some_and(|s| is_same_name(s, schema))
            }
            _ => false,
        }
    }

    fn column(&self, name: &str, family: Option<&str>, span: Option<Span>) -> Result<Option<ColumnRef>> {
        let Some(table) = &self.table else { return Ok(None) };
        if family.is_none() && name.eq_ignore_ascii_case(ROW_KEY_COLUMN) {
            let (index, name) = (table.row_key_index(), ROW_KEY_COLUMN.to_owned());
            return Ok(Some(ColumnRef { index, name, ty: SqlType::Varbinary, nullable: false, span }));
        }
        if family.is_none() && name.eq_ignore_ascii_case(ROW_TIME_COLUMN) {
            let (index, name) = (table.row_time_index(), ROW_TIME_COLUMN.to_owned());
            return Ok(Some(ColumnRef { index, name, ty: SqlType::Date, nullable: true, span }));
        }
        match table.def().find_column(family, name) {
            ColumnMatch::One(index) => Ok(table.column_ref(index, span)),
            ColumnMatch::Several => Err(BindError::from(ambiguous(table.def(), name)).at(span)),
            ColumnMatch::None => Ok(None),
        }
    }
}

/// A name that columns of several families have.
fn ambiguous(def: &TableDef, name: &str) -> BindErrorKind {
    let named = def.columns.iter().filter(|column| is_same_name(&column.name, name));
    let candidates: Vec<String> = named.map(|column| def.unique_name(column)).collect();
    BindErrorKind::AmbiguousColumn { column: name.to_owned(), candidates: candidates.join(", ") }
}
