//! The functions that the binder makes of other aggregates and of scalar functions.

use super::super::signature::{VARCHAR, of_kind, text};
use super::super::{Parameter, ParameterKind, ResultType, Signature};
use super::{AggregateEntry, AggregateForm, AggregateInput, AggregateMeaning, Composition, HypotheticalValue};
use crate::SqlType;

pub(super) static ALL: &[&AggregateEntry] = &[
    &ARG_MAX,
    &ARG_MIN,
    &BOOL_XOR,
    &COUNT_IF,
    &CUME_DIST,
    &DENSE_RANK,
    &ENTROPY,
    &GROUP_CONCAT,
    &JSON_AGG,
    &JSON_GROUP_ARRAY,
    &JSON_GROUP_OBJECT,
    &JSON_OBJECT_AGG,
    &KURTOSIS,
    &MODE,
    &PRODUCT,
    &RANK,
    &SKEWNESS,
    &TOTAL,
];

const VALUE: Parameter = of_kind("value", ParameterKind::Any);
const JSON: ResultType = ResultType::Is(SqlType::Json);
const OF_NUMBERS: &[AggregateForm] =
    &[AggregateForm::of_values(&[of_kind("value", ParameterKind::Double)], ResultType::Is(SqlType::Double))];
const OF_PAIRS: &[AggregateForm] =
    &[AggregateForm::of_values(&[VALUE, of_kind("by", ParameterKind::Any)], ResultType::At(0))];
const JSON_OF_VALUES: &[AggregateForm] = &[AggregateForm::new(AggregateInput::InOrder, &[VALUE], JSON)];
const JSON_OF_MEMBERS: &[AggregateForm] =
    &[AggregateForm::new(AggregateInput::InOrder, &[of_kind("name", ParameterKind::Any), VALUE], JSON)];

const fn composed(name: &'static str, composition: Composition, forms: &'static [AggregateForm]) -> AggregateEntry {
    AggregateEntry::new(name, AggregateMeaning::Composed(composition), forms)
}

/// A function of the array of all values.
const fn of_array(name: &'static str, function: &'static str, forms: &'static [AggregateForm]) -> AggregateEntry {
    composed(name, Composition::OfArray(function), forms)
}

static ARG_MAX: AggregateEntry = composed("ARG_MAX", Composition::ArgMax, OF_PAIRS)
    .aliases(&["MAX_BY"])
    .gives("The value of the row in which the second argument is greatest; rows with a NULL in either do not count.")
    .example("ARG_MAX(s, n)", "b");

static ARG_MIN: AggregateEntry = composed("ARG_MIN", Composition::ArgMin, OF_PAIRS)
    .aliases(&["MIN_BY"])
    .gives("The value of the row in which the second argument is least; rows with a NULL in either do not count.")
    .example("ARG_MIN(k, n)", "1");

const CONDITION: &[Parameter] = &[of_kind("condition", ParameterKind::Boolean)];

static BOOL_XOR: AggregateEntry = composed(
    "BOOL_XOR",
    Composition::BoolXor,
    &[AggregateForm::of_values(CONDITION, ResultType::Is(SqlType::Boolean))],
)
.gives("Whether the condition holds for an odd number of rows; NULL if it is NULL in all of them.")
.example("BOOL_XOR(n > 1)", "false");

static COUNT_IF: AggregateEntry =
    composed("COUNT_IF", Composition::CountIf, &[AggregateForm::of_values(CONDITION, ResultType::Is(SqlType::BigInt))])
        .aliases(&["COUNTIF"])
        .gives("The number of rows for which the condition holds.")
        .example("COUNT_IF(n > 1)", "2");

/// Of a row that would be there, too: a value for each key of the order.
const fn of_place(result: SqlType) -> AggregateForm {
    AggregateForm {
        signature: Signature::new(&[VALUE], ResultType::Is(result)).repeated(),
        input: AggregateInput::OrderedSet(of_kind("key", ParameterKind::Any)),
    }
}

const OF_PLACE: &[AggregateForm] = &[of_place(SqlType::BigInt)];

static CUME_DIST: AggregateEntry =
    composed("CUME_DIST", Composition::Hypothetical(HypotheticalValue::CumeDist), &[of_place(SqlType::Double)])
        .gives("The share of the rows that would not come after a row with these values, that row among them.")
        .example("CUME_DIST(3) WITHIN GROUP (ORDER BY n NULLS LAST)", "0.5");

static DENSE_RANK: AggregateEntry =
    composed("DENSE_RANK", Composition::Hypothetical(HypotheticalValue::DenseRank), OF_PLACE)
        .gives("How many different places in the order there would be up to a row with this value.")
        .example("DENSE_RANK('b') WITHIN GROUP (ORDER BY s)", "2");

