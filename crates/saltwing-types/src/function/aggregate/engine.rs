//! The functions that DataFusion computes.

use super::super::signature::{VARCHAR, integer, of_kind, text};
use super::super::{Parameter, ParameterKind, ResultType, Signature};
use super::{AggregateEntry, AggregateForm, AggregateInput, AggregateMeaning, ConstantArgument};
use crate::SqlType;

pub(super) static ALL: &[&AggregateEntry] = &[
    &ANY_VALUE,
    &APPROX_DISTINCT,
    &APPROX_MEDIAN,
    &APPROX_PERCENTILE_CONT,
    &APPROX_PERCENTILE_CONT_WITH_WEIGHT,
    &ARRAY_AGG,
    &BIT_AND,
    &BIT_OR,
    &BIT_XOR,
    &BOOL_AND,
    &BOOL_OR,
    &CORR,
    &COVAR_POP,
    &COVAR_SAMP,
    &FIRST_VALUE,
    &LAST_VALUE,
    &MEDIAN,
    &NTH_VALUE,
    &PERCENTILE_CONT,
    &PERCENTILE_DISC,
    &REGR_AVGX,
    &REGR_AVGY,
    &REGR_COUNT,
    &REGR_INTERCEPT,
    &REGR_R2,
    &REGR_SLOPE,
    &REGR_SXX,
    &REGR_SXY,
    &REGR_SYY,
    &STDDEV,
    &STDDEV_POP,
    &STRING_AGG,
    &VAR,
    &VAR_POP,
];

const ANY: Parameter = of_kind("value", ParameterKind::Any);
const NUMBER: Parameter = of_kind("value", ParameterKind::Double);
const SHARE: Parameter = of_kind("share", ParameterKind::Double);

const BIGINT: ResultType = ResultType::Is(SqlType::BigInt);
const BOOLEAN: ResultType = ResultType::Is(SqlType::Boolean);
const DOUBLE: ResultType = ResultType::Is(SqlType::Double);

const OF_ANY: &[AggregateForm] = &[AggregateForm::of_values(&[ANY], ResultType::At(0))];
const OF_BITS: &[AggregateForm] = &[AggregateForm::of_values(&[integer("value")], ResultType::At(0))];
const OF_CONDITIONS: &[AggregateForm] =
    &[AggregateForm::of_values(&[of_kind("condition", ParameterKind::Boolean)], BOOLEAN)];
const OF_NUMBERS: &[AggregateForm] = &[AggregateForm::of_values(&[NUMBER], DOUBLE)];
const OF_PAIRS: &[AggregateForm] = &[AggregateForm::of_values(PAIR, DOUBLE)];
const ONE_IN_ORDER: &[AggregateForm] = &[AggregateForm::new(AggregateInput::InOrder, &[ANY], ResultType::At(0))];

const PAIR: &[Parameter] = &[of_kind("y", ParameterKind::Double), of_kind("x", ParameterKind::Double)];

/// A function that is DataFusion's.
const fn of_engine(name: &'static str, forms: &'static [AggregateForm]) -> AggregateEntry {
    AggregateEntry::new(name, AggregateMeaning::Engine, forms)
}

static ANY_VALUE: AggregateEntry = of_engine("ANY_VALUE", OF_ANY)
    .gives("Some value that is not NULL; NULL if there is none.")
    .example("ANY_VALUE(s) FILTER (WHERE k = 5)", "c");

static APPROX_DISTINCT: AggregateEntry = of_engine("APPROX_DISTINCT", &[AggregateForm::of_values(&[ANY], BIGINT)])
    .aliases(&["APPROX_COUNT_DISTINCT"])
    .gives("About how many different values there are, NULL apart, in little memory.")
    .example("APPROX_DISTINCT(s)", "3");

static APPROX_MEDIAN: AggregateEntry = of_engine("APPROX_MEDIAN", OF_NUMBERS)
    .gives("About the value in the middle, in little memory.")
    .example("APPROX_MEDIAN(n)", "3.0");

static APPROX_PERCENTILE_CONT: AggregateEntry = of_engine(
    "APPROX_PERCENTILE_CONT",
    &[AggregateForm {
        signature: Signature::new(&[SHARE, integer("centroids")], DOUBLE).optional(1),
        input: AggregateInput::OrderedSet(NUMBER),
    }],
)
.gives("About the number below which this share of the values is, in little memory; the more centroids, the nearer.")
.example("APPROX_PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n)", "3.0");

