//! A query, bound: a tree of relations over columns that have ids.
//!
//! ```text
//! SELECT host, COUNT(*) AS n FROM t WHERE ts > 5 GROUP BY host ORDER BY n DESC LIMIT 3
//!
//! limit 3
//!   sort n:4 desc nulls first
//!     aggregate [host:0] [COUNT(*):4 = COUNT(*)]
//!       filter ts:1 > 5
//!         scan t [host:0, ts:1]
//! output host:0, COUNT(*):4 AS n
//! ```
//!
//! # Column ids
//! Each column of a statement has an id that no other column of it has; [`ColumnRef::index`] holds it. A [`Scan`] takes one for
//! each column of its table, and every computed column, key of a group and call of an aggregate takes one. A relation passes the
//! columns of its input on under the same ids, so that an expression means the same wherever it stands in the tree. Positions
//! appear below the tree alone, where an executor lays out its rows.

mod as_of;
mod draw;
mod keys;
mod relation;
mod rows;
mod sequence_uses;
mod text;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::ArrowTable;
use saltwing_plan::Condition;
use saltwing_sql::statement::Hint;
use saltwing_types::{ColumnRef, CompareOp, Expr, SortOrder, Span, SqlType};

use crate::aggregate::AggregateCall;
use crate::engine::{EngineAggregate, EngineFunctions, OpaqueTypes};
use crate::output::ResultColumn;
use crate::row_count::RowCount;
use crate::system_table::SystemTable;
use crate::window_call::WindowCall;

pub use self::as_of::AsOf;
pub(crate) use self::as_of::{no_time, time_of};
pub use self::draw::SequenceDraw;
pub use self::rows::Rows;
pub(crate) use self::sequence_uses::set_beside_another;
pub use self::sequence_uses::{SequenceUse, SequenceUses};

/// A query, bound.
#[derive(Clone, Debug)]
pub struct BoundQuery {
    /// The relation whose rows are the result.
    pub relation: Relation,
    /// The columns of the result, in order. The relation may have more: a sort needs them.
    pub output: Vec<Output>,
}

/// One column of the result of a [`BoundQuery`].
#[derive(Clone, Debug)]
pub struct Output {
    /// Its label; labels may repeat.
    pub label: String,
    /// The column of the relation.
    pub column: ColumnRef,
}

impl Output {
    /// A column under its own name.
    pub(crate) fn of(column: &ColumnRef) -> Self {
        Self { label: column.name.clone(), column: column.clone() }
    }
}

