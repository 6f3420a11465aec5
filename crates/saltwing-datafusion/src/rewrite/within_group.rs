//! `WITHIN GROUP (ORDER BY ..)` behind aggregates that DataFusion knows in another form, or not at all.

use saltwing_types::{Span, SqlType};
use sqlparser::ast::{
    self, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
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
