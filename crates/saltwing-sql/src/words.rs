//! The words of the dialect: which are keywords, which are reserved, and what a
//! misspelt one was meant to be.

use std::sync::LazyLock;

use sqlparser::keywords::{ALL_KEYWORDS, Keyword};

/// Words of queries and expressions.
const QUERY: u8 = 1;
/// Words with which a type starts or goes on.
const TYPE: u8 = 2;
/// Units of time.
const UNIT: u8 = 4;
/// Reserved words that start an expression or a table.
const OPENING: u8 = 8;
/// Reserved words that a table's name cannot be mistaken for, and that start no expression.
const IDLE: u8 = 16;
/// Reserved words that start neither an expression nor a table: what comes before them is finished.
const CLAUSE: u8 = 32;

/// The keywords of each class.
const KEYWORDS: [(u8, &str); 6] = [
    (
        QUERY,
        "\
        ANTI ARRAY AT BOTH CUBE CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP ESCAPE EXCLUDE EXTRACT \
        FILTER FIRST FOLLOWING GROUPING GROUPS IGNORE ILIKE INTERVAL LAST LEADING NAME NEXT NULLS ONLY ORDINALITY \
        OVER OVERLAY PARTITION PERCENT PLACING POSITION PRECEDING QUALIFY RANGE RECURSIVE REPLACE RESPECT ROLLUP ROW \
        ROWS SEMI SETS SIMILAR SUBSTR SUBSTRING TIES TO TRAILING TRIM TRY_CAST UNBOUNDED UNKNOWN UNNEST WITHIN \
        WITHOUT ZONE",
    ),
    (
        TYPE,
        "\
        BIGINT BINARY BLOB BOOL BOOLEAN BYTEA CHAR CHARACTER DATE DATETIME DEC DECIMAL DOUBLE FLOAT FLOAT4 \
        FLOAT8 INT INT2 INT4 INT8 INTEGER JSON NUMERIC PRECISION REAL SMALLINT STRING TEXT TIME TIMESTAMP TINYINT \
        UUID VARBINARY VARCHAR VARYING",
    ),
    (
        UNIT,
        "\
        CENTURY DAY DAYS DECADE DOW DOY EPOCH HOUR HOURS ISODOW ISOYEAR JULIAN MICROSECOND MICROSECONDS MILLENNIUM \
        MILLISECOND MILLISECONDS MINUTE MINUTES MONTH MONTHS NANOSECOND NANOSECONDS QUARTER SECOND SECONDS \
        TIMEZONE WEEK WEEKS YEAR YEARS",
    ),
    (
        OPENING,
        "\
        ANY CASE CAST DEFAULT DELETE EXISTS FALSE INSERT LATERAL MERGE NOT NULL TABLE TRUE UPDATE VALUES",
    ),
    (
        IDLE,
        "\
        ALL CHECK CONSTRAINT CREATE DISTINCT DROP FOREIGN INTO PRIMARY REFERENCES SELECT SOME UNIQUE WITH",
    ),
    (
        CLAUSE,
        "\
        AND AS ASC BETWEEN BY CROSS DESC ELSE END EXCEPT FETCH FOR FROM FULL GROUP HAVING IN INNER INTERSECT IS \
        JOIN LEFT LIKE LIMIT NATURAL OFFSET ON OR ORDER OUTER RETURNING RIGHT THEN UNION USING WHEN WHERE WINDOW",
    ),
];

/// The classes of each word that sqlparser knows, by the number of the keyword.
static CLASSES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut classes = vec![0; ALL_KEYWORDS.len() + 1];
    for (class, words) in KEYWORDS {
        for word in words.split_whitespace() {
            // Number 0 is `Keyword::NoKeyword`.
            let number = ALL_KEYWORDS.binary_search(&word).map(|place| place + 1);
            if let Some(known) = number.ok().and_then(|number| classes.get_mut(number)) {
                *known |= class;
            }
        }
    }
    classes
});

/// Whether a keyword is in one of these classes.
fn is_in(classes: u8, keyword: Keyword) -> bool {
    CLASSES.get(keyword as usize).is_some_and(|class| class & classes != 0)
}

/// Whether sqlparser may see `keyword` as one; to all others it is a name.
pub(crate) fn is_keyword(keyword: Keyword) -> bool {
    is_in(u8::MAX, keyword)
}

/// Whether a type starts or goes on with this word.
pub(crate) fn is_type_word(keyword: Keyword) -> bool {
    is_in(TYPE, keyword)
}

/// Whether the word names nothing unless it is quoted.
pub(crate) fn is_reserved(keyword: Keyword) -> bool {
    is_in(OPENING | IDLE | CLAUSE, keyword)
}

/// The function of an operator that is a word.
pub(crate) fn pattern_function(word: &str) -> Option<&'static str> {
    let operators = [("GLOB", "GLOB"), ("REGEXP", "REGEXP_LIKE"), ("RLIKE", "REGEXP_LIKE")];
    operators.into_iter().find(|(operator, _)| word.eq_ignore_ascii_case(operator)).map(|(_, function)| function)
}

/// Whether what comes before the word is finished.
pub(crate) fn is_clause_word(keyword: Keyword) -> bool {
    is_in(CLAUSE, keyword)
}

/// Whether the word is always wrong after FROM, JOIN and a comma.
pub(crate) fn starts_nothing(keyword: Keyword) -> bool {
    is_in(IDLE | CLAUSE, keyword)
}

#[cfg(test)]
mod tests {
    use sqlparser::keywords::ALL_KEYWORDS_INDEX;

    use super::*;

    #[test]
    fn each_word_is_found_by_its_keyword() {
        for (class, words) in KEYWORDS {
            for word in words.split_whitespace() {
                let place = ALL_KEYWORDS.iter().position(|known| *known == word);
                assert!(place.is_some_and(|place| is_in(class, ALL_KEYWORDS_INDEX[place])), "{word}");
            }
        }
        assert!(!is_keyword(Keyword::NoKeyword) && !is_keyword(Keyword::PIVOT));
        assert!(is_reserved(Keyword::VALUES) && !starts_nothing(Keyword::VALUES) && !is_reserved(Keyword::DATE));
    }
}
