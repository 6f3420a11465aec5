//! `RANK(v) WITHIN GROUP (ORDER BY x)` and its kin: what would be told of a row with these values if it were among the others.
//!
//! ```text
//! RANK(v)         COUNT(CASE WHEN x < v THEN 1 END) + 1
//! DENSE_RANK(v)   COUNT(DISTINCT CASE WHEN x < v THEN x END) + 1, and one more if a NULL comes before v
//! CUME_DIST(v)    (COUNT(CASE WHEN x <= v THEN 1 END) + 1) / (COUNT(*) + 1)
//! ```

use saltwing_sql::{expr_span, name_span};
use saltwing_types::function::aggregate::{AggregateFunction, HypotheticalValue};
use saltwing_types::{ArithOp, CompareOp, Expr, SortOrder, SqlType, Value, ValueError, typing};

use crate::aggregate::AggregateCall;
use crate::aggregate_call::{Written, unsupported_form};
use crate::collector::Collector;
use crate::error::{BindError, BindErrorKind};
use crate::lower::{Lower, LowerError, Lowerer};
use crate::tree::GroupCall;
use crate::window_call::SortKey;

type Built = std::result::Result<Expr, ValueError>;

impl Lowerer<'_> {
    pub(crate) fn hypothetical(
        &self,
        collector: &Collector<'_>,
        written: &Written<'_>,
        value: HypotheticalValue,
    ) -> Lower {
        let (keys, values) = self.keys_and_values(collector, written)?;
        let count = |argument: Option<Expr>, distinct: bool| -> Lower {
            let (function, ty, filter) = (AggregateFunction::Count, SqlType::BigInt, self.filter(written)?);
            let call = AggregateCall { function, argument, distinct, filter, ty };
            Ok(collector.column(GroupCall::Own(call), ty, false, written.e.to_string()))
        };
        let one_more = |counted: Expr| typing::arith(ArithOp::Add, counted, integer(1));
        match value {
            HypotheticalValue::Rank => {
                Ok(one_more(count(Some(when(before(&keys, &values, false)?, integer(1))?), false)?)?)
            }
            HypotheticalValue::DenseRank => {
                let [SortKey { expr: key, .. }] = keys.as_slice() else {
                    let error = BindErrorKind::NotSupported("DENSE_RANK WITHIN GROUP of several keys".into());
                    let help = "DENSE_RANK() OVER (ORDER BY a, b) ranks the rows of a query with this one among them";
                    return Err(BindError::from(error).at(expr_span(written.e)).help(help).into());
                };
                let comes_before = before(&keys, &values, false)?;
                let others = count(Some(when(comes_before.clone(), key.clone())?), true)?;
                let is_null = typing::and(vec![comes_before, typing::is_null(key.clone())])?;
                let nulls = count(Some(when(is_null, integer(1))?), false)?;
                let nulls = typing::call_named("LEAST", vec![nulls, integer(1)])?;
                Ok(one_more(typing::arith(ArithOp::Add, others, nulls)?)?)
            }
            HypotheticalValue::CumeDist => {
                let up_to = count(Some(when(before(&keys, &values, true)?, integer(1))?), false)?;
                let up_to = typing::cast(one_more(up_to)?, SqlType::Double)?;
                Ok(typing::arith(ArithOp::Div, up_to, one_more(count(None, false)?)?)?)
            }
        }
    }

    /// The keys of the order, each with a value.
    fn keys_and_values(
        &self,
        collector: &Collector<'_>,
        written: &Written<'_>,
    ) -> std::result::Result<(Vec<SortKey>, Vec<Expr>), LowerError> {
        if written.is_distinct() || !written.list.clauses.is_empty() {
            return Err(unsupported_form(written));
        }
        let inner = self.of_arguments();
        let keys = written.order_by().iter().map(|item| inner.sort_key(item));
        let keys = keys.collect::<std::result::Result<Vec<_>, _>>()?;
        let exprs = written.exprs().ok_or_else(|| unsupported_form(written))?;
        let values = inner.all(exprs)?;
        let name = written.name.to_uppercase();
        if keys.len() != values.len() {
            let (values, keys) = (values.len(), keys.len());
            let text = format!("{name} with {values} values and {keys} keys of the order: each key has one");
            return Err(BindError::from(ValueError::NoSuchFunction(text)).at(name_span(&written.call.name)).into());
        }
        if values.iter().flat_map(Expr::columns).any(|id| !collector.is_outer_id(id)) {
            let text = format!("{name} of a value that is not the same for all rows");
            let error = BindError::from(BindErrorKind::NotSupported(text)).at(expr_span(written.e));
            return Err(error.help(format!("{name}() OVER (ORDER BY ..) ranks the rows themselves")).into());
        }
        Ok((keys, values))
    }
}

/// Whether a row comes before one with these values, or, if `or_beside`, is equal to it.
fn before(keys: &[SortKey], values: &[Expr], or_beside: bool) -> Built {
    let mut known = Expr::boolean(or_beside);
    for (SortKey { expr: key, order, nulls_first }, value) in keys.iter().zip(values).rev() {
        let op = if *order == SortOrder::Desc { CompareOp::Gt } else { CompareOp::Lt };
        let (null, other) = if *nulls_first { (key, value) } else { (value, key) };
        let by_null = vec![typing::is_null(null.clone()), typing::not(typing::is_null(other.clone()))?];
        let comes_before = typing::or(vec![typing::and(by_null)?, typing::compare(op, key.clone(), value.clone())?])?;
        let is_equal = typing::compare(CompareOp::NotDistinct, key.clone(), value.clone())?;
        known = typing::or(vec![comes_before, typing::and(vec![is_equal, known])?])?;
    }
    Ok(known)
}

fn when(condition: Expr, value: Expr) -> Built {
    typing::case(None, vec![(condition, value)], None)
}

fn integer(value: i64) -> Expr {
    Expr::Literal(Value::Int(value), SqlType::BigInt)
}
