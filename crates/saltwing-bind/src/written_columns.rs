//! The columns that a statement writes: those of its table, and dynamic ones.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::Assignment;
use saltwing_sql::{ColumnName, DynamicColumn};
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{ColumnDef, SqlType};

use crate::error::{BindError, BindErrorKind, Result};
use crate::target::{Target, target_columns};
use crate::view::{check_dynamic, stored_name};

/// Columns that a statement writes, by index, and the dynamic ones among them, which follow those of the table.
pub type WrittenColumns = (Vec<usize>, Vec<ColumnDef>);

/// The columns to which an UPDATE or an ON CONFLICT assigns, of which some may be among these dynamic ones.
///
/// # Errors
/// As [`target_columns`]; a dynamic column under the name of one of the table.
pub(crate) fn assigned_columns(
    target: &Target<'_>,
    assignments: &[Assignment],
    known: &[DynamicColumn],
) -> Result<WrittenColumns> {
    let names: Vec<ColumnName> = assignments.iter().map(|assignment| assignment.column.clone()).collect();
    known_columns(target, &names, known)
}

/// Named columns, of which some may be among these dynamic ones.
///
/// # Errors
/// As [`assigned_columns`].
pub(crate) fn known_columns(
    target: &Target<'_>,
    names: &[ColumnName],
    known: &[DynamicColumn],
) -> Result<WrittenColumns> {
    if known.is_empty() {
        return Ok((target_columns(target, Some(names))?, Vec::new()));
    }
    let def = target.table.def();
    check_dynamic(def, known.iter().map(|it| &it.column))?;
    let scope = target.scope(None)?;
    let is_named = |name: &ColumnName, it: &ColumnName| match (&name.family, &it.family) {
        (Some(table), None) => scope.is_named(&[&table.text]) && is_same_name(&name.name.text, &it.name.text),
        (None, Some(_)) => {
            let is_of_table = def.find_column(None, &name.name.text) != ColumnMatch::None;
            !is_of_table && is_same_name(&name.name.text, &it.name.text)
        }
        _ => is_same_name(&stored_name(name), &stored_name(it)),
    };
    written_columns(target, names, |_, name| {
        known.iter().find(|it| is_named(name, &it.column)).map(|it| (stored_name(&it.column), it.ty))
    })
}

/// The columns of a table that a list names, of which those at some places are dynamic, with their types; without a list those that are
/// neither hidden nor generated.
///
/// # Errors
/// No such column; one that comes twice; a hidden column; a dynamic column under the name of another column.
pub fn listed_columns(
    table: &Arc<Table>,
    names: Option<&[ColumnName]>,
    dynamic: &[(usize, SqlType)],
) -> Result<WrittenColumns> {
    Target::of_table(table.clone()).listed_columns(names, dynamic)
}

impl Target<'_> {
    /// As [`listed_columns`]; those of a view are those that it shows.
    ///
    /// # Errors
    /// As [`listed_columns`]; a dynamic column under the name of one of the view.
    pub(crate) fn listed_columns(
        &self,
        names: Option<&[ColumnName]>,
        dynamic: &[(usize, SqlType)],
    ) -> Result<WrittenColumns> {
        match &self.view {
            None => self.columns_of_list(names, dynamic),
            Some(view) => {
                let (names, dynamic) = view.listed(names, dynamic)?;
                self.columns_of_list(Some(&names), &dynamic)
            }
        }
    }

    fn columns_of_list(&self, names: Option<&[ColumnName]>, dynamic: &[(usize, SqlType)]) -> Result<WrittenColumns> {
        if dynamic.is_empty() {
            return Ok((target_columns(self, names)?, Vec::new()));
        }
        let names = names.unwrap_or_default();
        check_dynamic(self.table.def(), dynamic.iter().filter_map(|(place, _)| names.get(*place)))?;
        written_columns(self, names, |place, name| {
            dynamic.iter().find(|(it, _)| *it == place).map(|(_, ty)| (stored_name(name), *ty))
        })
    }
}

/// Named columns; `found` is the name and the type of a dynamic one, by its place and its name in the statement.
fn written_columns(
    target: &Target<'_>,
    names: &[ColumnName],
    found: impl Fn(usize, &ColumnName) -> Option<(String, SqlType)>,
) -> Result<WrittenColumns> {
    let found: Vec<_> = names.iter().enumerate().map(|(place, name)| found(place, name)).collect();
    let of_table = names.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(name, _)| name.clone());
    let mut of_table = target_columns(target, Some(&of_table.collect::<Vec<_>>()))?.into_iter();
    let (mut columns, mut dynamic) = (Vec::with_capacity(names.len()), Vec::<ColumnDef>::new());
    for (name, found) in names.iter().zip(found) {
        let Some((stored, ty)) = found else {
            columns.extend(of_table.next());
            continue;
        };
        if dynamic.iter().any(|other| is_same_name(&other.name, &stored)) {
            return Err(BindError::from(BindErrorKind::DuplicateColumn(name.to_string())).at(Some(name.span())));
        }
        columns.push(target.table.def().columns.len() + dynamic.len());
        dynamic.push(ColumnDef { hidden: true, ..ColumnDef::new(stored, ty) });
    }
    Ok((columns, dynamic))
}