static APPROX_PERCENTILE_CONT_WITH_WEIGHT: AggregateEntry = of_engine(
    "APPROX_PERCENTILE_CONT_WITH_WEIGHT",
    &[AggregateForm {
        signature: Signature::new(&[of_kind("weight", ParameterKind::Double), SHARE, integer("centroids")], DOUBLE)
            .optional(1),
        input: AggregateInput::OrderedSet(NUMBER),
    }],
)
.gives("The same where a value counts as often as its weight says.")
.example("APPROX_PERCENTILE_CONT_WITH_WEIGHT(1, 0.5) WITHIN GROUP (ORDER BY n)", "3.0");

/// `ARRAY_AGG(value ORDER BY key)`.
pub static ARRAY_AGG: AggregateEntry =
    of_engine("ARRAY_AGG", &[AggregateForm::new(AggregateInput::InOrder, &[ANY], ResultType::Array)])
        .gives("An array of the values, NULLs too; NULL if there is no row.")
        .example("ARRAY_AGG(k ORDER BY k DESC)", "[5,4,3,2,1]");

static BIT_AND: AggregateEntry = of_engine("BIT_AND", OF_BITS)
    .gives("The bits that all values have.")
    .example("BIT_AND(k) FILTER (WHERE k > 3)", "4");

static BIT_OR: AggregateEntry =
    of_engine("BIT_OR", OF_BITS).gives("The bits that some value has.").example("BIT_OR(k)", "7");

/// `BIT_XOR(value)`.
pub static BIT_XOR: AggregateEntry =
    of_engine("BIT_XOR", OF_BITS).gives("The bits that an odd number of the values has.").example("BIT_XOR(k)", "1");

static BOOL_AND: AggregateEntry = of_engine("BOOL_AND", OF_CONDITIONS)
    .aliases(&["EVERY"])
    .gives("Whether the condition holds for all rows where it is not NULL; NULL if there are none.")
    .example("BOOL_AND(n > 1)", "false");

static BOOL_OR: AggregateEntry = of_engine("BOOL_OR", OF_CONDITIONS)
    .gives("Whether the condition holds for some row; NULL if it is NULL in all of them.")
    .example("BOOL_OR(n > 4)", "true");

static CORR: AggregateEntry = of_engine("CORR", OF_PAIRS)
    .gives("The coefficient of correlation of the pairs without NULL, from -1 to 1.")
    .example("CORR(n, k)", "1.0");

static COVAR_POP: AggregateEntry = of_engine("COVAR_POP", OF_PAIRS)
    .gives("The covariance of the pairs without NULL, as a whole population.")
    .example("COVAR_POP(n, k)", "1.3333333333333333");

static COVAR_SAMP: AggregateEntry = of_engine("COVAR_SAMP", OF_PAIRS)
    .aliases(&["COVAR"])
    .gives("The covariance of the pairs without NULL, as a sample.")
    .example("COVAR_SAMP(n, k)", "2.0");

/// `FIRST_VALUE(value ORDER BY key)`.
pub static FIRST_VALUE: AggregateEntry = of_engine("FIRST_VALUE", ONE_IN_ORDER)
    .aliases(&["FIRST"])
    .gives("The first value in the order, be it NULL; without an order any one.")
    .example("FIRST_VALUE(s ORDER BY k DESC)", "c");

static LAST_VALUE: AggregateEntry = of_engine("LAST_VALUE", ONE_IN_ORDER)
    .aliases(&["LAST"])
    .gives("The last value in the order, be it NULL; without an order any one.")
    .example("LAST_VALUE(s ORDER BY k)", "c");

static MEDIAN: AggregateEntry = of_engine(
    "MEDIAN",
    &[
        AggregateForm::of_values(&[of_kind("value", ParameterKind::Decimal)], ResultType::Is(SqlType::Decimal(None))),
        AggregateForm::of_values(&[NUMBER], DOUBLE),
    ],
)
.gives("The value in the middle, or the mean of the two in the middle; NULLs do not count.")
.example("MEDIAN(n)", "3.0");

static NTH_VALUE: AggregateEntry =
    of_engine("NTH_VALUE", &[AggregateForm::new(AggregateInput::InOrder, &[ANY, integer("place")], ResultType::At(0))])
        .constant(ConstantArgument::Place)
        .gives("The value at this place in the order, from 1, be it NULL; NULL if there is no such place.")
        .example("NTH_VALUE(s, 3 ORDER BY k)", "b");

