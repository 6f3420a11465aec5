//! The registry of functions that are called over a window and are no aggregate functions. Aggregate functions without WITHIN GROUP are
//! called over windows, too ([`super::aggregate`]).
//!
//! The relational engine alone computes windows. The binder, `SHOW FUNCTIONS`, `docs/functions.md` and completion read the entries.

use std::fmt;

use super::aggregate::AggregateFunction;
use super::signature::{integer, of_kind};
use super::{Parameter, ParameterKind, ResultType, Signature, Volatility};
use crate::SqlType;

/// All entries, by name in alphabetical order.
pub static WINDOW_FUNCTIONS: &[&WindowEntry] = &[
    &CUME_DIST,
    &DENSE_RANK,
    &FIRST_VALUE,
    &LAG,
    &LAST_VALUE,
    &LEAD,
    &NTH_VALUE,
    &NTILE,
    &PERCENT_RANK,
    &RANK,
    &ROW_NUMBER,
];

/// One entry of the registry.
#[derive(Debug)]
pub struct WindowEntry {
    /// The name, in upper case.
    pub name: &'static str,
    /// The function.
    pub function: WindowFunction,
    /// The way to call it, before OVER.
    pub form: Signature,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// One sentence on what it gives.
    pub description: &'static str,
    /// A call over [`super::aggregate::EXAMPLE_ROWS`], and its results in the order of `k` as texts.
    pub example: (&'static str, &'static str),
}

/// The functions that are called over a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowFunction {
    /// An aggregate function, of the rows of the frame.
    Aggregate(AggregateFunction),
    /// An aggregate function of the relational engine, by its name in lower case.
    Engine(String),
    /// `ROW_NUMBER`.
    RowNumber,
    /// `RANK`.
    Rank,
    /// `DENSE_RANK`.
    DenseRank,
    /// `PERCENT_RANK`.
    PercentRank,
    /// `CUME_DIST`.
    CumeDist,
    /// `NTILE(n)`.
    Ntile,
    /// `LAG(value, n)`.
    Lag,
    /// `LEAD(value, n)`.
    Lead,
    /// `FIRST_VALUE(value)`.
    FirstValue,
    /// `LAST_VALUE(value)`.
    LastValue,
    /// `NTH_VALUE(value, n)`.
    NthValue,
}

impl WindowEntry {
    /// The volatility of every window function: equal rows give equal results.
    pub const VOLATILITY: Volatility = Volatility::Immutable;

    /// The entry of a function that gives a value of its rows, or NULL.
    const fn of_value(name: &'static str, function: WindowFunction, form: Signature) -> Self {
        Self { name, function, form, nullable: true, description: "", example: ("", "") }
    }

    /// The entry of one that gives a number for each row.
    const fn of_place(
        name: &'static str,
        function: WindowFunction,
        parameters: &'static [Parameter],
        result: SqlType,
    ) -> Self {
        let form = Signature::new(parameters, ResultType::Is(result));
        Self { name, function, form, nullable: false, description: "", example: ("", "") }
    }

    /// With a description, and an example.
    const fn gives(mut self, description: &'static str, call: &'static str, results: &'static str) -> Self {
        self.description = description;
        self.example = (call, results);
        self
    }

    /// The entry of this name, in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        WINDOW_FUNCTIONS.iter().copied().find(|entry| entry.name.eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for WindowEntry {
    /// `NTILE(count BIGINT) OVER (..) -> BIGINT`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        self.form.write_parameters(f)?;
        f.write_str(") OVER (..)")?;
        self.form.write_result(f)
    }
}

impl WindowFunction {
    /// The function of this name: one of the window functions, or an aggregate function that both executors compute.
    pub fn by_name(name: &str) -> Option<Self> {
        let own = WindowEntry::by_name(name).map(|entry| entry.function.clone());
        own.or_else(|| AggregateFunction::by_name(name).map(Self::Aggregate))
    }

    /// The entry, or the name of an aggregate function.
    fn entry_or_name(&self) -> Result<&'static WindowEntry, &str> {
        Ok(match self {
            Self::Aggregate(function) => return Err(function.name()),
            Self::Engine(name) => return Err(name),
            Self::RowNumber => &ROW_NUMBER,
            Self::Rank => &RANK,
            Self::DenseRank => &DENSE_RANK,
            Self::PercentRank => &PERCENT_RANK,
            Self::CumeDist => &CUME_DIST,
            Self::Ntile => &NTILE,
            Self::Lag => &LAG,
            Self::Lead => &LEAD,
            Self::FirstValue => &FIRST_VALUE,
            Self::LastValue => &LAST_VALUE,
            Self::NthValue => &NTH_VALUE,
        })
    }

    /// The entry; `None` of an aggregate function.
    pub fn entry(&self) -> Option<&'static WindowEntry> {
        self.entry_or_name().ok()
    }

    /// The name in SQL.
    pub fn name(&self) -> &str {
        self.entry_or_name().map_or_else(|name| name, |entry| entry.name)
    }

    /// Whether it is an aggregate function.
    pub fn is_aggregate(&self) -> bool {
        self.entry().is_none()
    }

    /// Whether it adds values up.
    pub fn sums(&self) -> bool {
        if let Self::Aggregate(function) = self { function.sums() } else { false }
    }

    /// Whether a call of it may have `count` arguments. The star of `COUNT(*)` does not count as one.
    pub fn takes_count(&self, count: usize) -> bool {
        match self {
            Self::Engine(_) => true,
            Self::Aggregate(function) => function.entry().forms.iter().any(|form| form.signature.takes_count(count)),
            other => other.entry().is_some_and(|entry| entry.form.takes_count(count)),
        }
    }
}

