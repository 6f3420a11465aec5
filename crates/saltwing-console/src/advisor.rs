//! What the guard refused lately, and what would serve it.

use saltwing::GuardRefusal;
use serde_json::{Value, json};

use crate::error::ConsoleError;
use crate::login::Login;

/// The refusals, the most frequent first.
///
/// # Errors
/// The library's.
pub(crate) async fn refusals(login: &Login) -> Result<Value, ConsoleError> {
    let mut refusals = {
        let connection = login.session.catalog.clone();
        let read = tokio::task::spawn_blocking(move || connection.guard_refusals());
        read.await.map_err(|error| {
            tracing::error!(target: "saltwing::console", %error, "the refusals were not read");
            ConsoleError::Bug("the refusals were not read")
        })??
    };
    refusals.sort_by_key(|refusal| std::cmp::Reverse((refusal.count, refusal.last_ms)));
    Ok(json!({ "refusals": refusals.iter().map(described).collect::<Value>() }))
}

fn described(refusal: &GuardRefusal) -> Value {
    let fixes = refusal
        .fixes
        .iter()
        .map(|fix| json!({ "label": fix.text, "run": fix.sql, "bytes_per_row": fix.bytes_per_row }));
    json!({
        "statement": refusal.statement, "tables": refusal.tables, "reason": refusal.reason, "count": refusal.count, "last_ms": refusal.last_ms,
        "fixes": fixes.collect::<Value>(),
    })
}
