//! Sequences: their definitions, and the values that a statement takes from them.
//!
//! ```text
//! SELECT a, 'no. ' || NEXT VALUE FOR s FROM t ORDER BY a
//!   query:  SELECT a, 0 FROM t ORDER BY a             either executor runs it
//!   rows:   a, 'no. ' || $sequence 0                  each row of the result takes one value, in the order of the result
//! ```
//!
//! Values are taken when the rows of the result are known, as in Phoenix: WHERE, ORDER BY and LIMIT come before. All values
//! of one sequence in one row are the same value.

use std::ops::ControlFlow;

use saltwing_sql::statement::{
    AlterSequence, CreateSequence, QueryStatement, Restart, SequenceNumber, SequenceOptions,
};
use saltwing_sql::{SequenceCall, SequenceVerb, TableRef, sequence_call};
use saltwing_types::sequence::SEQUENCE_CACHE;
use saltwing_types::{ColumnRef, Expr, SequenceDef, SequencePosition, Span, SqlType, TableId, TableName, Value};
use sqlparser::ast::{self, Ident, SelectItem, SetExpr, Visit, VisitMut, Visitor, VisitorMut};

use crate::error::{BindError, BindErrorKind, Result, invalid_at};
use crate::lower::{LowerError, Lowerer, Params, constant, operand, operand_place};
use crate::output::{OutputColumn, ResultColumn};
use crate::scope::Scope;
use crate::target::table_path;

/// Checks a CREATE SEQUENCE and makes its definition; the catalog gives it its id.
///
/// # Errors
/// [`BindErrorKind::InvalidDefinition`].
pub fn create_sequence(statement: &CreateSequence) -> Result<SequenceDef> {
    let TableRef { schema, name } = &statement.name;
    let def = SequenceDef {
        id: TableId(0),
        name: TableName { schema: schema.as_ref().map(|schema| schema.text.clone()), name: name.text.clone() },
        start: 1,
        increment: 1,
        min: i64::MIN,
        max: i64::MAX,
        cycles: false,
        cache: SEQUENCE_CACHE,
    };
    let SequenceOptions { start, min, max, .. } = &statement.options;
    let mut def = changed(def, &statement.options);
    if start.is_none() {
        // The limit from which the values go, if there is one.
        let from = if def.increment > 0 { min } else { max };
        def.start = from.flatten().map_or(1, |number| number.value);
    }
    check(&def, &statement.options, statement.name.span())?;
    Ok(def)
}

/// Checks an ALTER SEQUENCE and makes the next definition and position.
///
/// # Errors
/// As [`create_sequence`].
pub fn alter_sequence(
    statement: &AlterSequence,
    def: SequenceDef,
    position: SequencePosition,
) -> Result<(SequenceDef, SequencePosition)> {
    let def = changed(def, &statement.options);
    check(&def, &statement.options, statement.name.span())?;
    let (position, span) = match statement.restart {
        None => (position, statement.name.span()),
        Some(Restart::AtStart) => (def.beginning(), statement.name.span()),
        Some(Restart::With(SequenceNumber { value, span })) => {
            (SequencePosition { last: value, is_taken: false }, span)
        }
    };
    if !(def.min..=def.max).contains(&position.last) {
        let text = format!("{} lies outside MINVALUE {} and MAXVALUE {}", position.last, def.min, def.max);
        return Err(invalid_at(text, span).phoenix(1211).help("RESTART WITH n starts inside"));
    }
    Ok((def, position))
}

fn changed(def: SequenceDef, options: &SequenceOptions) -> SequenceDef {
    let SequenceOptions { start, increment, min, max, cycles, cache } = options;
    let value = |option: &Option<SequenceNumber>, other| option.map_or(other, |number| number.value);
    let limit = |option: &Option<Option<SequenceNumber>>, none, other| {
        option.map_or(other, |limit| limit.map_or(none, |number| number.value))
    };
    SequenceDef {
        start: value(start, def.start),
        increment: value(increment, def.increment),
        min: limit(min, i64::MIN, def.min),
        max: limit(max, i64::MAX, def.max),
        cycles: cycles.unwrap_or(def.cycles),
        // None in advance is one at a time.
        cache: cache.map_or(def.cache, |number| u64::try_from(number.value).unwrap_or(0).max(1)),
        ..def
    }
}

