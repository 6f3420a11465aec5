//! Clauses of queries that other databases have and this one does not, by the words with which they begin.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;

/// What is refused at a word, and what to write; `None` of a word that begins nothing of the kind.
pub(crate) fn refusal(cursor: &Cursor<'_>, index: usize, upper: &str) -> Option<(&'static str, &'static str)> {
    let token = |n: usize| &cursor.token(index + n).token;
    let is_next = |words: &[&str]| {
        matches!(token(1), Token::Word(word) if word.quote_style.is_none()
        && words.iter().any(|known| word.value.eq_ignore_ascii_case(known)))
    };
    let before = || index.checked_sub(1).map(|before| &cursor.token(before).token);
    let follows_table = || matches!(before(), Some(Token::Word(_) | Token::RParen));
    Some(match upper {
        "ASOF" if is_next(&["JOIN"]) => (
            "ASOF JOIN",
            "LEFT JOIN LATERAL (SELECT .. FROM u WHERE u.k <= t.k ORDER BY u.k DESC LIMIT 1) ON TRUE takes the nearest row",
        ),
        "TABLESAMPLE" if matches!(token(1), Token::LParen) || is_next(&["BERNOULLI", "SYSTEM", "RESERVOIR"]) => SAMPLE,
        "USING" if is_next(&["SAMPLE"]) => SAMPLE,
        "PIVOT" if follows_table() && *token(1) == Token::LParen => {
            ("PIVOT", "an aggregate with FILTER gives each column: SUM(a) FILTER (WHERE c = 'x') AS x, .. GROUP BY k")
        }
        "UNPIVOT" if follows_table() && *token(1) == Token::LParen => (
            "UNPIVOT",
            "a row for each column is SELECT k, u.c, u.v FROM t, LATERAL (VALUES ('a', a), ('b', b)) u (c, v)",
        ),
        "SEARCH" if is_next(&["DEPTH", "BREADTH"]) => (
            "SEARCH of a WITH RECURSIVE",
            "compute a column to order by in the query itself: n || [k] for depth, n + 1 for breadth",
        ),
        "JSON" if is_next(&["VALUE", "SCALAR", "ARRAY", "OBJECT"]) && follows_is(cursor, index) => (
            "IS JSON with a kind",
            "CASE WHEN text IS JSON THEN JSON_TYPEOF(text) = 'object' ELSE FALSE END asks for the kind, too",
        ),
        "JSON" if is_next(&["WITH", "WITHOUT"]) && follows_is(cursor, index) => {
            ("IS JSON WITH UNIQUE KEYS", "text IS JSON is all that is checked; of members of one name the last counts")
        }
        "ABSENT" if is_next(&["ON"]) => (
            "ABSENT ON NULL",
            "JSON_MODIFY and JSON_SET add a member: CASE WHEN a IS NULL THEN j ELSE JSON_SET(j, '$.a', a) END",
        ),
        "DISTINCT" if matches!(before(), Some(Token::Word(word)) if word.keyword == Keyword::BY) => {
            ("GROUP BY DISTINCT", "GROUPING SETS ((a, b), (a), ()) name each set once")
        }
        "LIMIT" if matches!(token(1), Token::Number(..)) && *token(2) == Token::Mod && ends(token(3)) => {
            ("LIMIT of a share", "a number of rows may be a query: LIMIT (SELECT COUNT(*) / 2 FROM t)")
        }
        _ => return None,
    })
}

const SAMPLE: (&str, &str) = (
    "a sample of a table",
    "WHERE RANDOM() < 0.1 chooses about a tenth of the rows, ORDER BY RANDOM() LIMIT n so many",
);

/// Whether IS or IS NOT stands before a token.
fn follows_is(cursor: &Cursor<'_>, index: usize) -> bool {
    let keyword = |back: usize| match index.checked_sub(back).map(|place| &cursor.token(place).token) {
        Some(Token::Word(word)) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    keyword(1) == Keyword::IS || (keyword(1) == Keyword::NOT && keyword(2) == Keyword::IS)
}

fn ends(token: &Token) -> bool {
    matches!(token, Token::EOF | Token::SemiColon | Token::RParen | Token::Word(_))
}
