//! Calls of aggregate functions that are made of other functions.

use saltwing_sql::{expr_span, name_span};
use saltwing_types::function::aggregate::{
    ARRAY_AGG, AggregateEntry, AggregateFunction, BIT_XOR, Composition, FIRST_VALUE, STRING_AGG,
};
use saltwing_types::{CompareOp, Expr, Function, SortOrder, SqlType, Value, ValueError, typing};

use crate::aggregate::AggregateCall;
use crate::aggregate_call::{Written, unsupported_form};
use crate::collector::Collector;
use crate::error::{BindError, Result};
use crate::lower::{Lower, LowerError, Lowerer};
use crate::tree::GroupCall;
use crate::window_call::SortKey;

type Exprs = std::result::Result<Vec<Expr>, LowerError>;

impl Lowerer<'_> {
    /// The value of a call, over columns of the calls that it is made of.
    pub(crate) fn composed(
        &self,
        collector: &Collector<'_>,
        written: &Written<'_>,
        entry: &AggregateEntry,
        composition: Composition,
    ) -> Lower {
        if let Composition::Hypothetical(value) = composition {
            return self.hypothetical(collector, written, value);
        }
        let keys = self.sort_keys(written.order_by())?;
        let args = self.arguments(written, entry, &keys)?;
        let ascending = |expr| SortKey { expr, order: SortOrder::Asc, nulls_first: false };
        let engine = |entry: &AggregateEntry, args: Vec<Expr>, keys: Vec<SortKey>| {
            let queries = self.queries.ok_or_else(|| unsupported_form(written))?;
            self.engine_call(queries, collector, written, entry, args, keys)
        };
        Ok(match (composition, args.as_slice()) {
            (Composition::ArgMax | Composition::ArgMin, [value, by]) => {
                let order = if composition == Composition::ArgMax { SortOrder::Desc } else { SortOrder::Asc };
                let is_null = typing::or(vec![typing::is_null(value.clone()), typing::is_null(by.clone())])?;
                let value = typing::case(None, vec![(is_null.clone(), Expr::NULL)], Some(value.clone()))?;
                let by = SortKey { expr: by.clone(), order, nulls_first: false };
                engine(&FIRST_VALUE, vec![value], vec![ascending(is_null), by])?
            }
            (Composition::BoolXor, [value]) => {
                let value = typing::cast(typing::condition(value.clone())?, SqlType::BigInt)?;
                typing::compare(CompareOp::Eq, engine(&BIT_XOR, vec![value], Vec::new())?, integer(1))?
            }
            (Composition::CountIf, [value]) => {
                let condition = typing::condition(value.clone())?;
                let value = typing::case(None, vec![(condition, integer(1))], None)?;
                self.own_call(collector, written, AggregateFunction::Count, (value, SqlType::BigInt))?
            }
            (Composition::GroupConcat, [value, separator @ ..]) => {
                let separator = separator.first().cloned().unwrap_or_else(|| typing::string(","));
                engine(&STRING_AGG, vec![as_text(value.clone())?, separator], keys)?
            }
            (Composition::JsonArray { is_null_of_none }, [value]) => {
                let element = typing::call(Function::TO_JSON, vec![value.clone()])?;
                let element = typing::call(Function::COALESCE, vec![as_text(element)?, typing::string("null")])?;
                let elements = engine(&STRING_AGG, vec![element, typing::string(",")], keys)?;
                around(elements, ("[", "]"), is_null_of_none)?
            }
            (Composition::JsonObject { is_null_of_none }, [name, value]) => {
                let object = as_text(typing::call_named("JSON_OBJECT", vec![name.clone(), value.clone()])?)?;
                let member = typing::call_named("LEFT", vec![from_second(object)?, integer(-1)])?;
                let members = engine(&STRING_AGG, vec![member, typing::string(",")], keys)?;
                around(members, ("{", "}"), is_null_of_none)?
            }
            (Composition::Mode, [value]) => {
                let keys = if keys.is_empty() { vec![ascending(value.clone())] } else { keys };
                typing::call_named("ARRAY_MODE", vec![engine(&ARRAY_AGG, vec![value.clone()], keys)?])?
            }
            (Composition::OfArray(function), [value]) => {
                typing::call_named(function, vec![engine(&ARRAY_AGG, vec![value.clone()], Vec::new())?])?
            }
            (Composition::Total, [value]) => self.total(collector, written, value.clone())?,
            _ => return Err(unsupported_form(written)),
        })
    }

    /// The arguments, as many as a form of the function has; of an ordered set the value that is ordered.
    fn arguments(&self, written: &Written<'_>, entry: &AggregateEntry, keys: &[SortKey]) -> Exprs {
        let inner = self.of_arguments();
        let exprs = written.exprs().ok_or_else(|| unsupported_form(written))?;
        let args = exprs.into_iter().map(|arg| inner.lower(arg)).collect::<Exprs>()?;
        match (args.is_empty(), keys) {
            (true, [key]) if !written.call.within_group.is_empty() => return Ok(vec![key.expr.clone()]),
            _ => {}
        }
        let takes = |count: usize| {
            let mut forms = entry.forms.iter().map(|form| form.signature);
            forms.any(|form| count > 0 && (form.required..=form.parameters.len()).contains(&count))
        };
        if !takes(args.len()) {
            let form = entry.forms.first().map(ToString::to_string).unwrap_or_default();
            let name = written.name.to_uppercase();
            let text = format!("{name} with {} arguments; there is {name}{form}", args.len());
            return Err(BindError::from(ValueError::NoSuchFunction(text)).at(name_span(&written.call.name)).into());
        }
        if args.iter().any(|arg| arg.sql_type() == Some(SqlType::Opaque)) {
            let text = format!("{} takes values of SQL's types", written.name.to_uppercase());
            return Err(BindError::from(ValueError::TypeMismatch(text)).at(expr_span(written.e)).into());
        }
        Ok(args)
    }

    /// `COALESCE(SUM(CAST(value AS DOUBLE)), 0)`.
    fn total(&self, collector: &Collector<'_>, written: &Written<'_>, value: Expr) -> Lower {
        let value = typing::cast(value, SqlType::Double)?;
        let sum = self.own_call(collector, written, AggregateFunction::Sum, (value, SqlType::Double))?;
        Ok(typing::call(Function::COALESCE, vec![sum, Expr::Literal(Value::Double(0.0), SqlType::Double)])?)
    }

    /// The column of a function of our own, of this value and with this type.
    fn own_call(
        &self,
        collector: &Collector<'_>,
        written: &Written<'_>,
        function: AggregateFunction,
        (value, ty): (Expr, SqlType),
    ) -> Lower {
        if written.is_distinct() || !written.list.clauses.is_empty() || collector.is_of_outer_rows(&value) {
            return Err(unsupported_form(written));
        }
        let call =
            AggregateCall { function, argument: Some(value), distinct: false, filter: self.filter(written)?, ty };
        let is_nullable = function != AggregateFunction::Count;
        Ok(collector.column(GroupCall::Own(call), ty, is_nullable, written.e.to_string()))
    }
}

fn integer(value: i64) -> Expr {
    Expr::Literal(Value::Int(value), SqlType::BigInt)
}

fn as_text(value: Expr) -> Result<Expr> {
    Ok(typing::cast(value, SqlType::Varchar(None))?)
}

/// The text from its second character on.
fn from_second(text: Expr) -> Result<Expr> {
    Ok(typing::call(Function::SUBSTR, vec![text, integer(2)])?)
}

/// The texts of elements or members in brackets, as JSON.
fn around(inside: Expr, (open, close): (&str, &str), is_null_of_none: bool) -> Result<Expr> {
    let mut value = typing::call(Function::CONCAT, vec![typing::string(open), inside, typing::string(close)])?;
    if !is_null_of_none {
        value = typing::call(Function::COALESCE, vec![value, typing::string(format!("{open}{close}"))])?;
    }
    Ok(typing::cast(value, SqlType::Json)?)
}
