//! The rewriting of the statement's tree for DataFusion's planner.
//!
//! * Names become lower case: DataFusion compares them exactly, we ignore case.
//! * Operations become calls ([`crate::operation`]), and parameters become their values.
//! * An item without a name, or with the name of another item, gets an internal name. [`crate::label`] restores the
//!   labels.
//! * Wildcards leave out hidden columns. Tables have hidden columns in the plan only if the statement names one of
//!   them.
//! * Clauses that DataFusion would ignore silently are refused, and so are functions that do not exist.

mod families;
mod grouping;
mod items;
mod merging;
mod operations;
mod relations;
mod result_select;
mod rows;
mod similar;
mod unnest;
mod windows;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;

use saltwing_bind::{LowerError, Params, Subquery};
use saltwing_catalog::CatalogReader;
use saltwing_sql::expr_span;
use saltwing_sql::statement::SourceText;
use saltwing_types::table::{ROW_ID_COLUMN, ROW_KEY_COLUMN};
use saltwing_types::{Span, Value, text, typing};
use sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, LimitClause, ObjectName, ObjectNamePart, Query,
    Select, SelectItem, SetExpr, TableAlias, TableFactor, UnaryOperator, Visit, VisitMut, Visitor, VisitorMut,
};

use self::families::Scope;
use self::result_select::ResultSelect;
use crate::function_names::FunctionNames;
use crate::internal_name::is_internal;
use crate::label::Labels;
use crate::operation::Operations;
use crate::request::QueryRequest;
use crate::{RelationalError, RelationalErrorKind};

type Result<T> = std::result::Result<T, RelationalError>;

/// A statement ready to be planned.
pub(crate) struct Prepared {
    /// Its tree.
    pub(crate) query: Query,
    /// What its calls stand for.
    pub(crate) operations: Operations,
    /// Its labels.
    pub(crate) labels: Labels,
    /// Whether it names a hidden column.
    pub(crate) names_hidden: bool,
    /// Whether a LIMIT or OFFSET is a parameter without a value.
    pub(crate) limit_open: bool,
    /// Where each table is named, in text order, by its name in lower case.
    pub(crate) places: Places,
    /// Names that several columns of some subquery have, in lower case: none of these is found by its name.
    pub(crate) ambiguous: HashSet<String>,
    /// Where functions that are not ours are called first, by their names in lower case.
    pub(crate) calls: HashMap<String, Span>,
    /// Whether an item with an alias stands beside a wildcard.
    pub(crate) has_alias_beside_wildcard: bool,
}

/// Places by name.
pub(crate) type Places = HashMap<String, VecDeque<Span>>;

/// How far aliases are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renaming {
    /// Only where two explicit items collide.
    Collisions,
    /// All beside a wildcard, whose columns they may collide with.
    BesideWildcards,
}

/// Makes a statement ready.
///
/// # Errors
/// What cannot be supported, literals that are no values, parameters that are missing.
pub(crate) fn prepare(request: &QueryRequest, functions: &FunctionNames<'_>, renaming: Renaming) -> Result<Prepared> {
    let QueryRequest { query, items, subqueries, .. } = request;
    let catalog = &*request.catalog;
    let mut query = query.clone();
    let mut merged_items = None;
    if merging::has_merges(&query) {
        merged_items = Some(merging::merge_columns(&mut query, catalog, items)?);
    }
    let items = merged_items.as_deref().unwrap_or(items);
    let mut look = Look::default();
    if let ControlFlow::Break(error) = Visit::visit(&query, &mut look) {
        return Err(error);
    }
    let mut rewriter = Rewriter {
        params: request.params(),
        subqueries,
        functions,
        renaming,
        has_alias_beside_wildcard: false,
        operations: Operations::new(functions.0.clone()),
        labels: Labels::default(),
        names_hidden: look.names_hidden,
        ctes: look.ctes,
        catalog,
        result: ResultSelect::of(&query),
        items,
        scopes: Vec::new(),
        limit_open: false,
        places: Places::new(),
        ambiguous: HashSet::new(),
        calls: HashMap::new(),
    };
    match VisitMut::visit(&mut query, &mut rewriter) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(Prepared {
            query,
            operations: rewriter.operations,
            labels: rewriter.labels,
            names_hidden: rewriter.names_hidden,
            limit_open: rewriter.limit_open,
            places: rewriter.places,
            ambiguous: rewriter.ambiguous,
            calls: rewriter.calls,
            has_alias_beside_wildcard: rewriter.has_alias_beside_wildcard,
        }),
    }
}

/// What the rewriting must know of the whole statement before it starts.
#[derive(Default)]
struct Look {
    names_hidden: bool,
    ctes: HashSet<String>,
}

