//! The plan of a SELECT over one table.

use std::sync::Arc;

use saltwing_bind::ResultColumn;
use saltwing_types::{Expr, SqlType};

use crate::access::TableAccess;
use crate::direct_query::{GroupOrder, Grouping};

/// A SELECT over one table, planned.
pub struct PlannedSelect {
    /// The columns of the result.
    pub columns: Arc<[ResultColumn]>,
    /// How its table is read: the guard judges it, EXPLAIN shows it.
    pub access: TableAccess,
    /// The table's columns that are read, by index, ascending. Conditions that are checked for each row may name others.
    pub scanned: Vec<usize>,
    /// LIMIT.
    pub limit: Option<u64>,
    /// OFFSET.
    pub offset: u64,
    /// How the result comes from the rows read.
    pub plan: DirectPlan,
}

/// How a SELECT over one table runs without the relational engine.
pub enum DirectPlan {
    /// One row is looked up by its key, and its columns are the result.
    PointGet {
        /// The physical key; `None` before parameters have values.
        key: Option<Vec<u8>>,
        /// The columns of the result, by place among those scanned.
        places: Box<[usize]>,
    },
    /// Rows in the order of the access.
    Scan(RowOutput),
    /// MIN and MAX of key columns: the first row of each of these accesses.
    KeyEnds {
        /// An access for each call.
        ends: Vec<TableAccess>,
        /// The output expressions over these rows.
        aggregate: Aggregate,
    },
    /// One row for each combination of values in leading key columns: the scan jumps from one to the next.
    DistinctPrefix {
        /// How many key columns.
        columns: usize,
        /// The output expressions over these rows.
        aggregate: Aggregate,
    },
    /// COUNT, SUM and AVG of whole columns: the store adds them up where the rows are.
    Totals {
        /// The columns of the result.
        outputs: Box<[TotalOutput]>,
        /// The same for a store that does not add up.
        aggregate: Aggregate,
    },
    /// Groups of rows.
    Aggregate(Aggregate),
}

/// How the columns of the result come from the columns scanned.
pub enum RowOutput {
    /// As they are: by place among those scanned.
    Columns(Box<[usize]>),
    /// Computed, over the table's columns.
    Computed(Vec<Expr>),
}

/// Groups of rows, and how they are identified.
pub struct Aggregate {
    /// Keys, calls and what becomes of them. There is an order only if groups must be sorted.
    pub grouping: Grouping,
    /// How rows are brought to their groups.
    pub strategy: AggregateStrategy,
}

/// How rows are brought to their groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateStrategy {
    /// All rows, also none at all, are one group.
    Ungrouped,
    /// The rows of a group follow each other: one group is held at a time.
    Streaming,
    /// A hash table holds all groups.
    Hash,
}

/// One column of the result of [`DirectPlan::Totals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalOutput {
    /// `COUNT(*)`.
    Rows,
    /// `COUNT(x)` of a column, by place among those scanned.
    Known(usize),
    /// `SUM(x)` of a column of integers.
    Sum(usize),
    /// `WRAPPING_SUM(x)` of one.
    WrappingSum(usize),
    /// `AVG(x)` of one.
    Average(usize),
}

impl DirectPlan {
    /// The word in EXPLAIN (FORMAT JSON).
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::PointGet { .. } => "point_get",
            Self::Scan(_) => "scan",
            Self::KeyEnds { .. } => "key_ends",
            Self::DistinctPrefix { .. } => "distinct_prefix",
            Self::Totals { .. } => "totals",
            Self::Aggregate(aggregate) => match aggregate.strategy {
                AggregateStrategy::Ungrouped => "aggregate",
                AggregateStrategy::Streaming => "streaming_aggregate",
                AggregateStrategy::Hash => "hash_aggregate",
            },
        }
    }

    /// The order in which the groups of an aggregate are sorted; empty if they are not sorted.
    pub fn sorted(&self) -> &[GroupOrder] {
        match self {
            Self::PointGet { .. } | Self::Scan(_) => &[],
            Self::KeyEnds { aggregate, .. }
            | Self::DistinctPrefix { aggregate, .. }
            | Self::Totals { aggregate, .. }
            | Self::Aggregate(aggregate) => &aggregate.grouping.order,
        }
    }
}

impl PlannedSelect {
    /// The places of the result's columns among those scanned, if a row's stored values are the result as they are.
    ///
    /// A batch has no place for some instants that a row can hold, and another form for decimals: such columns are out.
    pub fn stored_columns(&self) -> Option<&[usize]> {
        let places = match &self.plan {
            DirectPlan::PointGet { places, .. } | DirectPlan::Scan(RowOutput::Columns(places)) => places,
            _ => return None,
        };
        let is_plain = |ty: SqlType| !ty.is_timestamp() && !matches!(ty, SqlType::Decimal(_));
        let is_whole = self.offset == 0 && self.limit != Some(0);
        (is_whole && self.columns.iter().all(|column| is_plain(column.ty))).then_some(places)
    }
}
