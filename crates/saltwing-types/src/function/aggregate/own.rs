//! The functions that both executors compute, and those that the binder puts together from others.

use super::super::signature::{integer, of_kind};
use super::super::{Parameter, ParameterKind, ResultType, Signature};
use super::{AggregateEntry, AggregateForm, AggregateFunction, AggregateInput, AggregateMeaning};
use crate::SqlType;

pub(super) static ALL: &[&AggregateEntry] =
    &[&AVG, &COUNT, &FIRST_VALUES, &GROUPING, &LAST_VALUES, &MAX, &MIN, &PERCENT_RANK, &SUM, &WRAPPING_SUM];

const ANY: Parameter = of_kind("value", ParameterKind::Any);
const KEY: Parameter = of_kind("key", ParameterKind::Any);

const BIGINT: ResultType = ResultType::Is(SqlType::BigInt);

const OF_DECIMALS: AggregateForm =
    AggregateForm::of_values(&[of_kind("value", ParameterKind::Decimal)], ResultType::Is(SqlType::Decimal(None)));
const OF_NUMBERS: AggregateForm =
    AggregateForm::of_values(&[of_kind("value", ParameterKind::Double)], ResultType::Is(SqlType::Double));
const OF_INTERVALS: AggregateForm =
    AggregateForm::of_values(&[of_kind("length", ParameterKind::Interval)], ResultType::Is(SqlType::Interval));

const SUMS: &[AggregateForm] =
    &[AggregateForm::of_values(&[integer("value")], BIGINT), OF_DECIMALS, OF_NUMBERS, OF_INTERVALS];
const EXTREMES: &[AggregateForm] = &[AggregateForm::of_values(&[ANY], ResultType::At(0))];
const VALUES_OF_GROUP: &[AggregateForm] =
    &[AggregateForm::new(AggregateInput::OrderedSet(KEY), &[ANY, integer("count")], ResultType::Array)];

pub(super) static AVG: AggregateEntry =
    AggregateEntry::new("AVG", AggregateMeaning::Own(AggregateFunction::Avg), &[OF_DECIMALS, OF_NUMBERS, OF_INTERVALS])
        .aliases(&["MEAN"])
        .gives("The average of the values that are not NULL, exact but for floats; NULL if there are none.")
        .example("AVG(n)", "3.0");

pub(super) static COUNT: AggregateEntry = AggregateEntry::new(
    "COUNT",
    AggregateMeaning::Own(AggregateFunction::Count),
    &[AggregateForm::of_values(&[ANY], BIGINT), AggregateForm::new(AggregateInput::Rows, &[], BIGINT)],
)
.gives("How many values are not NULL; with * how many rows there are.")
.example("COUNT(n)", "3");

pub(super) static FIRST_VALUES: AggregateEntry =
    AggregateEntry::new("FIRST_VALUES", AggregateMeaning::FirstValues, VALUES_OF_GROUP)
        .gives("As many values as the count says, the first ones in the order, NULLs too.")
        .example("FIRST_VALUES(k, 2) WITHIN GROUP (ORDER BY s DESC, k)", "[5,3]");

pub(super) static GROUPING: AggregateEntry = AggregateEntry::new(
    "GROUPING",
    AggregateMeaning::Grouping,
    &[AggregateForm {
        signature: Signature::new(&[KEY], ResultType::Is(SqlType::Integer)).repeated(),
        input: AggregateInput::Values,
    }],
)
.gives("1 in the rows of ROLLUP, CUBE and GROUPING SETS that are not grouped by the key, 0 in the others; of several keys a number with a bit for each.")
.example("GROUPING(s) .. GROUP BY ROLLUP (s) ORDER BY 1", "0, 0, 0, 1");

pub(super) static LAST_VALUES: AggregateEntry =
    AggregateEntry::new("LAST_VALUES", AggregateMeaning::LastValues, VALUES_OF_GROUP)
        .gives("As many values as the count says, the last ones in the order, NULLs too; the last one comes first.")
        .example("LAST_VALUES(k, 2) WITHIN GROUP (ORDER BY k)", "[5,4]");

pub(super) static MAX: AggregateEntry =
    AggregateEntry::new("MAX", AggregateMeaning::Own(AggregateFunction::Max), EXTREMES)
        .gives("The greatest value; NULL if all are NULL.")
        .example("MAX(n)", "5");

pub(super) static MIN: AggregateEntry =
    AggregateEntry::new("MIN", AggregateMeaning::Own(AggregateFunction::Min), EXTREMES)
        .gives("The least value that is not NULL; NULL if there is none.")
        .example("MIN(s)", "a");

pub(super) static PERCENT_RANK: AggregateEntry = AggregateEntry::new(
    "PERCENT_RANK",
    AggregateMeaning::PercentRank,
    &[AggregateForm::new(AggregateInput::OrderedSet(KEY), &[ANY], ResultType::Is(SqlType::Double))],
)
.gives("The share of the keys that are not above the value, from 0 to 1; with DESC of those above it.")
.example("PERCENT_RANK(2) WITHIN GROUP (ORDER BY k)", "0.4");

pub(super) static SUM: AggregateEntry = AggregateEntry::new("SUM", AggregateMeaning::Own(AggregateFunction::Sum), SUMS)
    .gives("The sum of the values that are not NULL; NULL if there are none, and an error beyond the result's type.")
    .example("SUM(n)", "9");

pub(super) static WRAPPING_SUM: AggregateEntry =
    AggregateEntry::new("WRAPPING_SUM", AggregateMeaning::Own(AggregateFunction::WrappingSum), SUMS)
        .gives("The sum as SUM, but that of integers beyond BIGINT wraps, as SUM in Phoenix.")
        .example("WRAPPING_SUM(9223372036854775807) FILTER (WHERE k < 3)", "-2");
