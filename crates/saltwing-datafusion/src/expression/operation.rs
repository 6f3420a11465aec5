//! Operations of our expression language, their operands apart.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::ops::ControlFlow;

use datafusion::logical_expr::Operator;
use saltwing_bind::{comparison_operator, operand_place};
use saltwing_types::{CompareOp, Expr, Function, SqlType, ValueError, typing};
use sqlparser::ast::{self, BinaryOperator, visit_expressions_mut};

use crate::RelationalError;

/// One operation of the expression language, its operands apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    /// What DataFusion would read otherwise: a constant, a parameter or a subquery without a value.
    Constant(Expr),
    /// A function of the language.
    Call(Function),
    /// `CAST`.
    Cast(SqlType),
    /// Syntax with [`saltwing_bind::operand`] in the place of each operand.
    Syntax(Box<ast::Expr>),
    /// The operand itself, of a type that its Arrow type says.
    Plain,
    /// A row of its operands before or in a subquery; it is taken apart where it is compared.
    Row,
}

impl Eq for Operation {}

impl Hash for Operation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Self::Constant(expr) => format!("{expr:?}").hash(state),
            Self::Call(function) => function.hash(state),
            Self::Cast(ty) => ty.hash(state),
            Self::Syntax(syntax) => syntax.hash(state),
            Self::Plain | Self::Row => {}
        }
    }
}

impl Operation {
    /// The expression, by the typing rules.
    ///
    /// # Errors
    /// What the rules refuse.
    pub(crate) fn build(&self, args: Vec<Expr>) -> std::result::Result<Expr, RelationalError> {
        let one = |args: Vec<Expr>| args.into_iter().next().ok_or_else(|| RelationalError::bug("no operand"));
        Ok(match self {
            Self::Constant(expr) => expr.clone(),
            Self::Call(function) => typing::call(*function, args)?,
            Self::Cast(ty) => typing::cast(one(args)?, *ty)?,
            Self::Syntax(syntax) => saltwing_bind::operation(syntax, &args)?,
            Self::Plain => one(args)?,
            Self::Row => {
                let text = "a row value stands where one value is wanted".to_owned();
                return Err(ValueError::BadArgument(text).into());
            }
        })
    }

    /// Whether it makes an array of arrays, which our language lacks.
    pub(crate) fn is_nested_array(&self, operands: &[Expr]) -> bool {
        matches!(self, Self::Call(function) if function.is_nested_array(operands))
    }

    /// How it compares its two operands, if it does that.
    pub(crate) fn comparison(&self) -> Option<CompareOp> {
        let Self::Syntax(syntax) = self else { return None };
        let (op, left, _) = comparison(syntax)?;
        (!matches!(left, ast::Expr::Tuple(_))).then_some(op)
    }

    /// Whether it chooses which of its operands are computed.
    pub(crate) fn is_case(&self) -> bool {
        matches!(self, Self::Syntax(syntax) if matches!(**syntax, ast::Expr::Case { .. }))
    }

    /// Whether DataFusion has the same operation, and not for texts alone or for rows.
    pub(crate) fn is_native(&self) -> bool {
        let Self::Syntax(syntax) = self else { return true };
        match &**syntax {
            ast::Expr::IsDistinctFrom(..) | ast::Expr::IsNotDistinctFrom(..) | ast::Expr::InList { .. } => {
                self.compares_first()
            }
            ast::Expr::BinaryOp { .. } => self.compares_first() || !self.is_condition(),
            _ => true,
        }
    }

    /// Whether it holds its first operand to the others.
    pub(crate) fn compares_first(&self) -> bool {
        let Self::Syntax(syntax) = self else { return false };
        match &**syntax {
            ast::Expr::Between { expr, .. } | ast::Expr::InList { expr, .. } => !matches!(**expr, ast::Expr::Tuple(_)),
            _ => self.comparison().is_some(),
        }
    }

    /// Whether the value is a truth value, whatever the operands are.
    pub(crate) fn is_condition(&self) -> bool {
        use BinaryOperator::{PGRegexIMatch, PGRegexMatch, PGRegexNotIMatch, PGRegexNotMatch};
        let Self::Syntax(syntax) = self else { return false };
        match &**syntax {
            ast::Expr::Between { .. }
            | ast::Expr::InList { .. }
            | ast::Expr::Like { .. }
            | ast::Expr::ILike { .. }
            | ast::Expr::BinaryOp { op: PGRegexMatch | PGRegexIMatch | PGRegexNotMatch | PGRegexNotIMatch, .. } => true,
            other => comparison(other).is_some(),
        }
    }
}

/// The comparison that syntax is, and its sides.
pub(crate) fn comparison(syntax: &ast::Expr) -> Option<(CompareOp, &ast::Expr, &ast::Expr)> {
    Some(match syntax {
        ast::Expr::IsDistinctFrom(left, right) => (CompareOp::Distinct, left, right),
        ast::Expr::IsNotDistinctFrom(left, right) => (CompareOp::NotDistinct, left, right),
        ast::Expr::BinaryOp { left, op, right } => (comparison_operator(op)?, left, right),
        _ => return None,
    })
}

/// DataFusion's operator of a comparison.
pub(crate) fn compare_operator(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::NotEq => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::LtEq => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::GtEq => Operator::GtEq,
        CompareOp::Distinct => Operator::IsDistinctFrom,
        CompareOp::NotDistinct => Operator::IsNotDistinctFrom,
    }
}

/// The comparison that DataFusion's operator is.
pub(crate) fn compare_op(op: Operator) -> Option<CompareOp> {
    use CompareOp::{Distinct, Eq, Gt, GtEq, Lt, LtEq, NotDistinct, NotEq};
    [Eq, NotEq, Lt, LtEq, Gt, GtEq, Distinct, NotDistinct].into_iter().find(|own| compare_operator(*own) == op)
}

/// Syntax with `operand` of each place in the place of its placeholder.
pub(crate) fn with_operands(syntax: &ast::Expr, operand: impl Fn(usize) -> ast::Expr) -> ast::Expr {
    let mut syntax = syntax.clone();
    let _ = visit_expressions_mut(&mut syntax, |part| {
        if let Some(place) = operand_place(part) {
            *part = operand(place);
        }
        ControlFlow::<()>::Continue(())
    });
    syntax
}
