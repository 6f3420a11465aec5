//! Calls of window functions.

use saltwing_sql::ExcludedRows;
use saltwing_types::function::window::WindowFunction;
use saltwing_types::{Expr, SortOrder, SqlType, Value};

/// A call of a window function.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// Its arguments; `COUNT(*)` has none.
    pub arguments: Vec<Expr>,
    /// Whether equal values count once.
    pub distinct: bool,
    /// FILTER: the rows that an aggregate counts.
    pub filter: Option<Expr>,
    /// IGNORE NULLS.
    pub ignore_nulls: bool,
    /// The rows that have equal values here are a partition.
    pub partition_by: Vec<Expr>,
    /// The order within a partition.
    pub order_by: Vec<SortKey>,
    /// The rows of the partition that count for a row.
    pub frame: Frame,
    /// The result's type.
    pub ty: SqlType,
}

impl WindowCall {
    /// The expressions that it computes for each row.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let order_by = self.order_by.iter().map(|item| &item.expr);
        self.arguments.iter().chain(&self.filter).chain(&self.partition_by).chain(order_by)
    }

    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order_by = self.order_by.iter_mut().map(|item| &mut item.expr);
        self.arguments.iter_mut().chain(&mut self.filter).chain(&mut self.partition_by).chain(order_by)
    }
}

/// One item of the order of values that a call sees.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// What is sorted by.
    pub expr: Expr,
    /// The direction.
    pub order: SortOrder,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// The rows of a partition that count for a row, by their distance from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What the distance counts.
    pub units: FrameUnits,
    /// The first row.
    pub start: FrameBound,
    /// The last row.
    pub end: FrameBound,
    /// The rows between these that do not count, if there are such.
    pub excluded: Option<ExcludedRows>,
}

impl Frame {
    /// All rows of the partition.
    pub(crate) const WHOLE: Self = Self {
        units: FrameUnits::Rows,
        start: FrameBound::UnboundedPreceding,
        end: FrameBound::UnboundedFollowing,
        excluded: None,
    };

    /// The rows up to this one and its peers.
    pub(crate) const TO_PEERS: Self = Self {
        units: FrameUnits::Range,
        start: FrameBound::UnboundedPreceding,
        end: FrameBound::CurrentRow,
        excluded: None,
    };
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnits {
    /// Rows.
    Rows,
    /// Differences of the value that is sorted by.
    Range,
    /// Groups of rows that are equal in the order.
    Groups,
}

/// One end of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// The first row of the partition.
    UnboundedPreceding,
    /// So far before the row: an integer, or for RANGE any number or an interval.
    Preceding(Value),
    /// The row, or the rows that are equal to it in the order.
    CurrentRow,
    /// So far after the row.
    Following(Value),
    /// The last row of the partition.
    UnboundedFollowing,
}

impl FrameBound {
    /// Whether it has a distance.
    pub(crate) fn has_offset(&self) -> bool {
        matches!(self, Self::Preceding(_) | Self::Following(_))
    }
}
