//! What the relational engine adds to the language: functions and aggregates, which the binder types by asking the engine.

use std::cell::RefCell;
use std::collections::HashMap;

use arrow::datatypes::DataType;
use saltwing_types::function::Volatility;
use saltwing_types::{EngineCall, EngineOperation, Expr, Span, SqlType};

use crate::error::{BindError, BindErrorKind, Result};
use crate::window_call::SortKey;

/// The functions of a relational engine that the language does not have itself. Names are in lower case.
pub trait EngineFunctions {
    /// What a name stands for; `None` if the engine has no scalar function and no aggregate function of that name.
    fn kind(&self, name: &str) -> Option<EngineFunctionKind>;

    /// The type of a scalar call.
    ///
    /// # Errors
    /// Arguments that the operation does not take, and constants that it refuses.
    fn scalar(&self, operation: &EngineOperation, args: &[Expr], opaque: &OpaqueTypes) -> Result<EngineType>;

    /// The type of a call of an aggregate function.
    ///
    /// # Errors
    /// As [`EngineFunctions::scalar`].
    fn aggregate(&self, call: &EngineAggregate, opaque: &OpaqueTypes) -> Result<EngineType>;

    /// Arrow's type of an expression.
    ///
    /// # Errors
    /// As [`EngineFunctions::scalar`].
    fn data_type(&self, expr: &Expr, opaque: &OpaqueTypes) -> Result<DataType>;

    /// The columns of a table function, with whether they can be NULL; `None` if there is none of that name.
    ///
    /// # Errors
    /// As [`EngineFunctions::scalar`].
    fn table(&self, name: &str, args: &[Expr]) -> Result<Option<TableColumns>>;

    /// Advice for a name that is that of no function: the one that it may be a slip of.
    fn advice(&self, name: &str) -> Option<String>;
}

/// The kinds of an engine's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineFunctionKind {
    /// One value for each row.
    Scalar,
    /// One value for many rows.
    Aggregate,
}

/// The names and types of columns, with whether they can be NULL.
pub type TableColumns = Vec<(String, SqlType, bool)>;

/// The type of a value that an engine computes.
#[derive(Clone, Debug)]
pub struct EngineType {
    /// As SQL has it; [`SqlType::Opaque`] where SQL has no such type.
    pub ty: SqlType,
    /// Arrow's type of the value.
    pub data_type: DataType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How long the value stays the same.
    pub volatility: Volatility,
}

/// The aggregate, of one argument, that is the value in the only row: NULL without a row, and an error for several. Every engine has it, and no statement
/// can write its name.
pub const SINGLE_VALUE: &str = "__saltwing_single_value";

/// A call of an aggregate function that only the engine computes, or of one of ours in a form that only the engine computes.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineAggregate {
    /// The function, in lower case.
    pub name: String,
    /// Its arguments; of an ordered set, the value that is ordered comes first.
    pub args: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// The order of the values.
    pub order_by: Vec<SortKey>,
    /// FILTER: the rows that count.
    pub filter: Option<Expr>,
    /// IGNORE NULLS.
    pub ignore_nulls: bool,
    /// The result's type.
    pub ty: SqlType,
}

impl EngineAggregate {
    /// The expressions that it computes for each row.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().chain(self.order_by.iter().map(|item| &item.expr)).chain(&self.filter)
    }

    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.args.iter_mut().chain(self.order_by.iter_mut().map(|item| &mut item.expr)).chain(&mut self.filter)
    }
}

/// Arrow's types of the columns of type [`SqlType::Opaque`], by id.
#[derive(Debug, Default)]
pub struct OpaqueTypes {
    types: RefCell<HashMap<usize, DataType>>,
}

impl OpaqueTypes {
    /// The type of the column with this id; `None` if it is not opaque.
    pub fn get(&self, id: usize) -> Option<DataType> {
        self.types.borrow().get(&id).cloned()
    }

    pub(crate) fn put(&self, id: usize, data_type: DataType) {
        self.types.borrow_mut().insert(id, data_type);
    }
}

/// The error of a name that is that of no function.
pub(crate) fn no_such_function(engine: &dyn EngineFunctions, name: &str, span: Option<Span>) -> BindError {
    let error = BindError::from(BindErrorKind::NoSuchFunction(name.to_owned())).at(span);
    match engine.advice(name) {
        Some(advice) => error.help(advice),
        None => error,
    }
}

impl EngineType {
    /// A call of this type.
    pub(crate) fn call(&self, operation: EngineOperation, args: Vec<Expr>) -> Expr {
        let (ty, nullable, volatility) = (self.ty, self.nullable, self.volatility);
        Expr::Engine(Box::new(EngineCall { operation, args, ty, nullable, volatility }))
    }
}

/// No engine: where only the language itself is known.
pub struct NoEngine;

impl EngineFunctions for NoEngine {
    /// Any name may be that of a function which only an engine has.
    fn kind(&self, _: &str) -> Option<EngineFunctionKind> {
        Some(EngineFunctionKind::Scalar)
    }

    fn scalar(&self, operation: &EngineOperation, _: &[Expr], _: &OpaqueTypes) -> Result<EngineType> {
        Err(not_here(&operation_name(operation)))
    }

    fn aggregate(&self, call: &EngineAggregate, _: &OpaqueTypes) -> Result<EngineType> {
        Err(not_here(&call.name))
    }

    fn data_type(&self, expr: &Expr, _: &OpaqueTypes) -> Result<DataType> {
        Err(not_here(&expr.to_string()))
    }

    fn table(&self, name: &str, _: &[Expr]) -> Result<Option<TableColumns>> {
        Err(not_here(name))
    }

    fn advice(&self, _: &str) -> Option<String> {
        None
    }
}

/// How errors call an operation.
pub(crate) fn operation_name(operation: &EngineOperation) -> String {
    match operation {
        EngineOperation::Function(name) => format!("the function {name}"),
        EngineOperation::Cast(ty) => format!("a cast to {ty}"),
        EngineOperation::TryCast(ty) => format!("TRY_CAST to {ty}"),
        EngineOperation::Bits(operator) => format!("the operator {}", operator.as_str()),
    }
}

fn not_here(what: &str) -> BindError {
    BindErrorKind::NotSupported(format!("{what} here")).into()
}