fn check(def: &SequenceDef, options: &SequenceOptions, span: Span) -> Result<()> {
    let at = |number: Option<SequenceNumber>| number.map_or(span, |number| number.span);
    let SequenceDef { start, min, max, .. } = def;
    if def.increment == 0 {
        return Err(invalid_at("INCREMENT BY 0 makes no sequence", at(options.increment)).phoenix(1214));
    }
    if let Some(cache) = options.cache.filter(|cache| cache.value < 0) {
        return Err(invalid_at("CACHE takes a number of values, at least 0", cache.span).phoenix(1204));
    }
    if min > max {
        let text = format!("MINVALUE {min} is above MAXVALUE {max}");
        return Err(invalid_at(text, at(options.min.flatten().or(options.max.flatten()))).phoenix(1210));
    }
    if !(min..=max).contains(&start) {
        let text = format!("START WITH {start} lies outside MINVALUE {min} and MAXVALUE {max}");
        return Err(invalid_at(text, at(options.start)).phoenix(1211));
    }
    Ok(())
}

/// A CREATE SEQUENCE that makes the same sequence.
pub fn create_sequence_text(def: &SequenceDef) -> String {
    format!("CREATE SEQUENCE {} {}", table_path(&def.name), sequence_options_text(def))
}

/// The options of a sequence.
pub(crate) fn sequence_options_text(def: &SequenceDef) -> String {
    let SequenceDef { start, increment, min, max, cache, .. } = def;
    let cycle = if def.cycles { " CYCLE" } else { "" };
    format!("START WITH {start} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max}{cycle} CACHE {cache}")
}

/// The sequences of which the rows of a statement take values, each once.
#[derive(Clone, Debug, Default)]
pub struct SequenceUses(Vec<SequenceUse>);

/// A sequence of which each row takes a value.
#[derive(Clone, Debug)]
pub struct SequenceUse {
    /// The sequence.
    pub name: TableRef,
    /// The calls that name it: one that sets it, or any number of others.
    calls: Vec<SequenceCall>,
}

/// What a row does to a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceAction {
    /// It gets the last value that the session took.
    Repeat,
    /// It takes this number of values.
    Take(u64),
    /// It sets the value, which counts as taken or not.
    Set(i64, bool),
}

impl SequenceUse {
    /// What each row does: of several calls that take values the largest number counts; 1 if a number is a parameter without
    /// a value.
    ///
    /// # Errors
    /// A count that is no number from 1 on; a value that is no whole number.
    pub fn action(&self, params: Params<'_>) -> Result<SequenceAction> {
        let mut action = SequenceAction::Repeat;
        for call in &self.calls {
            let number = call.number.as_ref().map(|number| constant(number, params));
            action = match (call.verb, number) {
                (SequenceVerb::Current, _) => continue,
                (SequenceVerb::Set, Some(Some(Value::Int(value)))) => SequenceAction::Set(value, call.is_taken),
                (SequenceVerb::Next, Some(Some(Value::Int(count)))) if count > 0 => {
                    taking(action, count.unsigned_abs())
                }
                (SequenceVerb::Next, None) => taking(action, 1),
                (_, Some(None)) if matches!(params, Params::Open) => taking(action, 1),
                (verb, _) => {
                    let text = match verb {
                        SequenceVerb::Set => "SETVAL takes a whole number",
                        _ => "NEXT n VALUES FOR takes a whole number of values, at least 1",
                    };
                    let error = BindError::from(BindErrorKind::Syntax(text.to_owned()));
                    let error = error.at(call.number.as_ref().and_then(saltwing_sql::expr_span));
                    return Err(error.at(Some(self.name.span())).phoenix(1215));
                }
            };
        }
        Ok(action)
    }
}

/// The larger of two numbers of values.
fn taking(action: SequenceAction, count: u64) -> SequenceAction {
    match action {
        SequenceAction::Take(other) => SequenceAction::Take(other.max(count)),
        _ => SequenceAction::Take(count),
    }
}

