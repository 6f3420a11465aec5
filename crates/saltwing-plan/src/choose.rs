//! From a request to an access.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_types::{Expr, KeyColumn, interrupt};

use crate::computed::{self, Effect};
use crate::cover::{Cover, Fit};
use crate::extent::{Extent, is_one_range};
use crate::guard::{self, Judged};
use crate::implication::{self, implies};
use crate::inclusion::Inclusion;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::order::EmptyValues;
use crate::predicates::CoverBuilder;
use crate::product::{Product, products};
use crate::range_plan::{ColumnTypes, Plan};
use crate::rank::{Loss, Rank};
use crate::skip::Gaps;
use crate::value_set::ValueSet;
use crate::{
    Access, AccessKind, Buckets, CandidateKey, Condition, OrderKind, PlanError, PredicateUse, Ranges, Request,
    RowLimit, Use, Verdict, order, reasons, refusal,
};

/// Most combinations of values whose buckets are computed in advance.
const BUCKETS_COUNTED_MAX: u128 = 10_000;

/// Chooses among the keys of a request, by the law of the module `rank`, and plans the access.
///
/// # Errors
/// [`PlanError`] for a request without keys, for a statement that must stop, and for broken invariants. A refused
/// access is no error: see [`Access::verdict`].
pub fn choose(request: Request<'_>) -> Result<Access, PlanError> {
    let access = chosen(request)?;
    // Steps that were interrupted have given up with any cover.
    interrupt::spend(0)?;
    Ok(access)
}

fn chosen(request: Request<'_>) -> Result<Access, PlanError> {
    let (own, indexes) = request.keys.split_first().ok_or(PlanError::NoCandidate)?;
    let own = Candidate::new(own, &request);
    if indexes.is_empty() {
        return own.into_access(0, request, Vec::new());
    }
    let row_buckets = own.buckets();
    let (mut best, mut others) = ((own.rank(&request), 0, own), Vec::with_capacity(indexes.len()));
    for (key_index, key) in (1..).zip(indexes) {
        match Candidate::of_index(key, &request, &row_buckets) {
            Ok(candidate) => {
                let mut beaten = (candidate.rank(&request), key_index, candidate);
                if beaten.0 > best.0 {
                    std::mem::swap(&mut beaten, &mut best);
                }
                others.push((beaten.1, Ok(beaten.0)));
            }
            Err(loss) => others.push((key_index, Err(loss))),
        }
    }
    others.sort_unstable_by_key(|(key_index, _)| *key_index);
    let (winner, key_index, candidate) = best;
    let loss = |rank: Result<Rank, Loss>| rank.map_or_else(|loss| loss, |rank| rank.loss_to(&winner));
    let lost = others.into_iter().map(|(key_index, rank)| (key_index, loss(rank))).collect();
    candidate.into_access(key_index, request, lost)
}

/// A cover of each condition.
fn covers(key: &CandidateKey<'_>, request: &Request<'_>, space: &KeySpace<'_>) -> Vec<Cover> {
    let exprs = request.conditions.iter().map(|condition| &condition.expr);
    match key.index.is_some() {
        false => exprs.map(|expr| CoverBuilder::holds(expr, space)).collect(),
        true => {
            let apart = space.with_empty_apart();
            exprs.map(|expr| CoverBuilder::holds(expr, &apart).with_empty_as_null(&apart, space)).collect()
        }
    }
}

/// One key with the conditions read over it.
struct Candidate<'a> {
    key: &'a CandidateKey<'a>,
    space: KeySpace<'a>,
    /// A cover of each condition.
    covers: Vec<Cover>,
    /// A cover of all of them.
    all: Cover,
    /// How far the ranges of each box reach.
    extents: Vec<Extent>,
    /// The ranges of each box; `None` if values that are not known yet have a say in them.
    products: Option<Arc<[Product]>>,
    /// The first key column that is no list of values in the ranges of every box.
    open_column: usize,
    /// Leading key columns that the ranges of every box hold exactly.
    held_columns: usize,
    /// The knowledge of the boxes beyond their ranges.
    gaps: Option<Gaps>,
    order: OrderKind,
    /// The rows in two parts that are read one after the other.
    in_turn: Option<[Part; 2]>,
    /// The places of the conditions that the predicate of a partial index implies.
    given: Vec<usize>,
    /// The buckets that the rows of a local index lie in.
    row_buckets: Buckets,
}

/// Some of the rows, and their ranges.
struct Part {
    boxes: Vec<KeyBox>,
    extents: Vec<Extent>,
    products: Option<Arc<[Product]>>,
}

impl Part {
    fn new(cover: Cover, space: &KeySpace) -> Self {
        let (cover, ties) = computed::derive(cover, space);
        let (extents, products) = products(&cover.boxes, &ties, space);
        Self { boxes: cover.boxes, extents, products }
    }
}

