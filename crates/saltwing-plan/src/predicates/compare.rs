//! `=`, `<>`, `<`, `<=`, `>`, `>=`, IS [NOT] DISTINCT FROM: a key column, or a function of one, against a constant.

use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType};

use crate::cover::Cover;
use crate::domain::Domain;
use crate::literal_position::LiteralPosition;
use crate::predicates::constant::Constant;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::span::Cut;
use crate::value_set::ValueSet;

impl CoverBuilder<'_> {
    pub(super) fn compare(&self, op: CompareOp, a: &Expr, b: &Expr, want: TruthSet) -> Cover {
        let (op, side, constant, other) = match (Constant::of(b), Constant::of(a)) {
            (Some(constant), _) => (op, a, constant, b),
            (None, Some(constant)) => (op.swapped(), b, constant, a),
            (None, None) => return Cover::unknown(),
        };
        if self.subject(side).is_some() {
            return self.compare_with(op, side, (other, &constant), want);
        }
        let compared = |value: &Expr| Expr::Compare(op, Box::new(value.clone()), Box::new(other.clone()));
        self.over_branches(side, want, &compared)
            .or_else(|| self.compare_condition(op, side, &constant, want))
            .unwrap_or_else(Cover::unknown)
    }

    /// The key column that `expr` is, casts that change no comparison taken off, or the
    /// computed part that it is word for word.
    pub(super) fn key_column(&self, expr: &Expr) -> Option<usize> {
        compared_column(expr).and_then(|column| self.space.position(column)).or_else(|| self.space.expression(expr))
    }

    fn compare_with(&self, op: CompareOp, side: &Expr, (value, constant): (&Expr, &Constant), want: TruthSet) -> Cover {
        let Some(subject) = self.subject(side) else { return Cover::unknown() };
        let position = subject.position;
        if matches!(constant, Constant::Null) {
            return match op {
                CompareOp::NotDistinct => self.null_test(position, want),
                CompareOp::Distinct => self.null_test(position, want.swapped()),
                // Any other comparison with NULL is unknown for every row.
                _ if want.unknown => Cover::everything(),
                _ => Cover::nothing(),
            };
        }
        let domain = self.space.domain(position);
        if !bounds(domain, op, want) {
            return Cover::unknown();
        }
        if let Some(open) = subject.open_comparison(op, constant, domain) {
            return self.compare_open(op, (side, position), (value, &open), want);
        }
        let Some(located) = subject.locate(op, constant, domain) else { return Cover::unknown() };
        let is_distinction = matches!(op, CompareOp::Distinct | CompareOp::NotDistinct);
        let outcomes = Outcomes {
            yes: &|| located.satisfying(op, domain).into(),
            no: &|| located.satisfying(op.negated(), domain).into(),
            unknown: &|| if is_distinction { ValueSet::EMPTY } else { ValueSet::null(domain) }.into(),
            doubt: &|set| located.doubt(op, set, domain),
        };
        self.column_cover(position, want, outcomes)
    }
}

/// Whether the values for which a comparison has a wanted outcome lie together in the key: those of arrays, which do not
/// stand in the order of their values there, only if they are equal to the constant, or NULL.
pub(super) fn bounds(domain: &Domain, op: CompareOp, want: TruthSet) -> bool {
    match op {
        _ if !matches!(domain.ty(), SqlType::Array(..)) => true,
        CompareOp::Eq | CompareOp::NotDistinct => !want.no,
        CompareOp::NotEq | CompareOp::Distinct => !want.yes,
        _ => false,
    }
}

/// The column that `expr` is, under casts that keep every value and every comparison as they are: `CAST(k AS BIGINT)` of an
/// INTEGER k is k, `CAST(k AS INTEGER)` of a DECIMAL k is not.
pub fn compared_column(expr: &Expr) -> Option<&ColumnRef> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::Cast(inner, ty) => {
            let column = compared_column(inner)?;
            keeps_comparisons(inner.sql_type()?, *ty).then_some(column)
        }
        _ => None,
    }
}

fn keeps_comparisons(from: SqlType, to: SqlType) -> bool {
    use SqlType::{Date, Decimal, Time, Timestamp, UnsignedDate, UnsignedTime, UnsignedTimestamp, Varchar};
    match (from, to) {
        _ if from == to => true,
        (_, Decimal(None)) if from.is_integer() => true,
        (Decimal(_), Decimal(None)) | (Varchar(_), Varchar(None)) => true,
        (Date | Time | UnsignedDate | UnsignedTime, Date | Time | Timestamp) => true,
        (UnsignedDate | UnsignedTime, UnsignedDate | UnsignedTime | UnsignedTimestamp) => true,
        (UnsignedTimestamp, Timestamp) => true,
        _ => match (from.integer_range(), to.integer_range()) {
            (Some((from_min, from_max)), Some((min, max))) => min <= from_min && from_max <= max,
            _ => false,
        },
    }
}

/// The values, NULL only for IS DISTINCT FROM, that compare so with a constant at `place`.
pub(crate) fn satisfying(op: CompareOp, place: &LiteralPosition, domain: &Domain) -> ValueSet {
    let between = |lo, hi| ValueSet::between(lo, hi, domain);
    let equal = || match place {
        LiteralPosition::At(value) => ValueSet::points(vec![value.clone()], domain),
        LiteralPosition::Gap(_) => ValueSet::EMPTY,
        LiteralPosition::Within { lo, hi } | LiteralPosition::Approximate { lo, hi } => between(lo.clone(), hi.clone()),
    };
    // In an approximate form, different values may be anywhere.
    let different = || match place {
        LiteralPosition::Approximate { .. } => ValueSet::not_null(),
        _ => equal().complement(domain).without_null(),
    };
    match op {
        CompareOp::Eq | CompareOp::NotDistinct => equal(),
        CompareOp::NotEq => different(),
        CompareOp::Distinct => ValueSet::union([&different(), &ValueSet::null(domain)], domain),
        CompareOp::Lt => between(Cut::Low, if is_blurred(place) { place.after() } else { place.before() }),
        CompareOp::LtEq => between(Cut::Low, place.after()),
        CompareOp::Gt => between(if is_blurred(place) { place.before() } else { place.after() }, Cut::High),
        CompareOp::GtEq => between(place.before(), Cut::High),
    }
}

fn is_blurred(place: &LiteralPosition) -> bool {
    matches!(place, LiteralPosition::Approximate { .. })
}