impl SequenceUses {
    /// The sequences, in the order of their values in a row.
    pub fn iter(&self) -> impl Iterator<Item = &SequenceUse> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The expression of a row that takes values of sequences; `None` if `expr` does not. Column `i` of the expression is
    /// the value of the sequence number `i`.
    ///
    /// # Errors
    /// Errors of types; an expression around the values that the language lacks.
    pub fn of_row(&mut self, expr: &ast::Expr, params: Params<'_>) -> Result<Option<Expr>> {
        let mut expr = expr.clone();
        if !self.take(&mut expr)? {
            return Ok(None);
        }
        lowered(&expr, &self.columns(0), params).map(Some)
    }

    /// Puts operands, numbered as the sequences are, into the place of the values; whether there are any.
    fn take(&mut self, expr: &mut ast::Expr) -> Result<bool> {
        let mut taking = Taking { uses: self, found: false };
        match VisitMut::visit(expr, &mut taking) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(taking.found),
        }
    }

    fn place(&mut self, call: SequenceCall) -> Result<usize> {
        let key = |name: &TableRef| {
            (name.schema.as_ref().map(|schema| schema.text.to_lowercase()), name.name.text.to_lowercase())
        };
        let place = self.0.iter().position(|known| key(&known.name) == key(&call.name)).unwrap_or_else(|| {
            self.0.push(SequenceUse { name: call.name.clone(), calls: Vec::new() });
            self.0.len() - 1
        });
        if let Some(known) = self.0.get_mut(place) {
            known.calls.push(call);
            let sets = known.calls.iter().any(|call| call.verb == SequenceVerb::Set);
            if sets && known.calls.len() > 1 {
                let text = "SETVAL is the only use of its sequence in a statement".to_owned();
                return Err(BindError::from(BindErrorKind::Syntax(text)).at(Some(known.name.span())));
            }
        }
        Ok(place)
    }

    /// The values as columns, the first of which has this index.
    fn columns(&self, first: usize) -> Vec<Expr> {
        let columns = self.0.iter().zip(first..);
        columns.map(|(it, index)| column(index, it.name.to_string(), SqlType::BigInt, false)).collect()
    }
}

fn column(index: usize, name: String, ty: SqlType, nullable: bool) -> Expr {
    Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
}

/// An expression of operands.
fn lowered(expr: &ast::Expr, operands: &[Expr], params: Params<'_>) -> Result<Expr> {
    let scope = Scope::empty();
    let lowerer = Lowerer { operands, ..Lowerer::new(&scope, params) };
    lowerer.lower(expr).map_err(|error| match error {
        LowerError::Invalid(error) => error,
        LowerError::Unsupported(what, span) => {
            let text = format!("{what} around a value of a sequence");
            BindError::from(BindErrorKind::NotSupported(text)).at(span)
        }
    })
}

struct Taking<'u> {
    uses: &'u mut SequenceUses,
    found: bool,
}

impl VisitorMut for Taking<'_> {
    type Break = BindError;

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<BindError> {
        match sequence_call(expr) {
            Ok(Some(call)) => match self.uses.place(call) {
                Ok(place) => {
                    self.found = true;
                    *expr = operand(place);
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            },
            Ok(None) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error.into()),
        }
    }
}

/// A query whose rows take values of sequences.
pub struct SequencedQuery {
    /// The sequences.
    pub uses: SequenceUses,
    /// The query without them. Behind the columns of the result it has the operands that expressions with values need.
    pub query: QueryStatement,
    items: Vec<SequencedItem>,
    operands: usize,
}

/// An item of a SELECT that takes values of sequences.
struct SequencedItem {
    /// The label of the column that stands for it in the query.
    placeholder: String,
    label: String,
    /// Operands are the values of the sequences, and behind them the operands of the query.
    expr: ast::Expr,
}

