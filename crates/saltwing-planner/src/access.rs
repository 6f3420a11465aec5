//! A table access: planned, judged, scanned, explained. Shared by both executors.

use std::sync::Arc;

use saltwing_access::{
    Direction, Index, KeyRanges, KeySet, ReadSpec, ScanOrder, ScanRoute, ScanSpec, Table, TableError,
};
use saltwing_plan::{
    Access, AccessKind, Buckets, CandidateKey, Condition, IndexTraits, Loss, OrderItem, OrderKind, PredicateUse,
    Ranges, Request, RowLimit, Use, choose,
};
use saltwing_sql::statement::Hint;
use saltwing_types::{CompareOp, Expr, Function, KeySchema, Span, Value};

use crate::error::Result;
use crate::index_advice::{IndexAdvice, index_for};
use crate::index_hint::IndexHints;
use crate::join_advice::JoinAdvice;
use crate::refused::HintVerb;

/// The request of a statement to one table.
#[derive(Clone)]
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
    /// The columns that the statement reads beside those of the conditions; `None`: all of them.
    pub columns: Option<&'a [usize]>,
    /// The keys by which the rows may be read.
    pub keys: UsableKeys,
    /// The hints of the statement.
    pub hints: &'a [Hint],
}

/// The keys by which a statement may read the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsableKeys {
    /// The table's own, and those of its indexes.
    All,
    /// The table's own.
    Table,
    /// That of the index at this place among those of the table, if the conditions have a form there; else the table's own.
    Index(usize),
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
            is_page: false,
            limit: RowLimit::None,
            offset: 0,
            aggregate_or_distinct: false,
            min_max: None,
            single_table: true,
            columns: None,
            keys: UsableKeys::All,
            hints: &[],
        }
    }
}

impl AccessRequest<'_> {
    /// The same request with other conditions.
    pub(crate) fn with_conditions(&self, conditions: Vec<Condition>) -> Self {
        Self {
            table: self.table,
            alias: self.alias.clone(),
            span: self.span,
            conditions,
            order: self.order,
            nulls_apart: self.nulls_apart,
            limit: self.limit,
            offset: self.offset,
            aggregate_or_distinct: self.aggregate_or_distinct,
            min_max: self.min_max,
            single_table: self.single_table,
            columns: self.columns,
            is_page: self.is_page,
            keys: self.keys,
            hints: self.hints,
        }
    }
}

/// How one table is read.
#[derive(Clone)]
pub struct TableAccess {
    pub(crate) table: Arc<Table>,
    /// The place of the index that is read among those of the table.
    pub(crate) index: Option<usize>,
    /// The places of the indexes that were candidates.
    indexes: Vec<usize>,
    /// The indexes that would bound a refused access: one, or one for each alternative of an OR that nothing bounds.
    pub(crate) advice: Vec<Arc<IndexAdvice>>,
    /// The accesses that are read instead of this one, one after the other: the alternatives of an OR.
    pub(crate) union: Vec<TableAccess>,
    /// Accesses by other indexes, whose entries must name a row, too. Their own conditions stay among the others.
    pub(crate) intersected: Vec<TableAccess>,
    pub(crate) alias: Option<String>,
    pub(crate) span: Option<Span>,
    pub(crate) access: Access,
    /// The verb that a hint to override a refusal follows.
    pub(crate) verb: HintVerb,
    /// Conditions that the executor checks itself, as text.
    pub(crate) opaque: Vec<String>,
    /// The view of the statement that reads the table; known with the overrides.
    pub(crate) view: Option<String>,
}

fn of_index(index: &Index, hinted: bool) -> CandidateKey<'_> {
    let def = index.def();
    let predicate = def.predicate.as_ref().map(|predicate| &predicate.expr);
    let traits =
        IndexTraits { columns: index.columns(), predicate, never_null: index.never_null(), local: def.local, hinted };
    CandidateKey::of_index(&def.name, index.key(), index.codec(), traits)
}

/// An index that a statement may read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsableIndex {
    /// Its place among those of the table.
    pub(crate) place: usize,
    hinted: bool,
}