const ANY: Parameter = of_kind("value", ParameterKind::Any);

/// The value of a neighbour.
const NEIGHBOUR: Signature =
    Signature::new(&[ANY, integer("distance"), of_kind("default", ParameterKind::Any)], ResultType::At(0)).optional(2);
/// A value of the frame.
const OF_FRAME: Signature = Signature::new(&[ANY], ResultType::At(0));

static CUME_DIST: WindowEntry = WindowEntry::of_place("CUME_DIST", WindowFunction::CumeDist, &[], SqlType::Double)
    .gives(
        "The share of the rows of the partition that do not come after the row, above 0 up to 1.",
        "CUME_DIST() OVER (ORDER BY k)",
        "0.2, 0.4, 0.6, 0.8, 1.0",
    );

static DENSE_RANK: WindowEntry = WindowEntry::of_place("DENSE_RANK", WindowFunction::DenseRank, &[], SqlType::BigInt)
    .gives(
        "How many different places in the order there are up to the row.",
        "DENSE_RANK() OVER (ORDER BY s)",
        "1, 1, 2, 2, 3",
    );

static FIRST_VALUE: WindowEntry = WindowEntry::of_value("FIRST_VALUE", WindowFunction::FirstValue, OF_FRAME).gives(
    "The value in the first row of the frame; with IGNORE NULLS the first that is not NULL.",
    "FIRST_VALUE(s) OVER (ORDER BY k DESC)",
    "c, c, c, c, c",
);

static LAG: WindowEntry = WindowEntry::of_value("LAG", WindowFunction::Lag, NEIGHBOUR).gives(
    "The value of the row that is `distance` rows earlier, or one row earlier without it; if there is no such row, the default or NULL.",
    "LAG(k) OVER (ORDER BY k)",
    "NULL, 1, 2, 3, 4",
);

static LAST_VALUE: WindowEntry = WindowEntry::of_value("LAST_VALUE", WindowFunction::LastValue, OF_FRAME).gives(
    "The value in the last row of the frame; with IGNORE NULLS the last that is not NULL.",
    "LAST_VALUE(k) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)",
    "2, 3, 4, 5, 5",
);

static LEAD: WindowEntry = WindowEntry::of_value("LEAD", WindowFunction::Lead, NEIGHBOUR).gives(
    "The value of the row that is `distance` rows later, or one row later without it; if there is no such row, the default or NULL.",
    "LEAD(k, 2, 0) OVER (ORDER BY k)",
    "3, 4, 5, 0, 0",
);

static NTH_VALUE: WindowEntry = WindowEntry::of_value(
    "NTH_VALUE",
    WindowFunction::NthValue,
    Signature::new(&[ANY, integer("place")], ResultType::At(0)),
)
.gives(
    "The value in the row at this place of the frame, from 1; NULL if the frame has no such row.",
    "NTH_VALUE(s, 3) OVER (ORDER BY k)",
    "NULL, NULL, b, b, b",
);

static NTILE: WindowEntry = WindowEntry::of_place("NTILE", WindowFunction::Ntile, &[integer("count")], SqlType::BigInt)
    .gives(
        "The number of the row's part, from 1, if the partition is cut into so many parts of about the same size.",
        "NTILE(2) OVER (ORDER BY k)",
        "1, 1, 1, 2, 2",
    );

static PERCENT_RANK: WindowEntry =
    WindowEntry::of_place("PERCENT_RANK", WindowFunction::PercentRank, &[], SqlType::Double).gives(
        "The rank as a share, from 0 for the first row to 1.",
        "PERCENT_RANK() OVER (ORDER BY k)",
        "0.0, 0.25, 0.5, 0.75, 1.0",
    );

static RANK: WindowEntry = WindowEntry::of_place("RANK", WindowFunction::Rank, &[], SqlType::BigInt).gives(
    "The place of the row in the order, from 1; rows that are equal in it have the place of the first of them.",
    "RANK() OVER (ORDER BY s)",
    "1, 1, 3, 3, 5",
);

static ROW_NUMBER: WindowEntry = WindowEntry::of_place("ROW_NUMBER", WindowFunction::RowNumber, &[], SqlType::BigInt)
    .gives("The number of the row in the order, from 1.", "ROW_NUMBER() OVER (ORDER BY k DESC)", "5, 4, 3, 2, 1");
