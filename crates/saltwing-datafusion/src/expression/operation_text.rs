//! Texts of operations: as a user would write them, for errors; and unique, for the names of columns in DataFusion's
//! plans.

use std::hash::{DefaultHasher, Hash, Hasher};

use saltwing_types::Expr;
use sqlparser::ast;

use crate::expression::operation::{Operation, with_operands};

/// Stands before the digest that tells operations of one text apart.
const MARK: char = '#';
/// Hexadecimal digits of the digest.
const DIGITS: usize = 8;

/// The name of an operation over operands of these names: no other operation over them has it.
pub(crate) fn told_apart(operation: &Operation, args: &[String]) -> String {
    let mut hasher = DefaultHasher::new();
    operation.hash(&mut hasher);
    format!("{}{MARK}{:08x}", text(operation, args), hasher.finish() as u32)
}

/// A name without its digests.
pub(crate) fn shown(name: &str) -> String {
    let mut parts = name.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| match part.get(..DIGITS) {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => shown + part.get(DIGITS..).unwrap_or_default(),
        _ => shown + part,
    })
}

/// An operation over operands of these texts, about as it was written.
pub(crate) fn text(operation: &Operation, args: &[String]) -> String {
    match operation {
        Operation::Constant(Expr::Param(index, _)) => format!("${}", index + 1),
        Operation::Constant(Expr::Subquery(..)) => "(subquery)".to_owned(),
        Operation::Constant(Expr::Cast(value, _)) => value.to_string(),
        Operation::Constant(value) => value.to_string(),
        Operation::Call(function) => format!("{}({})", function.name, args.join(", ")),
        Operation::Cast(ty) => format!("CAST({} AS {ty})", args.join(", ")),
        Operation::Syntax(syntax) => {
            let is_between_words = operation.is_case();
            let text = |place: usize| match args.get(place) {
                Some(text) if is_between_words => text.clone(),
                Some(text) => operand(text),
                None => String::new(),
            };
            with_operands(syntax, |place| ast::Expr::Identifier(ast::Ident::new(text(place)))).to_string()
        }
        Operation::Plain => args.join(", "),
        Operation::Row => format!("({})", args.join(", ")),
    }
}

/// An operand in brackets, unless it is one word, a literal or a call.
fn operand(text: &str) -> String {
    let is_one = !text.contains(' ') || text.ends_with([')', '\'']);
    if is_one { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use saltwing_types::{SqlType, Value};
    use sqlparser::ast::BinaryOperator;

    use super::*;

    #[test]
    fn operations_read_as_they_were_written() {
        let binary = |op| {
            let [left, right] = [0, 1].map(|place| Box::new(saltwing_bind::operand(place)));
            Operation::Syntax(Box::new(ast::Expr::BinaryOp { left, op, right }))
        };
        let sum = told_apart(&binary(BinaryOperator::Plus), &["a".into(), "1".into()]);
        let product = told_apart(&binary(BinaryOperator::Multiply), &[sum, "b".into()]);
        assert_eq!(shown(&product), "(a + 1) * b");
        assert_eq!(text(&Operation::Cast(SqlType::BigInt), &["a".into()]), "CAST(a AS BIGINT)");
    }

    #[test]
    fn literals_of_one_text_are_told_apart() {
        let name = |value, ty| told_apart(&Operation::Constant(Expr::Literal(value, ty)), &[]);
        let (double, float) = (name(Value::Double(2.0), SqlType::Double), name(Value::Float(2.0), SqlType::Float));
        assert_ne!(double, float);
        assert_eq!(shown(&double), shown(&float));
    }
}
