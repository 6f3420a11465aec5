//! The heat of the keys of a table or an index.

use saltwing::{HeatShape, KeyHeat};
use serde_json::{Value, json};

use crate::body::Body;
use crate::error::ConsoleError;
use crate::login::Login;

/// Rows, columns and seconds of the picture: the default, and the bounds.
const SPANS: (u64, (u64, u64)) = (64, (1, 512));
const SLOTS: (u64, (u64, u64)) = (120, (1, 720));
const SECONDS: (u64, (u64, u64)) = (300, (1, 86_400));

/// The heat of `relation`.
///
/// # Errors
/// Those of the body; the library's.
pub(crate) fn heat(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let number = |name, (default, bounds)| body.bounded(name, default, bounds);
    let shape = HeatShape {
        key_spans: usize::try_from(number("spans", SPANS)?).unwrap_or(usize::MAX),
        time_slots: usize::try_from(number("slots", SLOTS)?).unwrap_or(usize::MAX),
        seconds: number("seconds", SECONDS)?,
    };
    Ok(described(login.session.catalog.key_heat(body.text("relation")?, shape)?))
}

fn described(heat: KeyHeat) -> Value {
    let spans = heat.spans.iter().map(|span| json!({ "from": span.from_text, "to": span.to_text }));
    let slots = heat
        .slots
        .iter()
        .map(|slot| json!({ "start_ms": slot.start_ms, "seconds": slot.seconds, "known_seconds": slot.known_seconds }));
    json!({
        "relation": heat.relation, "key_columns": heat.key_columns, "spans": spans.collect::<Value>(), "slots": slots.collect::<Value>(),
        "reads": rounded(&heat.reads), "writes": rounded(&heat.writes),
    })
}

/// Counts with three digits: they are estimates, and the picture is sent every second.
fn rounded(counts: &[Vec<f64>]) -> Value {
    let round = |count: &f64| {
        let rounded = (count * 1000.0).round() / 1000.0;
        if rounded == 0.0 { json!(0) } else { json!(rounded) }
    };
    counts.iter().map(|slot| slot.iter().map(round).collect::<Value>()).collect()
}
