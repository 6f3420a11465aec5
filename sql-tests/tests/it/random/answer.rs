//! What a statement gives, to be held to what another gives.

use saltwing::blocking::Connection;
use saltwing::{SqlType, Value};

/// Labels and types, then rows as text; or the error's code.
pub(crate) type Answer = Result<(Vec<(String, SqlType)>, Vec<String>), String>;

pub(crate) fn answer(c: &Connection, sql: &str) -> Answer {
    answer_with(c, sql, Vec::new())
}

/// As [`answer`], with values of parameters.
pub(crate) fn answer_with(c: &Connection, sql: &str, values: Vec<Value>) -> Answer {
    let error = |e: saltwing::Error| e.code().to_string();
    let rows = c.query(sql, values).map_err(error)?;
    let columns = rows.columns().iter().map(|column| (column.label.clone(), column.ty)).collect();
    let text = |row: Result<saltwing::Row, saltwing::Error>| row.and_then(|row| row.values()).map(|v| format!("{v:?}"));
    Ok((columns, rows.map(|row| text(row).map_err(error)).collect::<Result<_, _>>()?))
}

/// In one order, where the statement says none.
pub(crate) fn sorted(answer: Answer) -> Answer {
    answer.map(|(columns, mut rows)| {
        rows.sort_unstable();
        (columns, rows)
    })
}
