//! From a request to an access.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_types::Expr;

use crate::column_set::ColumnSet;
use crate::computed::{self, Effect};
use crate::cover::{Cover, Fit};
use crate::guard::{self, Judged};
use crate::inclusion::Inclusion;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::predicates::CoverBuilder;
use crate::product::Product;
use crate::range_plan::{ColumnTypes, Plan};
use crate::{
    Access, AccessKind, Buckets, CandidateKey, Condition, OrderKind, PlanError, PredicateUse, Ranges, Request,
    RowLimit, Skip, Use, Verdict, order, reasons, refusal,
};

/// Most combinations of values whose buckets are computed in advance.
const BUCKETS_COUNTED_MAX: u128 = 10_000;

/// Chooses among the keys of a request and plans the access.
///
/// The key is chosen by rule, never by statistics: one that is read by whole
/// keys before one that is bounded, and that before one that is not; then the one with more
/// leading columns fixed, then the one that gives the order; of equals the first.
///
/// # Errors
/// [`PlanError`] for a request without keys, and for broken invariants. A refused
/// access is no error: see [`Access::verdict`].
pub fn choose(request: Request<'_>) -> Result<Access, PlanError> {
    let mut best: Option<(Rank, usize, Candidate<'_>)> = None;
    for (index, key) in request.keys.iter().enumerate() {
        let candidate = Candidate::new(key, &request);
        let rank = candidate.rank(request.limit != RowLimit::None);
        if best.as_ref().is_none_or(|(other, _, _)| rank > *other) {
            best = Some((rank, index, candidate));
        }
    }
    let (_, key_index, candidate) = best.ok_or(PlanError::NoCandidate)?;
    candidate.into_access(key_index, request)
}

/// How good a candidate is; larger is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    empty: bool,
    point: bool,
    bounded: bool,
    fixed_columns: usize,
    reach: usize,
    ordered: bool,
}

/// One key with the conditions read over it.
struct Candidate<'a> {
    key: &'a CandidateKey<'a>,
    space: KeySpace<'a>,
    /// A cover of each condition.
    covers: Vec<Cover>,
    /// A cover of all of them.
    all: Cover,
    products: Arc<[Product]>,
    /// The knowledge of the boxes beyond that of the products.
    skip: Option<Skip>,
    order: OrderKind,
    /// The rows in two parts that are read one after the other.
    in_turn: Option<[Part; 2]>,
}

/// Some of the rows, and their ranges.
struct Part {
    boxes: Vec<KeyBox>,
    products: Arc<[Product]>,
}

impl Part {
    fn new(cover: Cover, space: &KeySpace) -> Self {
        let (cover, ties) = computed::derive(cover, space);
        let pairs = cover.boxes.iter().zip(&ties);
        let products = pairs.map(|(key_box, ties)| Product::new(key_box, ties, space)).collect();
        Self { boxes: cover.boxes, products }
    }
}

impl<'a> Candidate<'a> {
    fn new(key: &'a CandidateKey<'a>, request: &Request<'a>) -> Self {
        let space = KeySpace::new(key.schema, request.conditions.iter().map(|condition| &condition.expr));
        let covers: Vec<Cover> = request.conditions.iter().map(|c| CoverBuilder::holds(&c.expr, &space)).collect();
        let all = Cover::intersect_all(covers.iter().cloned(), &space);
        let (all, ties) = computed::derive(all, &space);
        let pairs = all.boxes.iter().zip(&ties);
        let products: Arc<[Product]> = pairs.map(|(key_box, ties)| Product::new(key_box, ties, &space)).collect();
        let skip = Skip::new(&all.boxes, &products, key.codec, &space);
        let served = order::served(request.order, &all, &space);
        let (order, in_turn) = match served.apart {
            None => (served.kind, None),
            Some(_) if !request.nulls_apart => (OrderKind::None, None),
            Some(position) => {
                let stated = Cover::intersect_all(covers.iter().cloned(), &space);
                let of = |set| {
                    Part::new(stated.intersect(&Cover::column(position, set, Fit::Exact, &space), &space), &space)
                };
                let (nulls, others) = (of(ColumnSet::null(space.domain(position))), of(ColumnSet::not_null()));
                // A forward scan would have met the NULLs first: they are wanted last.
                let parts = if served.kind == OrderKind::Key { [others, nulls] } else { [nulls, others] };
                (served.kind, Some(parts))
            }
        };
        Self { key, space, covers, all, products, skip, order, in_turn }
    }

    fn rank(&self, limited: bool) -> Rank {
        let (point, bounded) = (self.is_point(), guard::cover_bounds(&self.all, 0, &self.space));
        // Whole keys are as good as each other, and so are keys that must be read from end to end.
        let counts = bounded && !point;
        Rank {
            empty: self.all.boxes.is_empty(),
            point,
            bounded,
            fixed_columns: if counts { self.first_open_column() } else { 0 },
            reach: if counts { self.products.iter().map(Product::columns).min().unwrap_or_default() } else { 0 },
            ordered: self.order != OrderKind::None && (bounded || limited),
        }
    }

