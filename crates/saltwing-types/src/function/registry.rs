//! All functions, and those that have a syntax of their own.

use std::sync::LazyLock;

use super::{
    Function, ScalarFunction, array, calendar, conditional, datetime, dynamic, glob, hash, interval, json, json_making,
    json_shape, phoenix, regexp, sqlite_date, substring, text, unicode,
};
use crate::DateField;

/// The lists of all subjects.
static SUBJECTS: [&[&ScalarFunction]; 32] = [
    super::array::ALL,
    super::binary::ALL,
    super::calendar::ALL,
    super::characters::ALL,
    super::collation::ALL,
    super::conditional::ALL,
    super::datetime::ALL,
    super::directive::ALL,
    super::dynamic::ALL,
    super::epoch::ALL,
    super::format::ALL,
    super::glob::ALL,
    super::hash::ALL,
    super::integer::ALL,
    super::interval::ALL,
    super::json::ALL,
    super::json_change::ALL,
    super::json_making::ALL,
    super::json_shape::ALL,
    super::moments::ALL,
    super::numeric::ALL,
    super::padding::ALL,
    super::phoenix::ALL,
    super::power::ALL,
    super::quoting::ALL,
    super::regexp::ALL,
    super::similarity::ALL,
    super::split::ALL,
    super::sqlite_date::ALL,
    super::substring::ALL,
    super::text::ALL,
    super::unicode::ALL,
];

/// Names and aliases in alphabetical order.
static BY_NAME: LazyLock<Vec<(&'static str, Function)>> = LazyLock::new(|| {
    let functions = SUBJECTS.into_iter().flatten().copied();
    let names = |function: &'static ScalarFunction| {
        let all = std::iter::once(&function.name).chain(function.aliases);
        all.map(move |name| (*name, Function(function)))
    };
    let mut names: Vec<_> = functions.flat_map(names).collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    names
});

