//! Writes to a view as writes to its table.
//!
//! ```text
//! CREATE VIEW v AS SELECT * FROM t WHERE a = 1
//! UPSERT INTO v (k, b) VALUES (5, 'x')       ──►   UPSERT INTO t (k, b, a) VALUES (5, 'x', 1)
//! UPDATE v SET b = 'y' WHERE k = 5           ──►   UPDATE t AS v SET b = 'y' WHERE (a = 1) AND (k = 5)
//! ```
//!
//! As in Phoenix, the conditions of such a view are columns with their values. A row that is written through the view has these
//! values, so the view shows it.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{
    Assignment, ConflictAction, ConflictClause, Delete, QueryStatement, Returning, RowSource, SourceText, Statement,
    Update, Upsert,
};
use saltwing_sql::{ColumnName, Name, TableRef, expr_span, parse_query_at};
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{CompareOp, Expr, Span, SqlType, Value, ViewDef, number, text};
use sqlparser::ast::{self, Ident, SelectItem, SetExpr};

use super::expanded::{query_of_view, with_views};
use super::merged::{both, condition_of, rows_of};
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Params, constant};
use crate::output::OutputColumn;
use crate::select::Output;

/// The statement as one that writes the table of the view that it names; `None` if it names no view.
///
/// # Errors
/// [`BindErrorKind::ReadOnlyView`]; [`BindErrorKind::ViewCheck`] for a value that the view would not show.
pub fn through_view(
    statement: &Statement,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<Option<Box<Statement>>> {
    let Some(name) = target(statement).filter(|_| catalog.has_views()) else { return Ok(None) };
    let (schema, bare) = name.parts();
    let Some(view) = catalog.view(schema, bare) else { return Ok(None) };
    let written = WrittenView::of(&view, name.span(), catalog)?;
    let mut statement = Box::new(statement.clone());
    match &mut *statement {
        Statement::Upsert(it) | Statement::Insert(it) => written.upsert(it, params)?,
        Statement::Update(it) => written.update(it, params)?,
        Statement::Delete(it) => written.delete(it)?,
        _ => return Err(written.refused("MERGE takes a table")),
    }
    Ok(Some(statement))
}

/// Whether a view takes writes.
pub fn is_updatable(view: &ViewDef, catalog: &dyn CatalogReader) -> bool {
    WrittenView::of(view, Span::on_line(1, 1, 1), catalog).is_ok()
}

fn target(statement: &Statement) -> Option<&TableRef> {
    match statement {
        Statement::Upsert(it) | Statement::Insert(it) => Some(&it.table),
        Statement::Update(it) => Some(&it.table),
        Statement::Delete(it) => Some(&it.table),
        Statement::Merge(it) => Some(&it.table),
        _ => None,
    }
}

/// A view that takes writes: columns of one table under their own names, whose conditions are columns with their values.
struct WrittenView<'a> {
    view: &'a ViewDef,
    query: QueryStatement,
    table: Arc<Table>,
    /// The columns that the conditions name, by index, with the values.
    constants: Vec<(usize, Value)>,
    span: Span,
}

impl<'a> WrittenView<'a> {
    fn of(view: &'a ViewDef, span: Span, catalog: &dyn CatalogReader) -> Result<Self> {
        let query = with_views(&query_of_view(view, span, catalog)?, catalog)?.into_owned();
        let refused = |why: String| read_only(view, span, why);
        let bound = rows_of(&query, catalog).ok_or_else(|| refused("it is more than rows of one table".into()))?;
        let Output::Rows(columns) = &bound.output else {
            return Err(refused("it is more than rows of one table".into()));
        };
        let def = bound.table.def();
        if def.name.schema.is_none() && catalog.hides(&def.name.name) {
            return Err(refused(format!("a temporary table of this session hides its table {}", def.name)));
        }
        for (OutputColumn { expr, .. }, shown) in columns.iter().zip(&view.columns) {
            let own = |name: &str| is_same_name(name, &shown.name);
            if !matches!(expr, Expr::Column(column) if own(&column.name) && column.index < def.columns.len()) {
                return Err(refused(format!(
                    "its column {} is no column of {} under its own name",
                    shown.name, def.name
                )));
            }
        }
        let mut constants: Vec<(usize, Value)> = Vec::new();
        for condition in &bound.conditions {
            let Some((column, value)) = equality(&condition.expr) else {
                return Err(refused(format!("its condition {} is not of the form column = constant", condition.text)));
            };
            let ty = bound.table.column_type(column);
            match number::assign(value.clone(), ty) {
                Ok(value) if !value.is_null() && !constants.iter().any(|(known, _)| *known == column) => {
                    constants.push((column, value));
                }
                _ => return Err(refused(format!("no row meets its condition {}", condition.text))),
            }
        }
        Ok(Self { view, table: bound.table.clone(), query, constants, span })
    }

