//! Groups of one table's rows, and aggregates over them.
//!
//! Items, HAVING and ORDER BY are lowered over the table's columns, with one more column behind them for
//! each call of an aggregate function. [`Collector::over_groups`] then moves them to the row of a group:
//! its keys first, then the values of its calls.

use std::cell::RefCell;
use std::fmt;

use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ColumnRef, Expr, SortOrder, SqlType, ValueError};

use crate::output::OutputColumn;

/// Rows in groups: `SELECT .. GROUP BY`, `SELECT DISTINCT`, or aggregates over all rows.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// An aggregation over the table's columns. Without keys all rows form one group, even if there are none.
    pub keys: Vec<Expr>,
    /// The aggregate calls of each group.
    pub calls: Vec<AggregateCall>,
    /// Conditions on a group, over its keys and calls.
    pub having: Vec<Expr>,
    /// The output expressions of a group, over its keys and calls.
    pub outputs: Vec<OutputColumn>,
    /// The order of the groups, over their keys and calls.
    pub order: Vec<GroupOrder>,
}

impl Grouping {
    /// All expressions in it, over columns, keys and calls.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let calls = self.calls.iter().flat_map(|call| call.argument.iter().chain(&call.filter));
        let outputs = self.outputs.iter().map(|output| &output.expr);
        let order = self.order.iter().map(|item| &item.expr);
        self.keys.iter().chain(calls).chain(&self.having).chain(outputs).chain(order)
    }
}

/// One item of the ORDER BY of groups.
#[derive(Clone, Debug)]
pub struct GroupOrder {
    /// The order of the groups, over keys and calls.
    pub expr: Expr,
    /// The direction.
    pub order: SortOrder,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

impl fmt::Display for GroupOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.order == SortOrder::Desc { " desc" } else { "" };
        let nulls = if self.nulls_first { "" } else { " nulls last" };
        write!(f, "{}{direction}{nulls}", self.expr)
    }
}

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

/// Collects the calls of aggregate functions in a statement's expressions.
pub struct Collector {
    /// The index of the first call's column: behind those of the table.
    first_call: usize,
    calls: RefCell<Vec<AggregateCall>>,
    /// Items by alias in lower case, for GROUP BY and HAVING.
    aliases: RefCell<Vec<(String, Expr)>>,
}

impl Collector {
    /// A collector for a table of this many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { first_call: columns, calls: RefCell::default(), aliases: RefCell::default() }
    }

    /// Lets expressions that follow name an item by its alias, where no column has that name.
    pub(crate) fn name_item(&self, alias: &str, item: &Expr) {
        self.aliases.borrow_mut().push((alias.to_lowercase(), item.clone()));
    }

    pub(crate) fn alias(&self, name: &str) -> Option<Expr> {
        let name = name.to_lowercase();
        self.aliases.borrow().iter().find(|(alias, _)| *alias == name).map(|(_, item)| item.clone())
    }

    /// Whether a lowered expression is a column of the table.
    pub(crate) fn is_table_column(&self, column: &ColumnRef) -> bool {
        column.index < self.first_call
    }

    /// The column of a call: the same one for equal calls.
    pub(crate) fn column(&self, call: AggregateCall, name: String) -> Expr {
        let mut calls = self.calls.borrow_mut();
        let (ty, nullable) = (call.ty, call.function != AggregateFunction::Count);
        let place = calls.iter().position(|known| *known == call).unwrap_or_else(|| {
            calls.push(call);
            calls.len() - 1
        });
        Expr::Column(ColumnRef { index: self.first_call + place, name, ty, nullable, span: None })
    }

    /// Whether no call was met.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty()
    }

    /// The calls met, in the order of their columns.
    pub(crate) fn into_calls(self) -> Vec<AggregateCall> {
        self.calls.into_inner()
    }

    /// An expression over the table and the calls as one over the keys and the calls; `None` when it
    /// names a column that is neither in a key nor in a call.
    pub(crate) fn over_groups(&self, mut e: Expr, keys: &[Expr]) -> Option<Expr> {
        self.rebase(&mut e, keys).then_some(e)
    }

    /// Whether a condition of HAVING depends only on the groups' keys and cannot fail. It then holds for all rows of a
    /// group or for none, so it is also a condition on rows and can bound the scan.
    pub(crate) fn is_of_keys(&self, e: &Expr, keys: &[Expr]) -> bool {
        let (mut is_plain, mut has_column) = (true, false);
        e.walk(&mut |e| match e {
            Expr::Column(column) => {
                has_column = true;
                is_plain &= self.is_table_column(column) && keys.contains(e);
            }
            Expr::Arith(..) | Expr::Negate(..) | Expr::Cast(..) | Expr::Case { .. } | Expr::Call(..) => {
                is_plain = false;
            }
            _ => {}
        });
        is_plain && has_column
    }

    fn rebase(&self, e: &mut Expr, keys: &[Expr]) -> bool {
        if let Some(place) = keys.iter().position(|key| key == e) {
            *e = key_column(place, e);
            return true;
        }
        match e {
            Expr::Column(column) => match column.index.checked_sub(self.first_call) {
                Some(call) => {
                    column.index = keys.len() + call;
                    true
                }
                None => false,
            },
            other => {
                let mut grouped = true;
                other.for_each_child_mut(&mut |child| grouped = grouped && self.rebase(child, keys));
                grouped
            }
        }
    }
}

/// The column of a group's row that holds a key.
fn key_column(place: usize, key: &Expr) -> Expr {
    let name = match key {
        Expr::Column(column) => column.name.clone(),
        other => other.to_string(),
    };
    let ty = key.sql_type().unwrap_or(SqlType::Null);
    Expr::Column(ColumnRef { index: place, name, ty, nullable: key.is_nullable(), span: key.span() })
}
