//! LAG and LEAD with a value for rows that have no neighbour.
//!
//! DataFusion takes a literal as this value, and converts it to the type of the others in silence: a fraction is lost. So the value is
//! put in by CASE, whose type is that of both.

use saltwing_types::{Function as OwnFunction, Span};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, NullTreatment,
    Value,
};

use super::rewriter::Rewriter;
use crate::expression::operation::Operation;

impl Rewriter<'_> {
    /// `lag(v, n, d)` as `CASE WHEN lag(1, n) IS NULL THEN d ELSE lag(v, n) END`; with IGNORE NULLS no value is NULL but that of a row
    /// without a neighbour. `None` for every other call.
    pub(super) fn with_default(&mut self, call: &Function, span: Option<Span>) -> Option<Expr> {
        let name = call.name.0.last()?.as_ident()?.value.to_lowercase();
        if !matches!(name.as_str(), "lag" | "lead") || call.over.is_none() {
            return None;
        }
        let FunctionArguments::List(list) = &call.args else { return None };
        let [value, offset, FunctionArg::Unnamed(FunctionArgExpr::Expr(default))] = list.args.as_slice() else {
            return None;
        };
        let with_args = |args: Vec<FunctionArg>| {
            let mut call = call.clone();
            if let FunctionArguments::List(list) = &mut call.args {
                list.args = args;
            }
            call
        };
        let neighbour = Expr::Function(with_args(vec![value.clone(), offset.clone()]));
        let ignores_nulls = call.null_treatment == Some(NullTreatment::IgnoreNulls)
            || list.clauses.contains(&FunctionArgumentClause::IgnoreOrRespectNulls(NullTreatment::IgnoreNulls));
        if ignores_nulls {
            return Some(self.call(Operation::Call(OwnFunction::COALESCE), vec![neighbour, default.clone()], span));
        }
        let one = FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(Value::Number("1".into(), false))));
        let is_there = Expr::Function(with_args(vec![one, offset.clone()]));
        let case = Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: None,
            conditions: vec![CaseWhen { condition: Expr::IsNull(Box::new(is_there)), result: default.clone() }],
            else_result: Some(Box::new(neighbour)),
        };
        Some(self.syntax(case, span))
    }
}
