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
    Assignment, ConflictAction, ConflictClause, Delete, Merge, MergeAction, MergeRows, QueryStatement, Returning,
    RowSource, SourceText, Statement, Update, Upsert,
};
use saltwing_sql::{ColumnName, DynamicColumn, Name, TableRef, expr_span, parse_query_at};
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{CompareOp, Expr, Span, SqlType, TableDef, TableName, Value, ViewDef, number, text};
use sqlparser::ast::{self, Ident, SelectItem, SetExpr};

use super::dynamic::stored_name;
use super::expanded::with_views;
use super::merged::{both, condition_of, rows_of};
use super::name::table_name;
use super::own_columns::{declared_by, listed_behind, table_ref};
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Params, constant};
use crate::output::OutputColumn;
use crate::select::{Output, simple};
use crate::target::declared;

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
        Statement::Merge(it) => written.merge(it, params)?,
        _ => {}
    }
    Ok(Some(statement))
}

/// Whether a view takes writes.
pub fn is_updatable(view: &ViewDef, catalog: &dyn CatalogReader) -> bool {
    WrittenView::of(view, Span::on_line(1, 1, 1), catalog).is_ok()
}

/// A view that is `SELECT * FROM table WHERE column = constant AND ..`, with columns of its own, as Phoenix's views are.
pub struct PlainView {
    /// The table or the view below it.
    pub over: TableName,
    /// Whether that is a view.
    pub is_over_view: bool,
    /// The table.
    pub table: Arc<Table>,
    /// The columns of its own, those of the views below it left out.
    pub own: Vec<DynamicColumn>,
    /// The columns of its conditions, with their types and values.
    pub constants: Vec<(ColumnName, SqlType, Value)>,
}

/// The view as one of Phoenix's; `None` if it is none.
pub fn plain_view(view: &ViewDef, catalog: &dyn CatalogReader) -> Option<PlainView> {
    let nowhere = Span::on_line(1, 1, 1);
    let written = WrittenView::of(view, nowhere, catalog).ok()?;
    let query = parse_query_at(&view.query, nowhere).ok()?;
    let name = simple(&query.query)?.name;
    let own = listed_behind(name).ok()?.unwrap_or_default();
    let (schema, bare) = table_name(name)?;
    let below = catalog.view(schema, bare);
    let (over, mut shown, known): (_, Vec<String>, Vec<String>) = match &below {
        Some(below) => {
            let written = WrittenView::of(below, nowhere, catalog).ok()?;
            let known = written.constants.iter().map(|(place, _)| stored_name(&written.column_name(*place)));
            let known = known.collect();
            (below.name.clone(), below.columns.iter().map(|column| column.name.clone()).collect(), known)
        }
        None => {
            let def = written.table.def();
            let shown = def.columns.iter().filter(|column| !column.hidden).map(|column| column.name.clone());
            (def.name.clone(), shown.collect(), Vec::new())
        }
    };
    shown.extend(own.iter().map(|column| column.column.name.text.clone()));
    if !shown.iter().eq(view.columns.iter().map(|column| &column.name)) {
        return None;
    }
    let constant = |(place, value): &Constant| {
        let name = written.column_name(*place);
        let is_new = !known.contains(&stored_name(&name));
        is_new.then(|| (name, type_of(*place, &written.own, &written.table), value.clone()))
    };
    let constants = written.constants.iter().filter_map(constant).collect();
    Some(PlainView { over, is_over_view: below.is_some(), table: written.table.clone(), own, constants })
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
    /// The columns of its own, those of the views below it among them: dynamic columns of the table.
    own: Vec<DynamicColumn>,
    /// The columns that the conditions name, with the values.
    constants: Vec<Constant>,
    span: Span,
}

/// A column of a view that takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Of the table, by index.
    Table(usize),
    /// Of the view's own, by place.
    Own(usize),
}

/// A column that a condition names, with its value.
type Constant = (Place, Value);