/// Rows, and how they come about.
#[derive(Clone, Debug)]
pub enum Relation {
    /// The rows of a table.
    Scan(Scan),
    /// Rows that no store of ours holds.
    External {
        /// Where they are from.
        source: ExternalSource,
        /// How the statement calls them.
        alias: Option<String>,
        /// The columns of the source, in their order.
        columns: Vec<ColumnRef>,
    },
    /// Rows of expressions without columns. A SELECT without FROM reads one row of no columns.
    Values {
        /// The rows, each as long as `columns`; at least one.
        rows: Vec<Vec<Expr>>,
        /// The columns, whose types those of the expressions are.
        columns: Vec<ColumnRef>,
    },
    /// The rows of several relations. It gives these columns alone.
    SetOperation {
        /// Which rows it gives.
        operator: SetOperator,
        /// What it reads: two inputs, or more of a union.
        inputs: Vec<SetInput>,
        /// The columns, whose types those of the inputs' columns are.
        columns: Vec<ColumnRef>,
    },
    /// The rows of a query that names itself: those of its first term, and those that the other term gives for the rows of the round
    /// before, until a round gives none. It gives these columns alone.
    Recursive {
        /// The number by which [`Relation::WorkTable`] refers to it.
        number: usize,
        /// Its name.
        name: String,
        /// The first rows.
        first: Box<SetInput>,
        /// The rows of each further round.
        next: Box<SetInput>,
        /// Whether rows that were there before are left out: UNION, in contrast to UNION ALL.
        distinct: bool,
        /// The columns. All may be NULL.
        columns: Vec<ColumnRef>,
    },
    /// The rows of the round before, inside of [`Relation::Recursive`].
    WorkTable {
        /// The number of that.
        number: usize,
        /// The columns.
        columns: Vec<ColumnRef>,
    },
    /// The rows of a query that several relations read, and that is computed once. It gives these columns alone.
    Shared {
        /// The number of the query: the same one in each of its relations.
        number: usize,
        /// The rows of the query.
        rows: Arc<SetInput>,
        /// The columns, in the order of those of the query.
        columns: Vec<ColumnRef>,
    },
    /// Each row of the input with the elements of its arrays as further columns, as often as the longest of them has elements. A shorter
    /// one has NULL for the rest.
    Unnest {
        /// The rows that the arrays are of.
        input: Box<Relation>,
        /// The columns that it adds.
        columns: Vec<UnnestColumn>,
        /// Whether a row whose arrays are all NULL comes once; else it does not come.
        keeps_rows: bool,
    },
    /// Pairs of rows.
    Join {
        /// Which rows without a partner come, too.
        kind: JoinKind,
        /// The rows that come first in a pair.
        left: Box<Relation>,
        /// The others.
        right: Box<Relation>,
        /// Whether the right side may name columns of the left one: it has rows for each row of that. Only inner and left joins
        /// are such.
        lateral: bool,
        /// Columns of the left side, each with one of the right side that must have the same value, NULL included. In contrast to an
        /// equality, values that only compare as equal, as two intervals of one length do, are not the same. Decorrelation joins by these.
        same: Vec<(ColumnRef, ColumnRef)>,
        /// What a pair must meet, too; no condition is a cross join.
        conditions: Vec<Condition>,
    },
    /// The rows that meet all conditions.
    Filter {
        /// The rows to choose from.
        input: Box<Relation>,
        /// The conditions. They stay apart, as plans, EXPLAIN and errors speak of each.
        conditions: Vec<Condition>,
    },
    /// One row for each group. It gives the keys and the calls, and no other column of its input.
    Aggregate {
        /// The rows that are grouped.
        input: Box<Relation>,
        /// The keys. Without keys all rows are one group, even if there are none.
        keys: Vec<ComputedColumn>,
        /// The calls of aggregate functions.
        calls: Vec<CallColumn>,
        /// GROUPING SETS, and calls of GROUPING; without these all keys are one set.
        sets: Option<GroupingSets>,
    },
    /// The rows of the input with the values of subqueries as further columns.
    Apply {
        /// The rows for each of which the subqueries have a value.
        input: Box<Relation>,
        /// The subqueries. One may name the columns of those before it.
        subqueries: Vec<SubqueryColumn>,
    },
    /// The rows of the input with the values of window functions as further columns.
    Window {
        /// The rows that the windows are made of.
        input: Box<Relation>,
        /// The columns that it adds, each over columns of the input.
        calls: Vec<WindowColumn>,
    },
    /// The rows of the input with more columns.
    Project {
        /// The rows that are computed on.
        input: Box<Relation>,
        /// The columns that it adds, each over columns of the input.
        columns: Vec<ComputedColumn>,
    },
    /// One row for each combination of values. It gives these columns alone.
    Distinct {
        /// The rows that may repeat.
        input: Box<Relation>,
        /// The columns that are compared, each once.
        columns: Vec<ColumnRef>,
    },
    /// The first of the rows that are equal in some columns. It gives these columns alone.
    DistinctOn {
        /// All rows.
        input: Box<Relation>,
        /// The columns in which they are equal, each once.
        on: Vec<ColumnRef>,
        /// The order that tells the first one. It begins with the columns `on`, as they are.
        order: Vec<SortItem>,
        /// The columns of the result, each once.
        columns: Vec<ColumnRef>,
    },
    /// The rows in an order.
    Sort {
        /// The rows to be sorted.
        input: Box<Relation>,
        /// The columns to sort by, the most significant one first.
        items: Vec<SortItem>,
    },
    /// A part of the rows, in their order.
    Limit {
        /// All rows.
        input: Box<Relation>,
        /// How many rows are given at most.
        limit: RowCount,
        /// How many rows are left out before them.
        offset: RowCount,
        /// Whether the rows are a page: LIMIT .. AFTER.
        is_page: bool,
    },
}

