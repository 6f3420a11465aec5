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

/// The word of `known` that `word` was most likely meant to be.
///
/// At most two slips (a letter wrong, missing, too many, or two swapped), and
/// fewer than half of the letters.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let slips_max = if word.len() <= 3 { 1 } else { 2 };
    known
        .into_iter()
        .map(|candidate| (slips(&word, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate))
        .filter(|(slips, candidate)| *slips <= slips_max && slips * 2 < candidate.chars().count())
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance: edits and swaps of neighbours.
fn slips(a: &[char], b: &[char]) -> usize {
    // A long word is no slip of a short one; this also bounds the work.
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX / 2;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = last.get(j).copied().unwrap_or(0) + usize::from(x != y);
            let removed = last.get(j + 1).copied().unwrap_or(0) + 1;
            let added = row.get(j).copied().unwrap_or(0) + 1;
            let mut best = changed.min(removed).min(added);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped && let Some(cost) = before.get(j - 1) {
                best = best.min(cost + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven_and_strangers_are_not() {
        let known = ["SELECT", "UPSERT", "DELETE", "CREATE"];
        assert_eq!(suggest("SELCT", known), Some("SELECT"));
        assert_eq!(suggest("slect", known), Some("SELECT"));
        assert_eq!(suggest("ESLECT", known), Some("SELECT"));
        assert_eq!(suggest("UPSRET", known), Some("UPSERT"));
        assert_eq!(suggest("FOO", known), None);
        assert_eq!(suggest("", known), None);
        assert_eq!(suggest("SELECTION", known), None);
    }

    #[test]
    fn a_clause_word_is_reserved_and_a_reserved_word_is_a_keyword() {
        for keyword in sqlparser::keywords::ALL_KEYWORDS_INDEX {
            assert!(!is_clause_word(*keyword) || is_reserved(*keyword));
            assert!(!is_reserved(*keyword) || is_keyword(*keyword));
        }
    }
}
