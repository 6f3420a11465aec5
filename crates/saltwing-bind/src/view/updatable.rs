//! Views that take writes.
//!
//! As in Phoenix, the conditions of such a view are columns with their values.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_plan::Condition;
use saltwing_sql::{ColumnName, DynamicColumn, Name, expr_span, parse_query_at};
use saltwing_types::table::is_same_name;
use saltwing_types::{
    ColumnDef, CompareOp, Expr, Span, SqlType, TableDef, TableName, Value, ViewDef, eval, number, text,
};
use sqlparser::ast;

use super::dynamic::stored_name;
use super::own_columns::declared_by;
use super::rows::{TableRows, rows_of};
use crate::error::{BindError, BindErrorKind, Result, if_bound};
use crate::lower::{Params, constant};
use crate::names::{Names, is_temporary};

/// Whether a view takes writes.
///
/// # Errors
/// That of the catalog.
pub fn is_updatable(view: &Arc<ViewDef>, catalog: &dyn CatalogReader) -> Result<bool> {
    Ok(if_bound(WrittenView::of(view.clone(), Span::on_line(1, 1, 1), catalog))?.is_some())
}

/// A view that takes writes: columns of one table under their own names, whose conditions are columns with their values.
pub(crate) struct WrittenView {
    pub(crate) def: Arc<ViewDef>,
    pub(crate) table: Arc<Table>,
    /// The columns of its own, those of the views below it among them: dynamic columns of the table.
    pub(crate) own: Vec<DynamicColumn>,
    /// The columns that the conditions name, with the values.
    pub(crate) constants: Vec<Constant>,
    /// The conditions, over the columns of the table by index.
    pub(crate) conditions: Vec<Condition>,
    /// The table and the views below this one.
    pub(crate) reads: Vec<TableName>,
    /// Where the statement names it.
    span: Span,
}

/// A column of a view that takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Of the table, by index.
    Table(usize),
    /// Of the view's own, by place.
    Own(usize),
}

/// A column that a condition names, with its value.
pub(crate) type Constant = (Place, Value);

/// Columns of a list, with the places and types of dynamic ones.
type ListedColumns = (Vec<ColumnName>, Vec<(usize, SqlType)>);

impl WrittenView {
    /// # Errors
    /// [`BindErrorKind::ReadOnlyView`]; that of the catalog.
    pub(crate) fn of(view: Arc<ViewDef>, span: Span, catalog: &dyn CatalogReader) -> Result<Self> {
        let (written, names) = (parse_query_at(&view.query, span)?, Names::of(&view, catalog));
        let own = declared_by(&written, names, catalog)?.map(|(_, own)| own).unwrap_or_default();
        let refused = |why: String| read_only(&view, span, why);
        // Its user would need the rights on the table.
        if is_temporary(&view.name, catalog) {
            return Err(refused("it is temporary: write to its table".into()));
        }
        let bound =
            rows_of(&written, names, catalog)?.ok_or_else(|| refused("it is more than rows of one table".into()))?;
        let def = bound.table.def();
        if def.name.schema.is_none() && catalog.hides(&def.name.name) {
            return Err(refused(format!("a temporary table of this session hides its table {}", def.name)));
        }
        for (expr, shown) in bound.columns.iter().zip(&view.columns) {
            let name = match place_of(expr, &own, def) {
                Some(Place::Table(index)) => def.columns.get(index).map(|column| &column.name),
                Some(Place::Own(index)) => own.get(index).map(|column| &column.column.name.text),
                None => None,
            };
            if !name.is_some_and(|name| is_same_name(name, &shown.name)) {
                return Err(refused(format!(
                    "its column {} is no column of {} under its own name",
                    shown.name, def.name
                )));
            }
        }
        let mut constants: Vec<Constant> = Vec::new();
        for condition in &bound.conditions {
            let equal = equality(&condition.expr).and_then(|(expr, value)| Some((place_of(expr, &own, def)?, value)));
            let Some((column, value)) = equal else {
                return Err(refused(format!("its condition {} is not of the form column = constant", condition.text)));
            };
            let ty = type_of(column, &own, &bound.table);
            // A column may hold the value of the constant, or one near it: 1.56 for 1.555.
            let is_equal = |kept: &Value| eval::compare(CompareOp::Eq, value, kept, ty) == Some(true);
            match number::assign(value.clone(), ty) {
                Ok(kept) if is_equal(&kept) && !constants.iter().any(|(known, _)| *known == column) => {
                    constants.push((column, kept));
                }
                _ => return Err(refused(format!("no row meets its condition {}", condition.text))),
            }
        }
        let TableRows { table, conditions, reads, .. } = bound;
        Ok(Self { def: view, table, own, constants, conditions, reads, span })
    }