impl Visitor for Look {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<RelationalError> {
        self.ctes.extend(query.with.iter().flat_map(|w| &w.cte_tables).map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<RelationalError> {
        let name = match expr {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(parts) => parts.last(),
            Expr::Function(call) => {
                let name = call.name.to_string();
                if is_internal(name.trim_matches('"')) {
                    let error = RelationalError::from(RelationalErrorKind::NoSuchFunction(name));
                    return ControlFlow::Break(error.at(expr_span(expr)));
                }
                None
            }
            _ => None,
        };
        self.names_hidden |= name.is_some_and(|name| is_hidden(&name.value));
        ControlFlow::Continue(())
    }
}

fn is_hidden(name: &str) -> bool {
    [ROW_KEY_COLUMN, ROW_ID_COLUMN].iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
}

struct Rewriter<'a> {
    params: Params<'a>,
    subqueries: &'a [Subquery],
    functions: &'a FunctionNames<'a>,
    renaming: Renaming,
    has_alias_beside_wildcard: bool,
    operations: Operations,
    labels: Labels,
    names_hidden: bool,
    /// Names of WITH tables anywhere in the statement.
    ctes: HashSet<String>,
    catalog: &'a dyn CatalogReader,
    /// The SELECT that names the result's columns.
    result: ResultSelect,
    /// The texts of its items.
    items: &'a [SourceText],
    /// The tables in sight, from the outermost query in.
    scopes: Vec<Scope>,
    limit_open: bool,
    places: Places,
    ambiguous: HashSet<String>,
    calls: HashMap<String, Span>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        self.result.enter_query(query);
        let scope = match query.body.as_ref() {
            SetExpr::Select(select) => self.scope(select),
            _ => Scope::default(),
        };
        self.scopes.push(scope);
        if let SetExpr::Select(select) = query.body.as_mut()
            && let Err(error) = windows::resolve_windows(select, query.order_by.as_mut())
        {
            return ControlFlow::Break(error);
        }
        broken(self.query(query))
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        self.scopes.pop();
        self.result.leave_query();
        items::follow_renamed(query);
        items::order_by_items(query);
        if let SetExpr::Values(values) = query.body.as_mut() {
            self.plain_rows(values);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<RelationalError> {
        let scope = self.scope(select);
        self.scopes.push(scope);
        let is_result = self.result.enter_select();
        broken(self.select(select, is_result))
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<RelationalError> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<RelationalError> {
        let span = name.0.last().and_then(|part| part.as_ident()).and_then(|n| expr_span(&Expr::Identifier(n.clone())));
        lower_object(name);
        if let Some(span) = span {
            let parts: Vec<&str> = name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
            self.places.entry(parts.join(".")).or_default().push_back(span);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<RelationalError> {
        broken(self.table_factor(factor))
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<RelationalError> {
        broken(rows::marked(factor))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        match expr {
            Expr::Identifier(name) => lower(name),
            Expr::CompoundIdentifier(parts) => {
                parts.iter_mut().for_each(lower);
                let span = expr_span(&Expr::CompoundIdentifier(parts.clone()));
                let replaced = families::without_family(parts, &self.scopes);
                return broken(replaced.map_err(|error| error.at(span)));
            }
            Expr::QualifiedWildcard(name, _) => lower_object(name),
            Expr::Function(call) => lower_call(call),
            // The smallest BIGINT is a literal: the number behind its sign is beyond BIGINT.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: operand } if matches!(**operand, Expr::Value(_)) => {
                let span = expr_span(expr);
                match self.constant(expr.clone(), span) {
                    Ok(literal) => *expr = literal,
                    Err(error) => return ControlFlow::Break(error.at(span)),
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        // The place of a long chain would be looked for at every link.
        let is_chain = matches!(expr, Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. });
        grouping::as_sets(expr);
        broken(if is_chain { Ok(()) } else { self.operation(expr) })
    }
}

fn broken(result: Result<()>) -> ControlFlow<RelationalError> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

fn not_supported(what: &str) -> RelationalError {
    RelationalErrorKind::NotSupported(what.to_owned()).into()
}

/// In lower case, where DataFusion leaves it.
fn lower(name: &mut Ident) {
    name.value = name.value.to_lowercase();
}

fn lower_object(name: &mut ObjectName) {
    for part in &mut name.0 {
        if let ObjectNamePart::Identifier(ident) = part {
            lower(ident);
        }
    }
}

fn lower_call(call: &mut ast::Function) {
    lower_object(&mut call.name);
}

/// The clauses of a query and its names.
impl Rewriter<'_> {
    fn scope(&self, select: &Select) -> Scope {
        Scope::of(&select.from, self.catalog, &|name| self.ctes.contains(name))
    }

    fn query(&mut self, query: &mut Query) -> Result<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            self.alias(&mut cte.alias)?;
        }
        for (present, clause) in [
            (query.fetch.is_some(), "FETCH beside LIMIT"),
            (!query.locks.is_empty(), "FOR UPDATE"),
            (query.for_clause.is_some(), "FOR XML, JSON or BROWSE"),
            (query.settings.is_some(), "SETTINGS"),
            (query.format_clause.is_some(), "FORMAT"),
            (!query.pipe_operators.is_empty(), "|>"),
        ] {
            if present {
                return Err(not_supported(clause));
            }
        }
        match &mut query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                if !limit_by.is_empty() {
                    return Err(not_supported("LIMIT BY"));
                }
                for count in limit.iter_mut().chain(offset.iter_mut().map(|o| &mut o.value)) {
                    self.row_count(count)?;
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.row_count(offset)?;
                self.row_count(limit)?;
            }
            None => {}
        }
        Ok(())
    }

    /// A LIMIT or OFFSET that is a parameter becomes its value; without one, no limit is known.
    fn row_count(&mut self, count: &mut Expr) -> Result<()> {
        let is_value = matches!(count, Expr::Value(_));
        let is_placeholder = matches!(count, Expr::Value(value) if matches!(value.value, ast::Value::Placeholder(_)));
        if is_value && !is_placeholder {
            return Ok(());
        }
        if let Some(value) = saltwing_bind::constant(count, self.params) {
            *count = as_row_count(&value).map_err(|error| error.at(expr_span(count)))?;
        } else if is_placeholder {
            self.lowerer(&saltwing_bind::Scope::empty()).lower(count).map_err(LowerError::into_error)?;
            *count = Expr::value(ast::Value::Null);
            self.limit_open = true;
        }
        Ok(())
    }

    fn select(&mut self, select: &mut Select, is_result: bool) -> Result<()> {
        for (present, clause) in [
            (select.exclude.is_some(), "EXCLUDE behind the items"),
            (select.into.is_some(), "SELECT INTO"),
            (select.prewhere.is_some(), "PREWHERE"),
            (!select.connect_by.is_empty(), "CONNECT BY"),
            (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
            (select.value_table_mode.is_some(), "SELECT AS STRUCT"),
            (select.select_modifiers.is_some(), "a modifier of SELECT"),
        ] {
            if present {
                return Err(not_supported(clause));
            }
        }
        for item in &mut select.projection {
            if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item {
                items::lower_options(options);
            }
            if let SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                lower_object(name);
            }
        }
        windows::resolve_windows(select, None)?;
        self.name_items(select, is_result)?;
        Ok(())
    }

    fn table_factor(&mut self, factor: &mut TableFactor) -> Result<()> {
        unnest::as_unnest(factor)?;
        match factor {
            TableFactor::Table { alias, version, sample, partitions, with_hints, json_path, index_hints, .. } => {
                for (present, clause) in [
                    (version.is_some(), "reading an older state"),
                    (sample.is_some(), "TABLESAMPLE"),
                    (!partitions.is_empty(), "PARTITION"),
                    (!with_hints.is_empty() || !index_hints.is_empty(), "a hint behind a table"),
                    (json_path.is_some(), "a JSON path behind a table"),
                ] {
                    if present {
                        return Err(not_supported(clause));
                    }
                }
                alias.iter_mut().try_for_each(|alias| self.alias(alias))?;
            }
            TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. } => alias.iter_mut().try_for_each(|alias| self.alias(alias))?,
            TableFactor::NestedJoin { alias, .. } => alias.iter_mut().try_for_each(|alias| self.alias(alias))?,
            _ => {}
        }
        Ok(())
    }

    fn alias(&mut self, alias: &mut TableAlias) -> Result<()> {
        lower(&mut alias.name);
        let mut seen = HashSet::new();
        for column in &mut alias.columns {
            self.labels.alias(&column.name.value);
            if !seen.insert(column.name.value.to_lowercase()) {
                let error = RelationalError::from(RelationalErrorKind::DuplicateColumn(column.name.value.clone()));
                return Err(error.at(expr_span(&Expr::Identifier(column.name.clone()))));
            }
            lower(&mut column.name);
        }
        Ok(())
    }
}

/// A number of rows as LIMIT and OFFSET take it.
fn as_row_count(value: &Value) -> Result<Expr> {
    match value {
        Value::Null => Ok(Expr::value(ast::Value::Null)),
        Value::Int(n) if *n >= 0 => Ok(Expr::value(ast::Value::Number(n.to_string(), false))),
        other => {
            let shown = text::literal(other, typing::natural_type(other));
            Err(RelationalErrorKind::Syntax(format!("{shown} is no number of rows")).into())
        }
    }
}

/// The constraint of a join operator, borrowed as the operator is.
macro_rules! constraint {
    ($join:expr) => {
        match $join {
            JoinOperator::Join(c)
            | JoinOperator::Inner(c)
            | JoinOperator::Left(c)
            | JoinOperator::LeftOuter(c)
            | JoinOperator::Right(c)
            | JoinOperator::RightOuter(c)
            | JoinOperator::FullOuter(c)
            | JoinOperator::CrossJoin(c)
            | JoinOperator::Semi(c)
            | JoinOperator::LeftSemi(c)
            | JoinOperator::RightSemi(c)
            | JoinOperator::Anti(c)
            | JoinOperator::LeftAnti(c)
            | JoinOperator::RightAnti(c) => Some(c),
            _ => None,
        }
    };
}

fn constraint_mut(join: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    constraint!(join)
}

fn constraint_of(join: &JoinOperator) -> Option<&JoinConstraint> {
    constraint!(join)
}
