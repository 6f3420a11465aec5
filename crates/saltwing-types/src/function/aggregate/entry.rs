//! The entry of an aggregate function in the registry.

use std::fmt;

use super::super::{Parameter, ResultType, Signature, Volatility};
use super::function::{AggregateFunction, AggregateState};

/// The rows of the examples, as VALUES with the columns `k INTEGER`, `n INTEGER` and `s VARCHAR`.
pub const EXAMPLE_ROWS: &str = "(1, 1, 'a'), (2, 3, 'a'), (3, 5, 'b'), (4, NULL, 'b'), (5, NULL, 'c')";

/// One entry of the registry.
#[derive(Debug)]
pub struct AggregateEntry {
    /// The name, in upper case.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// What a call of it is.
    pub meaning: AggregateMeaning,
    /// The ways to call it, at least one. All have the same kind of input but for `COUNT(*)`.
    pub forms: &'static [AggregateForm],
    /// What its last argument must be if it is a constant.
    pub constant: Option<ConstantArgument>,
    /// One sentence on what it gives.
    pub description: &'static str,
    /// A call over [`EXAMPLE_ROWS`], ` .. ` and a clause after FROM if it needs one, and the results as texts.
    pub example: (&'static str, &'static str),
}

/// What a call of an aggregate function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateMeaning {
    /// A function that both executors compute. ORDER BY in its brackets, DISTINCT where it matters which of two equal values stays, and the
    /// like are for the relational engine alone.
    Own(AggregateFunction),
    /// DataFusion's function of the same name.
    Engine,
    /// `GROUPING(key, ..)`: the keys that a row is not grouped by.
    Grouping,
    /// `FIRST_VALUES(value, count)`: the beginning of an ARRAY_AGG.
    FirstValues,
    /// `LAST_VALUES(value, count)`: the beginning of an ARRAY_AGG in the reverse order.
    LastValues,
    /// Made of other functions.
    Composed(Composition),
    /// `PERCENT_RANK(value) WITHIN GROUP (ORDER BY key)`: an AVG of comparisons.
    PercentRank,
}

/// How a function is made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composition {
    /// `FIRST_VALUE(value ORDER BY by DESC)`.
    ArgMax,
    /// `FIRST_VALUE(value ORDER BY by)`.
    ArgMin,
    /// `BIT_XOR(CAST(value AS BIGINT)) = 1`.
    BoolXor,
    /// `COUNT(CASE WHEN value THEN 1 END)`.
    CountIf,
    /// `STRING_AGG(CAST(value AS VARCHAR), separator)`.
    GroupConcat,
    /// What RANK and its kin give for a row that would be there, too: counts of the rows that come before it.
    Hypothetical(HypotheticalValue),
    /// A JSON array; NULL or an empty one if there is no row.
    JsonArray {
        /// Whether it is NULL then.
        is_null_of_none: bool,
    },
    /// A JSON object; NULL or an empty one if there is no row.
    JsonObject {
        /// Whether it is NULL then.
        is_null_of_none: bool,
    },
    /// `ARRAY_MODE(ARRAY_AGG(value ORDER BY value))`.
    Mode,
    /// The scalar function of this name of the ARRAY_AGG of the values.
    OfArray(&'static str),
    /// `COALESCE(SUM(CAST(value AS DOUBLE)), 0)`.
    Total,
}

/// What is told of a row that would be there, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HypotheticalValue {
    /// `RANK`.
    Rank,
    /// `DENSE_RANK`.
    DenseRank,
    /// `CUME_DIST`.
    CumeDist,
}

/// The executors that compute a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executors {
    /// The direct path and the relational engine.
    Both,
    /// The relational engine alone.
    Relational,
}

/// One way to call an aggregate function.
#[derive(Clone, Copy, Debug)]
pub struct AggregateForm {
    /// The arguments in the brackets, and the result.
    pub signature: Signature,
    /// What it is of.
    pub input: AggregateInput,
}