impl<'a> Candidate<'a> {
    fn new(key: &'a CandidateKey<'a>, request: &Request<'a>) -> Self {
        let space = KeySpace::new(key.schema, request.conditions.iter().map(|condition| &condition.expr));
        let covers = covers(key, request, &space);
        let all = Cover::intersect_all(covers.iter().cloned(), &space);
        let (all, ties) = computed::derive(all, &space);
        let (extents, products) = products(&all.boxes, &ties, &space);
        let least = |count: fn(&Extent) -> usize| extents.iter().map(count).min().unwrap_or_default();
        let (open_column, held_columns) = (least(|extent| extent.lists), least(|extent| extent.columns));
        let gaps = Gaps::new(&all.boxes, &extents, key.codec, &space);
        let conditions = request.conditions.iter().map(|condition| &condition.expr);
        let values = key.index.filter(|_| !request.order.is_empty());
        let values = values.map(|index| EmptyValues::new(conditions, &space, index.never_null));
        let served = order::served(request.order, &all, &space, values.as_ref());
        let (order, in_turn) = match served.apart {
            None => (served.kind, None),
            Some(_) if !request.nulls_apart => (OrderKind::None, None),
            Some(position) => {
                let stated = Cover::intersect_all(covers.iter().cloned(), &space);
                let of = |set: ValueSet| {
                    let cover = Cover::column(position, set.into(), Fit::Exact, &space);
                    Part::new(stated.intersect(&cover, &space), &space)
                };
                let (nulls, others) = (of(ValueSet::null(space.domain(position))), of(ValueSet::not_null()));
                // A forward scan would have met the NULLs first: they are wanted last.
                let parts = if served.kind == OrderKind::Key { [others, nulls] } else { [nulls, others] };
                (served.kind, Some(parts))
            }
        };
        let (given, row_buckets) = (Vec::new(), Buckets::All);
        Self {
            key,
            space,
            covers,
            all,
            extents,
            products,
            open_column,
            held_columns,
            gaps,
            order,
            in_turn,
            given,
            row_buckets,
        }
    }

    /// An index, if the statement may read it.
    fn of_index(key: &'a CandidateKey<'a>, request: &Request<'a>, row_buckets: &Buckets) -> Result<Self, Loss> {
        let traits = key.index.unwrap_or_default();
        let conditions: Vec<&Expr> = request.conditions.iter().map(|condition| &condition.expr).collect();
        if traits.predicate.is_some_and(|predicate| !implies(&conditions, predicate)) {
            return Err(Loss::NotImplied);
        }
        let mut candidate = Self::new(key, request);
        if candidate.check_key_forms().is_err() {
            return Err(Loss::NoKeyForm);
        }
        if let Some(predicate) = traits.predicate {
            let implied = (0..).zip(&conditions).filter(|(_, condition)| implies(&[predicate], condition));
            candidate.given = implied.map(|(place, _)| place).collect();
        }
        if traits.local {
            candidate.row_buckets = row_buckets.clone();
        }
        Ok(candidate)
    }

    fn rank(&self, request: &Request<'_>) -> Rank {
        let (point, bounded) = (self.is_point(), self.is_bounded());
        // Whole keys are as good as each other, and so are keys that must be read from end to end.
        let counts = bounded && !point;
        let uses = if counts { self.uses() } else { Vec::new() };
        let in_order = self.order != OrderKind::None;
        let is_end = request.min_max.is_some() && request.min_max == self.leading_column();
        Rank {
            hinted: self.key.index.is_some_and(|index| index.hinted),
            pages: in_order && request.is_page,
            empty: self.all.boxes.is_empty(),
            point,
            bounded,
            fixed_columns: if counts { self.open_column } else { 0 },
            bounded_columns: if counts { self.held_columns } else { 0 },
            exact: counts && !uses.contains(&Use::Both),
            stops_early: in_order && request.limit != RowLimit::None || is_end,
            covering: counts && self.is_covering(request, &uses),
            ordered: in_order && bounded,
        }
    }

    /// Whether the conditions bound the key, or those that the predicate of a partial index repeats bound its rows.
    fn is_bounded(&self) -> bool {
        let predicate = self.key.index.and_then(|index| index.predicate);
        guard::cover_bounds(&self.all, 0, &self.space) || predicate.is_some_and(implication::bounds)
    }

    fn leading_column(&self) -> Option<usize> {
        self.space.schema().columns.first().and_then(KeyColumn::column)
    }