/// Which rows without a partner a join gives, with NULL in the columns of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// None.
    Inner,
    /// Those of the left side.
    Left,
    /// Those of the right side.
    Right,
    /// Those of both.
    Full,
    /// No pairs, but the rows of the left side that have a partner, each once.
    Semi,
    /// No pairs, but the rows of the left side that have no partner.
    Anti,
    /// `NOT IN`: no pairs, but the rows of the left side for which the only condition, an equality, is false with each row of the right side. A
    /// row for which it is unknown with some row does not come.
    NotIn,
    /// No pairs, but all rows of the left side, with a further column that tells whether a row has a partner: a BOOLEAN that is never NULL.
    Mark {
        /// The id of that column.
        column: usize,
    },
}

impl JoinKind {
    /// Whether the columns of the right side are those of the join, too.
    pub(crate) fn gives_right(self) -> bool {
        matches!(self, Self::Inner | Self::Left | Self::Right | Self::Full)
    }

    /// Whether columns of the left side, and of the right side, are NULL in rows without a partner.
    pub fn fills(self) -> (bool, bool) {
        (matches!(self, Self::Right | Self::Full), matches!(self, Self::Left | Self::Full))
    }
}

/// A source of rows that no store of ours holds.
#[derive(Clone, Debug)]
pub enum ExternalSource {
    /// Arrow batches of the program, or a file.
    Arrow(Arc<ArrowTable>),
    /// A system table.
    System(&'static dyn SystemTable),
    /// A table function of the relational engine, by its name in lower case, and its arguments, which name no columns.
    Function {
        /// The name.
        name: String,
        /// The arguments.
        args: Vec<Expr>,
    },
}

/// Which rows a set operation gives. `UNION` without ALL is a [`Relation::Distinct`] over a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION ALL`: the rows of all inputs.
    Union,
    /// `INTERSECT`: the rows of the first input that the second one has too. With ALL, a row that the inputs have `m` and `n` times comes
    /// `min(m, n)` times; else once.
    Intersect {
        /// ALL.
        all: bool,
    },
    /// `EXCEPT`: the rows of the first input that the second one does not have. With ALL, such a row comes `m - n` times; else once.
    Except {
        /// ALL.
        all: bool,
    },
}

impl SetOperator {
    /// Its word in SQL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Union => "UNION",
            Self::Intersect { .. } => "INTERSECT",
            Self::Except { .. } => "EXCEPT",
        }
    }
}

/// One input of a set operation.
#[derive(Clone, Debug)]
pub struct SetInput {
    /// The rows.
    pub relation: Relation,
    /// The columns of the relation that become those of the operation, in their order; they may repeat.
    pub columns: Vec<ColumnRef>,
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The table, with the time of its rows if that is known.
    pub table: Arc<Table>,
    /// The time of its rows, if that is not known yet. What plans the scan then plans one of the rows as they are now.
    pub as_of: Option<AsOf>,
    /// How the statement calls it, where that is not its name.
    pub alias: Option<String>,
    /// Where the statement names it.
    pub span: Option<Span>,
    /// The id of the column at index 0; that at index `i`, hidden ones included, has this plus `i`, below [`Table::width`].
    pub first_column: usize,
    /// The hints of the statement.
    pub hints: Vec<Hint>,
}

/// A column with the expression that gives it.
#[derive(Clone, Debug)]
pub struct ComputedColumn {
    /// The column. If the expression is a column, it is that one.
    pub column: ColumnRef,
    /// Its value.
    pub expr: Expr,
}

/// Sets of keys: the rows are grouped by each set. The keys that are not in the set of a group are NULL in it.
#[derive(Clone, Debug)]
pub struct GroupingSets {
    /// The keys of each set, by position; each key is in a set.
    pub sets: Vec<Vec<usize>>,
    /// The calls of GROUPING.
    pub groupings: Vec<GroupingColumn>,
}

/// A column with the keys that a call of GROUPING names: of each it has a bit, the last one the lowest, which tells that the key is not
/// in the set of the group.
#[derive(Clone, Debug)]
pub struct GroupingColumn {
    /// The column.
    pub column: ColumnRef,
    /// The keys, by position.
    pub keys: Vec<usize>,
}