/// What an aggregate function is of.
#[derive(Clone, Copy, Debug)]
pub enum AggregateInput {
    /// Rows: its argument is `*`.
    Rows,
    /// The values of its arguments; their order changes nothing.
    Values,
    /// The values of its arguments, in the order of an ORDER BY in the brackets or of WITHIN GROUP.
    InOrder,
    /// The values that WITHIN GROUP (ORDER BY ..) names, in that order.
    OrderedSet(Parameter),
}

/// What a constant argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantArgument {
    /// A place, from 1.
    Place,
    /// A share, from 0 to 1.
    Share,
}

impl AggregateEntry {
    /// The volatility of every aggregate function: equal rows give equal results.
    pub const VOLATILITY: Volatility = Volatility::Immutable;

    pub(super) const fn new(name: &'static str, meaning: AggregateMeaning, forms: &'static [AggregateForm]) -> Self {
        Self { name, aliases: &[], meaning, forms, constant: None, description: "", example: ("", "") }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn constant(self, constant: ConstantArgument) -> Self {
        Self { constant: Some(constant), ..self }
    }

    pub(super) const fn gives(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub(super) const fn example(self, call: &'static str, result: &'static str) -> Self {
        Self { example: (call, result), ..self }
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The name by which DataFusion has it.
    pub fn engine_name(&self) -> String {
        self.name.to_lowercase()
    }

    /// The function that both executors compute, if it is one.
    pub fn own(&self) -> Option<AggregateFunction> {
        if let AggregateMeaning::Own(function) = self.meaning { Some(function) } else { None }
    }

    /// What it is of; of COUNT, of values.
    pub fn input(&self) -> AggregateInput {
        self.forms.first().map_or(AggregateInput::Values, |form| form.input)
    }

    /// The executors that compute it.
    pub fn executors(&self) -> Executors {
        match self.meaning {
            AggregateMeaning::Own(_)
            | AggregateMeaning::PercentRank
            | AggregateMeaning::Composed(Composition::CountIf | Composition::Hypothetical(_) | Composition::Total) => {
                Executors::Both
            }
            AggregateMeaning::Engine
            | AggregateMeaning::Grouping
            | AggregateMeaning::FirstValues
            | AggregateMeaning::LastValues
            | AggregateMeaning::Composed(_) => Executors::Relational,
        }
    }

    /// Whether its name is that of a window function, too, unless WITHIN GROUP follows.
    pub fn needs_order(&self) -> bool {
        let hypothetical = matches!(self.meaning, AggregateMeaning::Composed(Composition::Hypothetical(_)));
        hypothetical || self.meaning == AggregateMeaning::PercentRank
    }

    /// What a partial result holds; `None` if that is the relational engine's affair.
    pub fn state(&self) -> Option<AggregateState> {
        self.own().map(AggregateFunction::state)
    }
}

impl AggregateForm {
    pub(super) const fn new(input: AggregateInput, parameters: &'static [Parameter], result: ResultType) -> Self {
        Self { signature: Signature::new(parameters, result), input }
    }

    /// Of values in any order.
    pub(super) const fn of_values(parameters: &'static [Parameter], result: ResultType) -> Self {
        Self::new(AggregateInput::Values, parameters, result)
    }
}

impl fmt::Display for AggregateForm {
    /// `(share DOUBLE) WITHIN GROUP (ORDER BY value DOUBLE) -> DOUBLE`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        self.signature.write_parameters(f)?;
        match self.input {
            AggregateInput::Rows => f.write_str("*)")?,
            AggregateInput::Values => f.write_str(")")?,
            AggregateInput::InOrder => f.write_str(" [ORDER BY key, ..])")?,
            AggregateInput::OrderedSet(value) => write!(f, ") WITHIN GROUP (ORDER BY {value})")?,
        }
        self.signature.write_result(f)
    }
}

impl fmt::Display for Executors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "both",
            Self::Relational => "relational",
        })
    }
}