    /// Whether the rows of the key have the columns of the statement.
    fn is_covering(&self, request: &Request<'_>, uses: &[Use]) -> bool {
        let Some(index) = self.key.index else { return true };
        let has = |column: &usize| index.columns.binary_search(column).is_ok();
        let checked = request.conditions.iter().zip(uses).filter(|(_, use_)| **use_ != Use::Key);
        request.columns.is_some_and(|columns| columns.iter().all(has))
            && checked.flat_map(|(condition, _)| condition.expr.columns()).all(|column| has(&column))
    }

    /// Checks that the key has a form for all values that its ranges name.
    fn check_key_forms(&self) -> Result<(), PlanError> {
        let parts = self.in_turn.iter().flatten().filter_map(|part| part.products.as_ref());
        let products = self.products.iter().chain(parts).flat_map(|products| products.iter());
        products.into_iter().try_for_each(|product| product.check(&self.space))
    }

    /// Whether only whole keys are read.
    fn is_point(&self) -> bool {
        !self.extents.is_empty() && self.extents.iter().all(|extent| extent.lists == self.space.len())
    }

    fn into_access(
        self,
        key_index: usize,
        request: Request<'a>,
        lost: Vec<(usize, Loss)>,
    ) -> Result<Access, PlanError> {
        self.check_key_forms()?;
        let uses = self.uses();
        let verdict = self.judge(key_index, &request, &uses);
        let covering = self.is_covering(&request, &uses);
        let ranges = self.ranges(self.products.as_ref());
        let in_turn =
            self.in_turn.as_ref().map(|parts| parts.each_ref().map(|part| self.ranges(part.products.as_ref())));
        let kind = self.kind(&ranges);
        let predicates: Vec<PredicateUse> = request
            .conditions
            .iter()
            .zip(&self.covers)
            .zip(uses.iter().enumerate())
            .map(|((condition, cover), (place, use_))| {
                self.predicate(condition, cover, *use_, self.given.contains(&place))
            })
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
        let skip = self.gaps.as_ref().and_then(Gaps::known).cloned();
        let buckets = self.buckets();
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
            covering,
            lost,
        })
    }

    fn ranges(&self, products: Option<&Arc<[Product]>>) -> Ranges {
        products.map_or_else(Ranges::unknown, |products| Ranges::new(self.plan(products)))
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

    /// Whether the leading column has no condition, though later ones may leave out some of the first rows.
    fn is_open(&self) -> bool {
        let mut pairs = self.all.boxes.iter().zip(&self.extents);
        pairs.any(|(key_box, extent)| key_box.get(0).is_none() && extent.lists == 0)
    }

    fn kind(&self, ranges: &Ranges) -> AccessKind {
        if !ranges.is_known() {
            return self.open_kind();
        }
        // Of whole keys one is enough to see; of ranges a second one makes the difference.
        if self.is_point() {
            return if ranges.is_empty() { AccessKind::Empty } else { AccessKind::Point };
        }
        match ranges.first(2).unwrap_or_default().as_slice() {
            [] => AccessKind::Empty,
            [one] if one.is_all() || self.is_open() => AccessKind::FullScan,
            [_] if self.gaps.is_none() => AccessKind::Range,
            _ => AccessKind::SkipScan,
        }
    }

    /// The kind before the ranges are known.
    fn open_kind(&self) -> AccessKind {
        let is_one = || self.gaps.is_none() && is_one_range(&self.all.boxes, &self.extents, &self.space);
        match () {
            () if self.is_point() => AccessKind::Point,
            () if self.is_open() => AccessKind::FullScan,
            () if is_one() => AccessKind::Range,
            () => AccessKind::SkipScan,
        }
    }

    /// The buckets of all ranges, where these are known, and there are few enough combinations to ask.
    fn buckets(&self) -> Buckets {
        let salted = self.key.codec.salt_column_count();
        let Some(products) = self.products.as_ref().filter(|products| self.is_bucketed(products)) else {
            return self.row_buckets.clone();
        };
        let mut found = BTreeSet::new();
        for product in products.iter() {
            let salted_lists = Product::of_lists(product.lists.iter().take(salted).cloned().collect());
            if salted_lists.size() > BUCKETS_COUNTED_MAX {
                return self.row_buckets.clone();
            }
            let plan = Plan { products: Arc::new([salted_lists]), points: false, ..self.plan(products) };
            found.extend(Ranges::new(plan).iter().filter_map(|scan| scan.bucket));
        }
        Buckets::Some(found.into_iter().collect())
    }

    fn judge(&self, key_index: usize, request: &Request<'_>, uses: &[Use]) -> Verdict {
        let filtered = uses.iter().any(|use_| *use_ != Use::Key);
        let bounded = self.is_bounded();
        let leading = self.leading_column();
        let judged =
            Judged { key_index, is_empty: self.all.boxes.is_empty(), bounded, leading, order: self.order, filtered };
        guard::judge(request, &judged, || refusal::of(request, self.order, filtered))
    }

    /// The use of each condition.
    ///
    /// A condition leaves the residual only if the final ranges imply it: each box, with the columns that its ranges do
    /// not hold exactly taken as full, is inside one box of an exact cover of the condition.
    fn uses(&self) -> Vec<Use> {
        // Ranges read in two parts may imply more than the union; the description holds for both.
        let in_turn = self.in_turn.iter().flatten().flat_map(|part| part.boxes.iter().zip(&part.extents));
        let pairs = self.all.boxes.iter().zip(&self.extents).chain(in_turn);
        let produced: Vec<Cow<'_, KeyBox>> = pairs.map(|(b, extent)| b.truncated(extent.columns)).collect();
        let reach = self.extents.iter().map(|extent| extent.reach).chain(self.gaps.as_ref().map(Gaps::reach));
        let reach = reach.max().unwrap_or_default();
        let of = |(place, cover): (usize, &Cover)| {
            if self.given.contains(&place) || self.implies(&produced, cover) {
                return Use::Key;
            }
            let narrows = |position| !cover.fills(position, &self.space);
            if (0..reach).any(narrows) || self.affects_parts(cover, reach) { Use::Both } else { Use::Residual }
        };
        self.covers.iter().enumerate().map(of).collect()
    }

    /// Whether boxes imply the condition of a cover. Also `false` if the statement is too long for an answer.
    fn implies(&self, boxes: &[Cow<'_, KeyBox>], cover: &Cover) -> bool {
        if cover.fit == Fit::Loose {
            return false;
        }
        let inclusion = Inclusion::new(cover, &self.space);
        let pairs = boxes.len().saturating_mul(inclusion.candidates_max());
        self.space.may_look_at(pairs, cover.boxes.len())
            && cover.is_exact_in(boxes, &self.space)
            && inclusion.holds_all(boxes)
    }

    /// Whether a condition has an effect on computed parts before `reach`. Also `true` if the statement is too long
    /// for an answer.
    fn affects_parts(&self, cover: &Cover, reach: usize) -> bool {
        let is_short = self.space.parts().is_empty() || self.space.may_look_at(self.all.boxes.len(), cover.boxes.len());
        !is_short || !self.effects(cover, reach).is_empty()
    }

    /// The effect of a condition on the computed parts before `reach`.
    fn effects(&self, cover: &Cover, reach: usize) -> Vec<(usize, Effect)> {
        let parts = self.space.parts().iter().filter(|part| part.position < reach);
        parts.filter_map(|part| Some((part.position, Effect::of(part, cover, &self.all, &self.space)?))).collect()
    }

    /// Why the part at which the lists of values end is not fixed by a condition on its inputs, if they have too many values.
    fn too_many(&self, expr: &Expr) -> Option<String> {
        let part = self.space.part(self.open_column)?;
        let mut positions = expr.columns().into_iter().filter_map(|column| self.space.schema().position(column));
        let names_input = positions.any(|position| part.inputs.contains(&position))
            && self.space.may_look_at(self.all.boxes.len(), 1);
        let count = names_input.then(|| computed::too_many(part, &self.all, &self.space))??;
        Some(reasons::too_many(part, count, &self.space))
    }

    /// The columns that are skipped to reach a condition on a later one, as the end of a text.
    fn skipped(&self, cover: &Cover) -> String {
        let narrows = |position: &usize| !cover.fills(*position, &self.space);
        match (self.held_columns..self.space.len()).find(narrows).filter(|_| self.gaps.is_some()) {
            Some(position) if self.space.may_look_at(self.all.boxes.len(), cover.boxes.len()) => {
                reasons::skipped(&self.all, self.open_column..position, &self.space)
            }
            _ => String::new(),
        }
    }

    fn predicate(&self, condition: &Condition, cover: &Cover, use_: Use, given: bool) -> PredicateUse {
        let expr = &condition.expr;
        let key_use = || {
            let effects = self.effects(cover, self.space.len());
            reasons::key_use(cover, &self.space) + &reasons::effects(&effects, &self.space)
        };
        let why = match use_ {
            Use::Key if given => "the index has only such rows".to_owned(),
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
            Use::Residual => {
                self.too_many(expr).unwrap_or_else(|| reasons::residual(expr, cover, self.open_column, &self.space))
            }
        };
        let column = reasons::first_key_column(expr, &self.space).or_else(|| reasons::first_column(expr));
        let is_open = |key_box: &KeyBox| key_box.columns().any(|(_, set)| set.is_open());
        let open = use_ != Use::Residual && cover.boxes.iter().any(is_open);
        PredicateUse { text: condition.text.clone(), use_, column, why, open }
    }
}
