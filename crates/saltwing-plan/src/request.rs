//! The input of the planner.

use std::sync::Arc;

use saltwing_rowkey::RowKeyCodec;
use saltwing_types::{Expr, KeySchema, SortOrder};

/// One top-level conjunct of WHERE.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition, boolean, over the table's columns: `ColumnRef::index` counts in `TableDef::columns`.
    pub expr: Expr,
    /// As it is shown to users.
    pub text: String,
}

impl Condition {
    /// A condition that shows as its expression prints.
    pub fn new(expr: Expr) -> Self {
        let text = expr.to_string();
        Self { expr, text }
    }
}

/// A key that may serve an access: the table's own, or an index's.
#[derive(Clone, Copy, Debug)]
pub struct CandidateKey<'a> {
    /// The table's or index's name, for texts.
    pub label: &'a str,
    /// The key.
    pub schema: &'a KeySchema,
    /// Its codec, made of `schema`.
    pub codec: &'a Arc<RowKeyCodec>,
    /// If it is the key of an index: what else counts. See [`CandidateKey::of_index`].
    pub index: Option<IndexTraits<'a>>,
}

/// What counts of an index beside its key.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexTraits<'a> {
    /// The columns of the table that its entries have, ascending.
    pub columns: &'a [usize],
    /// The condition of the rows that have an entry; `None`: all have one.
    pub predicate: Option<&'a Expr>,
    /// Whether each column of its key is never NULL, in key order; columns that are not listed may be.
    pub never_null: &'a [bool],
    /// Whether an entry lies in the bucket of its row.
    pub local: bool,
    /// Whether the statement's hints name it.
    pub hinted: bool,
}

impl<'a> CandidateKey<'a> {
    /// The key of a table.
    pub fn of_table(label: &'a str, schema: &'a KeySchema, codec: &'a Arc<RowKeyCodec>) -> Self {
        Self { label, schema, codec, index: None }
    }

    /// The key of an index: NULL is a value of every nullable column, and has the bytes of '' if the column is text of
    /// variable width.
    pub fn of_index(
        label: &'a str,
        schema: &'a KeySchema,
        codec: &'a Arc<RowKeyCodec>,
        traits: IndexTraits<'a>,
    ) -> Self {
        Self { label, schema, codec, index: Some(traits) }
    }
}

/// What an item of ORDER BY may be for its order to be that of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderBy {
    /// A column of the table, by index.
    Column(usize),
    /// The expression of a computed part of the table's own key, by its position there.
    KeyPart(usize),
}

/// One item of ORDER BY that is a column, or a part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The values that are ordered.
    pub by: OrderBy,
    /// Direction.
    pub order: SortOrder,
    /// Whether NULLs come first: the default in both directions.
    pub nulls_first: bool,
}

/// Most rows, OFFSET included, that LIMIT may read of an unbounded scan.
pub const LIMITED_ROWS_MAX: u64 = 1000;

/// `LIMIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLimit {
    /// No limit.
    None,
    /// So many rows.
    Rows(u64),
    /// A parameter: known at execution.
    Unknown,
}

/// A table access to plan.
///
/// A plain SELECT, UPDATE or DELETE over one table without further ado is
/// [`Request::new`] with its conditions.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The table's name, for texts.
    pub table: &'a str,
    /// The keys to choose from, the table's own first.
    pub keys: &'a [CandidateKey<'a>],
    /// The conjuncts of WHERE.
    pub conditions: Vec<Condition>,
    /// The columns that the statement reads beside those of the conditions; `None`: all.
    pub columns: Option<&'a [usize]>,
    /// ORDER BY; empty when there is none, or when it is not by columns of this table alone.
    pub order: &'a [OrderItem],
    /// Whether the ranges of NULL may be read by themselves for the sake of the order: see [`crate::Access::in_turn`].
    pub nulls_apart: bool,
    /// Whether the rows are a page, which is read in the order of a key: a key that gives the order comes before others.
    pub is_page: bool,
    /// LIMIT, if it may be applied to this scan.
    pub limit: RowLimit,
    /// OFFSET.
    pub offset: u64,
    /// Whether rows are aggregated or made distinct.
    pub aggregate_or_distinct: bool,
    /// The table column of which only MIN or MAX is requested.
    pub min_max: Option<usize>,
    /// Whether the statement reads this table only.
    pub single_table: bool,
    /// Whether this is a table of the catalog, which may always be read.
    pub catalog: bool,
}

impl<'a> Request<'a> {
    /// A request for the rows of one table that satisfy `conditions`.
    pub fn new(table: &'a str, keys: &'a [CandidateKey<'a>], conditions: Vec<Condition>) -> Self {
        Self {
            table,
            keys,
            conditions,
            columns: None,
            order: &[],
            nulls_apart: false,
            is_page: false,
            limit: RowLimit::None,
            offset: 0,
            aggregate_or_distinct: false,
            min_max: None,
            single_table: true,
            catalog: false,
        }
    }
}
