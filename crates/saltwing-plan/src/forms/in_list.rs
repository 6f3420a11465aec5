//! `IN` and, under NOT, `NOT IN`.

use saltwing_types::{CompareOp, Expr};

use crate::column_set::ColumnSet;
use crate::forms::compare::satisfying;
use crate::forms::constant::{Constant, marked};
use crate::forms::{Outcomes, Reader, Want};
use crate::key_box::Cover;
use crate::place::Place;

impl Reader<'_> {
    /// `e IN (..)` is the OR of `e = item`. Over a key column and constants it is
    /// one set, however long the list is.
    pub(super) fn in_list(&self, e: &Expr, list: &[Expr], want: Want) -> Cover {
        if let Some(position) = self.key_column(e)
            && let Some(constants) = list.iter().map(Constant::of).collect::<Option<Vec<_>>>()
            && let Some(cover) = self.in_constants(position, &constants, want)
        {
            return cover;
        }
        self.any_of(list, want, &|item, want| self.compare(CompareOp::Eq, e, item, want))
    }

    fn in_constants(&self, position: usize, constants: &[Constant], want: Want) -> Option<Cover> {
        let domain = self.space.domain(position);
        if constants.is_empty() {
            return Some(if want.no { Cover::everything() } else { Cover::nothing() });
        }
        let (mut values, mut ranges) = (Vec::with_capacity(constants.len()), Vec::new());
        let (mut has_null, mut unknown) = (false, false);
        for constant in constants {
            if matches!(constant, Constant::Null) {
                has_null = true;
                continue;
            }
            match constant.place(domain)? {
                (Place::At(value), made_up) => {
                    unknown |= made_up;
                    values.push(value);
                }
                (Place::Gap(_), _) => {}
                (place @ Place::Blurred { .. }, _) => ranges.push(satisfying(CompareOp::Eq, &place, domain)),
            }
        }
        let exact = ranges.is_empty();
        let points = ColumnSet::points(values, domain);
        let found = || marked(ColumnSet::union(ranges.iter().chain([&points]), domain), unknown);
        // What may be equal may also differ, where the comparison is blurred.
        let missing = || marked(points.complement(domain).without_null(), unknown);
        let outcomes = Outcomes {
            yes: &found,
            no: &|| if has_null { ColumnSet::EMPTY } else { missing() },
            unknown: &|| {
                let null = ColumnSet::null(domain);
                if has_null { ColumnSet::union([&missing(), &null], domain) } else { null }
            },
            exact,
        };
        Some(self.column_cover(position, want, outcomes))
    }
}