    fn refused(&self, why: &str) -> BindError {
        read_only(self.view, self.span, why.to_owned())
    }

    fn table_ref(&self) -> TableRef {
        let name = &self.table.def().name;
        let quoted = |text: &String| Name { text: text.clone(), quoted: true, span: self.span };
        TableRef { schema: name.schema.as_ref().map(quoted), name: quoted(&name.name) }
    }

    /// The name of the view, as the name of the table in the statement.
    fn alias(&self, given: Option<Name>) -> Name {
        given.unwrap_or_else(|| Name { text: self.view.name.name.clone(), quoted: true, span: self.span })
    }

    fn name_of(&self, column: usize) -> &str {
        self.table.def().columns.get(column).map_or("", |column| &column.name)
    }

    fn column_name(&self, name: &str) -> ColumnName {
        ColumnName { family: None, name: Name { text: name.to_owned(), quoted: true, span: self.span } }
    }

    /// The index of a column that the statement writes.
    fn written(&self, column: &ColumnName) -> Result<Option<usize>> {
        if self.view.column_index(&column.name.text).is_none() {
            let (table, column_name) = (self.view.name.to_string(), column.to_string());
            let error = BindErrorKind::NoSuchColumn { table, column: column_name };
            return Err(BindError::from(error).at(Some(column.span())));
        }
        Ok(self.table.def().column_index(&column.name.text))
    }

    /// The value of a column that the conditions name.
    fn constant_of(&self, column: &ColumnName) -> Result<Option<&(usize, Value)>> {
        let index = self.written(column)?;
        Ok(self.constants.iter().find(|(constant, _)| Some(*constant) == index))
    }

