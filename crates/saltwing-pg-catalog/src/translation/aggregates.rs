//! The types of the library's functions that catalog queries call. Their calls stay as they are.

use super::scope::Type;
use crate::pg_type::PgType;

/// The type of a call of a function of the library.
pub(super) fn result_type(function: &str, arguments: &[Type]) -> Type {
    let first = || arguments.first().cloned().unwrap_or(Type::Natural);
    let common = || arguments.iter().cloned().fold(Type::Open, Type::or);
    match function {
        "min" | "max" | "any_value" | "nullif" | "array_append" | "array_remove" | "array_cat" | "first_value"
        | "last_value" | "lag" | "lead" | "nth_value" => first(),
        "coalesce" | "greatest" | "least" => common(),
        "array_prepend" => arguments.get(1).cloned().unwrap_or(Type::Natural),
        "array_agg" => first().array(),
        "array_elem" => first().element(),
        "count" | "row_number" | "rank" | "dense_rank" => Type::Of(PgType::INT8),
        "bool_and" | "bool_or" | "every" | "starts_with" => Type::Of(PgType::BOOL),
        "string_agg" | "lower" | "upper" | "initcap" | "replace" | "concat" | "concat_ws" | "substr" | "left"
        | "right" | "substring" | "lpad" | "rpad" | "ltrim" | "rtrim" | "btrim" | "trim" | "split_part" | "repeat"
        | "reverse" | "translate" | "md5" | "regexp_replace" | "array_to_string" | "to_char" | "chr" => {
            Type::Of(PgType::TEXT)
        }
        "string_to_array" => Type::Of(PgType::TEXT_ARRAY),
        "length" | "char_length" | "octet_length" | "array_length" | "strpos" | "position" | "ascii" => {
            Type::Of(PgType::INT4)
        }
        _ => Type::Natural,
    }
}