static RANK: AggregateEntry = composed("RANK", Composition::Hypothetical(HypotheticalValue::Rank), OF_PLACE)
    .gives("The place from 1 that a row with these values would have in the order.")
    .example("RANK('b') WITHIN GROUP (ORDER BY s)", "3");

static ENTROPY: AggregateEntry =
    of_array("ENTROPY", "ARRAY_ENTROPY", &[AggregateForm::of_values(&[VALUE], ResultType::Is(SqlType::Double))])
        .gives("The bits of information in which of the values a row has, as in DuckDB; NULL if there are none.")
        .example("ENTROPY(s) FILTER (WHERE k < 5)", "1.0");

static GROUP_CONCAT: AggregateEntry = composed(
    "GROUP_CONCAT",
    Composition::GroupConcat,
    &[AggregateForm {
        signature: Signature::new(&[VALUE, text("separator")], VARCHAR).optional(1),
        input: AggregateInput::InOrder,
    }],
)
.aliases(&["LISTAGG"])
.gives(
    "The texts of the values that are not NULL with the separator, or a comma, between them; NULL if there are none.",
)
.example("GROUP_CONCAT(k ORDER BY k DESC)", "5,4,3,2,1");

static JSON_AGG: AggregateEntry =
    composed("JSON_AGG", Composition::JsonArray { is_null_of_none: true }, JSON_OF_VALUES)
        .aliases(&["JSONB_AGG"])
        .gives("The JSON array of the values, NULL as null; NULL if there is no row.")
        .example("JSON_AGG(n ORDER BY k)", "[1,3,5,null,null]");

static JSON_GROUP_ARRAY: AggregateEntry =
    composed("JSON_GROUP_ARRAY", Composition::JsonArray { is_null_of_none: false }, JSON_OF_VALUES)
        .aliases(&["JSON_ARRAYAGG"])
        .gives("The JSON array of the values, NULL as null; an empty one if there is no row.")
        .example("JSON_GROUP_ARRAY(s ORDER BY k) FILTER (WHERE k > 3)", "[\"b\",\"c\"]");

static JSON_GROUP_OBJECT: AggregateEntry =
    composed("JSON_GROUP_OBJECT", Composition::JsonObject { is_null_of_none: false }, JSON_OF_MEMBERS)
        .aliases(&["JSON_OBJECTAGG"])
        .gives("The JSON object of a member for each row; an empty one if there is no row.")
        .example("JSON_GROUP_OBJECT(k, s ORDER BY k) FILTER (WHERE k > 3)", "{\"4\":\"b\",\"5\":\"c\"}");

static JSON_OBJECT_AGG: AggregateEntry =
    composed("JSON_OBJECT_AGG", Composition::JsonObject { is_null_of_none: true }, JSON_OF_MEMBERS)
        .aliases(&["JSONB_OBJECT_AGG"])
        .gives("The JSON object of a member for each row; NULL if there is no row.")
        .example("JSON_OBJECT_AGG(s, n ORDER BY k) FILTER (WHERE k = 1)", "{\"a\":1}");

static KURTOSIS: AggregateEntry = of_array("KURTOSIS", "ARRAY_KURTOSIS", OF_NUMBERS)
    .gives("The excess kurtosis of the values as a sample, as in DuckDB; NULL of fewer than four.")
    .example("KURTOSIS(k)", "-1.2000000000000004");

static MODE: AggregateEntry = composed(
    "MODE",
    Composition::Mode,
    &[AggregateForm::of_values(&[VALUE], ResultType::At(0))],
)
.gives("The value that comes most often, of several the least; NULLs do not count. MODE() WITHIN GROUP (ORDER BY value) is the same, of several the first in the order.")
.example("MODE(s)", "a");

static PRODUCT: AggregateEntry = of_array("PRODUCT", "ARRAY_PRODUCT", OF_NUMBERS)
    .gives("The product of the values that are not NULL, as a DOUBLE; NULL if there are none.")
    .example("PRODUCT(n)", "15.0");

static SKEWNESS: AggregateEntry = of_array("SKEWNESS", "ARRAY_SKEWNESS", OF_NUMBERS)
    .gives("The skewness of the values as a sample, as in DuckDB; NULL of fewer than three.")
    .example("SKEWNESS(k)", "0.0");

static TOTAL: AggregateEntry = composed("TOTAL", Composition::Total, OF_NUMBERS)
    .gives("The sum as a DOUBLE, as in SQLite: 0.0 if there are no values.")
    .example("TOTAL(n)", "9.0");