pub(crate) fn usable_indexes(request: &AccessRequest<'_>) -> Result<Vec<UsableIndex>> {
    let hints = IndexHints::new(request.hints, request.table, request.alias.as_deref());
    let hinted = hints.named()?;
    // The past of a table is not that of its indexes.
    if request.table.as_of_ms().is_some() || hints.forbid() {
        return Ok(Vec::new());
    }
    let ready = (0..).zip(request.table.indexes()).filter(|(_, index)| index.is_ready()).map(|(place, _)| place);
    let usable = |place: usize| match request.keys {
        UsableKeys::All => Some(UsableIndex { place, hinted: hinted.contains(&place) }),
        UsableKeys::Table => None,
        UsableKeys::Index(wanted) => (place == wanted).then_some(UsableIndex { place, hinted: true }),
    };
    Ok(ready.filter_map(usable).collect())
}

/// The access by the best of the keys of the table and some of its indexes.
pub(crate) fn by_one_key(request: AccessRequest<'_>, indexes: &[UsableIndex]) -> Result<TableAccess> {
    let label = request.table.def().name.to_string();
    let keys = candidate_keys(request.table, &label, indexes);
    let access = choose(key_request(&request, &label, &keys))?;
    let index = access.key_index.checked_sub(1).and_then(|chosen| Some(indexes.get(chosen)?.place));
    Ok(TableAccess {
        table: request.table.clone(),
        index,
        indexes: indexes.iter().map(|index| index.place).collect(),
        advice: Vec::new(),
        union: Vec::new(),
        intersected: Vec::new(),
        alias: request.alias,
        span: request.span,
        access,
        verb: HintVerb::default(),
        opaque: Vec::new(),
        view: None,
    })
}

fn candidate_keys<'a>(table: &'a Table, label: &'a str, indexes: &[UsableIndex]) -> Vec<CandidateKey<'a>> {
    let own = CandidateKey::of_table(label, &table.def().key, table.codec());
    let of = |usable: &UsableIndex| Some(of_index(table.indexes().get(usable.place)?, usable.hinted));
    std::iter::once(own).chain(indexes.iter().filter_map(of)).collect()
}

