//! The names that an expression may use.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::suggest;
use saltwing_types::table::ROW_KEY_COLUMN;
use saltwing_types::{ColumnRef, Span, SqlType};

use crate::error::{BindErrorKind, Result};

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

    /// The same, and the columns of a second row of the table, `excluded`: they come behind [`Table::row_key_index`].
    #[must_use]
    pub fn with_excluded(self) -> Self {
        Self { has_excluded: true, ..self }
    }

    /// The column that `parts` name: `c`, `family.c`, `table.c`, `schema.table.c`, `alias.c`.
    ///
    /// # Errors
    /// [`BindErrorKind::NoSuchColumn`], with the nearest name.
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
            return Err(crate::BindError::from(error).at(span).help(help));
        };
        let def = table.def();
        let found = match parts {
            [column] => self.column(column, None, span),
            [excluded, column] if self.has_excluded && excluded.eq_ignore_ascii_case(EXCLUDED) => {
                let column = self.column(column, None, span).filter(|column| column.index < table.row_key_index());
                column.map(|column| ColumnRef { index: table.row_key_index() + 1 + column.index, ..column })
            }
            [qualifier, column] if self.is_named(&[qualifier]) => self.column(column, None, span),
            [family, column] => self.column(column, Some(family), span),
            [schema, name, column] if self.is_named(&[schema, name]) => self.column(column, None, span),
            [name, family, column] if self.is_named(&[name]) => self.column(column, Some(family), span),
            _ => None,
        };
        found.ok_or_else(|| {
            let name = parts.last().copied().unwrap_or_default();
            let near = suggest(name, def.columns.iter().filter(|c| !c.hidden).map(|c| c.name.as_str()));
            let columns =
                def.columns.iter().filter(|c| !c.hidden).take(20).map(|c| c.name.as_str()).collect::<Vec<_>>();
            let help = near.map_or_else(|| format!("it has {}", columns.join(", ")), |near| format!("there is {near}"));
            let error = BindErrorKind::NoSuchColumn { table: def.name.to_string(), column: written };
            crate::BindError::from(error).at(span).help(help)
        })
    }

    /// Whether `parts`, which stand before a column, are this table, one of its families, or both.
    pub fn is_qualifier(&self, parts: &[&str]) -> bool {
        let is_family = |name: &str| {
            let families = self.table.iter().flat_map(|table| table.def().families.iter().flatten());
            families.into_iter().any(|family| family.to_lowercase() == name.to_lowercase())
        };
        self.is_named(parts)
            || self.has_excluded && matches!(parts, [name] if name.eq_ignore_ascii_case(EXCLUDED))
            || match parts {
                [family] => is_family(family),
                [table, family] => self.is_named(&[table]) && is_family(family),
                _ => false,
            }
    }

    /// Whether `parts` name the table of this scope.
    pub fn is_named(&self, parts: &[&str]) -> bool {
        let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        match (parts, &self.alias, &self.table) {
            ([name], Some(alias), _) => same(name, alias),
            ([name], None, Some(table)) => same(name, &table.def().name.name),
            ([schema, name], None, Some(table)) => {
                let def = table.def();
                same(name, &def.name.name) && def.name.schema.as_deref().is_some_and(|s| same(s, schema))
            }
            _ => false,
        }
    }

    fn column(&self, name: &str, family: Option<&str>, span: Option<Span>) -> Option<ColumnRef> {
        let table = self.table.as_ref()?;
        let def = table.def();
        if family.is_none() && name.eq_ignore_ascii_case(ROW_KEY_COLUMN) {
            return Some(ColumnRef {
                index: table.row_key_index(),
                name: ROW_KEY_COLUMN.into(),
                ty: SqlType::Varbinary,
                nullable: false,
                span,
            });
        }
        let index = def.column_index(name)?;
        let column = def.columns.get(index)?;
        if let Some(wanted) = family {
            let family = column.family.and_then(|f| def.families.get(f)?.clone());
            if family.is_none_or(|f| f.to_lowercase() != wanted.to_lowercase()) {
                return None;
            }
        }
        Some(ColumnRef { index, name: column.name.clone(), ty: column.ty, nullable: column.nullable, span })
    }
}
