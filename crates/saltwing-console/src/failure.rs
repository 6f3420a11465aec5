//! Errors of statements as the page shows them.

use saltwing::ErrorCode;
use saltwing::syntax::without_passwords;
use serde_json::{Value, json};

use crate::console_session::ConsoleSession;
use crate::failed::Failed;
use crate::fixes;
use crate::text_place::Part;

/// The characters of a statement beside its result.
const SHOWN_MAX: usize = 300;

/// The error of a statement: its text, its place, its help, and fixes if the guard refused it.
pub(crate) async fn described(session: &ConsoleSession, part: &Part, failed: &Failed) -> Value {
    let (text, sqlstate) = (failed.to_string(), failed.sqlstate());
    let Failed::Database(error) = failed else {
        return json!({ "text": text, "sqlstate": sqlstate, "help": [] });
    };
    let place = error.span().map(|span| part.place_of(span));
    let fixes = match error.code() {
        ErrorCode::FullScanRefused => fixes::fixes(session, part, error).await,
        _ => Vec::new(),
    };
    json!({
        "text": text,
        "sqlstate": sqlstate,
        "code": error.code().to_string(),
        "help": error.help().unwrap_or_default().lines().collect::<Vec<_>>(),
        "place": place.map(|(from, to)| [from, to]),
        "fixes": fixes,
    })
}

/// The beginning of a statement, without passwords.
pub(crate) fn shortened(text: &str) -> String {
    let text = without_passwords(text).unwrap_or_else(|| text.to_owned());
    let text = text.trim();
    match text.char_indices().nth(SHOWN_MAX).and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => format!("{beginning}.."),
        None => text.to_owned(),
    }
}
