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

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{
    Assignment, ConflictAction, ConflictClause, ConflictTarget, Delete, Merge, MergeAction, MergeRows, Returning,
    RowSource, SourceText, Statement, Update, Upsert,
};
use saltwing_sql::{ColumnName, DynamicColumn, Name, TableRef, expr_span, parse_query_at};
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{Span, SqlType};
use sqlparser::ast::{self, BinaryOperator, Ident, SelectItem, SetExpr};

use super::dynamic::stored_name;
use super::updatable::{Constant, Place, WrittenView, type_of};
use crate::arbiters::arbiters;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Params;

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
    let Some(view) = catalog.view(schema, bare)? else { return Ok(None) };
    let written = WrittenView::of(&view, name.span(), catalog)?;
    let mut statement = Box::new(statement.clone());
    match &mut *statement {
        Statement::Upsert(it) | Statement::Insert(it) => written.upsert(it, params)?,
        Statement::Update(it) => written.update(it, params)?,
        Statement::Delete(it) => written.delete(it)?,
        Statement::Merge(it) => written.merge(it, params)?,
        _ => {}
    }
    Ok(Some(statement))
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

impl WrittenView<'_> {
    fn upsert(&self, statement: &mut Upsert, params: Params<'_>) -> Result<()> {
        let columns = statement.columns.take().unwrap_or_else(|| self.shown());
        // The dynamic columns of the statement, and those of the view's own that it writes.
        let mut dynamic = std::mem::take(&mut statement.dynamic);
        let mut named = Vec::with_capacity(columns.len() + self.constants.len());
        let mut missing: Vec<&Constant> = self.constants.iter().collect();
        for (place, column) in columns.into_iter().enumerate() {
            if dynamic.iter().any(|(dynamic, _)| *dynamic == place) {
                self.check_not_shown(&column)?;
                named.push(column);
                continue;
            }
            let constant = self.constant_of(&column)?;
            named.push(self.named(column, place, &mut dynamic)?);
            let (Some(constant), Some(column)) = (constant, named.last()) else { continue };
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
            // The view need not show it.
            if let Place::Own(_) = constant.0 {
                dynamic.push((named.len(), type_of(constant.0, &self.own, &self.table)));
            }
            named.push(self.column_name(constant.0));
            let literal = self.literal(constant)?;
            match &mut statement.source {
                RowSource::Values(rows) => rows.iter_mut().for_each(|row| {
                    row.values.push(literal.clone());
                    row.first_parameter = None;
                }),
                RowSource::Query(query) => add_item(query, literal)?,
            }
        }
        self.take_names(statement);
        if let Some(ConflictClause { action: ConflictAction::Update { assignments, .. }, target, span }) =
            &statement.conflict
        {
            self.check_arbiters(target, *span)?;
            self.check_assignments(assignments, params)?;
        }
        self.returning(&mut statement.returning);
        let is_written = |own: &DynamicColumn| {
            let written = dynamic.iter().filter_map(|(place, _)| named.get(*place));
            written.into_iter().any(|name| is_same_name(&stored_name(name), &stored_name(&own.column)))
        };
        statement.known = self.own.iter().filter(|own| !is_written(own)).cloned().collect();
        (statement.columns, statement.dynamic) = (Some(named), dynamic);
        statement.table = self.table_ref();
        Ok(())
    }

    /// The columns that a statement without a list writes.
    fn shown(&self) -> Vec<ColumnName> {
        let places = self.view.columns.iter().filter_map(|column| self.place(&column.name));
        let is_given = |place: &Place| match place {
            Place::Table(index) => {
                self.table.def().columns.get(*index).is_none_or(|column| column.generated().is_none())
            }
            Place::Own(_) => true,
        };
        places.filter(is_given).map(|place| self.column_name(place)).collect()
    }

    /// A column as a statement over the table names it. One of the view's own is dynamic there.
    fn named(&self, column: ColumnName, place: usize, dynamic: &mut Vec<(usize, SqlType)>) -> Result<ColumnName> {
        match self.written(&column)? {
            Some(own @ Place::Own(_)) => {
                dynamic.push((place, type_of(own, &self.own, &self.table)));
                Ok(ColumnName {
                    name: Name { span: column.name.span, ..self.column_name(own).name },
                    ..self.column_name(own)
                })
            }
            _ => Ok(column),
        }
    }

    /// Takes the name of the view from before columns: an UPSERT has no other name for its table.
    fn take_names(&self, statement: &mut Upsert) {
        let mut unqualified = Unqualified(&self.view.name.name);
        if let Some(ConflictClause { target: ConflictTarget::Parts { parts, predicate, .. }, .. }) =
            &mut statement.conflict
        {
            for expr in parts.iter_mut().map(|(part, _)| part).chain(predicate) {
                let _ = ast::VisitMut::visit(expr, &mut unqualified);
            }
        }
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

    /// # Errors
    /// A row that is there and in conflict with a new one need not be one of the view.
    fn check_arbiters(&self, target: &ConflictTarget, span: Span) -> Result<()> {
        if self.constants.is_empty() {
            return Ok(());
        }
        let arbiters = arbiters(target, &self.table, false).map_err(|error| error.at(Some(span)))?;
        let is_covered = |(column, _): &Constant| match column {
            Place::Table(column) => arbiters.cover(*column, self.table.def()),
            Place::Own(_) => false,
        };
        if self.constants.iter().all(is_covered) {
            return Ok(());
        }
        let key = if arbiters.primary_key { "the key" } else { "the unique index" };
        let what = format!("ON CONFLICT DO UPDATE in a view with a condition on a column outside {key}");
        Err(BindError::from(BindErrorKind::NotSupported(what)).at(Some(span)))
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
        statement.selection = self.selection(&alias, statement.selection.take())?;
        self.returning(&mut statement.returning);
        statement.dynamic = self.list(statement.dynamic.as_ref())?;
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
        statement.selection = self.selection(&alias, statement.selection.take())?;
        self.returning(&mut statement.returning);
        statement.dynamic = self.list(statement.dynamic.as_ref())?;
        (statement.table, statement.alias) = (self.table_ref(), Some(alias));
        Ok(())
    }

    /// A row that the view does not show matches no row of the source.
    fn merge(&self, statement: &mut Merge, params: Params<'_>) -> Result<()> {
        let alias = self.alias(statement.alias.take());
        // A name without a qualifier may be one of the source.
        let mut hidden = Hidden { written: self, alias: &alias.text, queries: 1 };
        self.check_exprs(std::iter::once(&statement.on), &mut hidden)?;
        for clause in &mut statement.clauses {
            self.check_exprs(clause.condition.iter(), &mut hidden)?;
            match &mut clause.action {
                MergeAction::Update(assignments) => {
                    self.check_assignments(assignments, params)?;
                    self.check_exprs(assignments.iter().map(|it| &it.value), &mut hidden)?;
                }
                MergeAction::Insert { columns, values, .. } => self.inserted(columns, values, params)?,
                MergeAction::Delete | MergeAction::Nothing => {}
            }
            if clause.rows == MergeRows::NotInSource {
                clause.condition = self.selection(&alias, clause.condition.take())?;
            }
        }
        let on = std::mem::replace(&mut statement.on, ast::Expr::value(ast::Value::Null));
        statement.on = self.selection(&alias, Some(on))?.unwrap_or_else(|| ast::Expr::value(ast::Value::Boolean(true)));
        self.returning(&mut statement.returning);
        statement.dynamic = self.list(statement.dynamic.as_ref())?;
        (statement.table, statement.alias) = (self.table_ref(), Some(alias));
        Ok(())
    }

    /// Gives the row of a MERGE's INSERT the values of the conditions.
    fn inserted(
        &self,
        columns: &mut Option<Vec<ColumnName>>,
        values: &mut Vec<ast::Expr>,
        params: Params<'_>,
    ) -> Result<()> {
        let mut named = columns.take().unwrap_or_else(|| self.shown());
        let mut missing: Vec<&Constant> = self.constants.iter().collect();
        for (column, given) in named.iter().zip(values.iter_mut()) {
            let Some(constant) = self.constant_of(column)? else { continue };
            missing.retain(|it| it.0 != constant.0);
            match saltwing_sql::is_default(given) {
                true => *given = self.literal(constant)?,
                false => self.check(constant, given, params)?,
            }
        }
        // Values without a column are an error, which the number of both shows.
        if named.len() == values.len() {
            for constant in missing {
                named.push(self.column_name(constant.0));
                values.push(self.literal(constant)?);
            }
        }
        *columns = Some(named);
        Ok(())
    }

    /// # Errors
    /// A column of the table that the view does not show.
    fn check_shown<'e>(&self, alias: &Name, exprs: impl Iterator<Item = &'e ast::Expr>) -> Result<()> {
        self.check_exprs(exprs, &mut Hidden { written: self, alias: &alias.text, queries: 0 })
    }

    fn check_exprs<'e>(&self, exprs: impl Iterator<Item = &'e ast::Expr>, hidden: &mut Hidden<'_>) -> Result<()> {
        for expr in exprs {
            if let ControlFlow::Break(name) = ast::Visit::visit(expr, hidden) {
                let span = expr_span(&ast::Expr::Identifier(name.clone()));
                let error = BindErrorKind::NoSuchColumn { table: self.view.name.to_string(), column: name.value };
                return Err(BindError::from(error).at(span));
            }
        }
        Ok(())
    }

    /// The conditions of the view and of the statement.
    fn selection(&self, alias: &Name, own: Option<ast::Expr>) -> Result<Option<ast::Expr>> {
        let equal = |constant: &Constant| {
            let name = self.column_name(constant.0);
            let parts = name.parts().into_iter().map(|part| Ident::with_quote('"', part));
            let column = std::iter::once(Ident::with_quote('"', &alias.text)).chain(parts).collect();
            let left = Box::new(ast::Expr::CompoundIdentifier(column));
            Ok(ast::Expr::BinaryOp { left, op: BinaryOperator::Eq, right: Box::new(self.compared(constant)?) })
        };
        let of_view = self.constants.iter().map(equal).collect::<Result<Vec<_>>>()?;
        let own = own.map(|own| ast::Expr::Nested(Box::new(own)));
        let and =
            |left, right| ast::Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) };
        Ok(of_view.into_iter().chain(own).reduce(and))
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
