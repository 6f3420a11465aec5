//! Whether a scan gives the requested order.

use saltwing_types::{Expr, SortOrder, SqlType, Value};

use crate::cover::Cover;
use crate::key_space::KeySpace;
use crate::predicates::CoverBuilder;
use crate::{OrderBy, OrderItem};

/// Whether a scan gives the requested order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// In key order.
    Key,
    /// In reverse key order.
    Reverse,
    /// It doesn't, or none was requested.
    None,
}

impl OrderKind {
    /// The word in EXPLAIN.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Reverse => "reverse",
            Self::None => "none",
        }
    }
}

/// How a scan gives an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// The direction of the scan.
    pub(crate) kind: OrderKind,
    /// The key column whose NULLs stand at the wrong end: they are to be read apart, first or last.
    pub(crate) apart: Option<usize>,
}

impl Served {
    const NOT: Self = Self { kind: OrderKind::None, apart: None };
}

/// The direction in which a scan of the rows in `cover` comes in the order of `items`.
///
/// Columns fixed to one value order nothing and are skipped, in the key and in `items`. NULL comes first in the key
/// whatever the column's direction, so it is last in a reverse scan: an item over a nullable column follows the key
/// only if it wants NULLs on that side. The NULLs of the first column that orders anything may also be read separately,
/// because they are one range of each prefix.
///
/// `cover` is one of all conditions; `values` has the values of the rows as conditions know them, if it is of an index: see
/// [`EmptyValues`].
pub(crate) fn served(items: &[OrderItem], cover: &Cover, space: &KeySpace, values: Option<&EmptyValues<'_>>) -> Served {
    if items.is_empty() {
        return Served::NOT;
    }
    let sets: Vec<_> = (0..space.len()).map(|position| cover.projection(position, space)).collect();
    let is_fixed = |position: usize| {
        sets.get(position).is_some_and(|set| set.is_single(space.domain(position)))
            && !values.is_some_and(|values| values.may_be_mixed(position))
    };
    let (mut direction, mut at, mut apart) = (None, 0, None);
    for item in items {
        let position = match item.by {
            OrderBy::Column(column) => space.schema().position(column),
            OrderBy::KeyPart(position) => Some(position),
        };
        if position.is_some_and(is_fixed) {
            continue;
        }
        while at < space.len() && is_fixed(at) {
            at += 1;
        }
        if at == space.len() {
            // The whole key has gone before: no two rows are left to be ordered.
            break;
        }
        // The bytes of arrays are not in the order of their values.
        if position != Some(at) || matches!(space.domain(at).ty(), SqlType::Array(..)) {
            return Served::NOT;
        }
        let reverse = (item.order == SortOrder::Desc) == space.domain(at).is_ascending();
        let is_first = direction.is_none();
        if *direction.get_or_insert(reverse) != reverse {
            return Served::NOT;
        }
        let has_nulls = || sets.get(at).is_none_or(|set| set.has_null());
        let (has_nulls, nulls_first) = match values.filter(|_| space.column(at).nullable) {
            None => (has_nulls(), item.nulls_first),
            Some(values) => match (values.may_be_null(at), values.may_be_empty(at)) {
                // Their entries are mixed.
                (true, true) => return Served::NOT,
                // '' has the bytes of NULL. It is the smallest value, and wanted where that belongs.
                (false, true) => (true, item.order == SortOrder::Asc),
                (has_nulls, false) => (has_nulls, item.nulls_first),
            },
        };
        if has_nulls && nulls_first == reverse {
            if !is_first {
                return Served::NOT;
            }
            apart = Some(at);
        }
        at += 1;
    }
    Served { kind: if direction == Some(true) { OrderKind::Reverse } else { OrderKind::Key }, apart }
}

/// The values of rows in the key of an index, which has the same bytes for NULL and ''.
pub(crate) struct EmptyValues<'a> {
    cover: Cover,
    space: KeySpace<'a>,
    /// Whether each column of the key is never NULL; columns that are not listed may be.
    never_null: &'a [bool],
}

impl<'a> EmptyValues<'a> {
    /// The values that meet all conditions.
    pub(crate) fn new<'e>(
        conditions: impl IntoIterator<Item = &'e Expr>,
        space: &KeySpace<'a>,
        never_null: &'a [bool],
    ) -> Self {
        let space = space.with_empty_apart();
        let covers: Vec<Cover> = conditions.into_iter().map(|expr| CoverBuilder::holds(expr, &space)).collect();
        Self { cover: Cover::intersect_all(covers, &space), space, never_null }
    }

    /// Whether entries with NULL and entries with '' may come in one range, with no order between the two.
    fn may_be_mixed(&self, position: usize) -> bool {
        self.may_be_null(position) && self.may_be_empty(position)
    }

    fn may_be_null(&self, position: usize) -> bool {
        !self.never_null.get(position).copied().unwrap_or_default()
            && self.cover.projection(position, &self.space).has_null()
    }

    fn may_be_empty(&self, position: usize) -> bool {
        let domain = self.space.domain(position);
        let empty = match domain.ty() {
            SqlType::Varchar(_) | SqlType::Json => Value::Text(String::new()),
            SqlType::Varbinary | SqlType::VarbinaryEncoded => Value::Bytes(Vec::new()),
            _ => return false,
        };
        self.cover.projection(position, &self.space).may_hold(&empty, domain)
    }
}
