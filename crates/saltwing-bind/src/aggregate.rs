//! Calls of aggregate functions.

use std::cell::RefCell;

use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ColumnRef, Expr, SqlType, ValueError};

use crate::tree::{CallColumn, ColumnIds};

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

/// The aggregate functions of the direct path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    /// `COUNT`: of rows, or of values that are not NULL.
    Count,
    /// `SUM`.
    Sum,
    /// `WRAPPING_SUM`: a sum of integers beyond 64 bits wraps, as in Phoenix.
    WrappingSum,
    /// `MIN`.
    Min,
    /// `MAX`.
    Max,
    /// `AVG`.
    Avg,
}

impl AggregateFunction {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Count, Self::Sum, Self::WrappingSum, Self::Min, Self::Max, Self::Avg];

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name().eq_ignore_ascii_case(name))
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "COUNT",
            Self::Sum => "SUM",
            Self::WrappingSum => "WRAPPING_SUM",
            Self::Min => "MIN",
            Self::Max => "MAX",
            Self::Avg => "AVG",
        }
    }

    /// The type of the result over values of `ty`: sums of integers are BIGINT, those of decimals and
    /// their averages bare DECIMAL, both of intervals INTERVAL, other averages DOUBLE.
    pub(crate) fn result_type(self, argument: &Expr, ty: SqlType) -> Result<SqlType, ValueError> {
        let is_number = ty.family() == TypeFamily::Number;
        Ok(match (self, ty) {
            (Self::Count, _) => SqlType::BigInt,
            (Self::Min | Self::Max, _) => ty,
            (_, SqlType::Decimal(_)) => SqlType::Decimal(None),
            (_, SqlType::Interval) => SqlType::Interval,
            (Self::Sum | Self::WrappingSum, _) if ty.is_integer() => SqlType::BigInt,
            _ if is_number => SqlType::Double,
            (function, _) => {
                let text = format!("{} takes numbers or intervals, and {argument} is {ty}", function.name());
                return Err(ValueError::TypeMismatch(text));
            }
        })
    }
}

/// Collects the calls of aggregate functions in the expressions of a SELECT, each as a column.
pub struct Collector<'a> {
    ids: &'a ColumnIds,
    /// The id of the first column that is none of the table's.
    first_own: usize,
    calls: RefCell<Vec<CallColumn>>,
    /// Items by alias in lower case, for GROUP BY and HAVING.
    aliases: RefCell<Vec<(String, Expr)>>,
}

impl<'a> Collector<'a> {
    /// A collector for the columns with ids below `first_own`; it gives calls new ones.
    pub(crate) fn new(ids: &'a ColumnIds, first_own: usize) -> Self {
        Self { ids, first_own, calls: RefCell::default(), aliases: RefCell::default() }
    }

    /// Lets expressions that follow name an item by its alias, where no column has that name.
    pub(crate) fn name_item(&self, alias: &str, item: &Expr) {
        self.aliases.borrow_mut().push((alias.to_lowercase(), item.clone()));
    }

    pub(crate) fn alias(&self, name: &str) -> Option<Expr> {
        let name = name.to_lowercase();
        self.aliases.borrow().iter().find(|(alias, _)| *alias == name).map(|(_, item)| item.clone())
    }

    /// Whether a column is one of the table.
    pub(crate) fn is_table_column(&self, column: &ColumnRef) -> bool {
        column.index < self.first_own
    }

    /// The column of a call: the same one for equal calls.
    pub(crate) fn column(&self, call: AggregateCall, name: String) -> Expr {
        let mut calls = self.calls.borrow_mut();
        if let Some(known) = calls.iter().find(|known| known.call == call) {
            return Expr::Column(ColumnRef { name, ..known.column.clone() });
        }
        let (ty, nullable) = (call.ty, call.function != AggregateFunction::Count);
        let column = ColumnRef { index: self.ids.take(1), name, ty, nullable, span: None };
        calls.push(CallColumn { column: column.clone(), call });
        Expr::Column(column)
    }

    /// Whether no call was met.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty()
    }

    /// The calls met, in the order in which they were met.
    pub(crate) fn into_calls(self) -> Vec<CallColumn> {
        self.calls.into_inner()
    }
}
