//! EXPLAIN in the form that programs read.

use saltwing::Connection;
use serde_json::Value;

use crate::records::records;

/// What stands in a line before the statement.
pub(crate) const EXPLAIN: &str = "EXPLAIN (FORMAT JSON)";

/// The plan of a statement as EXPLAIN (FORMAT JSON) gives it. Places of errors are in the text after the line of [`EXPLAIN`].
///
/// # Errors
/// The library's.
pub(crate) async fn explained(connection: &Connection, text: &str) -> Result<Value, saltwing::Error> {
    let rows = records(connection, &format!("{EXPLAIN}\n{text}")).await?;
    let text = rows.first().and_then(|row| row.values().next()).and_then(Value::as_str).unwrap_or_default();
    let parsed = serde_json::from_str(text);
    debug_assert!(parsed.is_ok(), "{text}");
    Ok(parsed.unwrap_or(Value::Null))
}

/// Whether the guard would let a statement run.
pub(crate) async fn is_allowed(connection: &Connection, text: &str) -> bool {
    let Ok(plan) = explained(connection, text).await else { return false };
    let accesses = plan.get("accesses").and_then(Value::as_array);
    let is_allowed = |access: &Value| access.pointer("/verdict/allowed").and_then(Value::as_bool) == Some(true);
    accesses.is_some_and(|accesses| accesses.iter().all(is_allowed))
}