    /// # Errors
    /// [`BindErrorKind::ViewCheck`] if an expression gives a column another value than the conditions do.
    fn check(&self, (column, value): &(usize, Value), given: &ast::Expr, params: Params<'_>) -> Result<()> {
        let ty = self.table.column_type(*column);
        let known = constant(given, params);
        let is_open =
            matches!(params, Params::Open) && matches!(given, ast::Expr::Value(it) if is_placeholder(&it.value));
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

    fn literal(&self, (column, value): &(usize, Value)) -> Result<ast::Expr> {
        let ty: SqlType = self.table.column_type(*column);
        expr_of(&format!("CAST({} AS {ty})", text::literal(value, ty)))
    }

    fn upsert(&self, statement: &mut Upsert, params: Params<'_>) -> Result<()> {
        let is_given = |name: &str| {
            let column = self.table.def().column_index(name).and_then(|index| self.table.def().columns.get(index));
            column.is_none_or(|column| column.generated().is_none())
        };
        let shown = self.view.columns.iter().filter(|column| is_given(&column.name));
        let all = || shown.map(|column| self.column_name(&column.name)).collect();
        let mut columns: Vec<ColumnName> = statement.columns.take().unwrap_or_else(all);
        let mut missing: Vec<&(usize, Value)> = self.constants.iter().collect();
        for (place, column) in columns.iter().enumerate() {
            let Some(constant) = self.constant_of(column)? else { continue };
            missing.retain(|it| it.0 != constant.0);
            match &mut statement.source {
                RowSource::Values(rows) => {
                    for given in rows.iter_mut().filter_map(|row| row.values.get_mut(place)) {
                        match saltwing_sql::is_default(given) {
                            true => *given = self.literal(constant)?,
                            false => self.check(constant, given, params)?,
                        }
                    }
                }
                RowSource::Query(_) => {
                    let what = format!("{} among the columns that a query gives to view {}", column, self.view.name);
                    return Err(BindError::from(BindErrorKind::NotSupported(what))
                        .at(Some(column.span()))
                        .help("list the other columns: the view gives this one its value"));
                }
            }
        }
        for constant in missing {
            columns.push(self.column_name(self.name_of(constant.0)));
            let literal = self.literal(constant)?;
            match &mut statement.source {
                RowSource::Values(rows) => rows.iter_mut().for_each(|row| {
                    row.values.push(literal.clone());
                    row.first_parameter = None;
                }),
                RowSource::Query(query) => add_item(query, literal)?,
            }
        }
        if let Some(ConflictClause { action: ConflictAction::Update { assignments, .. }, span, .. }) =
            &statement.conflict
        {
            let is_key = |(column, _): &(usize, Value)| self.table.def().key.position(*column).is_some();
            if !self.constants.iter().all(is_key) {
                let what = "ON CONFLICT DO UPDATE in a view with a condition on a column outside the key";
                return Err(BindError::from(BindErrorKind::NotSupported(what.into())).at(Some(*span)));
            }
            self.check_assignments(assignments, params)?;
        }
        self.take_names(statement);
        self.returning(&mut statement.returning);
        statement.columns = Some(columns);
        statement.table = self.table_ref();
        Ok(())
    }

    /// Takes the name of the view from before columns: an UPSERT has no other name for its table.
    fn take_names(&self, statement: &mut Upsert) {
        let mut unqualified = Unqualified(&self.view.name.name);
        if let Some(ConflictClause { action: ConflictAction::Update { assignments, selection }, .. }) =
            &mut statement.conflict
        {
            for expr in assignments.iter_mut().map(|it| &mut it.value).chain(selection) {
                let _ = ast::VisitMut::visit(expr, &mut unqualified);
            }
        }
        for item in statement.returning.iter_mut().flat_map(|returning| &mut returning.items) {
            let _ = ast::VisitMut::visit(item, &mut unqualified);
        }
    }

    fn check_assignments(&self, assignments: &[Assignment], params: Params<'_>) -> Result<()> {
        for Assignment { column, value } in assignments {
            if let Some(constant) = self.constant_of(column)? {
                self.check(constant, value, params)?;
            }
        }
        Ok(())
    }

    fn update(&self, statement: &mut Update, params: Params<'_>) -> Result<()> {
        self.check_assignments(&statement.assignments, params)?;
        let alias = self.alias(statement.alias.take());
        let values = statement.assignments.iter().map(|it| &it.value);
        self.check_shown(&alias, values.chain(&statement.selection))?;
        statement.selection = self.selection(&alias, statement.selection.take());
        self.returning(&mut statement.returning);
        (statement.table, statement.alias) = (self.table_ref(), Some(alias));
        Ok(())
    }

    fn delete(&self, statement: &mut Delete) -> Result<()> {
        let alias = self.alias(statement.alias.take());
        let order = statement.order_by.iter().filter_map(|order| match &order.kind {
            ast::OrderByKind::Expressions(items) => Some(items.iter().map(|item| &item.expr)),
            ast::OrderByKind::All(_) => None,
        });
        self.check_shown(&alias, order.flatten().chain(&statement.selection))?;
        statement.selection = self.selection(&alias, statement.selection.take());
        self.returning(&mut statement.returning);
        (statement.table, statement.alias) = (self.table_ref(), Some(alias));
        Ok(())
    }

    /// # Errors
    /// A column of the table that the view does not show.
    fn check_shown<'e>(&self, alias: &Name, exprs: impl Iterator<Item = &'e ast::Expr>) -> Result<()> {
        let mut hidden = Hidden { written: self, alias: &alias.text, queries: 0 };
        for expr in exprs {
            if let ControlFlow::Break(name) = ast::Visit::visit(expr, &mut hidden) {
                let span = expr_span(&ast::Expr::Identifier(name.clone()));
                let error = BindErrorKind::NoSuchColumn { table: self.view.name.to_string(), column: name.value };
                return Err(BindError::from(error).at(span));
            }
        }
        Ok(())
    }

