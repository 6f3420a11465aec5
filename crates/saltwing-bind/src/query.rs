//! Queries, bound to a tree of relations: SELECT, VALUES, set operations of queries, and WITH.

use std::cell::{Cell, RefCell};

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{QueryStatement, SourceText};
use saltwing_sql::{expr_span, tree_span};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, Expr, Span, SqlType, Value, typing};
use sqlparser::ast::{Cte, Query, SetExpr, SetOperator as Operator, SetQuantifier, Values};

use crate::engine::EngineFunctions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::hint::canonical_hints;
use crate::lower::{LowerError, Params};
use crate::names::Names;
use crate::plain_query::unbound_clause;
use crate::plan_budget::{check_plan_budget, check_size};
use crate::query_binder::{BinderState, Bound, CteScope, NamedCte, QueryBinder, SharedQuery, unsupported};
use crate::resolved_names::ResolvedNames;
use crate::scope::Scope;
use crate::select::QueryClauses;
use crate::sequence_collector::SequenceCollector;
use crate::statement_query::Root;
use crate::subquery_column::SubqueryBinder;
use crate::tree::{
    BoundQuery, ColumnIds, ComputedColumn, Output, Relation, SequenceUses, SetInput, SetOperator, SubqueryColumn,
    each_once,
};
use crate::uncorrelated::RootQuery;

/// What the names of a query mean.
///
/// # Errors
/// As [`query`](crate::query).
pub(crate) fn resolved_names(
    statement: &QueryStatement,
    catalog: &dyn CatalogReader,
    engine: &dyn EngineFunctions,
) -> Result<ResolvedNames> {
    let with = BoundWith { catalog, engine, params: Params::OPEN, names: Names::Statement };
    let state = BinderState::noting_names(Root::Query(statement.into()));
    with.bound(&state, |binder, sequences| binder.statement(statement, sequences))?;
    let names = state.names.map(RefCell::into_inner);
    names.ok_or_else(|| BindError::bug("the names of a query were not noted"))
}

/// Binds a query that stands in a statement or a view. After an error `state` has what was found until then.
///
/// # Errors
/// As [`query`](crate::query).
pub(crate) fn bound_query(
    statement: &QueryStatement,
    state: &BinderState<'_>,
    with: BoundWith<'_>,
) -> Result<RootQuery> {
    if statement.query.with.is_some() {
        check_plan_budget(statement.into())?;
    }
    with.bound(state, |binder, sequences| binder.statement(statement, sequences))
}

/// What a query is bound with.
#[derive(Clone, Copy)]
pub(crate) struct BoundWith<'a> {
    pub(crate) catalog: &'a dyn CatalogReader,
    pub(crate) engine: &'a dyn EngineFunctions,
    pub(crate) params: Params<'a>,
    pub(crate) names: Names<'a>,
}

impl BoundWith<'_> {
    /// The query that `bind` gives, with all that stands beside it. After an error `state` has what was found until then.
    pub(crate) fn bound(
        self,
        state: &BinderState<'_>,
        bind: impl FnOnce(&QueryBinder<'_>, &SequenceCollector<'_>) -> Bound<BoundQuery>,
    ) -> Result<RootQuery> {
        let (query, draw) = self.binding(state, |binder| {
            let sequences = SequenceCollector::new(binder.ids, SequenceUses::default());
            let query = bind(binder, &sequences)?;
            Ok((query, sequences.into_draw()))
        })?;
        let subqueries = state.uncorrelated.take().into_iter().map(|known| known.subquery).collect();
        let root = RootQuery { subqueries, query, draw, views: state.views.take(), reads: state.reads.take() };
        if !root.views.is_empty() {
            check_size(&root)?;
        }
        Ok(root)
    }

    /// What `bind` gives with a binder for queries.
    pub(crate) fn binding<T>(
        self,
        state: &BinderState<'_>,
        bind: impl FnOnce(&QueryBinder<'_>) -> Bound<T>,
    ) -> Result<T> {
        let Self { catalog, engine, params, names } = self;
        let ids = ColumnIds::new(engine);
        let hints = canonical_hints(state.root.hints(), catalog)?;
        let binder = QueryBinder {
            catalog,
            params,
            state,
            around: None,
            view: None,
            names,
            ids: &ids,
            hints: &hints,
            ctes: None,
            outer: None,
            merge_action: None,
        };
        bind(&binder).map_err(LowerError::into_error)
    }
}