static PERCENTILE_CONT: AggregateEntry = of_engine(
    "PERCENTILE_CONT",
    &[AggregateForm::new(AggregateInput::OrderedSet(NUMBER), &[SHARE], DOUBLE)],
)
.aliases(&["QUANTILE_CONT"])
.constant(ConstantArgument::Share)
.gives("The number below which this share of the values is, between two values if it falls there; NULLs do not count.")
.example("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY k)", "2.0");

static PERCENTILE_DISC: AggregateEntry = of_engine(
    "PERCENTILE_DISC",
    // It has the type of the values that it is of.
    &[AggregateForm::new(AggregateInput::OrderedSet(ANY), &[SHARE], ResultType::Common)],
)
.constant(ConstantArgument::Share)
.gives("The first value whose share of the values up to it is at least this; NULLs do not count.")
.example("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY s)", "b");

static REGR_AVGX: AggregateEntry = of_engine("REGR_AVGX", OF_PAIRS)
    .gives("The average of x in the pairs without NULL.")
    .example("REGR_AVGX(n, k)", "2.0");

static REGR_AVGY: AggregateEntry = of_engine("REGR_AVGY", OF_PAIRS)
    .gives("The average of y in the pairs without NULL.")
    .example("REGR_AVGY(n, k)", "3.0");

static REGR_COUNT: AggregateEntry = of_engine("REGR_COUNT", &[AggregateForm::of_values(PAIR, BIGINT)])
    .gives("How many pairs have no NULL.")
    .example("REGR_COUNT(n, k)", "3");

static REGR_INTERCEPT: AggregateEntry = of_engine("REGR_INTERCEPT", OF_PAIRS)
    .gives("Where the line nearest to the pairs has x = 0.")
    .example("REGR_INTERCEPT(n, k)", "-1.0");

static REGR_R2: AggregateEntry = of_engine("REGR_R2", OF_PAIRS)
    .gives("The square of the coefficient of correlation: how well a line describes the pairs, from 0 to 1.")
    .example("REGR_R2(n, k)", "1.0");

static REGR_SLOPE: AggregateEntry = of_engine("REGR_SLOPE", OF_PAIRS)
    .gives("The slope of the line nearest to the pairs.")
    .example("REGR_SLOPE(n, k)", "2.0");

static REGR_SXX: AggregateEntry = of_engine("REGR_SXX", OF_PAIRS)
    .gives("The sum of the squares of the distances of x from its average.")
    .example("REGR_SXX(n, k)", "2.0");

static REGR_SXY: AggregateEntry = of_engine("REGR_SXY", OF_PAIRS)
    .gives("The sum of the products of the distances of x and y from their averages.")
    .example("REGR_SXY(n, k)", "4.0");

static REGR_SYY: AggregateEntry = of_engine("REGR_SYY", OF_PAIRS)
    .gives("The sum of the squares of the distances of y from its average.")
    .example("REGR_SYY(n, k)", "8.0");

static STDDEV: AggregateEntry = of_engine("STDDEV", OF_NUMBERS)
    .aliases(&["STDDEV_SAMP"])
    .gives("The standard deviation of the values that are not NULL, as a sample; NULL of fewer than two.")
    .example("STDDEV(n)", "2.0");

static STDDEV_POP: AggregateEntry = of_engine("STDDEV_POP", OF_NUMBERS)
    .gives("The standard deviation of the values that are not NULL, as a whole population.")
    .example("STDDEV_POP(n)", "1.632993161855452");

/// `STRING_AGG(text, separator ORDER BY key)`.
pub static STRING_AGG: AggregateEntry = of_engine(
    "STRING_AGG",
    &[AggregateForm::new(AggregateInput::InOrder, &[text("text"), text("separator")], VARCHAR)],
)
.gives("The texts that are not NULL with the separator between them; NULL if there are none.")
.example("STRING_AGG(s, '-' ORDER BY k DESC)", "c-b-b-a-a");

static VAR: AggregateEntry = of_engine("VAR", OF_NUMBERS)
    .aliases(&["VAR_SAMP", "VAR_SAMPLE", "VARIANCE"])
    .gives("The variance of the values that are not NULL, as a sample; NULL of fewer than two.")
    .example("VAR(n)", "4.0");

static VAR_POP: AggregateEntry = of_engine("VAR_POP", OF_NUMBERS)
    .aliases(&["VAR_POPULATION"])
    .gives("The variance of the values that are not NULL, as a whole population.")
    .example("VAR_POP(n)", "2.6666666666666665");