/// A column with the call of an aggregate function that gives it.
#[derive(Clone, Debug)]
pub struct CallColumn {
    /// The column.
    pub column: ColumnRef,
    /// The call, over columns of the aggregation's input.
    pub call: GroupCall,
}

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupCall {
    /// Of one of ours.
    Own(AggregateCall),
    /// One that only the relational engine computes.
    Engine(EngineAggregate),
}

impl GroupCall {
    /// The expressions that it computes for each row.
    pub fn exprs(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match self {
            Self::Own(call) => Box::new(call.exprs()),
            Self::Engine(call) => Box::new(call.exprs()),
        }
    }

    /// The same, to change them.
    pub fn exprs_mut(&mut self) -> Box<dyn Iterator<Item = &mut Expr> + '_> {
        match self {
            Self::Own(call) => Box::new(call.exprs_mut()),
            Self::Engine(call) => Box::new(call.exprs_mut()),
        }
    }
}

/// A column with the array whose elements it has.
#[derive(Clone, Debug)]
pub struct UnnestColumn {
    /// The column.
    pub column: ColumnRef,
    /// The array, over columns of the input.
    pub array: Expr,
}

/// A column with the call of a window function that gives it.
#[derive(Clone, Debug)]
pub struct WindowColumn {
    /// The column.
    pub column: ColumnRef,
    /// The call, over columns of the input.
    pub call: WindowCall,
}

/// A column with the subquery that gives it. The subquery may name columns of the relation that it is applied to, and of queries
/// around that.
#[derive(Clone, Debug)]
pub struct SubqueryColumn {
    /// The column.
    pub column: ColumnRef,
    /// How the rows of the subquery become a value.
    pub kind: SubqueryKind,
    /// The subquery. The ids of its own columns are not below `first_own`.
    pub query: BoundQuery,
    /// The id of its first own column.
    pub first_own: usize,
}

/// How the rows of a subquery become a value.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// The value of the only column in the only row; NULL if there is no row, an error if there are several.
    Scalar,
    /// Whether there is a row.
    Exists,
    /// Whether these values are equal to those of a row: `IN`, `= ANY`. Unknown if no row is equal, and some may be for all that is
    /// known. Equal values have equal forms in Arrow.
    In {
        /// As many values as the subquery has columns.
        values: Vec<Expr>,
    },
    /// Whether a comparison holds for some row, or for all of them: `ANY` and `ALL`.
    Quantified {
        /// The left side: as many values as the subquery has columns. Several are compared by `=` alone, where all pairs must be equal.
        values: Vec<Expr>,
        /// The comparison.
        op: CompareOp,
        /// Whether it must hold for all rows.
        all: bool,
    },
}

impl SubqueryKind {
    /// How texts call its value.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Scalar => "(subquery)",
            Self::Exists => "EXISTS (subquery)",
            Self::In { .. } => "IN (subquery)",
            Self::Quantified { all: false, .. } => "ANY (subquery)",
            Self::Quantified { all: true, .. } => "ALL (subquery)",
        }
    }
}

impl SubqueryColumn {
    /// The values that the rows of the subquery are compared with.
    pub fn values(&self) -> &[Expr] {
        match &self.kind {
            SubqueryKind::Scalar | SubqueryKind::Exists => &[],
            SubqueryKind::In { values } | SubqueryKind::Quantified { values, .. } => values,
        }
    }

    pub(crate) fn values_mut(&mut self) -> &mut [Expr] {
        match &mut self.kind {
            SubqueryKind::Scalar | SubqueryKind::Exists => &mut [],
            SubqueryKind::In { values } | SubqueryKind::Quantified { values, .. } => values,
        }
    }

    /// The columns that its query names and does not give, each once.
    pub(crate) fn outer_columns(&self) -> Vec<usize> {
        self.query.outer_columns(self.first_own)
    }
}

/// One item of a sort.
#[derive(Clone, Debug)]
pub struct SortItem {
    /// The column of the input.
    pub column: ColumnRef,
    /// The direction.
    pub order: SortOrder,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// The ids of a statement's columns, and what the relational engine knows of their types.
pub(crate) struct ColumnIds<'a> {
    next: Cell<usize>,
    /// The functions of the engine.
    pub(crate) engine: &'a dyn EngineFunctions,
    /// Its types of columns that SQL has no type for.
    pub(crate) opaque: OpaqueTypes,
}