    /// Whether only whole keys are read.
    fn is_point(&self) -> bool {
        !self.products.is_empty() && self.products.iter().all(|product| product.lists.len() == self.space.len())
    }

    fn into_access(self, key_index: usize, request: Request<'a>) -> Result<Access, PlanError> {
        let parts = self.in_turn.iter().flatten().flat_map(|part| part.products.iter());
        self.products.iter().chain(parts).try_for_each(|product| product.check(&self.space))?;
        let uses = self.uses();
        let verdict = self.judge(key_index, &request);
        let ranges = Ranges::new(self.plan(&self.products));
        let known = !self.is_unknown();
        let part_ranges = |part: &Part| if known { Ranges::new(self.plan(&part.products)) } else { Ranges::unknown() };
        let in_turn = self.in_turn.as_ref().map(|parts| parts.each_ref().map(part_ranges));
        let kind = self.kind(&ranges);
        let predicates: Vec<PredicateUse> = request
            .conditions
            .iter()
            .zip(&self.covers)
            .zip(&uses)
            .map(|((condition, cover), use_)| self.predicate(condition, cover, *use_))
            .collect();
        let exact = !uses.contains(&Use::Both);
        let residual = match kind {
            AccessKind::Empty => Vec::new(),
            _ => {
                let kept = request.conditions.into_iter().zip(&uses).filter(|(_, use_)| **use_ != Use::Key);
                kept.map(|(condition, _)| condition).collect()
            }
        };
        let may_stop = request.order.is_empty() || self.order != OrderKind::None;
        let limit = match request.limit {
            RowLimit::Rows(limit) if may_stop && !request.aggregate_or_distinct => {
                Some(limit.saturating_add(request.offset))
            }
            _ => None,
        };
        let skip = self.skip.clone().filter(|skip| !skip.is_unknown());
        let buckets = if known { self.buckets() } else { Buckets::All };
        let ranges = if known { ranges } else { Ranges::unknown() };
        Ok(Access {
            key_index,
            kind,
            ranges,
            in_turn,
            skip,
            exact,
            buckets,
            order: self.order,
            limit,
            residual,
            predicates,
            verdict,
        })
    }

    /// Whether a made-up value is in the ranges, for a parameter that only execution knows.
    fn is_unknown(&self) -> bool {
        self.all.boxes.iter().zip(self.products.iter()).any(|(key_box, product)| {
            key_box.columns().any(|(position, set)| position < product.reach && set.is_unknown())
        })
    }

    fn plan(&self, products: &Arc<[Product]>) -> Plan {
        let columns = (0..self.space.len()).map(|position| ColumnTypes {
            value: self.space.domain(position).ty(),
            key: self.space.column(position).ty,
        });
        Plan {
            codec: Arc::clone(self.key.codec),
            columns: columns.collect(),
            products: Arc::clone(products),
            points: self.is_point(),
            bucketed: self.is_bucketed(products),
        }
    }

    /// Whether the lists fix the columns that the salt covers.
    fn is_bucketed(&self, products: &[Product]) -> bool {
        let salted = self.key.codec.salt_column_count();
        salted > 0 && products.iter().all(|product| product.lists.len() >= salted)
    }

    /// Whether nothing is said of the leading column, though later ones may leave out some of the first rows.
    fn is_open(&self) -> bool {
        let mut pairs = self.all.boxes.iter().zip(self.products.iter());
        pairs.any(|(key_box, product)| key_box.get(0).is_none() && product.lists.is_empty())
    }

    fn kind(&self, ranges: &Ranges) -> AccessKind {
        // Of whole keys one is enough to see; of ranges a second one makes the difference.
        if self.is_point() {
            return if ranges.is_empty() { AccessKind::Empty } else { AccessKind::Point };
        }
        match ranges.first(2).unwrap_or_default().as_slice() {
            [] => AccessKind::Empty,
            [one] if one.is_all() || self.is_open() => AccessKind::FullScan,
            [_] if self.skip.is_none() => AccessKind::Range,
            _ => AccessKind::SkipScan,
        }
    }

    /// The buckets of all ranges, where there are few enough combinations to ask.
    fn buckets(&self) -> Buckets {
        let salted = self.key.codec.salt_column_count();
        if !self.is_bucketed(&self.products) {
            return Buckets::All;
        }
        let mut found = BTreeSet::new();
        for product in self.products.iter() {
            let salted_lists = Product::of_lists(product.lists.iter().take(salted).cloned().collect());
            if salted_lists.size() > BUCKETS_COUNTED_MAX {
                return Buckets::All;
            }
            let plan = Plan { products: Arc::new([salted_lists]), points: false, ..self.plan(&self.products) };
            found.extend(Ranges::new(plan).iter().filter_map(|scan| scan.bucket));
        }
        Buckets::Some(found.into_iter().collect())
    }