    /// The conditions of the view and of the statement.
    fn selection(&self, alias: &Name, own: Option<ast::Expr>) -> Option<ast::Expr> {
        let alias = Ident::with_quote('"', &alias.text);
        both(condition_of(&self.query, &self.table, &alias), own)
    }

    /// `RETURNING *` is the columns of the view.
    fn returning(&self, returning: &mut Option<Returning>) {
        let Some(clause) = returning else { return };
        let (mut items, mut texts) = (Vec::new(), Vec::new());
        for (place, item) in clause.items.iter().enumerate() {
            if !matches!(item, SelectItem::Wildcard(_)) {
                items.push(item.clone());
                texts.extend(clause.texts.get(place).cloned());
                continue;
            }
            for column in &self.view.columns {
                items.push(SelectItem::UnnamedExpr(ast::Expr::Identifier(Ident::with_quote('"', &column.name))));
                texts.push(SourceText { text: column.name.clone(), span: clause.span });
            }
        }
        (clause.items, clause.texts) = (items, texts);
    }
}

struct Unqualified<'a>(&'a str);

impl ast::VisitorMut for Unqualified<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::CompoundIdentifier(parts) = expr
            && let [table, column] = parts.as_slice()
            && is_same_name(&table.value, self.0)
        {
            *expr = ast::Expr::Identifier(column.clone());
        }
        ControlFlow::Continue(())
    }
}

/// Finds a column of the table that the view does not show. The names of subqueries may be those of other tables.
struct Hidden<'a> {
    written: &'a WrittenView<'a>,
    alias: &'a str,
    queries: usize,
}

impl ast::Visitor for Hidden<'_> {
    type Break = Ident;

    fn pre_visit_query(&mut self, _: &ast::Query) -> ControlFlow<Ident> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &ast::Query) -> ControlFlow<Ident> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<Ident> {
        let column = match expr {
            ast::Expr::Identifier(column) if self.queries == 0 => column,
            ast::Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, column] if is_same_name(&table.value, self.alias) => column,
                _ => return ControlFlow::Continue(()),
            },
            _ => return ControlFlow::Continue(()),
        };
        let is_hidden = self.written.table.def().find_column(None, &column.value) != ColumnMatch::None
            && self.written.view.column_index(&column.value).is_none();
        if is_hidden { ControlFlow::Break(column.clone()) } else { ControlFlow::Continue(()) }
    }
}

fn read_only(view: &ViewDef, span: Span, why: String) -> BindError {
    BindError::from(BindErrorKind::ReadOnlyView { view: view.name.to_string(), why }).at(Some(span))
}

/// The column and the value of `column = constant`.
fn equality(condition: &Expr) -> Option<(usize, &Value)> {
    let Expr::Compare(CompareOp::Eq, left, right) = condition else { return None };
    match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(value, _)) | (Expr::Literal(value, _), Expr::Column(column)) => {
            Some((column.index, value))
        }
        _ => None,
    }
}

fn is_placeholder(value: &ast::Value) -> bool {
    matches!(value, ast::Value::Placeholder(_))
}

/// One more column of a query.
fn add_item(query: &mut Box<ast::Query>, item: ast::Expr) -> Result<()> {
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection.push(SelectItem::UnnamedExpr(item));
        return Ok(());
    }
    let outer = parse_query_at("SELECT * FROM (SELECT 1) AS q", Span::on_line(1, 1, 1))?;
    let inner = std::mem::replace(query, outer.query);
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection.push(SelectItem::UnnamedExpr(item));
        if let Some(ast::TableFactor::Derived { subquery, .. }) = select.from.first_mut().map(|from| &mut from.relation)
        {
            *subquery = inner;
        }
    }
    Ok(())
}
