//! A table access: planned, judged, scanned, explained. Shared by both executors.

use std::sync::Arc;

use saltwing_access::{Direction, KeyRanges, KeySet, ScanOrder, ScanRoute, ScanSpec, Table, TableError};
use saltwing_plan::{
    Access, AccessKind, Buckets, CandidateKey, Condition, OrderItem, OrderKind, PredicateUse, Ranges, Request,
    RowLimit, Use, choose,
};
use saltwing_types::{Expr, Span};

use crate::error::Result;
use crate::refused::HintVerb;

/// The request of a statement to one table.
pub struct AccessRequest<'a> {
    /// The table.
    pub table: &'a Arc<Table>,
    /// How the statement calls it.
    pub alias: Option<String>,
    /// Where the statement names it.
    pub span: Option<Span>,
    /// The conditions over its columns.
    pub conditions: Vec<Condition>,
    /// ORDER BY over its columns; empty when there is none.
    pub order: &'a [OrderItem],
    /// Whether the scan may come in two parts for the sake of the order: see [`TableAccess::second_route`].
    pub nulls_apart: bool,
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
}

impl<'a> AccessRequest<'a> {
    /// The rows of a table that meet these conditions, in no order, for a statement that reads this table only.
    pub fn of(table: &'a Arc<Table>, conditions: Vec<Condition>) -> Self {
        Self {
            table,
            alias: None,
            span: None,
            conditions,
            order: &[],
            nulls_apart: false,
            limit: RowLimit::None,
            offset: 0,
            aggregate_or_distinct: false,
            min_max: None,
            single_table: true,
        }
    }
}

/// How one table is read.
#[derive(Clone)]
pub struct TableAccess {
    pub(crate) table: Arc<Table>,
    pub(crate) alias: Option<String>,
    pub(crate) span: Option<Span>,
    pub(crate) access: Access,
    /// The verb behind which a hint that overrides a refusal stands.
    pub(crate) verb: HintVerb,
    /// Conditions that the executor checks itself, as text.
    pub(crate) opaque: Vec<String>,
    /// The view of the statement that reads the table; known with the overrides.
    pub(crate) view: Option<String>,
}

/// Plans an access. The verdict is not applied yet: see [`TableAccess::judge`].
///
/// # Errors
/// [`crate::PlannerError::Plan`].
pub fn plan(request: AccessRequest<'_>) -> Result<TableAccess> {
    let def = request.table.def();
    let label = def.name.to_string();
    let keys = [CandidateKey { label: &label, schema: &def.key, codec: request.table.codec() }];
    let access = choose(Request {
        table: &label,
        keys: &keys,
        conditions: request.conditions,
        order: request.order,
        nulls_apart: request.nulls_apart,
        limit: request.limit,
        offset: request.offset,
        aggregate_or_distinct: request.aggregate_or_distinct,
        min_max: request.min_max,
        single_table: request.single_table,
        catalog: false,
    })?;
    Ok(TableAccess {
        table: request.table.clone(),
        alias: request.alias,
        span: request.span,
        access,
        verb: HintVerb::default(),
        opaque: Vec::new(),
        view: None,
    })
}

impl TableAccess {
    /// Tells of conditions that the executor checks itself: no range comes from them, and rows that are read
    /// may fail them.
    #[must_use]
    pub fn with_opaque(mut self, texts: &[String]) -> Self {
        const WHY: &str = "it is more than ranges can tell";
        for text in texts {
            let (text, why) = (text.clone(), WHY.to_owned());
            let use_ = PredicateUse { text: text.clone(), use_: Use::Residual, column: None, why, open: false };
            self.access.predicates.push(use_);
            if let Some(refusal) = &mut self.access.verdict.refusal {
                refusal.others.push((text, WHY.to_owned()));
            }
        }
        self.opaque.extend_from_slice(texts);
        self
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// How the statement calls it, where that is not its name.
    pub fn alias(&self) -> Option<&str> {
        self.alias.as_deref()
    }

    /// The plan.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether a scan gives the requested order.
    pub fn is_ordered(&self) -> bool {
        self.access.order != OrderKind::None
    }

    /// Scans of these columns, whose rows meet the conditions that ranges do not tell.
    ///
    /// # Errors
    /// A type mismatch where one of the conditions is none.
    pub fn spec(&self, columns: Vec<usize>) -> std::result::Result<ScanSpec, TableError> {
        ScanSpec::new(&self.table, columns, self.residual())
    }

    /// Whether it reads one range of keys, or all of them.
    pub fn reads_one_range(&self) -> bool {
        matches!(self.access.kind, AccessKind::Range | AccessKind::FullScan)
    }

    /// The rows to read: in the planned order if one was requested, `limit` of them at most.
    ///
    /// Only for an access whose parameters are all known. Where NULLs are read apart, it is the first part.
    pub fn route(&self, limit: Option<u64>) -> ScanRoute {
        self.route_over(KeySet::Ranges { ranges: self.first_ranges(), buckets: self.buckets() }, limit)
    }

    /// The ranges that [`TableAccess::route`] reads.
    pub fn first_ranges(&self) -> KeyRanges {
        self.planned(self.access.in_turn.as_ref().map_or(&self.access.ranges, |[first, _]| first))
    }

    /// The rows behind those of [`TableAccess::route`]; `None` if that reads all.
    pub fn second_route(&self, limit: Option<u64>) -> Option<ScanRoute> {
        let [_, second] = self.access.in_turn.as_ref()?;
        Some(self.route_over(KeySet::Ranges { ranges: self.planned(second), buckets: self.buckets() }, limit))
    }

    /// Ranges of this access, with the skips inside them.
    fn planned(&self, ranges: &Ranges) -> KeyRanges {
        KeyRanges::planned(ranges).skipping(self.access.skip.clone())
    }

    /// Which way its rows are read.
    pub fn direction(&self) -> Direction {
        if self.access.order == OrderKind::Reverse { Direction::Reverse } else { Direction::Forward }
    }

    /// Other keys, read in the direction and order of this access, `limit` of their rows at most.
    pub fn route_over(&self, keys: KeySet, limit: Option<u64>) -> ScanRoute {
        let direction = self.direction();
        let order = if self.access.order == OrderKind::None { ScanOrder::ByBucket } else { ScanOrder::Merged };
        let limit = if self.access.kind == AccessKind::Empty { Some(0) } else { limit };
        ScanRoute { keys, direction, order, limit, first_batch: None }
    }

    /// The buckets that are read.
    pub fn buckets(&self) -> Buckets {
        self.access.buckets.clone()
    }

    /// All keys that are read, in no order; `None` before parameters have values.
    pub fn keys(&self) -> Option<KeySet> {
        let ranges = &self.access.ranges;
        ranges.is_known().then(|| KeySet::Ranges { ranges: KeyRanges::planned(ranges), buckets: self.buckets() })
    }

    /// The conditions that each row is checked for.
    pub fn residual(&self) -> Vec<Expr> {
        self.access.residual.iter().map(|c| c.expr.clone()).collect()
    }
}
