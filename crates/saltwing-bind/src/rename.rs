//! ALTER TABLE .. RENAME.
//!
//! A definition refers to its columns by index. Only its SQL texts (CHECK, generated columns, computed key parts, parts and predicates of indexes)
//! name them: a rename rewrites these texts.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::{ColumnName, Name, tree_text};
use saltwing_types::table::{DefaultKind, is_same_name};
use saltwing_types::{ColumnDef, ColumnRef, Expr, KeySource, TableDef};
use sqlparser::ast::{self, Ident, visit_expressions_mut};

use crate::computed::expr_of;
use crate::create_table::{check_names, check_not_hidden, exists};
use crate::error::Result;
use crate::object_name::quoted;
use crate::scope::Scope;
use crate::time_column::rename_time_column;

/// Gives a table another name in its schema.
///
/// # Errors
/// Those of a text in the definition, which no statement causes.
pub(crate) fn rename_table(def: &mut TableDef, table: &Arc<Table>, to: &Name) -> Result<()> {
    def.name.name.clone_from(&to.text);
    respell(def, table)
}

/// Gives a column another name in its family.
///
/// # Errors
/// A column that is not there; a name that another column of the family has.
pub(crate) fn rename_column(def: &mut TableDef, table: &Arc<Table>, column: &ColumnName, to: &Name) -> Result<()> {
    check_not_hidden(&column.name)?;
    check_not_hidden(to)?;
    let index = Scope::of(table.clone(), None).resolve(&column.parts(), Some(column.span()))?.index;
    let family = def.columns.get(index).and_then(|column| def.family_name(column));
    let is_other = |(other, column): &(usize, &ColumnDef)| {
        *other != index && is_same_name(&column.name, &to.text) && def.family_name(column) == family
    };
    if let Some((_, other)) = def.columns.iter().enumerate().find(is_other) {
        return Err(exists(def, other, to));
    }
    if let Some(column) = def.columns.get_mut(index) {
        column.name.clone_from(&to.text);
    }
    if let Some(key) = def.key.columns.iter_mut().find(|key| key.column() == Some(index)) {
        key.name.clone_from(&to.text);
    }
    rename_time_column(def, table.def());
    check_names(def, &[]).map_err(|error| error.at(Some(to.span)))?;
    respell(def, table)
}

/// Writes the columns in the texts of a definition as it calls them; `table` has the definition before.
fn respell(def: &mut TableDef, table: &Arc<Table>) -> Result<()> {
    let respelling = Respelling {
        scope: Scope::of(table.clone(), None),
        names: def.columns.iter().map(|column| idents(def, column)).collect(),
    };
    let names: Vec<String> = def.columns.iter().map(|column| def.unique_name(column)).collect();
    for check in &mut def.checks {
        check.text = respelling.text(&check.text)?;
    }
    for column in &mut def.columns {
        if let Some(default) = column.default.as_mut().filter(|default| default.kind == DefaultKind::Generated) {
            default.text = respelling.text(&default.text)?;
        }
    }
    let rename = |column: &mut ColumnRef| {
        if let Some(name) = names.get(column.index) {
            column.name.clone_from(name);
        }
    };
    for key in &mut def.key.columns {
        if let KeySource::Computed(expr) | KeySource::Indexed(expr) = &mut key.source {
            key.name = respelling.text(&key.name)?;
            expr.map_columns(&mut |column| rename(column));
        }
    }
    for part in def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
        part.expr.map_columns(&mut |column| rename(column));
        part.text = match &part.expr {
            Expr::Column(column) => column.name.clone(),
            _ => respelling.text(&part.text)?,
        };
    }
    for predicate in def.indexes.iter_mut().filter_map(|index| index.predicate.as_mut()) {
        predicate.expr.map_columns(&mut |column| rename(column));
        predicate.text = respelling.text(&predicate.text)?;
    }
    Ok(())
}

/// The name of a column, and that of its family if it is needed.
fn idents(def: &TableDef, column: &ColumnDef) -> Vec<Ident> {
    def.needed_family(column).into_iter().chain([column.name.as_str()]).map(quoted).collect()
}

struct Respelling {
    /// The columns as the texts name them.
    scope: Scope,
    /// The columns as they are called from now on.
    names: Vec<Vec<Ident>>,
}

impl Respelling {
    fn text(&self, text: &str) -> Result<String> {
        let mut expr = expr_of(text)?;
        let _ = visit_expressions_mut(&mut expr, |expr| {
            let parts: Vec<&str> = match expr {
                ast::Expr::Identifier(name) => vec![&name.value],
                ast::Expr::CompoundIdentifier(parts) => parts.iter().map(|part| part.value.as_str()).collect(),
                _ => return ControlFlow::<()>::Continue(()),
            };
            let column = self.scope.resolve(&parts, None);
            if let Some(name) = column.ok().and_then(|column| self.names.get(column.index)) {
                *expr = match name.as_slice() {
                    [name] => ast::Expr::Identifier(name.clone()),
                    parts => ast::Expr::CompoundIdentifier(parts.to_vec()),
                };
            }
            ControlFlow::Continue(())
        });
        Ok(tree_text(&expr))
    }
}