impl<'a> WrittenView<'a> {
    fn of(view: &'a ViewDef, span: Span, catalog: &dyn CatalogReader) -> Result<Self> {
        let written = parse_query_at(&view.query, span)?;
        let own = declared_by(&written, catalog)?.map(|(_, own)| own).unwrap_or_default();
        let query = with_views(&written, catalog)?.into_owned();
        let refused = |why: String| read_only(view, span, why);
        let bound = rows_of(&query, catalog).ok_or_else(|| refused("it is more than rows of one table".into()))?;
        let Output::Rows(columns) = &bound.output else {
            return Err(refused("it is more than rows of one table".into()));
        };
        let def = bound.table.def();
        for (OutputColumn { expr, .. }, shown) in columns.iter().zip(&view.columns) {
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
            match number::assign(value.clone(), ty) {
                Ok(value) if !value.is_null() && !constants.iter().any(|(known, _)| *known == column) => {
                    constants.push((column, value));
                }
                _ => return Err(refused(format!("no row meets its condition {}", condition.text))),
            }
        }
        Ok(Self { view, table: bound.table.clone(), query, own, constants, span })
    }

    fn table_ref(&self) -> TableRef {
        table_ref(&self.table.def().name, self.span)
    }

    /// The list of dynamic columns behind the table: those of the view, and others that the statement declares.
    fn list(&self, given: Option<&Name>) -> Result<Option<Name>> {
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
    fn check_not_shown(&self, name: &ColumnName) -> Result<()> {
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
    fn alias(&self, given: Option<Name>) -> Name {
        given.unwrap_or_else(|| Name { text: self.view.name.name.clone(), quoted: true, span: self.span })
    }

    fn name_of(&self, column: Place) -> &str {
        let name = match column {
            Place::Table(index) => self.table.def().columns.get(index).map(|column| &column.name),
            Place::Own(place) => self.own.get(place).map(|column| &column.column.name.text),
        };
        name.map_or("", String::as_str)
    }

    /// A column as a statement over the table names it.
    fn column_name(&self, column: Place) -> ColumnName {
        let quoted = |text: &str| Name { text: text.to_owned(), quoted: true, span: self.span };
        let family = match column {
            Place::Table(_) => None,
            Place::Own(place) => self.own.get(place).and_then(|column| column.column.family.as_ref()),
        };
        ColumnName { family: family.map(|family| quoted(&family.text)), name: quoted(self.name_of(column)) }
    }

    /// The column of this name.
    fn place(&self, name: &str) -> Option<Place> {
        let own = self.own.iter().position(|column| is_same_name(&column.column.name.text, name));
        own.map(Place::Own).or_else(|| self.table.def().column_index(name).map(Place::Table))
    }

    /// A column that the statement writes.
    fn written(&self, column: &ColumnName) -> Result<Option<Place>> {
        if self.view.column_index(&column.name.text).is_none() {
            let (table, column_name) = (self.view.name.to_string(), column.to_string());
            let error = BindErrorKind::NoSuchColumn { table, column: column_name };
            return Err(BindError::from(error).at(Some(column.span())));
        }
        Ok(self.place(&column.name.text))
    }

    /// The value of a column that the conditions name.
    fn constant_of(&self, column: &ColumnName) -> Result<Option<&Constant>> {
        let index = self.written(column)?;
        Ok(self.constants.iter().find(|(constant, _)| Some(*constant) == index))
    }

    /// # Errors
    /// [`BindErrorKind::ViewCheck`] if an expression gives a column another value than the conditions do.
    fn check(&self, (column, value): &Constant, given: &ast::Expr, params: Params<'_>) -> Result<()> {
        let ty = type_of(*column, &self.own, &self.table);
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

    fn literal(&self, (column, value): &Constant) -> Result<ast::Expr> {
        let ty = type_of(*column, &self.own, &self.table);
        expr_of(&format!("CAST({} AS {ty})", text::literal(value, ty)))
    }

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
            named.push(self.named(self.column_name(constant.0), named.len(), &mut dynamic)?);
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
            let is_key = |(column, _): &Constant| match column {
                Place::Table(column) => self.table.def().key.position(*column).is_some(),
                Place::Own(_) => false,
            };
            if !self.constants.iter().all(is_key) {
                let what = "ON CONFLICT DO UPDATE in a view with a condition on a column outside the key";
                return Err(BindError::from(BindErrorKind::NotSupported(what.into())).at(Some(*span)));
            }
            self.check_assignments(assignments, params)?;
        }
        self.take_names(statement);
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
        statement.selection = self.selection(&alias, statement.selection.take());
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
                clause.condition = self.selection(&alias, clause.condition.take());
            }
        }
        let on = std::mem::replace(&mut statement.on, ast::Expr::value(ast::Value::Null));
        statement.on = self.selection(&alias, Some(on)).unwrap_or_else(|| ast::Expr::value(ast::Value::Boolean(true)));
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
