//! Calls of aggregate functions.

use saltwing_types::function::aggregate::{AggregateEntry, AggregateFunction, AggregateMeaning, ConstantArgument};
use saltwing_types::{Expr, SqlType, Value, ValueError, number};

use crate::engine::{EngineFunctionKind, EngineFunctions};
use crate::error::{BindError, Result};

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: AggregateFunction,
    /// The argument; `None` counts rows.
    pub argument: Option<Expr>,
    /// Whether equal values count once.
    pub distinct: bool,
    /// FILTER: the rows that count.
    pub filter: Option<Expr>,
    /// The result's type.
    pub ty: SqlType,
}

impl AggregateCall {
    /// The expressions that it computes for each row: its argument and its filter.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.argument.iter().chain(&self.filter)
    }

    /// The same, to change them.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.argument.iter_mut().chain(&mut self.filter)
    }
}

/// The type of the result of a function over the values of `argument`, which are of type `ty`.
///
/// # Errors
/// A type that the function does not take.
pub(crate) fn result_type(function: AggregateFunction, argument: &Expr, ty: SqlType) -> Result<SqlType> {
    function.result_type(ty).ok_or_else(|| {
        let text = format!("{} takes numbers or intervals, and {argument} is {ty}", function.name());
        ValueError::TypeMismatch(text).into()
    })
}

/// Whether a function is one that the engine has.
pub(crate) fn is_of_engine(entry: &AggregateEntry, engine: &dyn EngineFunctions) -> bool {
    entry.meaning == AggregateMeaning::Engine
        && engine.kind(&entry.engine_name()) == Some(EngineFunctionKind::Aggregate)
}

/// # Errors
/// A constant that a function, called by `name`, does not take as its last argument.
pub(crate) fn check_constant(entry: &AggregateEntry, name: &str, args: &[Expr]) -> Result<()> {
    match (entry.constant, args) {
        (Some(ConstantArgument::Place), [.., place]) => check_place(entry.name, place),
        (Some(ConstantArgument::Share), [.., Expr::Literal(share, _)]) if !is_share(share) => {
            let (name, share) = (name.to_uppercase(), number::to_f64(share));
            Err(ValueError::BadArgument(format!("{name} takes a constant from 0 to 1, and {share} is none")).into())
        }
        _ => Ok(()),
    }
}

/// # Errors
/// A place below 1.
pub(crate) fn check_place(name: &str, place: &Expr) -> Result<()> {
    match place {
        Expr::Literal(Value::Int(place @ ..=0), _) => {
            let text = format!("{name} counts from 1, and {place} is no place there");
            Err(BindError::from(ValueError::BadArgument(text)).help("of the last rows: ORDER BY .. DESC"))
        }
        _ => Ok(()),
    }
}

/// Whether a value is a number from 0 to 1; what is no number is left to the function.
fn is_share(value: &Value) -> bool {
    let is_number = matches!(value, Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_));
    !is_number || (0.0..=1.0).contains(&number::to_f64(value))
}
