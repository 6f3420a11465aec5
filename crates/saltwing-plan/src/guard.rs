//! The guard: no accidental full scan.
//!
//! # Law
//! The verdict is a pure function of key and statement. An access is bounded when
//! the union of its boxes' leading sets is a finite list, NULL counted, or leaves out
//! values at the low or the high end. What leaves out only NULL, or only values
//! in the middle (`<>`, NOT IN, NOT BETWEEN), is not.
//!
//! A leading BOOLEAN splits a table into two halves only, so it may be stepped
//! over: it counts as bounded if the next column is.

use saltwing_types::{SqlType, Value};

use crate::cover::{Cover, Fit};
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::{LIMITED_ROWS_MAX, OrderKind, Refusal, Request, RowLimit, Rule, Verdict};

/// Whether the union of the boxes bounds the column at `position`, or steps over its two
/// values, each to a column that is.
pub(crate) fn cover_bounds(cover: &Cover, position: usize, space: &KeySpace) -> bool {
    if position >= space.len() {
        return false;
    }
    let domain = space.domain(position);
    if cover.projection(position, space).bounds(domain) {
        return true;
    }
    let steps_to_bounded = |value| {
        let holds = |key_box: &&KeyBox| key_box.get(position).is_none_or(|set| set.may_hold(&value, domain));
        let boxes = cover.boxes.iter().filter(holds).cloned().collect();
        cover_bounds(&Cover { boxes, fit: Fit::Loose }, position + 1, space)
    };
    domain.ty() == SqlType::Boolean && [Value::Bool(false), Value::Bool(true)].into_iter().all(steps_to_bounded)
}

/// As [`cover_bounds`], of one box.
pub(crate) fn box_bounds(key_box: &KeyBox, position: usize, space: &KeySpace) -> bool {
    if position >= space.len() {
        return false;
    }
    let domain = space.domain(position);
    key_box.get(position).is_some_and(|set| set.bounds(domain))
        || (domain.ty() == SqlType::Boolean && box_bounds(key_box, position + 1, space))
}

/// The properties of an access that its verdict depends on.
pub(crate) struct Judged {
    pub(crate) key_index: usize,
    /// Whether no row can satisfy the conditions.
    pub(crate) is_empty: bool,
    /// Whether the conditions bound the key.
    pub(crate) bounded: bool,
    /// The column of the table that the key starts with.
    pub(crate) leading: Option<usize>,
    pub(crate) order: OrderKind,
    /// Whether rows are read that the conditions leave out.
    pub(crate) filtered: bool,
}

/// Judges an access; `refusal` is made when there is something to refuse.
pub(crate) fn judge(request: &Request<'_>, access: &Judged, refusal: impl FnOnce() -> Refusal) -> Verdict {
    if request.catalog {
        return Verdict::allowed(Rule::Catalog);
    }
    if access.is_empty {
        return Verdict::allowed(Rule::Empty);
    }
    if access.bounded {
        return Verdict::allowed(if access.key_index == 0 { Rule::Bounded } else { Rule::Index });
    }
    if request.min_max.is_some() && request.min_max == access.leading && !access.filtered && request.single_table {
        return Verdict::allowed(Rule::MinMax);
    }
    let in_order = request.order.is_empty() || access.order != OrderKind::None;
    let plain = request.single_table && !access.filtered && !request.aggregate_or_distinct && in_order;
    match request.limit {
        RowLimit::Rows(limit) if plain && limit.saturating_add(request.offset) <= LIMITED_ROWS_MAX => {
            Verdict::allowed(Rule::Limit)
        }
        RowLimit::Unknown if plain => {
            Verdict { allowed: None, rule: Rule::Limit, warn: false, refusal: Some(refusal()) }
        }
        _ => Verdict { allowed: Some(false), rule: Rule::Refused, warn: false, refusal: Some(refusal()) },
    }
}