impl Function {
    /// `a || b`.
    pub const CONCAT: Self = Self(&text::CONCAT);
    /// Casts values to their common type, and returns the first that is not NULL.
    pub const COALESCE: Self = Self(&conditional::COALESCE);
    /// `ARRAY[a, b]`.
    pub const MAKE_ARRAY: Self = Self(&array::MAKE_ARRAY);
    /// `array[index]`.
    pub const ARRAY_ELEM: Self = Self(&array::ARRAY_ELEM);
    /// `array || element`.
    pub const ARRAY_APPEND: Self = Self(&array::ARRAY_APPEND);
    /// `element || array`.
    pub const ARRAY_PREPEND: Self = Self(&array::ARRAY_PREPEND);
    /// `array || array`.
    pub const ARRAY_CAT: Self = Self(&array::ARRAY_CAT);
    /// `array && other`.
    pub const ARRAY_OVERLAPS: Self = Self(&array::ARRAY_OVERLAPS);
    /// `array @> other`.
    pub const ARRAY_CONTAINS_ALL: Self = Self(&array::ARRAY_CONTAINS_ALL);
    /// `json @> other`; of arrays it is another function.
    pub const JSON_CONTAINS: Self = Self(&json_shape::JSON_CONTAINS);
    /// `text IS JSON`.
    pub const JSON_VALID: Self = Self(&json_shape::JSON_VALID);
    /// A value as JSON.
    pub const TO_JSON: Self = Self(&json_making::TO_JSON);
    /// `text GLOB pattern`, its operands exchanged.
    pub const GLOB: Self = Self(&glob::GLOB);
    /// SQLite's functions of dates, whose first argument may be 'now'.
    pub const OF_SQLITE_DATES: [Self; 4] = [
        Self(&sqlite_date::DATE),
        Self(&sqlite_date::DATETIME),
        Self(&sqlite_date::JULIANDAY),
        Self(&sqlite_date::UNIXEPOCH),
    ];
    /// `DATEADD(unit, count, at)`.
    pub const DATEADD: Self = Self(&calendar::DATEADD);
    /// `(start, end) OVERLAPS (other_start, other_end)`.
    pub const OVERLAPS: Self = Self(&calendar::OVERLAPS);
    /// `NORMALIZE(text, NFC)`.
    pub const NORMALIZE: Self = Self(&unicode::NORMALIZE);
    /// A dynamic column of a row.
    pub const DYNAMIC_COLUMN: Self = Self(&dynamic::DYNAMIC_COLUMN);
    /// `value = ANY(array)`.
    pub const ARRAY_ANY: Self = Self(&array::ARRAY_ANY);
    /// `value = ALL(array)`.
    pub const ARRAY_ALL: Self = Self(&array::ARRAY_ALL);
    /// `SUBSTRING(text FROM start FOR count)`.
    pub const SUBSTR: Self = Self(&substring::SUBSTR);
    /// `AGE(to, from)`; with one argument from it to today's midnight.
    pub const AGE: Self = Self(&interval::AGE);
    /// Phoenix's `a || b`.
    pub const PHOENIX_CONCAT: Self = Self(&phoenix::PHOENIX_CONCAT);
    /// Phoenix's `a + b`.
    pub const WRAPPING_ADD: Self = Self(&phoenix::WRAPPING_ADD);
    /// Phoenix's `a - b`.
    pub const WRAPPING_SUBTRACT: Self = Self(&phoenix::WRAPPING_SUBTRACT);
    /// Phoenix's `a / b`.
    pub const WRAPPING_DIVIDE: Self = Self(&phoenix::WRAPPING_DIVIDE);
    /// Phoenix's `a * b`.
    pub const WRAPPING_MULTIPLY: Self = Self(&phoenix::WRAPPING_MULTIPLY);
    /// `json -> key`.
    pub const JSON_GET: Self = Self(&json::JSON_GET);
    /// `json ->> key`.
    pub const JSON_GET_TEXT: Self = Self(&json::JSON_GET_TEXT);
    /// `json #> keys`.
    pub const JSON_GET_PATH: Self = Self(&json::JSON_GET_PATH);
    /// `json #>> keys`.
    pub const JSON_GET_PATH_TEXT: Self = Self(&json::JSON_GET_PATH_TEXT);
    /// `RAND(seed)`; without a seed it is another function, whose value is never the same.
    pub const RAND: Self = Self(&hash::RAND);
    /// `text ~ pattern`.
    pub const REGEXP_LIKE: Self = Self(&regexp::REGEXP_LIKE);
    /// `TRIM([BOTH characters FROM] text)`.
    pub const TRIM: Self = Self(&text::TRIM);
    /// `TRIM(LEADING characters FROM text)`.
    pub const LTRIM: Self = Self(&text::LTRIM);
    /// `TRIM(TRAILING characters FROM text)`.
    pub const RTRIM: Self = Self(&text::RTRIM);
    /// `POSITION(part IN text)`, its operands exchanged.
    pub const STRPOS: Self = Self(&substring::STRPOS);

    /// All functions, by name in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        BY_NAME.iter().filter(|(name, function)| *name == function.name).map(|(_, function)| *function)
    }

    /// The function of this name or alias, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_uppercase();
        let place = BY_NAME.binary_search_by_key(&name.as_str(), |(name, _)| name).ok()?;
        BY_NAME.get(place).map(|(_, function)| *function)
    }

    /// The function of `EXTRACT(field FROM instant)` and `DATE_PART('field', instant)`, by the field's name in any case.
    pub fn extract(field: &str) -> Option<Self> {
        if field.eq_ignore_ascii_case(datetime::JULIAN.name) {
            return Some(Self(&datetime::JULIAN));
        }
        if field.eq_ignore_ascii_case(super::epoch::EPOCH.name) {
            return Some(Self(&super::epoch::EPOCH));
        }
        DateField::by_name(field).map(|field| Self(datetime::of_field(field)))
    }
}
