//! Calls of aggregate functions, as columns.

use saltwing_sql::{expr_span, name_span};
use saltwing_types::function::aggregate::{
    ARRAY_AGG, AggregateEntry, AggregateFunction, AggregateInput, AggregateMeaning, ConstantArgument, STRING_AGG,
};
use saltwing_types::{CompareOp, EngineOperation, Expr, Function, SqlType, Value, eval, typing};
use sqlparser::ast::{
    self, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, NullTreatment,
};

use crate::aggregate::{AggregateCall, check_constant, is_of_engine, result_type};
use crate::call::star_of;
use crate::call_names::names_only;
use crate::collector::Collector;
use crate::engine::EngineAggregate;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lower, LowerError, Lowerer, Queries, unsupported};
use crate::sort_direction::direction;
use crate::tree::GroupCall;
use crate::window_call::SortKey;

/// What stands in a call of an aggregate function.
pub(crate) struct Written<'a> {
    pub(crate) e: &'a ast::Expr,
    pub(crate) call: &'a ast::Function,
    pub(crate) list: &'a FunctionArgumentList,
    pub(crate) name: String,
}

impl<'a> Written<'a> {
    /// `None` if it is no call by one name with brackets.
    fn of(e: &'a ast::Expr, call: &'a ast::Function) -> Option<Self> {
        let ([part], FunctionArguments::List(list)) = (call.name.0.as_slice(), &call.args) else { return None };
        Some(Self { e, call, list, name: part.as_ident()?.value.to_lowercase() })
    }

    pub(crate) fn is_distinct(&self) -> bool {
        self.list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
    }

    /// The arguments, if they are expressions without names.
    pub(crate) fn exprs(&self) -> Option<Vec<&'a ast::Expr>> {
        let expr = |argument: &'a FunctionArg| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        };
        self.list.args.iter().map(expr).collect()
    }

    /// The ORDER BY after the arguments, or that of WITHIN GROUP.
    pub(crate) fn order_by(&self) -> &'a [ast::OrderByExpr] {
        let within = self.list.clauses.iter().find_map(|clause| match clause {
            FunctionArgumentClause::OrderBy(order_by) => Some(order_by.as_slice()),
            _ => None,
        });
        within.unwrap_or(&self.call.within_group)
    }

    fn ignores_nulls(&self) -> bool {
        let treatment = FunctionArgumentClause::IgnoreOrRespectNulls(NullTreatment::IgnoreNulls);
        self.call.null_treatment == Some(NullTreatment::IgnoreNulls) || self.list.clauses.contains(&treatment)
    }
}

