//! Views that take writes.
//!
//! As in Phoenix, the conditions of such a view are columns with their values.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::{ColumnName, DynamicColumn, Name, TableRef, expr_span};
use saltwing_types::table::is_same_name;
use saltwing_types::{CompareOp, Expr, Span, SqlType, TableDef, Value, ViewDef, eval, number, text};
use sqlparser::ast;

use super::apart::query_of_view;
use super::dynamic::stored_name;
use super::own_columns::{declared_by, table_ref};
use super::rows::rows_of;
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result, if_bound};
use crate::lower::{Params, constant};
use crate::target::declared;

/// Whether a view takes writes.
///
/// # Errors
/// That of the catalog.
pub fn is_updatable(view: &ViewDef, catalog: &dyn CatalogReader) -> Result<bool> {
    Ok(if_bound(WrittenView::of(view, Span::on_line(1, 1, 1), catalog))?.is_some())
}

/// A view that takes writes: columns of one table under their own names, whose conditions are columns with their values.
pub(super) struct WrittenView<'a> {
    pub(super) view: &'a ViewDef,
    pub(super) table: Arc<Table>,
    /// The columns of its own, those of the views below it among them: dynamic columns of the table.
    pub(super) own: Vec<DynamicColumn>,
    /// The columns that the conditions name, with the values.
    pub(super) constants: Vec<Constant>,
    pub(super) span: Span,
}

/// A column of a view that takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of the table, by index.
    Table(usize),
    /// Of the view's own, by place.
    Own(usize),
}

/// A column that a condition names, with its value.
pub(super) type Constant = (Place, Value);

impl<'a> WrittenView<'a> {
    pub(super) fn of(view: &'a ViewDef, span: Span, catalog: &dyn CatalogReader) -> Result<Self> {
        let written = query_of_view(view, span, catalog)?;
        let own = declared_by(&written, catalog)?.map(|(_, own)| own).unwrap_or_default();
        let refused = |why: String| read_only(view, span, why);
        let bound = rows_of(&written, catalog)?.ok_or_else(|| refused("it is more than rows of one table".into()))?;
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
        Ok(Self { view, table: bound.table.clone(), own, constants, span })
    }

    pub(super) fn table_ref(&self) -> TableRef {
        table_ref(&self.table.def().name, self.span)
    }

    /// The list of dynamic columns behind the table: those of the view, and others that the statement declares.
    pub(super) fn list(&self, given: Option<&Name>) -> Result<Option<Name>> {
        let mut columns = self.own.clone();
        for column in declared(given)? {
            self.check_not_shown(&column.column)?;
            columns.push(column);
        }
        let texts: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let text = format!("({})", texts.join(", "));
        Ok((!columns.is_empty()).then_some(Name { text, quoted: true, span: self.span }))
    }

    /// # Errors
    /// A dynamic column that a statement declares under the name of a column of the view.
    pub(super) fn check_not_shown(&self, name: &ColumnName) -> Result<()> {
        match self.view.column_index(&name.name.text) {
            None => Ok(()),
            Some(_) => {
                let (table, column) = (self.view.name.to_string(), name.to_string());
                let error = BindError::from(BindErrorKind::ColumnExists { table, column });
                Err(error.at(Some(name.span())).help("name it without a type: it is a column of the view"))
            }
        }
    }

    /// The name of the view, as the name of the table in the statement.
    pub(super) fn alias(&self, given: Option<Name>) -> Name {
        given.unwrap_or_else(|| Name { text: self.view.name.name.clone(), quoted: true, span: self.span })
    }

    pub(super) fn name_of(&self, column: Place) -> &str {
        let name = match column {
            Place::Table(index) => self.table.def().columns.get(index).map(|column| &column.name),
            Place::Own(place) => self.own.get(place).map(|column| &column.column.name.text),
        };
        name.map_or("", String::as_str)
    }

    /// A column as a statement over the table names it.
    pub(super) fn column_name(&self, column: Place) -> ColumnName {
        let quoted = |text: &str| Name { text: text.to_owned(), quoted: true, span: self.span };
        let family = match column {
            Place::Table(_) => None,
            Place::Own(place) => self.own.get(place).and_then(|column| column.column.family.as_ref()),
        };
        ColumnName { family: family.map(|family| quoted(&family.text)), name: quoted(self.name_of(column)) }
    }

    /// The column of this name.
    pub(super) fn place(&self, name: &str) -> Option<Place> {
        let own = self.own.iter().position(|column| is_same_name(&column.column.name.text, name));
        own.map(Place::Own).or_else(|| self.table.def().column_index(name).map(Place::Table))
    }

    /// A column that the statement writes.
    pub(super) fn written(&self, column: &ColumnName) -> Result<Option<Place>> {
        if self.view.column_index(&column.name.text).is_none() {
            let (table, column_name) = (self.view.name.to_string(), column.to_string());
            let error = BindErrorKind::NoSuchColumn { table, column: column_name };
            return Err(BindError::from(error).at(Some(column.span())));
        }
        Ok(self.place(&column.name.text))
    }

    /// The value of a column that the conditions name.
    pub(super) fn constant_of(&self, column: &ColumnName) -> Result<Option<&Constant>> {
        let index = self.written(column)?;
        Ok(self.constants.iter().find(|(constant, _)| Some(*constant) == index))
    }

    /// # Errors
    /// [`BindErrorKind::ViewCheck`] if an expression gives a column another value than the conditions do.
    pub(super) fn check(&self, (column, value): &Constant, given: &ast::Expr, params: Params<'_>) -> Result<()> {
        let ty = type_of(*column, &self.own, &self.table);
        let known = constant(given, params);
        let is_open =
            matches!(params, Params::Open(_)) && matches!(given, ast::Expr::Value(it) if is_placeholder(&it.value));
        let is_it = |known: Value| number::assign(known, ty).is_ok_and(|known| known == *value);
        match is_open || known.is_some_and(is_it) {
            true => Ok(()),
            false => {
                let value = text::literal(value, ty);
                let error = BindErrorKind::ViewCheck {
                    view: self.view.name.to_string(),
                    column: self.name_of(*column).into(),
                    value,
                };
                Err(BindError::from(error).at(expr_span(given)))
            }
        }
    }

    /// The value of a condition, which is compared with its column.
    pub(super) fn compared(&self, constant: &Constant) -> Result<ast::Expr> {
        let ty = type_of(constant.0, &self.own, &self.table);
        // A literal of these types takes the type of the column. A number with a point is a DECIMAL beside a float, too.
        match ty.is_integer() || matches!(ty, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Boolean) {
            true => expr_of(&text::literal(&constant.1, ty)),
            false => self.literal(constant),
        }
    }

    /// The value of a condition, as one of the type of its column.
    pub(super) fn literal(&self, (column, value): &Constant) -> Result<ast::Expr> {
        let ty = type_of(*column, &self.own, &self.table);
        expr_of(&format!("CAST({} AS {ty})", text::literal(value, ty)))
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

pub(super) fn type_of(place: Place, own: &[DynamicColumn], table: &Table) -> SqlType {
    match place {
        Place::Table(index) => table.column_type(index),
        Place::Own(place) => own.get(place).map_or(SqlType::Null, |own| own.ty),
    }
}

fn is_placeholder(value: &ast::Value) -> bool {
    matches!(value, ast::Value::Placeholder(_))
}