fn key_request<'a>(request: &AccessRequest<'a>, label: &'a str, keys: &'a [CandidateKey<'a>]) -> Request<'a> {
    Request {
        table: label,
        keys,
        conditions: request.conditions.clone(),
        columns: request.columns,
        order: request.order,
        nulls_apart: request.nulls_apart,
        is_page: request.is_page,
        limit: request.limit,
        offset: request.offset,
        aggregate_or_distinct: request.aggregate_or_distinct,
        min_max: request.min_max,
        single_table: request.single_table,
        catalog: false,
    }
}

/// The index that would make a refused access legal, if there is one.
pub(crate) fn advice(refused: &TableAccess, request: &AccessRequest<'_>) -> Vec<Arc<IndexAdvice>> {
    let label = request.table.def().name.to_string();
    let keys = candidate_keys(request.table, &label, &[]);
    let conditions = refused.access.residual.clone();
    let advice = index_for(request.table, Request { conditions, ..key_request(request, &label, &keys) });
    advice.into_iter().map(Arc::new).collect()
}

impl TableAccess {
    /// Whether the values of parameters may bound a refused access: `k = ANY(?)` is a list of keys as soon as the array is known.
    pub fn awaits_values(&self) -> bool {
        let is_membership = |e: &Expr| match e {
            Expr::Call(function, args, _) if *function == Function::ARRAY_ANY => match args.as_slice() {
                [_, Expr::Literal(Value::Text(op), _), array] => op == CompareOp::Eq.as_str() && array.has_parameter(),
                _ => false,
            },
            _ => false,
        };
        let mut found = false;
        for condition in &self.access.residual {
            condition.expr.walk(&mut |part| found |= is_membership(part));
        }
        found
    }

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

    /// Adds advice to a refusal: what would let a join look the rows up.
    #[must_use]
    pub fn with_join_advice(mut self, advice: &JoinAdvice) -> Self {
        let Some(refusal) = &mut self.access.verdict.refusal else { return self };
        if let JoinAdvice::Index(index) = advice {
            // An index that its own conditions bound is advised already.
            if !self.advice.is_empty() {
                return self;
            }
            self.advice = vec![index.clone()];
        }
        refusal.fixes.push(advice.to_string());
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

    /// The index that is read; `None` if the rows are read by the key of the table.
    pub fn index(&self) -> Option<&Index> {
        self.table.indexes().get(self.index?)
    }

    /// The accesses of a union, or else this one: each reads one key.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let one = self.union.is_empty().then_some(self);
        one.into_iter().chain(&self.union)
    }

    /// The accesses that read keys for this one: those of a union, or it and those that it is intersected with.
    pub fn keys_read(&self) -> impl Iterator<Item = &Self> {
        self.parts().flat_map(|part| std::iter::once(part).chain(&part.intersected))
    }

    /// Whether it reads the rows of the table by the table's own key.
    pub fn is_by_table_key(&self) -> bool {
        self.index.is_none() && self.union.is_empty()
    }

    /// The place of the index that is read among those of the table; `None` if the rows are read by the key of the table.
    pub(crate) fn index_place(&self) -> Option<usize> {
        self.index
    }

    /// The same access, chosen because rows of one group follow each other.
    #[must_use]
    pub(crate) fn for_groups(mut self) -> Self {
        self.access.lost.iter_mut().for_each(|(_, loss)| *loss = Loss::NotGrouped);
        self
    }

    /// The same access, with the verdict on another one, which an override of the guard then lets pass or not.
    #[must_use]
    pub(crate) fn judged_as(mut self, other: Self) -> Self {
        (self.access.verdict, self.advice) = (other.access.verdict, other.advice);
        self
    }

    /// The keys that are not read, each with the reason: `None` is the table's own. Only of a table with indexes.
    pub fn lost(&self) -> impl Iterator<Item = (Option<&Index>, Loss)> {
        let index = |key_index: usize| self.table.indexes().get(*self.indexes.get(key_index.checked_sub(1)?)?);
        let is_read = |index: Option<&Index>| {
            let id = |index: &Index| index.def().id;
            index.is_some() && self.intersected.iter().any(|other| other.index().map(id) == index.map(id))
        };
        let lost = self.access.lost.iter().map(move |(key_index, loss)| (index(*key_index), *loss));
        lost.filter(move |(index, _)| !is_read(*index))
    }

    /// The indexes that together would make a refused access legal; empty if none would.
    pub fn advice(&self) -> &[Arc<IndexAdvice>] {
        &self.advice
    }

    /// The key that the ranges are of: the table's, or that of an index's entries.
    pub fn key(&self) -> &KeySchema {
        self.index().map_or(&self.table.def().key, Index::key)
    }

    /// The table whose keys are read: of the rows, or of an index's entries.
    pub fn key_table(&self) -> &Arc<Table> {
        self.index().map_or(&self.table, Index::entries)
    }

    /// Scans of these columns, whose rows meet the conditions that ranges do not tell.
    ///
    /// # Errors
    /// A type mismatch where one of the conditions is none.
    pub fn spec(&self, columns: Vec<usize>) -> std::result::Result<ReadSpec, TableError> {
        if !self.union.is_empty() {
            let part =
                |part: &TableAccess| Ok::<_, TableError>((part.spec(columns.clone())?, part.route(part.access.limit)));
            let parts = self.union.iter().map(part).collect::<std::result::Result<_, _>>()?;
            return ReadSpec::union(&self.table, columns, parts);
        }
        let Some(index) = self.index() else { return ReadSpec::of_table(&self.table, columns, self.residual()) };
        let mut spec = ReadSpec::by_index(&self.table, index, columns, self.residual())?;
        for other in &self.intersected {
            if let Some(index) = other.index() {
                spec = spec.intersected_with(index, other.residual(), other.route(None))?;
            }
        }
        Ok(spec)
    }

    /// Scans of these columns and, as the last one, of the physical key that is read: of the rows, or of the entries of an
    /// index. `None` if entries do not have the columns, or those of the conditions.
    ///
    /// # Errors
    /// A type mismatch where one of the conditions is none.
    pub fn spec_with_key(&self, columns: &[usize]) -> std::result::Result<Option<ScanSpec>, TableError> {
        match self.index() {
            _ if !self.union.is_empty() => Ok(None),
            None => {
                let columns = columns.iter().copied().chain([self.table.row_key_index()]).collect();
                ScanSpec::new(&self.table, columns, self.residual()).map(Some)
            }
            Some(index) => index.spec_with_key(columns, self.residual()),
        }
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

    /// The rows after those of [`TableAccess::route`]; `None` if that reads all.
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

    /// All keys that are read, in no order; `None` before parameters have values, and of a union.
    pub fn keys(&self) -> Option<KeySet> {
        if !self.union.is_empty() {
            return None;
        }
        let ranges = &self.access.ranges;
        ranges.is_known().then(|| KeySet::Ranges { ranges: KeyRanges::planned(ranges), buckets: self.buckets() })
    }

    /// The conditions that each row is checked for.
    pub fn residual(&self) -> Vec<Expr> {
        self.access.residual.iter().map(|c| c.expr.clone()).collect()
    }
}
