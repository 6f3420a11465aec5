//! AND, OR, IS TRUE, and boolean columns that stand alone.

use saltwing_types::{ColumnRef, Expr, SqlType, Value};

use crate::cover::Cover;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::value_set::ValueSet;

impl CoverBuilder<'_> {
    pub(super) fn or(&self, list: &[Expr], want: TruthSet) -> Cover {
        self.any_of(list, want, &|e, want| self.cover(e, want))
    }

    /// `a AND b` is `NOT (NOT a OR NOT b)`, with three values too.
    pub(super) fn and(&self, list: &[Expr], want: TruthSet) -> Cover {
        self.any_of(list, want.swapped(), &|e, want| self.cover(e, want.swapped()))
    }

    /// The OR of a test on each item: TRUE when any is, FALSE when all are, unknown
    /// when none is TRUE and one is unknown.
    pub(super) fn any_of<T>(&self, items: &[T], want: TruthSet, test: &dyn Fn(&T, TruthSet) -> Cover) -> Cover {
        let any = |want| Cover::union(items.iter().map(|item| test(item, want)), self.space);
        let all = |want| Cover::intersect_all(items.iter().map(|item| test(item, want)), self.space);
        match (want.yes, want.no, want.unknown) {
            (true, true, true) => Cover::everything(),
            (true, true, false) => Cover::union([any(TruthSet::TRUE), all(TruthSet::FALSE)], self.space),
            (true, false, _) => any(want),
            (false, true, _) => all(want),
            (false, false, true) => all(TruthSet::TRUE.complement()).intersect(&any(TruthSet::UNKNOWN), self.space),
            (false, false, false) => Cover::nothing(),
        }
    }

    /// `IS TRUE`, `IS FALSE`, `IS UNKNOWN`: never unknown themselves.
    pub(super) fn is_truth(&self, inner: &Expr, truth: Option<bool>, want: TruthSet) -> Cover {
        let meant = match truth {
            Some(true) => TruthSet::TRUE,
            Some(false) => TruthSet::FALSE,
            None => TruthSet::UNKNOWN,
        };
        match (want.yes, want.no) {
            (true, true) => Cover::everything(),
            (true, false) => self.cover(inner, meant),
            (false, true) => self.cover(inner, meant.complement()),
            (false, false) => Cover::nothing(),
        }
    }

    /// A BOOLEAN column as a condition.
    pub(super) fn boolean_column(&self, column: &ColumnRef, want: TruthSet) -> Cover {
        let Some(position) = self.space.position(column).filter(|_| column.ty == SqlType::Boolean) else {
            return Cover::unknown();
        };
        let domain = self.space.domain(position);
        let value = |b| move || ValueSet::points(vec![Value::Bool(b)], domain).into();
        self.column_cover(
            position,
            want,
            Outcomes {
                yes: &value(true),
                no: &value(false),
                unknown: &|| ValueSet::null(domain).into(),
                doubt: &|_| Some(ValueSet::EMPTY),
            },
        )
    }
}