impl<'a> ColumnIds<'a> {
    pub(crate) fn new(engine: &'a dyn EngineFunctions) -> Self {
        Self { next: Cell::new(0), engine, opaque: OpaqueTypes::default() }
    }

    /// The id that the next column gets.
    pub(crate) fn next(&self) -> usize {
        self.next.get()
    }

    /// Takes `count` consecutive ids, and gives the first one.
    pub(crate) fn take(&self, count: usize) -> usize {
        let first = self.next.get();
        self.next.set(first + count);
        first
    }

    /// The column of an expression: that which the expression is, or a new one.
    pub(crate) fn column_of(&self, expr: Expr, name: impl FnOnce(&Expr) -> String) -> ComputedColumn {
        match &expr {
            Expr::Column(column) => ComputedColumn { column: column.clone(), expr },
            _ => self.new_column_of(expr, name),
        }
    }

    /// A new column of an expression, even if that is a column.
    pub(crate) fn new_column_of(&self, expr: Expr, name: impl FnOnce(&Expr) -> String) -> ComputedColumn {
        let column = ColumnRef {
            index: self.take(1),
            name: name(&expr),
            ty: expr.sql_type().unwrap_or(SqlType::Null),
            nullable: expr.is_nullable(),
            span: expr.span(),
        };
        if column.ty == SqlType::Opaque
            && let Ok(data_type) = self.engine.data_type(&expr, &self.opaque)
        {
            self.opaque.put(column.index, data_type);
        }
        ComputedColumn { column, expr }
    }
}

impl ComputedColumn {
    /// Whether the column is one of the input, passed on.
    pub fn is_input_column(&self) -> bool {
        matches!(&self.expr, Expr::Column(column) if column.index == self.column.index)
    }
}

/// The value of a column below the projections that add `computed`: its expression if it is one of them.
pub fn value_of(column: &ColumnRef, computed: &[ComputedColumn]) -> Expr {
    match computed.iter().find(|known| known.column.index == column.index) {
        Some(known) => known.expr.clone(),
        None => Expr::Column(column.clone()),
    }
}

/// The columns, without those that were there before.
pub(crate) fn each_once<'a>(columns: impl Iterator<Item = &'a ColumnRef>) -> Vec<ColumnRef> {
    let mut found: Vec<ColumnRef> = Vec::new();
    columns.for_each(|column| {
        if !found.contains(column) {
            found.push(column.clone());
        }
    });
    found
}

/// The columns of an aggregation in their order: its keys, then its calls.
pub fn group_columns<'a>(keys: &'a [ComputedColumn], calls: &'a [CallColumn]) -> impl Iterator<Item = &'a ColumnRef> {
    keys.iter().map(|key| &key.column).chain(calls.iter().map(|call| &call.column))
}

impl BoundQuery {
    /// The columns of the result, as a caller sees them. A value whose type SQL lacks is put out as text.
    pub fn columns(&self) -> Arc<[ResultColumn]> {
        let shown = |ty| if ty == SqlType::Opaque { SqlType::Varchar(None) } else { ty };
        let column = |Output { label, column }: &Output| ResultColumn {
            label: label.clone(),
            ty: shown(column.ty),
            nullable: column.nullable,
        };
        self.output.iter().map(column).collect()
    }

    /// Whether it is one row without columns, so that nothing is read or computed: its only row [takes values](SequenceDraw) of sequences.
    pub fn is_one_row(&self) -> bool {
        self.output.is_empty() && self.relation.is_one_row()
    }

    /// The columns that it names and does not give, each once; the ids of its own are not below `first_own`.
    pub(crate) fn outer_columns(&self, first_own: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut note = |column: &ColumnRef| {
            if column.index < first_own {
                found.insert(column.index);
            }
        };
        self.relation.for_each(&mut |relation| relation.for_each_column(&mut note));
        self.output.iter().for_each(|output| note(&output.column));
        found.into_iter().collect()
    }

    /// Calls `visit` on every expression of the tree, those of its output and its sorts apart: they are columns.
    pub fn for_each_expr<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        self.relation.for_each(&mut |relation| relation.for_each_own_expr(visit));
    }
}