    /// The dynamic columns that a statement may name: those of the view, and then those that it declares.
    ///
    /// # Errors
    /// A declared one under the name of a column of the view.
    pub(crate) fn known_columns(&self, declared: &[DynamicColumn]) -> Result<Vec<DynamicColumn>> {
        declared.iter().try_for_each(|column| self.check_not_shown(&column.column))?;
        let is_shown = |own: &&DynamicColumn| self.def.column_index(&own.column.name.text).is_some();
        Ok(self.own.iter().filter(is_shown).chain(declared).cloned().collect())
    }

    /// The columns that a list names, as a statement over the table lists them, with the places and types of dynamic ones; `declared` are
    /// those of dynamic columns of the statement. Without a list all columns that the view shows.
    ///
    /// # Errors
    /// A declared column under the name of a column of the view.
    pub(crate) fn listed(&self, names: Option<&[ColumnName]>, declared: &[(usize, SqlType)]) -> Result<ListedColumns> {
        let mut names = names.map_or_else(|| self.shown(), <[ColumnName]>::to_vec);
        let mut dynamic = declared.to_vec();
        for (place, name) in names.iter_mut().enumerate() {
            if declared.iter().any(|(declared, _)| *declared == place) {
                self.check_not_shown(name)?;
                continue;
            }
            let is_shown = self.def.column_index(&name.name.text).is_some();
            let Some(Place::Own(own)) = self.place(&name.name.text).filter(|_| is_shown) else { continue };
            if let Some(DynamicColumn { column, ty }) = self.own.get(own) {
                dynamic.push((place, *ty));
                name.family = column.family.as_ref().map(|family| Name { span: name.name.span, ..family.clone() });
            }
        }
        Ok((names, dynamic))
    }

    /// The columns that a statement without a list writes.
    fn shown(&self) -> Vec<ColumnName> {
        let is_given = |name: &&str| match self.place(name) {
            Some(Place::Table(index)) => {
                self.table.def().columns.get(index).is_none_or(|column| column.generated().is_none())
            }
            _ => true,
        };
        let name = |name: &str| Name { text: name.to_owned(), quoted: true, span: self.span };
        let names = self.def.columns.iter().map(|column| column.name.as_str()).filter(is_given);
        names.map(|text| ColumnName { family: None, name: name(text) }).collect()
    }

    /// # Errors
    /// A dynamic column that a statement declares under the name of a column of the view.
    fn check_not_shown(&self, name: &ColumnName) -> Result<()> {
        match self.def.column_index(&name.name.text) {
            None => Ok(()),
            Some(_) => {
                let (table, column) = (self.def.name.to_string(), name.to_string());
                let error = BindError::from(BindErrorKind::ColumnExists { table, column });
                Err(error.at(Some(name.span())).help("name it without a type: it is a column of the view"))
            }
        }
    }

    /// A column by its own name, with its family if it is dynamic and has one.
    pub(super) fn column_name(&self, column: Place) -> ColumnName {
        let quoted = |text: &str| Name { text: text.to_owned(), quoted: true, span: self.span };
        let family = match column {
            Place::Table(_) => None,
            Place::Own(place) => self.own.get(place).and_then(|column| column.column.family.as_ref()),
        };
        ColumnName { family: family.map(|family| quoted(&family.text)), name: quoted(self.name_of(column)) }
    }

    pub(crate) fn name_of(&self, column: Place) -> &str {
        let name = match column {
            Place::Table(index) => self.table.def().columns.get(index).map(|column| &column.name),
            Place::Own(place) => self.own.get(place).map(|column| &column.column.name.text),
        };
        name.map_or("", String::as_str)
    }

    /// The column of this name.
    fn place(&self, name: &str) -> Option<Place> {
        let own = self.own.iter().position(|column| is_same_name(&column.column.name.text, name));
        own.map(Place::Own).or_else(|| self.table.def().column_index(name).map(Place::Table))
    }