impl Lowerer<'_> {
    /// The column that stands for a call of an aggregate function; `None` if it is of no aggregate function.
    pub(crate) fn aggregate(
        &self,
        e: &ast::Expr,
        call: &ast::Function,
    ) -> std::result::Result<Option<Expr>, LowerError> {
        let Some(written) = Written::of(e, call) else { return Ok(None) };
        let Some(entry) = AggregateEntry::by_name(&written.name) else { return Ok(None) };
        let is_aggregate = match entry.meaning {
            AggregateMeaning::Engine => {
                self.queries.is_some_and(|queries| is_of_engine(entry, queries.columns().engine))
            }
            // Without it the name is that of the window function.
            _ if entry.needs_order() => !call.within_group.is_empty(),
            _ => true,
        };
        if !is_aggregate {
            return Ok(None);
        }
        if let Some(queries) = self.queries
            && names_only(call, |parts| self.scope.resolve(parts, None).is_err() && queries.is_outer_name(parts))
            && let Some(column) = queries.outer_aggregate(e, call)?
        {
            return Ok(Some(column));
        }
        let Some(collector) = self.collector else {
            return if self.clause.is_some() { self.misplaced("aggregate functions", e).map(Some) } else { Ok(None) };
        };
        let queries = || self.queries.ok_or_else(|| unsupported_form(&written));
        let column = match entry.meaning {
            AggregateMeaning::Grouping => self.grouping(collector, &written)?,
            AggregateMeaning::FirstValues => self.values_of_group(queries()?, collector, &written, false)?,
            AggregateMeaning::LastValues => self.values_of_group(queries()?, collector, &written, true)?,
            AggregateMeaning::PercentRank => self.percent_rank(collector, &written)?,
            AggregateMeaning::Composed(composition) => self.composed(collector, &written, entry, composition)?,
            AggregateMeaning::Own(function) => match self.own(collector, function, &written)? {
                Some(column) => column,
                None => self.engine_aggregate(queries()?, collector, &written, entry)?,
            },
            AggregateMeaning::Engine => self.engine_aggregate(queries()?, collector, &written, entry)?,
        };
        Ok(Some(column))
    }

    /// The column of a call of GROUPING.
    fn grouping(&self, collector: &Collector<'_>, written: &Written<'_>) -> Lower {
        let Some(keys) = written.exprs() else { return unsupported("this form of GROUPING", written.e) };
        let inner = self.of_arguments();
        let keys = keys.into_iter().map(|key| inner.lower(key)).collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(collector.grouping(keys, written.e.to_string(), expr_span(written.e)))
    }

    /// A call in a form that the direct path computes, too; `None` of other forms.
    fn own(
        &self,
        collector: &Collector<'_>,
        function: AggregateFunction,
        written: &Written<'_>,
    ) -> std::result::Result<Option<Expr>, LowerError> {
        let Written { call, list, .. } = *written;
        let plain = call.within_group.is_empty() && call.null_treatment.is_none() && list.clauses.is_empty();
        let argument = match (list.args.as_slice(), function) {
            _ if !plain => return Ok(None),
            // `COUNT()` counts rows, too.
            ([] | [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)], AggregateFunction::Count) => None,
            ([FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))], _) => Some(self.of_arguments().lower(argument)?),
            _ => return Ok(None),
        };
        // It may belong to a query around this one.
        if argument.as_ref().is_some_and(|argument| collector.is_of_outer_rows(argument)) {
            return Err(unsupported_form(written));
        }
        // A sum of what has no type is one of BIGINTs.
        let argument = match argument {
            Some(argument) if function.sums() && matches!(argument.sql_type(), None | Some(SqlType::Null)) => {
                Some(typing::cast(argument, SqlType::BigInt)?)
            }
            other => other,
        };
        let ty = match &argument {
            None => SqlType::BigInt,
            Some(argument) => result_type(function, argument, argument.sql_type().unwrap_or(SqlType::Null))?,
        };
        let has_extreme = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
        let distinct = written.is_distinct() && !has_extreme;
        // Either of two equal floats may be kept, and the sum depends on which: the relational engine keeps one.
        let keeps_one = distinct && (function == AggregateFunction::Avg || ty == SqlType::Double || argument.is_none());
        if keeps_one || argument.as_ref().is_some_and(|argument| argument.sql_type() == Some(SqlType::Opaque)) {
            return Ok(None);
        }
        let filter = self.filter(written)?;
        let counts_rows = function == AggregateFunction::Count && !distinct;
        let argument = argument.filter(|argument| !(counts_rows && is_always_known(argument)));
        let name = expr_span(written.e).map_or_else(|| function.name().to_owned(), |_| written.e.to_string());
        let call = AggregateCall { function, argument, distinct, filter, ty };
        let nullable = function != AggregateFunction::Count;
        Ok(Some(collector.column(GroupCall::Own(call), ty, nullable, name)))
    }

    pub(crate) fn filter(&self, written: &Written<'_>) -> std::result::Result<Option<Expr>, LowerError> {
        let inner = self.of_arguments();
        let filter = written.call.filter.as_ref();
        filter.map(|filter| Ok(typing::condition(inner.lower(filter)?)?)).transpose()
    }

    /// A call that only the engine computes.
    fn engine_aggregate(
        &self,
        queries: &dyn Queries,
        collector: &Collector<'_>,
        written: &Written<'_>,
        entry: &AggregateEntry,
    ) -> Lower {
        let args = match written.exprs() {
            Some(args) => args,
            None => return self.with_star(queries, collector, written, entry),
        };
        let inner = self.of_arguments();
        let args = args.into_iter().map(|arg| inner.lower(arg)).collect::<std::result::Result<Vec<_>, _>>()?;
        if let (Some(ConstantArgument::Share), [others @ .., shares]) = (entry.constant, args.as_slice())
            && let Some(shares) = elements_of(shares)
        {
            let of_share = |share: Expr| {
                let args = others.iter().cloned().chain([share]).collect();
                self.engine_column(queries, collector, written, entry, args, written.order_by())
            };
            return array_of_shares(shares, of_share);
        }
        self.engine_column(queries, collector, written, entry, args, written.order_by())
    }

    fn engine_column(
        &self,
        queries: &dyn Queries,
        collector: &Collector<'_>,
        written: &Written<'_>,
        entry: &AggregateEntry,
        mut args: Vec<Expr>,
        order_by: &[ast::OrderByExpr],
    ) -> Lower {
        let mut keys = self.sort_keys(order_by)?;
        match entry.input() {
            AggregateInput::OrderedSet(_) => of_ordered_set(&mut args, &keys, written)?,
            AggregateInput::InOrder => {}
            AggregateInput::Rows | AggregateInput::Values => {
                if !written.call.within_group.is_empty() {
                    let text = format!("{} with WITHIN GROUP", written.name.to_uppercase());
                    return Err(BindError::from(BindErrorKind::NotSupported(text))
                        .at(name_span(&written.call.name))
                        .into());
                }
                keys.clear();
            }
        }
        self.engine_call(queries, collector, written, entry, args, keys)
    }

    /// The keys of an order: the engine counts on one in which no key stands twice.
    pub(crate) fn sort_keys(&self, order_by: &[ast::OrderByExpr]) -> std::result::Result<Vec<SortKey>, LowerError> {
        let inner = self.of_rows();
        let mut keys: Vec<SortKey> = Vec::with_capacity(order_by.len());
        for item in order_by {
            let key = inner.sort_key(item)?;
            if !keys.iter().any(|known| known.expr == key.expr) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// The column of a call of the engine's function, with DISTINCT, FILTER and IGNORE NULLS as they are written.
    pub(crate) fn engine_call(
        &self,
        queries: &dyn Queries,
        collector: &Collector<'_>,
        written: &Written<'_>,
        entry: &AggregateEntry,
        args: Vec<Expr>,
        keys: Vec<SortKey>,
    ) -> Lower {
        let other = |clause: &FunctionArgumentClause| {
            !matches!(clause, FunctionArgumentClause::OrderBy(_) | FunctionArgumentClause::IgnoreOrRespectNulls(_))
        };
        if written.list.clauses.iter().any(other) {
            return Err(unsupported_form(written));
        }
        let columns = queries.columns();
        let last = written.exprs().and_then(|exprs| exprs.last().copied());
        check_constant(entry, &written.name, &args).map_err(|error| error.at(last.and_then(expr_span)))?;
        if args.iter().any(|argument| collector.is_of_outer_rows(argument)) {
            return Err(unsupported_form(written));
        }
        let distinct = written.is_distinct();
        check_texts(written, entry, &args, &keys)?;
        let filter = self.filter(written)?;
        let ignore_nulls = written.ignores_nulls();
        let name = entry.engine_name();
        let mut call =
            EngineAggregate { name, args, distinct, order_by: keys, filter, ignore_nulls, ty: SqlType::Opaque };
        let span = name_span(&written.call.name);
        let ty = columns.engine.aggregate(&call, &columns.opaque).map_err(|error| error.at(span))?;
        call.ty = ty.ty;
        let column = collector.column(GroupCall::Engine(call), ty.ty, ty.nullable, written.e.to_string());
        if let (SqlType::Opaque, Expr::Column(column)) = (ty.ty, &column) {
            columns.opaque.put(column.index, ty.data_type);
        }
        Ok(column)
    }

    /// `COUNT(t.*)` counts rows if `t` is the only table, as all of its rows are there.
    fn with_star(
        &self,
        queries: &dyn Queries,
        collector: &Collector<'_>,
        written: &Written<'_>,
        entry: &AggregateEntry,
    ) -> Lower {
        let Some(star) = written.list.args.iter().find_map(star_of) else { return Err(unsupported_form(written)) };
        let at = name_span(&written.call.name);
        if entry.own() != Some(AggregateFunction::Count) || written.list.args.len() != 1 {
            let text = format!("{star} is no argument of {}", written.name.to_uppercase());
            let error = BindError::from(BindErrorKind::Syntax(text)).at(at);
            return Err(error.help("COUNT(*) counts rows").into());
        }
        if written.is_distinct() || star != "*" && !self.scope.is_of_one_relation() {
            let distinct = if written.is_distinct() { "DISTINCT " } else { "" };
            let error = BindError::from(BindErrorKind::NotSupported(format!("COUNT({distinct}{star})"))).at(at);
            let help = "COUNT(*) counts rows, COUNT(c) those where the column c is not NULL";
            return Err(error.help(help).into());
        }
        if !written.list.clauses.is_empty() {
            return self.engine_column(queries, collector, written, entry, Vec::new(), &[]);
        }
        let filter = self.filter(written)?;
        let (function, ty) = (AggregateFunction::Count, SqlType::BigInt);
        let call = AggregateCall { function, argument: None, distinct: false, filter, ty };
        Ok(collector.column(GroupCall::Own(call), ty, false, written.e.to_string()))
    }

    /// `FIRST_VALUES(v, n) WITHIN GROUP (ORDER BY k)` is `array_slice(array_agg(v ORDER BY k), 1, n)`. LAST_VALUES has the last value
    /// first, as in Phoenix.
    fn values_of_group(
        &self,
        queries: &dyn Queries,
        collector: &Collector<'_>,
        written: &Written<'_>,
        is_reverse: bool,
    ) -> Lower {
        let refused = || {
            let text = "FIRST_VALUES or LAST_VALUES of this form".to_owned();
            let help =
                "write FIRST_VALUES(value, count) WITHIN GROUP (ORDER BY expression); the count is a number above 0";
            BindError::from(BindErrorKind::NotSupported(text)).at(name_span(&written.call.name)).help(help)
        };
        let exprs = written.exprs().unwrap_or_default();
        let [value, count] = exprs.as_slice() else { return Err(refused().into()) };
        let inner = self.of_arguments();
        let (value, count) = (inner.lower(value)?, inner.lower(count)?);
        let is_count = matches!(count, Expr::Literal(Value::Int(1..=4_294_967_295), _));
        if !is_count || written.call.within_group.is_empty() {
            return Err(refused().into());
        }
        let mut order = written.call.within_group.clone();
        for key in order.iter_mut().filter(|_| is_reverse) {
            let ascends = key.options.asc.unwrap_or(true);
            key.options.nulls_first = Some(!key.options.nulls_first.unwrap_or(ascends));
            key.options.asc = Some(!ascends);
        }
        let values = self.engine_column(queries, collector, written, &ARRAY_AGG, vec![value], &order)?;
        let first = Expr::Literal(Value::Int(1), SqlType::BigInt);
        let slice = EngineOperation::Function("array_slice".into());
        self.typed(queries, slice, vec![values, first, count], expr_span(written.e))
    }

    /// `PERCENT_RANK(v) WITHIN GROUP (ORDER BY x)` is `AVG(CAST(x <= v AS INTEGER))`, the share of the values that are not above `v`; with
    /// DESC the share of those above it, as in Phoenix.
    fn percent_rank(&self, collector: &Collector<'_>, written: &Written<'_>) -> Lower {
        let exprs = written.exprs().unwrap_or_default();
        let ([value], [order]) = (exprs.as_slice(), written.call.within_group.as_slice()) else {
            let error = BindError::from(BindErrorKind::NotSupported("PERCENT_RANK of this form".into()));
            let help = "write PERCENT_RANK(value) WITHIN GROUP (ORDER BY expression)";
            return Err(error.at(name_span(&written.call.name)).help(help).into());
        };
        let inner = self.of_arguments();
        let op = if order.options.asc == Some(false) { CompareOp::Gt } else { CompareOp::LtEq };
        let counts = typing::compare(op, inner.lower(&order.expr)?, inner.lower(value)?)?;
        let argument = Some(typing::cast(counts, SqlType::Integer)?);
        let (function, ty, filter) = (AggregateFunction::Avg, SqlType::Double, self.filter(written)?);
        let call = AggregateCall { function, argument, distinct: false, filter, ty };
        Ok(collector.column(GroupCall::Own(call), ty, true, written.e.to_string()))
    }

    pub(crate) fn sort_key(&self, item: &ast::OrderByExpr) -> std::result::Result<SortKey, LowerError> {
        if item.with_fill.is_some() {
            return Err(LowerError::Unsupported("WITH FILL".into(), expr_span(&item.expr)));
        }
        let (order, nulls_first) = direction(&item.options);
        Ok(SortKey { expr: self.sorted_by(&item.expr)?, order, nulls_first })
    }
}

/// The elements of an array that is written as one, or is a constant.
fn elements_of(array: &Expr) -> Option<Vec<Expr>> {
    match array {
        Expr::Literal(Value::Array(elements), ty) => {
            let ty = ty.element()?;
            Some(elements.iter().map(|element| Expr::Literal(element.clone(), ty)).collect())
        }
        Expr::Call(function, elements, _) if *function == Function::MAKE_ARRAY => Some(elements.clone()),
        constant if constant.is_constant() && constant.sql_type().is_some_and(|ty| ty.element().is_some()) => {
            match eval::eval(constant, &[]).ok()? {
                array @ Value::Array(_) => elements_of(&Expr::Literal(array, constant.sql_type()?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The values of several shares as an array: NULL if there are no values, and NULL for a share that is NULL.
fn array_of_shares(shares: Vec<Expr>, of_share: impl Fn(Expr) -> Lower) -> Lower {
    let value = |share| match share {
        Expr::Literal(Value::Null, _) => Ok(Expr::NULL),
        share => of_share(share),
    };
    let values = shares.into_iter().map(value).collect::<std::result::Result<Vec<_>, _>>()?;
    let known = values.iter().find(|value| **value != Expr::NULL).cloned();
    let array = typing::call(Function::MAKE_ARRAY, values)?;
    match known {
        Some(known) => Ok(typing::case(None, vec![(typing::is_null(known), Expr::NULL)], Some(array))?),
        None => Ok(array),
    }
}

/// Puts the value that an ordered set is of before the other arguments.
fn of_ordered_set(args: &mut Vec<Expr>, keys: &[SortKey], written: &Written<'_>) -> Result<()> {
    let refused =
        |text: &str| Err(BindError::from(BindErrorKind::Syntax(text.to_owned())).at(name_span(&written.call.name)));
    if keys.is_empty() {
        return Ok(());
    }
    let [SortKey { expr, .. }] = keys else {
        return refused("WITHIN GROUP takes one expression to order by");
    };
    // `quantile_cont(value, share ORDER BY value)`.
    if written.call.within_group.is_empty() && args.len() > 1 {
        args.remove(0);
    }
    args.insert(0, expr.clone());
    Ok(())
}

/// # Errors
/// A separator that is one of each row, and DISTINCT in the order of another value than that of which each one is taken once.
fn check_texts(written: &Written<'_>, entry: &AggregateEntry, args: &[Expr], keys: &[SortKey]) -> Result<()> {
    let name = written.name.to_uppercase();
    let (what, help) = match args {
        [_, separator] if entry.name == STRING_AGG.name && !separator.columns().is_empty() => (
            "a separator that is not the same in all rows",
            "STRING_AGG(separator || text, '') puts one before each text",
        ),
        _ if written.is_distinct() && keys.iter().any(|key| !args.contains(&key.expr)) => (
            "DISTINCT in the order of another value",
            "take each value once in a query below: FROM (SELECT DISTINCT a FROM t)",
        ),
        _ => return Ok(()),
    };
    let error = BindError::from(BindErrorKind::NotSupported(format!("{name} with {what}")));
    Err(error.at(expr_span(written.e)).help(help))
}

pub(crate) fn unsupported_form(written: &Written<'_>) -> LowerError {
    LowerError::Unsupported(format!("this form of {}", written.name.to_uppercase()), expr_span(written.e))
}

/// Whether a value is never NULL, and is there without being computed.
fn is_always_known(argument: &Expr) -> bool {
    match argument {
        Expr::Literal(value, _) => !value.is_null(),
        // Putting out an instant may fail.
        Expr::Column(column) => !column.nullable && !column.ty.is_timestamp(),
        _ => false,
    }
}
