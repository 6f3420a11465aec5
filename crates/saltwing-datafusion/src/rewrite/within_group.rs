//! `WITHIN GROUP (ORDER BY ..)` behind aggregates that DataFusion knows in another form, or not at all.

use saltwing_types::{Span, SqlType};
use sqlparser::ast::{
    self, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident,
    ObjectName, ObjectNamePart,
};

use super::rewriter::Rewriter;
use super::tree::{Result, function_call};
use crate::RelationalError;
use crate::expression::operation::Operation;

/// Aggregates whose order DataFusion takes among the arguments.
const ORDERED: [&str; 3] = ["first_value", "last_value", "nth_value"];

impl Rewriter<'_> {
    /// The call with its order where DataFusion takes it: `first_value(v) WITHIN GROUP (ORDER BY k)` is
    /// `first_value(v ORDER BY k)`.
    pub(super) fn within_group(&mut self, mut call: ast::Function, span: Option<Span>) -> Result<ast::Function> {
        if call.within_group.is_empty() {
            return Ok(call);
        }
        let name = call.name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.to_lowercase());
        match name.as_deref() {
            Some("percent_rank") => return self.percent_rank(call, span),
            Some(name) if ORDERED.contains(&name) => {}
            _ => return Ok(call),
        }
        if let FunctionArguments::List(list) = &mut call.args {
            list.clauses.push(FunctionArgumentClause::OrderBy(std::mem::take(&mut call.within_group)));
        }
        Ok(call)
    }

    /// The aggregate below `FIRST_VALUES(v, n) WITHIN GROUP (ORDER BY k)`, which is `array_slice(array_agg(v ORDER BY k), 1, n)`,
    /// and the bounds of the slice. LAST_VALUES has the last value first, as in Phoenix. `None` for every other call.
    pub(super) fn values_of_group(&mut self, call: &mut ast::Function) -> Result<Option<[Expr; 2]>> {
        let name = call.name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.to_lowercase());
        let from_the_end = match name.as_deref() {
            Some("first_values") => false,
            Some("last_values") => true,
            _ => return Ok(None),
        };
        let refused = || {
            RelationalError::not_supported("FIRST_VALUES or LAST_VALUES of this form").help(
                "write FIRST_VALUES(value, count) WITHIN GROUP (ORDER BY expression); the count is a number above 0",
            )
        };
        let FunctionArguments::List(list) = &mut call.args else { return Err(refused()) };
        let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(count))) = list.args.pop() else { return Err(refused()) };
        let is_count = matches!(&count, Expr::Value(value)
            if matches!(&value.value, ast::Value::Number(count, _) if count.parse::<u32>().is_ok_and(|count| count > 0)));
        if !is_count || list.args.len() != 1 || call.within_group.is_empty() || call.over.is_some() {
            return Err(refused());
        }
        let mut order = std::mem::take(&mut call.within_group);
        for key in order.iter_mut().filter(|_| from_the_end) {
            let ascends = key.options.asc.unwrap_or(true);
            key.options.nulls_first = Some(!key.options.nulls_first.unwrap_or(ascends));
            key.options.asc = Some(!ascends);
        }
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
        call.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new("array_agg"))]);
        let first = Expr::value(ast::Value::Number("1".into(), false));
        Ok(Some([first, count]))
    }

    /// `PERCENT_RANK(v) WITHIN GROUP (ORDER BY x)` as `AVG(CAST(x <= v AS INTEGER))`, the share of the values
    /// that are not above `v`; as in Phoenix, with DESC the share of those above it.
    fn percent_rank(&mut self, call: ast::Function, span: Option<Span>) -> Result<ast::Function> {
        let refused = || {
            let error = RelationalError::not_supported("PERCENT_RANK of this form");
            error.help("write PERCENT_RANK(value) WITHIN GROUP (ORDER BY expression)")
        };
        let (FunctionArguments::List(list), [order]) = (&call.args, call.within_group.as_slice()) else {
            return Err(refused());
        };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value))] = list.args.as_slice() else { return Err(refused()) };
        let (left, right) = (Box::new(order.expr.clone()), Box::new(value.clone()));
        let op = if order.options.asc == Some(false) { BinaryOperator::Gt } else { BinaryOperator::LtEq };
        let counts = self.syntax(Expr::BinaryOp { left, op, right }, span);
        let counts = self.call(Operation::Cast(SqlType::Integer), vec![counts], span);
        match function_call("avg".into(), vec![counts]) {
            Expr::Function(average) => Ok(ast::Function { filter: call.filter, ..average }),
            _ => Err(refused()),
        }
    }
}
