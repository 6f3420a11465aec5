//! All aggregate functions.

use super::super::{ParameterKind, ResultType};
use super::{AggregateEntry, AggregateForm, AggregateFunction, composed, engine, own};
use crate::SqlType;
use crate::sql_type::TypeFamily;

/// The lists of all kinds.
static LISTS: [&[&AggregateEntry]; 3] = [own::ALL, engine::ALL, composed::ALL];

impl AggregateEntry {
    /// All entries, by name in alphabetical order in each of the lists.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        LISTS.into_iter().flatten().copied()
    }

    /// The entry of this name or alias, in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all().find(|entry| entry.names().any(|known| known.eq_ignore_ascii_case(name)))
    }
}

impl AggregateFunction {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        AggregateEntry::all().filter_map(AggregateEntry::own)
    }

    /// The function of this name or alias, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        AggregateEntry::by_name(name)?.own()
    }

    /// The entry.
    pub fn entry(self) -> &'static AggregateEntry {
        match self {
            Self::Count => &own::COUNT,
            Self::Sum => &own::SUM,
            Self::WrappingSum => &own::WRAPPING_SUM,
            Self::Min => &own::MIN,
            Self::Max => &own::MAX,
            Self::Avg => &own::AVG,
        }
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The type of the result over values of this type, by the first form that takes them; `None` if there is none.
    pub fn result_type(self, ty: SqlType) -> Option<SqlType> {
        let takes = |form: &&AggregateForm| {
            let kind = form.signature.kind(0);
            kind.is_some_and(|kind| has_type(kind, ty))
        };
        Some(match self.entry().forms.iter().find(takes)?.signature.result {
            ResultType::Is(result) => result,
            _ => ty,
        })
    }
}

/// Whether values of a type are of a kind without a cast.
fn has_type(kind: ParameterKind, ty: SqlType) -> bool {
    match kind {
        ParameterKind::Integer => ty.is_integer(),
        ParameterKind::Decimal => matches!(ty, SqlType::Decimal(_)),
        ParameterKind::Double => ty.family() == TypeFamily::Number,
        ParameterKind::Interval => ty == SqlType::Interval,
        _ => true,
    }
}