impl QueryBinder<'_> {
    /// The tree of the query that is a statement.
    fn statement(&self, statement: &QueryStatement, sequences: &SequenceCollector<'_>) -> Bound<BoundQuery> {
        let clauses = QueryClauses {
            items: &statement.items,
            is_page: statement.after.is_some(),
            sequences: Some(sequences),
            ..QueryClauses::default()
        };
        self.query_with(&statement.query, clauses)
    }

    /// The tree of a query, the items of whose SELECT are written as `items`.
    pub(crate) fn query(&self, query: &Query, items: &[SourceText]) -> Bound<BoundQuery> {
        self.query_with(query, QueryClauses { items, ..QueryClauses::default() })
    }

    fn query_with(&self, query: &Query, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        self.with_clauses(query, clauses).map_err(|error| error.at(tree_span(query)))
    }

    fn with_clauses(&self, query: &Query, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        if let Some(clause) = unbound_clause(query) {
            return unsupported(clause);
        }
        let (order_by, limit) = (query.order_by.as_ref(), query.limit_clause.as_ref());
        let clauses = QueryClauses { order_by, limit, ..clauses };
        match &query.with {
            None => self.body_with_clauses(&query.body, clauses),
            Some(with) => {
                self.with(&with.cte_tables, with.recursive, |binder| binder.body_with_clauses(&query.body, clauses))
            }
        }
    }

    fn body_with_clauses(&self, body: &SetExpr, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        match body {
            SetExpr::Select(select) => self.select(select, clauses),
            other => self.around(self.body(other, clauses.items)?, clauses),
        }
    }

    /// What `bind` gives where these queries may be named.
    fn with<T>(&self, list: &[Cte], is_recursive: bool, bind: impl FnOnce(&QueryBinder<'_>) -> Bound<T>) -> Bound<T> {
        if list.iter().any(|cte| cte.from.is_some()) {
            return unsupported("FROM behind a query of a WITH clause");
        }
        for (place, Cte { alias, .. }) in list.iter().enumerate() {
            let is_it = |other: &Cte| is_same_name(&other.alias.name.value, &alias.name.value);
            if list.get(..place).unwrap_or_default().iter().any(is_it) {
                let error = BindErrorKind::Syntax(format!("the name {} stands twice in WITH", alias.name));
                return Err(BindError::from(error)
                    .at(expr_span(&sqlparser::ast::Expr::Identifier(alias.name.clone())))
                    .into());
            }
        }
        let named: Vec<Cell<bool>> = list.iter().map(|_| Cell::new(false)).collect();
        let shared: Vec<RefCell<Option<SharedQuery>>> = list.iter().map(|_| RefCell::default()).collect();
        let (around, outer, named, shared) = (self.ctes, self.outer, named.as_slice(), shared.as_slice());
        let (number, work_table) = (self.state.with_clauses.get(), None);
        self.state.with_clauses.set(number + 1);
        let scope =
            |visible| CteScope { number, around, list, visible, is_recursive, named, shared, outer, work_table };
        let all = scope(list.len());
        let bound = bind(&QueryBinder { ctes: Some(&all), ..*self })?;
        // One that nothing names is right, too.
        for (place, cte) in list.iter().enumerate().rev() {
            if !named.get(place).is_some_and(Cell::get) {
                let before = self.state.uncorrelated.borrow().len();
                self.named_cte(&NamedCte { cte, scope: scope(place) }, None, None)?;
                self.state.uncorrelated.borrow_mut().truncate(before);
            }
        }
        Ok(bound)
    }

    pub(crate) fn body(&self, body: &SetExpr, items: &[SourceText]) -> Bound<BoundQuery> {
        match body {
            SetExpr::Select(select) => self.select(select, QueryClauses { items, ..QueryClauses::default() }),
            SetExpr::Query(query) => self.query(query, items),
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let (is_all, by_name) = match set_quantifier {
                    SetQuantifier::All => (true, false),
                    SetQuantifier::Distinct | SetQuantifier::None => (false, false),
                    SetQuantifier::AllByName => (true, true),
                    SetQuantifier::ByName | SetQuantifier::DistinctByName => (false, true),
                };
                if by_name && *op != Operator::Union {
                    return unsupported("BY NAME of INTERSECT and EXCEPT");
                }
                let (operator, parts) = match op {
                    Operator::Union => (SetOperator::Union, parts_of_union(body, *set_quantifier)),
                    Operator::Intersect => (SetOperator::Intersect { all: is_all }, vec![&**left, &**right]),
                    Operator::Except | Operator::Minus => {
                        (SetOperator::Except { all: is_all }, vec![&**left, &**right])
                    }
                };
                let bound = self.set_operation(operator, &parts, by_name, items)?;
                Ok(if is_all || operator != SetOperator::Union { bound } else { distinct(bound) })
            }
            _ => unsupported("this kind of query"),
        }
    }

    /// The rows of VALUES.
    fn values(&self, values: &Values) -> Bound<BoundQuery> {
        let scope = Scope::empty();
        let (mut rows, mut subqueries) = (Vec::with_capacity(values.rows.len()), Vec::new());
        let width = values.rows.first().map_or(0, |row| row.content.len());
        for row in &values.rows {
            if row.content.len() != width {
                let text = format!("the rows of VALUES have {width} and {} values", row.content.len());
                let error = BindError::from(BindErrorKind::Syntax(text));
                return Err(error.at(row.content.first().and_then(expr_span)).into());
            }
            let queries = SubqueryBinder::new(self, &scope);
            let lowerer = queries.lowerer(None);
            rows.push(row.content.iter().map(|value| lowerer.lower(value)).collect::<Bound<Vec<Expr>>>()?);
            subqueries.push(queries.into_subqueries());
        }
        let (mut columns, mut types) = (Vec::with_capacity(width), Vec::with_capacity(width));
        for place in 0..width {
            let values: Vec<&Expr> = rows.iter().filter_map(|row| row.get(place)).collect();
            let (ty, nullable) = (typing::common_type(&values)?, values.iter().any(|value| value.is_nullable()));
            let (index, name) = (self.ids.take(1), format!("column{}", place + 1));
            columns.push(ColumnRef { index, name, ty, nullable, span: None });
            types.push(ty);
        }
        for row in &mut rows {
            for (value, ty) in row.iter_mut().zip(&types) {
                *value = typing::as_type(std::mem::replace(value, Expr::NULL), *ty)?;
            }
        }
        let output = columns.iter().map(Output::of).collect();
        if subqueries.iter().all(Vec::is_empty) {
            return Ok(BoundQuery { output, relation: Relation::Values { rows, columns } });
        }
        let input = |(row, subqueries): (Vec<Expr>, Vec<SubqueryColumn>)| {
            let computed: Vec<ComputedColumn> =
                row.into_iter().map(|value| self.ids.new_column_of(value, Expr::to_string)).collect();
            let columns = computed.iter().map(|computed| computed.column.clone()).collect();
            SetInput { relation: Relation::one_row().applied(subqueries).projected(computed), columns }
        };
        let inputs = rows.into_iter().zip(subqueries).map(input).collect();
        let operator = SetOperator::Union;
        Ok(BoundQuery { output, relation: Relation::SetOperation { operator, inputs, columns } })
    }

    /// The rows of several queries, each column in one type; the first query names the columns.
    fn set_operation(
        &self,
        operator: SetOperator,
        parts: &[&SetExpr],
        by_name: bool,
        items: &[SourceText],
    ) -> Bound<BoundQuery> {
        let mut queries: Vec<BoundQuery> = Vec::with_capacity(parts.len());
        for part in parts {
            let bound = self.body(part, if queries.is_empty() { items } else { &[] })?;
            if let Some(first) = queries.first().filter(|_| !by_name) {
                check_width(operator, part, first.output.len(), bound.output.len())?;
            }
            queries.push(bound);
        }
        if by_name {
            queries = self.with_columns_of_all(queries)?;
        }
        let first = queries.iter().take(1).flat_map(|query| &query.output);
        let labels: Vec<String> = first.map(|output| output.label.clone()).collect();
        let mut columns = Vec::with_capacity(labels.len());
        for (place, label) in labels.into_iter().enumerate() {
            let values: Vec<Expr> =
                queries.iter().filter_map(|query| Some(value_of_output(query, query.output.get(place)?))).collect();
            let values: Vec<&Expr> = values.iter().collect();
            let span = parts.iter().skip(1).filter_map(|part| tree_span(*part)).reduce(Span::union);
            let ty = typing::common_type(&values).map_err(|error| BindError::from(error).at(span))?;
            let given = match operator {
                SetOperator::Union => values.as_slice(),
                SetOperator::Intersect { .. } | SetOperator::Except { .. } => values.get(..1).unwrap_or_default(),
            };
            let nullable = given.iter().any(|value| value.is_nullable());
            let column = ColumnRef { index: self.ids.take(1), name: label, ty, nullable, span: None };
            if let (SqlType::Opaque, Some(Expr::Column(first))) = (ty, values.first())
                && let Some(data_type) = self.ids.opaque.get(first.index)
            {
                self.ids.opaque.put(column.index, data_type);
            }
            columns.push(column);
        }
        let inputs =
            queries.into_iter().map(|query| self.set_input(query, &columns)).collect::<Bound<Vec<SetInput>>>()?;
        let output = columns.iter().map(Output::of).collect();
        Ok(BoundQuery { output, relation: Relation::SetOperation { operator, inputs, columns } })
    }

    /// Queries with the columns of all of them, by their names in any case; a column that a query does not have is NULL in its rows.
    fn with_columns_of_all(&self, queries: Vec<BoundQuery>) -> Bound<Vec<BoundQuery>> {
        let mut labels: Vec<String> = Vec::new();
        for query in &queries {
            for (place, output) in query.output.iter().enumerate() {
                let is_it = |label: &str| is_same_name(label, &output.label);
                if query.output.iter().take(place).any(|other| is_it(&other.label)) {
                    return Err(BindError::from(BindErrorKind::DuplicateColumn(output.label.clone())).into());
                }
                if !labels.iter().any(|label| is_it(label)) {
                    labels.push(output.label.clone());
                }
            }
        }
        let with_all = |query: BoundQuery| {
            let mut missing = Vec::new();
            let output = labels.iter().map(|label| {
                let known = query.output.iter().find(|output| is_same_name(&output.label, label));
                let column = known.map(|output| output.column.clone()).unwrap_or_else(|| {
                    let null = self.ids.new_column_of(Expr::NULL, |_| label.clone());
                    missing.push(null.clone());
                    null.column
                });
                Output { label: label.clone(), column }
            });
            let output = output.collect();
            BoundQuery { relation: query.relation.projected(missing), output }
        };
        Ok(queries.into_iter().map(with_all).collect())
    }

    /// A query as an input of a set operation with these columns.
    pub(crate) fn set_input(&self, query: BoundQuery, columns: &[ColumnRef]) -> Bound<SetInput> {
        let mut computed: Vec<ComputedColumn> = Vec::with_capacity(columns.len());
        for (output, column) in query.output.iter().zip(columns) {
            let value = match value_of_output(&query, output) {
                value @ Expr::Literal(..) if value.sql_type() == Some(column.ty) => Expr::Column(output.column.clone()),
                other => typing::as_type(other, column.ty)?,
            };
            computed.push(self.ids.column_of(value, |_| column.name.clone()));
        }
        let columns = computed.iter().map(|computed| computed.column.clone()).collect();
        Ok(SetInput { relation: query.relation.projected(computed), columns })
    }
}

