//! Calls that are other expressions by the types of their arguments: those over arrays, and Phoenix's arithmetic of what is no
//! integer.

use std::borrow::Cow;

use super::{Typed, arith, arith_type, cast, in_list};
use crate::sql_type::TypeFamily;
use crate::{ArithOp, CompareOp, Expr, Function, SqlType, Value, eval};

impl Function {
    /// Whether a call makes an array of arrays, which only the relational engine has.
    pub fn is_nested_array(self, args: &[Expr]) -> bool {
        self == Self::MAKE_ARRAY && args.iter().any(|arg| arg.sql_type().and_then(SqlType::element).is_some())
    }
}

/// The expression that a call is; `None` of any other call.
pub(super) fn another(function: Function, args: &[Expr]) -> Option<Typed> {
    match function {
        function if function == Function::WRAPPING_ADD => not_of_integers(ArithOp::Add, args),
        function if function == Function::WRAPPING_SUBTRACT => not_of_integers(ArithOp::Sub, args),
        function if function == Function::WRAPPING_DIVIDE => not_of_integers(ArithOp::Div, args),
        function if function == Function::WRAPPING_MULTIPLY => not_of_integers(ArithOp::Mul, args),
        // JSON is its own JSON.
        function if function == Function::TO_JSON && args.first().and_then(Expr::sql_type) == Some(SqlType::Json) => {
            args.first().cloned().map(Ok)
        }
        function => membership(function, args),
    }
}

/// Arithmetic that cannot wrap: of decimals, floats, instants and intervals; and an error of it.
fn not_of_integers(op: ArithOp, args: &[Expr]) -> Option<Typed> {
    let [a, b] = args else { return None };
    let types = a.sql_type().or(b.sql_type()).zip(b.sql_type().or(a.sql_type()));
    let wraps = types.is_none_or(|(a, b)| arith_type(op, a, b).is_some_and(SqlType::is_integer));
    (!wraps).then(|| arith(op, a.clone(), b.clone()))
}

/// The function that `array || array`, `array || element` and `element || array` call.
pub(super) fn joining(function: Function, args: &[Expr]) -> Option<Function> {
    if function == Function::JSON_CONTAINS {
        let is_array = |arg: &Expr| arg.sql_type().is_some_and(|ty| ty.element().is_some());
        return args.iter().any(is_array).then_some(Function::ARRAY_CONTAINS_ALL);
    }
    if ![Function::CONCAT, Function::PHOENIX_CONCAT].contains(&function) {
        return None;
    }
    let family = |e: &Expr| e.sql_type().map_or(TypeFamily::Null, SqlType::family);
    let [a, b] = args else { return None };
    match (family(a), family(b)) {
        (TypeFamily::Array, TypeFamily::Array | TypeFamily::Null) | (TypeFamily::Null, TypeFamily::Array) => {
            Some(Function::ARRAY_CAT)
        }
        (TypeFamily::Array, _) => Some(Function::ARRAY_APPEND),
        (_, TypeFamily::Array) => Some(Function::ARRAY_PREPEND),
        _ => None,
    }
}

/// `value = ANY(array)` as IN, and `value <> ALL(array)` as NOT IN, over the elements of a constant array: key columns are
/// bounded by these.
fn membership(function: Function, args: &[Expr]) -> Option<Typed> {
    let (op, negated) = match function {
        function if function == Function::ARRAY_ANY => (CompareOp::Eq, false),
        function if function == Function::ARRAY_ALL => (CompareOp::NotEq, true),
        _ => return None,
    };
    match args {
        [value, Expr::Literal(Value::Text(operator), _), array] if operator == op.as_str() => {
            let (elements, ty) = constant_array(value, array)?;
            let list = elements.iter().map(|element| Expr::Literal(element.clone(), ty)).collect();
            Some(in_list(value.clone(), list, negated))
        }
        _ => None,
    }
}

/// The elements of a constant array, and their type. A text is an array of the type of what it is compared with. `None` of NULL, and of
/// what cannot be computed: the call has the error.
fn constant_array<'e>(value: &Expr, array: &'e Expr) -> Option<(Cow<'e, [Value]>, SqlType)> {
    let (elements, ty) = match array {
        Expr::Literal(Value::Array(elements), ty) => (Cow::Borrowed(elements.as_slice()), *ty),
        array if array.is_constant() => {
            let array = match array {
                Expr::Literal(Value::Text(_), _) => cast(array.clone(), SqlType::array(value.sql_type()?)?).ok()?,
                array => array.clone(),
            };
            let Value::Array(elements) = eval::eval(&array, &[]).ok()? else { return None };
            (Cow::Owned(elements), array.sql_type()?)
        }
        _ => return None,
    };
    Some((elements, ty.element().unwrap_or(SqlType::Null)))
}

/// The literal that an array of literals is: it takes the type of what it meets, as they do. Else the call.
pub(super) fn array(args: Vec<Expr>, ty: SqlType) -> Expr {
    let literal = |arg: &Expr| if let Expr::Literal(value, _) = arg { Some(value.clone()) } else { None };
    match args.iter().map(literal).collect() {
        Some(elements) => Expr::Literal(Value::Array(elements), ty),
        None => Expr::Call(Function::MAKE_ARRAY, args, ty),
    }
}