    fn judge(&self, key_index: usize, request: &Request<'_>) -> Verdict {
        let filtered = self.covers.iter().any(|cover| !(cover.is_exact() && cover.is_full()));
        let judged = Judged { key_index, cover: &self.all, space: &self.space, order: self.order, filtered };
        guard::judge(request, &judged, || refusal::of(request, self.order))
    }

    /// The use of each condition.
    ///
    /// A condition leaves the residual only if the final ranges imply it: each box, with the columns that its ranges do
    /// not hold exactly taken as full, is inside one box of an exact cover of the condition.
    fn uses(&self) -> Vec<Use> {
        // Ranges read in two parts may imply more than the union; the description holds for both.
        let in_turn = self.in_turn.iter().flatten().flat_map(|part| part.boxes.iter().zip(part.products.iter()));
        let pairs = self.all.boxes.iter().zip(self.products.iter()).chain(in_turn);
        let produced: Vec<Cow<'_, KeyBox>> = pairs.map(|(b, product)| b.truncated(product.columns())).collect();
        let reach = self.products.iter().map(|product| product.reach).chain(self.skip.as_ref().map(Skip::reach));
        let reach = reach.max().unwrap_or_default();
        let of = |cover: &Cover| {
            if cover.is_exact_in(&produced, &self.space) && Inclusion::new(cover, &self.space).holds_all(&produced) {
                return Use::Key;
            }
            let narrows = |position| !cover.fills(position, &self.space);
            if (0..reach).any(narrows) || !self.effects(cover, reach).is_empty() { Use::Both } else { Use::Residual }
        };
        self.covers.iter().map(of).collect()
    }

    /// The effect of a condition on the computed parts before `reach`.
    fn effects(&self, cover: &Cover, reach: usize) -> Vec<(usize, Effect)> {
        let parts = self.space.parts().iter().filter(|part| part.position < reach);
        parts.filter_map(|part| Some((part.position, Effect::of(part, cover, &self.all, &self.space)?))).collect()
    }

    /// Why the part at which the lists of values end is not fixed by a condition on its inputs, if they have too many values.
    fn too_many(&self, expr: &Expr) -> Option<String> {
        let part = self.space.part(self.first_open_column())?;
        let mut positions = expr.columns().into_iter().filter_map(|column| self.space.schema().position(column));
        let names_input = positions.any(|position| part.inputs.contains(&position));
        let count = names_input.then(|| computed::too_many(part, &self.all, &self.space))??;
        Some(reasons::too_many(part, count, &self.space))
    }

    /// The columns that are skipped to reach a condition on a later one, as the end of a text.
    fn skipped(&self, cover: &Cover) -> String {
        let in_ranges = self.products.iter().map(Product::columns).min().unwrap_or_default();
        let narrows = |position: &usize| !cover.fills(*position, &self.space);
        match (in_ranges..self.space.len()).find(narrows).filter(|_| self.skip.is_some()) {
            Some(position) => reasons::skipped(&self.all, self.first_open_column()..position, &self.space),
            None => String::new(),
        }
    }

    /// The first key column that is no list of values in every box.
    fn first_open_column(&self) -> usize {
        self.products.iter().map(|product| product.lists.len()).min().unwrap_or_default()
    }

    fn predicate(&self, condition: &Condition, cover: &Cover, use_: Use) -> PredicateUse {
        let expr = &condition.expr;
        let key_use = || {
            let effects = self.effects(cover, self.space.len());
            reasons::key_use(cover, &self.space) + &reasons::effects(&effects, &self.space)
        };
        let why = match use_ {
            Use::Key => key_use(),
            Use::Both => {
                let skipped = self.skipped(cover);
                let held = match (cover.is_exact(), skipped.is_empty()) {
                    (true, true) => ", not fully in the ranges",
                    (true, false) => "",
                    (false, _) => ", wider than the condition",
                };
                let too_many = self.too_many(expr).filter(|_| !skipped.is_empty()).map(|why| format!("; {why}"));
                key_use() + held + &skipped + &too_many.unwrap_or_default()
            }
            Use::Residual => self
                .too_many(expr)
                .unwrap_or_else(|| reasons::residual(expr, cover, self.first_open_column(), &self.space)),
        };
        let column = reasons::first_key_column(expr, &self.space).or_else(|| reasons::first_column(expr));
        let is_open = |key_box: &KeyBox| key_box.columns().any(|(_, set)| set.is_unknown());
        let open = use_ != Use::Residual && cover.boxes.iter().any(is_open);
        PredicateUse { text: condition.text.clone(), use_, column, why, open }
    }
}