/// # Errors
/// A query in a set operation, written as `part`, that has another number of columns than the first one.
pub(crate) fn check_width(operator: SetOperator, part: &SetExpr, first: usize, other: usize) -> Result<()> {
    if first == other {
        return Ok(());
    }
    let operator = operator.name();
    let text = format!("{operator} takes queries of as many columns, and these have {first} and {other}");
    Err(BindError::from(BindErrorKind::Syntax(text)).at(tree_span(part)))
}

/// The value of a column of a query: the literal of a text if it is one in all rows, as that takes the type of what stands beside it.
fn value_of_output(query: &BoundQuery, Output { label, column }: &Output) -> Expr {
    let literal = match &query.relation {
        Relation::Project { columns, .. } => columns.iter().find(|known| known.column.index == column.index),
        _ => None,
    };
    match literal.map(|computed| &computed.expr) {
        Some(literal @ Expr::Literal(Value::Text(_), SqlType::Varchar(None))) => literal.clone(),
        _ => Expr::Column(ColumnRef { name: label.clone(), ..column.clone() }),
    }
}

/// The parts of a chain of UNIONs, or of UNION ALLs.
fn parts_of_union(body: &SetExpr, quantifier: SetQuantifier) -> Vec<&SetExpr> {
    let (mut parts, mut rest) = (Vec::new(), body);
    while let SetExpr::SetOperation { op: Operator::Union, set_quantifier, left, right } = rest
        && *set_quantifier == quantifier
    {
        parts.push(&**right);
        rest = left;
    }
    parts.push(rest);
    parts.reverse();
    parts
}

/// Each row of a query once.
fn distinct(query: BoundQuery) -> BoundQuery {
    let columns = each_once(query.output.iter().map(|output| &output.column));
    BoundQuery { relation: Relation::Distinct { input: Box::new(query.relation), columns }, output: query.output }
}
