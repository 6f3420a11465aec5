//! What would allow a statement that the guard refused: each fix is tried by EXPLAIN before it is offered.

use saltwing::{Connection, Error};
use serde_json::{Value, json};

use crate::console_session::ConsoleSession;
use crate::explain;
use crate::records::records;
use crate::text_place::Part;

/// The rows of a LIMIT that the page adds.
const LIMIT: u32 = 100;

/// The fixes of a refused statement. `run` is a statement that mends the cause; `replace` takes the place of the statement.
pub(crate) async fn fixes(session: &ConsoleSession, part: &Part, error: &Error) -> Vec<Value> {
    let (connection, text) = (session.connection(), part.text.trim().trim_end_matches(';'));
    let mut fixes = match indexes(connection, text).await {
        Ok(fixes) => fixes,
        // Advice is no part of the answer: a failed transaction, for one, has none.
        Err(error) => {
            tracing::debug!(target: "saltwing::console", %error, "a refused statement gets no advice");
            Vec::new()
        }
    };
    let place = part.place();
    for (label, changed) in
        [(format!("Add LIMIT {LIMIT}"), limited(text)), ("Read all rows once".to_owned(), hinted(text))]
    {
        if let Some(changed) = changed
            && explain::is_allowed(connection, &changed).await
        {
            fixes.push(json!({ "label": label, "replace": changed, "place": [place.0, place.1] }));
        }
    }
    if let Some(table) = error.table() {
        let sql = format!("ALTER TABLE {table} SET FULL_SCAN = 'allow'");
        fixes.push(json!({ "label": format!("Always allow full scans of {table}"), "run": sql }));
    }
    fixes
}

/// The indexes that ADVISE finds.
async fn indexes(connection: &Connection, text: &str) -> Result<Vec<Value>, Error> {
    let advice = records(connection, &format!("ADVISE {text}")).await?;
    let statement = |record: &serde_json::Map<String, Value>| {
        let sql = record.get("create_index")?.as_str()?;
        Some(json!({ "label": sql, "run": sql, "bytes_per_row": record.get("bytes_per_row") }))
    };
    Ok(advice.iter().filter_map(statement).collect())
}

/// The query with a LIMIT, unless it is no SELECT.
fn limited(text: &str) -> Option<String> {
    let (verb, _) = verb(text)?;
    verb.eq_ignore_ascii_case("select").then(|| format!("{text}\nLIMIT {LIMIT}"))
}

/// The statement with a hint that permits full scans.
fn hinted(text: &str) -> Option<String> {
    let (verb, rest) = verb(text)?;
    let before = text.strip_suffix(rest)?;
    let takes_hint = ["select", "upsert", "insert", "delete", "update", "merge"];
    takes_hint.iter().any(|it| verb.eq_ignore_ascii_case(it)).then(|| format!("{before} /*+ FULL_SCAN */{rest}"))
}

/// The first word of a statement that begins with one, and the rest.
fn verb(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (verb, rest) = text.split_at_checked(end)?;
    (!verb.is_empty()).then_some((verb, rest))
}

#[cfg(test)]
mod tests {
    use super::{hinted, limited};

    #[test]
    fn statements_are_changed_in_their_own_words() {
        assert_eq!(limited("select a FROM t").unwrap(), "select a FROM t\nLIMIT 100");
        assert_eq!(hinted("select a FROM t").unwrap(), "select /*+ FULL_SCAN */ a FROM t");
        assert_eq!(hinted("DELETE FROM t").unwrap(), "DELETE /*+ FULL_SCAN */ FROM t");
        assert_eq!((limited("DELETE FROM t"), hinted("WITH a AS (SELECT 1) SELECT 2")), (None, None));
        assert_eq!((limited(""), hinted("(SELECT 1)"), hinted("\u{1f9c2}")), (None, None, None));
    }
}