/// Takes the values of sequences out of the items of a query.
///
/// # Errors
/// [`BindErrorKind::Sql`] for a call that names no sequence.
pub fn sequenced_query(statement: &QueryStatement) -> Result<SequencedQuery> {
    let mut query = statement.clone();
    query.has_sequences = false;
    let (mut uses, mut items) = (SequenceUses::default(), Vec::new());
    let mut operands = Operands::default();
    if let SetExpr::Select(select) = query.query.body.as_mut() {
        for (place, item) in select.projection.iter_mut().enumerate() {
            let (expr, alias) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
                _ => continue,
            };
            let text = expr.to_string();
            if uses.take(expr)? {
                let written = || statement.items.get(place).map_or(text, |item| item.text.clone());
                let label = alias.unwrap_or_else(written);
                let placeholder = format!("__saltwing_sequence_{place}");
                let zero = ast::Expr::value(ast::Value::Number("0".into(), false));
                let alias = Ident::with_quote('"', &placeholder);
                let taken = std::mem::replace(item, SelectItem::ExprWithAlias { expr: zero, alias });
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = taken {
                    items.push(SequencedItem { placeholder, label, expr });
                }
            }
        }
        operands.first = uses.0.len();
        for item in &mut items {
            let _ = VisitMut::visit(&mut item.expr, &mut operands);
        }
        let named = operands.exprs.iter().enumerate().map(|(place, expr)| {
            let alias = Ident::with_quote('"', format!("__saltwing_operand_{place}"));
            SelectItem::ExprWithAlias { expr: expr.clone(), alias }
        });
        select.projection.extend(named);
    }
    Ok(SequencedQuery { uses, query, items, operands: operands.exprs.len() })
}

impl SequencedQuery {
    /// The result's columns, made of those of the query, which come first, and the values of the sequences behind them.
    ///
    /// # Errors
    /// As [`SequenceUses::of_row`].
    pub fn outputs(&self, columns: &[ResultColumn], params: Params<'_>) -> Result<Vec<OutputColumn>> {
        let shown = columns.len().saturating_sub(self.operands);
        let of_query = |(index, it): (usize, &ResultColumn)| column(index, it.label.clone(), it.ty, it.nullable);
        let mut operands = self.uses.columns(columns.len());
        operands.extend(columns.iter().enumerate().skip(shown).map(of_query));
        let output = |(index, it): (usize, &ResultColumn)| {
            let Some(item) = self.items.iter().find(|item| item.placeholder == it.label) else {
                return Ok(OutputColumn { label: it.label.clone(), expr: of_query((index, it)), ty: it.ty });
            };
            let expr = lowered(&item.expr, &operands, params)?;
            let ty = expr.sql_type().unwrap_or(SqlType::Null);
            Ok(OutputColumn { label: item.label.clone(), expr, ty })
        };
        columns.iter().enumerate().take(shown).map(output).collect()
    }

    /// Whether the query reads nothing and its only row has nothing but values of sequences.
    pub fn is_of_one_row(&self) -> bool {
        let query = &*self.query.query;
        let plain =
            query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && self.operands == 0;
        match query.body.as_ref() {
            SetExpr::Select(select) => {
                plain
                    && select.from.is_empty()
                    && select.selection.is_none()
                    && select.having.is_none()
                    && select.projection.len() == self.items.len()
            }
            _ => false,
        }
    }

    /// The columns of a query that [is of one row](Self::is_of_one_row).
    pub fn columns_of_one_row(&self) -> Vec<ResultColumn> {
        let column = |item: &SequencedItem| {
            let label = item.placeholder.clone();
            ResultColumn { label, ty: SqlType::BigInt, nullable: false }
        };
        self.items.iter().map(column).collect()
    }
}

/// Takes the parts of an expression that hold no operand out of it, and puts operands into their places. Literals and
/// parameters stay.
#[derive(Default)]
struct Operands {
    first: usize,
    exprs: Vec<ast::Expr>,
}

impl VisitorMut for Operands {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if !matches!(expr, ast::Expr::Value(_) | ast::Expr::TypedString(_)) && !has_operand(expr) {
            let taken = std::mem::replace(expr, operand(self.first + self.exprs.len()));
            self.exprs.push(taken);
        }
        ControlFlow::Continue(())
    }
}

fn has_operand(expr: &ast::Expr) -> bool {
    struct Look;
    impl Visitor for Look {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
            match operand_place(expr) {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        }
    }
    expr.visit(&mut Look).is_break()
}
