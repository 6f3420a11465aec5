//! Texts of operations: as a user would write them, for errors; and unique, for the names of columns in DataFusion's
//! plans.

use std::hash::{DefaultHasher, Hash, Hasher};

use saltwing_types::{CompareOp, Function, text};

use crate::operation::Operation;

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

/// One word for an operation, as a function's name has it.
pub(crate) fn word(operation: &Operation) -> &'static str {
    match operation {
        Operation::Literal(..) => "literal",
        Operation::Param(_) => "parameter",
        Operation::Subquery(..) | Operation::Computed(..) => "subquery",
        Operation::Compare(_) => "compare",
        Operation::RowCompare(..) => "compare_rows",
        Operation::Between { .. } => "between",
        Operation::InList { .. } => "in_list",
        Operation::RowInList { .. } => "in_rows",
        Operation::Like { .. } => "like",
        Operation::Regexp { .. } => "regexp",
        Operation::Arith(_) => "arithmetic",
        Operation::Negate => "negate",
        Operation::Cast(_) => "cast",
        Operation::Case { .. } => "case",
        Operation::Call(_) => "call",
        Operation::Plain => "plain",
        Operation::Row => "row",
    }
}

/// An operation over operands of these texts, about as it was written.
pub(crate) fn text(operation: &Operation, args: &[String]) -> String {
    let not = |negated: bool| if negated { "NOT " } else { "" };
    let arg = |place: usize| args.get(place).map(|arg| operand(arg)).unwrap_or_default();
    let rest = |from: usize| args.get(from..).unwrap_or_default().join(", ");
    let call = |name: &str| format!("{name}({})", args.join(", "));
    match operation {
        Operation::Literal(value, ty) | Operation::Computed(value, ty) => text::literal(value, *ty),
        Operation::Param(index) => format!("${}", index + 1),
        Operation::Subquery(..) => "(subquery)".to_owned(),
        Operation::Compare(op) => format!("{} {} {}", arg(0), comparison(*op), arg(1)),
        Operation::RowCompare(op, width) => {
            let (left, right) = args.split_at_checked(*width).unwrap_or((args, &[]));
            format!("({}) {} ({})", left.join(", "), comparison(*op), right.join(", "))
        }
        Operation::Between { negated } => format!("{} {}BETWEEN {} AND {}", arg(0), not(*negated), arg(1), arg(2)),
        Operation::InList { negated } => format!("{} {}IN ({})", arg(0), not(*negated), rest(1)),
        Operation::RowInList { width, negated } => {
            let (row, rows) = args.split_at_checked(*width).unwrap_or((args, &[]));
            let rows: Vec<String> = rows.chunks((*width).max(1)).map(|row| format!("({})", row.join(", "))).collect();
            format!("({}) {}IN ({})", row.join(", "), not(*negated), rows.join(", "))
        }
        Operation::Like { ignore_case, negated, .. } => {
            format!("{} {}{} {}", arg(0), not(*negated), if *ignore_case { "ILIKE" } else { "LIKE" }, arg(1))
        }
        Operation::Regexp { ignore_case, negated } => {
            let (negation, star) = (if *negated { "!" } else { "" }, if *ignore_case { "*" } else { "" });
            format!("{} {negation}~{star} {}", arg(0), arg(1))
        }
        Operation::Arith(op) => format!("{} {} {}", arg(0), op.as_str(), arg(1)),
        Operation::Negate => format!("-{}", arg(0)),
        Operation::Cast(ty) => format!("CAST({} AS {ty})", args.first().map(String::as_str).unwrap_or_default()),
        Operation::Case { .. } => format!("CASE {} END", args.join(" ")),
        Operation::Call(function) if *function == Function::CONCAT => {
            args.iter().map(|arg| operand(arg)).collect::<Vec<_>>().join(" || ")
        }
        Operation::Call(function) => call(function.name),
        Operation::Plain => args.join(", "),
        Operation::Row => format!("({})", args.join(", ")),
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "=",
        CompareOp::NotEq => "<>",
        CompareOp::Lt => "<",
        CompareOp::LtEq => "<=",
        CompareOp::Gt => ">",
        CompareOp::GtEq => ">=",
        CompareOp::Distinct => "IS DISTINCT FROM",
        CompareOp::NotDistinct => "IS NOT DISTINCT FROM",
    }
}

/// An operand in brackets, unless it is one word, a literal or a call.
fn operand(text: &str) -> String {
    let is_one = !text.contains(' ') || text.ends_with([')', '\'']);
    if is_one { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use saltwing_types::{ArithOp, SqlType, Value};

    use super::*;

    #[test]
    fn operations_read_as_they_were_written() {
        let sum = told_apart(&Operation::Arith(ArithOp::Add), &["a".into(), "1".into()]);
        let product = told_apart(&Operation::Arith(ArithOp::Mul), &[sum, "b".into()]);
        assert_eq!(shown(&product), "(a + 1) * b");
        assert_eq!(text(&Operation::Cast(SqlType::BigInt), &["a".into()]), "CAST(a AS BIGINT)");
    }

    #[test]
    fn literals_of_one_text_are_told_apart() {
        let name = |value, ty| told_apart(&Operation::Literal(value, ty), &[]);
        let (double, float) = (name(Value::Double(2.0), SqlType::Double), name(Value::Float(2.0), SqlType::Float));
        assert_ne!(double, float);
        assert_eq!(shown(&double), shown(&float));
    }
}
