//! The words of the dialect: which are keywords, which are reserved, and what a
//! misspelt one was meant to be.

use sqlparser::keywords::Keyword;

/// Whether sqlparser may see `keyword` as one; to all others it is a name.
pub(crate) fn is_keyword(keyword: Keyword) -> bool {
    is_query_word(keyword) || is_type_word(keyword) || is_time_unit(keyword) || is_reserved(keyword)
}

fn is_query_word(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        ANTI | ARRAY
            | AT
            | BOTH
            | CUBE
            | CURRENT
            | CURRENT_DATE
            | CURRENT_TIME
            | CURRENT_TIMESTAMP
            | ESCAPE
            | EXCLUDE
            | EXTRACT
            | FILTER
            | FIRST
            | FOLLOWING
            | GROUPING
            | GROUPS
            | IGNORE
            | ILIKE
            | INTERVAL
            | LAST
            | LEADING
            | NEXT
            | NULLS
            | ONLY
            | ORDINALITY
            | OVER
            | OVERLAY
            | PARTITION
            | PERCENT
            | PLACING
            | POSITION
            | PRECEDING
            | QUALIFY
            | RANGE
            | RECURSIVE
            | RESPECT
            | ROLLUP
            | ROW
            | ROWS
            | SEMI
            | SETS
            | SIMILAR
            | SUBSTR
            | SUBSTRING
            | TIES
            | TO
            | TRAILING
            | TRIM
            | TRY_CAST
            | UNBOUNDED
            | UNKNOWN
            | UNNEST
            | WITHIN
            | WITHOUT
            | ZONE
    )
}

/// Words with which a type starts or goes on.
pub(crate) fn is_type_word(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        BIGINT
            | BINARY
            | BLOB
            | BOOL
            | BOOLEAN
            | BYTEA
            | CHAR
            | CHARACTER
            | DATE
            | DATETIME
            | DEC
            | DECIMAL
            | DOUBLE
            | FLOAT
            | FLOAT4
            | FLOAT8
            | INT
            | INT2
            | INT4
            | INT8
            | INTEGER
            | NUMERIC
            | PRECISION
            | REAL
            | SMALLINT
            | STRING
            | TEXT
            | TIME
            | TIMESTAMP
            | TINYINT
            | VARBINARY
            | VARCHAR
            | VARYING
    )
}

fn is_time_unit(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        CENTURY
            | DAY
            | DAYS
            | DECADE
            | DOW
            | DOY
            | EPOCH
            | HOUR
            | HOURS
            | ISODOW
            | ISOYEAR
            | MICROSECOND
            | MICROSECONDS
            | MILLENNIUM
            | MILLISECOND
            | MILLISECONDS
            | MINUTE
            | MINUTES
            | MONTH
            | MONTHS
            | NANOSECOND
            | NANOSECONDS
            | QUARTER
            | SECOND
            | SECONDS
            | TIMEZONE
            | WEEK
            | WEEKS
            | YEAR
            | YEARS
    )
}

/// Words that name nothing unless they are quoted.
pub(crate) fn is_reserved(keyword: Keyword) -> bool {
    use Keyword::*;
    is_clause_word(keyword)
        || matches!(
            keyword,
            ALL | ANY
                | CASE
                | CAST
                | CHECK
                | CONSTRAINT
                | CREATE
                | DEFAULT
                | DELETE
                | DISTINCT
                | DROP
                | EXISTS
                | FALSE
                | FOREIGN
                | INSERT
                | INTO
                | LATERAL
                | MERGE
                | NOT
                | NULL
                | PRIMARY
                | REFERENCES
                | SELECT
                | SOME
                | TABLE
                | TRUE
                | UNIQUE
                | UPDATE
                | VALUES
                | WITH
        )
}

/// Reserved words that start neither an expression nor a table: what comes
/// before them is finished.
pub(crate) fn is_clause_word(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        AND | AS
            | ASC
            | BETWEEN
            | BY
            | CROSS
            | DESC
            | ELSE
            | END
            | EXCEPT
            | FETCH
            | FOR
            | FROM
            | FULL
            | GROUP
            | HAVING
            | IN
            | INNER
            | INTERSECT
            | IS
            | JOIN
            | LEFT
            | LIKE
            | LIMIT
            | NATURAL
            | OFFSET
            | ON
            | OR
            | ORDER
            | OUTER
            | RIGHT
            | THEN
            | UNION
            | USING
            | WHEN
            | WHERE
            | WINDOW
    )
}

/// Reserved words that a table's name cannot be mistaken for, and that start no
/// expression: behind FROM, JOIN and a comma they are always wrong.
pub(crate) fn starts_nothing(keyword: Keyword) -> bool {
    use Keyword::*;
    is_clause_word(keyword)
        || matches!(
            keyword,
            ALL | CHECK
                | CONSTRAINT
                | CREATE
                | DISTINCT
                | DROP
                | FOREIGN
                | INTO
                | PRIMARY
                | REFERENCES
                | SELECT
                | SOME
                | UNIQUE
                | WITH
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_word_is_reserved_and_a_reserved_word_is_a_keyword() {
        for keyword in sqlparser::keywords::ALL_KEYWORDS_INDEX {
            assert!(!is_clause_word(*keyword) || is_reserved(*keyword));
            assert!(!is_reserved(*keyword) || is_keyword(*keyword));
        }
    }
}
