//! `IS NULL` and `IS NOT NULL`.

use saltwing_types::{Expr, SqlType};

use crate::cover::{Cover, Fit};
use crate::predicates::compare::compared_column;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::value_set::ValueSet;

impl CoverBuilder<'_> {
    pub(super) fn is_null(&self, inner: &Expr, want: TruthSet) -> Cover {
        if let Some(position) = self.space.expression(inner) {
            return self.null_test(position, want);
        }
        match compared_column(inner) {
            Some(column) => match self.space.position(column) {
                Some(position) => self.null_test(position, want),
                None if column.nullable => Cover::unknown(),
                None if want.no => Cover::everything(),
                None => Cover::nothing(),
            },
            // A condition is NULL when it is unknown.
            None if inner.sql_type() == Some(SqlType::Boolean) => self.is_truth(inner, None, want),
            // A function that goes up or down is NULL for NULL alone.
            None => match self.subject(inner) {
                // With a value in it that is NULL it is NULL for all.
                Some(subject) if subject.is_open() => Cover::unknown(),
                Some(subject) => {
                    let may_fail = want.no && !subject.is_column();
                    let cover = self.null_test(subject.position, want);
                    if may_fail { Cover { fit: Fit::Loose, ..cover } } else { cover }
                }
                None => {
                    let test = |value: &Expr| Expr::IsNull(Box::new(value.clone()));
                    self.over_branches(inner, want, &test).unwrap_or_else(Cover::unknown)
                }
            },
        }
    }

    /// Whether a key column is NULL: never unknown.
    pub(super) fn null_test(&self, position: usize, want: TruthSet) -> Cover {
        let domain = self.space.domain(position);
        self.column_cover(
            position,
            want,
            Outcomes {
                yes: &|| ValueSet::null(domain).into(),
                no: &|| ValueSet::not_null().into(),
                unknown: &|| ValueSet::EMPTY.into(),
                doubt: &|_| Some(ValueSet::EMPTY),
            },
        )
    }
}