    /// The condition of a column that a statement writes, by index; dynamic ones come after those of the table.
    pub(crate) fn constant_of(&self, column: usize, dynamic: &[ColumnDef]) -> Option<&Constant> {
        let is_it = |(place, _): &&Constant| match place {
            Place::Table(index) => *index == column,
            Place::Own(place) => {
                let written = self.table.def().dynamic_column(dynamic, column).zip(self.own.get(*place));
                written.is_some_and(|(written, own)| is_same_name(&written.name, &stored_name(&own.column)))
            }
        };
        self.constants.iter().find(is_it)
    }

    /// Adds the columns of conditions that are not among those written; their values.
    pub(crate) fn add_constants(&self, columns: &mut Vec<usize>, dynamic: &mut Vec<ColumnDef>) -> Vec<Value> {
        let is_written = |constant: &Constant| {
            columns.iter().any(|&column| self.constant_of(column, dynamic).is_some_and(|it| it.0 == constant.0))
        };
        let missing: Vec<Constant> = self.constants.iter().filter(|it| !is_written(it)).cloned().collect();
        for (place, _) in &missing {
            match place {
                Place::Table(index) => columns.push(*index),
                Place::Own(_) => {
                    columns.push(self.table.def().columns.len() + dynamic.len());
                    let name = stored_name(&self.column_name(*place));
                    dynamic.push(ColumnDef { hidden: true, ..ColumnDef::new(name, self.type_of(*place)) });
                }
            }
        }
        missing.into_iter().map(|(_, value)| value).collect()
    }

    /// # Errors
    /// [`BindErrorKind::ViewCheck`] if an expression gives a column another value than the conditions do.
    pub(crate) fn check(&self, (column, value): &Constant, given: &ast::Expr, params: Params<'_>) -> Result<()> {
        let ty = self.type_of(*column);
        let is_parameter = matches!(given, ast::Expr::Value(it) if matches!(it.value, ast::Value::Placeholder(_)));
        let is_open = matches!(params, Params::Open(_)) && is_parameter;
        let is_it = |known: Value| number::assign(known, ty).is_ok_and(|known| known == *value);
        match is_open || constant(given, params).is_some_and(is_it) {
            true => Ok(()),
            false => {
                let (view, column) = (self.def.name.to_string(), self.name_of(*column).to_owned());
                let error = BindErrorKind::ViewCheck { view, column, value: text::literal(value, ty) };
                Err(BindError::from(error).at(expr_span(given)))
            }
        }
    }

    /// The conditions, where the ids of the table's columns begin with this one.
    pub(crate) fn conditions_from(&self, first_column: usize) -> Vec<Condition> {
        let moved = |condition: &Condition| {
            let mut expr = condition.expr.clone();
            expr.map_columns(&mut |column| column.index += first_column);
            Condition::new(expr)
        };
        self.conditions.iter().map(moved).collect()
    }

    pub(super) fn type_of(&self, place: Place) -> SqlType {
        type_of(place, &self.own, &self.table)
    }
}

fn read_only(view: &ViewDef, span: Span, why: String) -> BindError {
    BindError::from(BindErrorKind::ReadOnlyView { view: view.name.to_string(), why }).at(Some(span))
}

/// The column and the value of `column = constant`.
fn equality(condition: &Expr) -> Option<(&Expr, &Value)> {
    let Expr::Compare(CompareOp::Eq, left, right) = condition else { return None };
    match (&**left, &**right) {
        (column, Expr::Literal(value, _)) | (Expr::Literal(value, _), column) => Some((column, value)),
        _ => None,
    }
}

/// The column that an expression is.
fn place_of(expr: &Expr, own: &[DynamicColumn], def: &TableDef) -> Option<Place> {
    match expr {
        Expr::Column(column) => (column.index < def.columns.len()).then_some(Place::Table(column.index)),
        expr => {
            let name = expr.dynamic_column()?;
            own.iter().position(|own| is_same_name(&stored_name(&own.column), name)).map(Place::Own)
        }
    }
}

fn type_of(place: Place, own: &[DynamicColumn], table: &Table) -> SqlType {
    match place {
        Place::Table(index) => table.column_type(index),
        Place::Own(place) => own.get(place).map_or(SqlType::Null, |own| own.ty),
    }
}
