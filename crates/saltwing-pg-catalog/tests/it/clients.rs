//! The queries that clients send, in `tests/clients`: a file for each client, and the answers to its queries.
//!
//! A query may have values of its parameters, one a line before it: `-- $1 = orders`, or `-- $1 : 5` of a number. `{oid orders}` stands for the
//! OID of a relation, and in an answer OIDs of objects of the database are shown so. Of a long answer the first rows are shown.

use std::path::Path;

use golden_files::{assert_files, with_outcomes};
use saltwing::Value;

use crate::server::{Server, Session};

/// The definitions that clients ask for.
const DEFINITIONS: &str = include_str!("../clients/definitions/like.sql");

/// Rows of an answer that are shown. Lists of the whole catalog are longer.
const ROWS_MAX: usize = 25;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// OIDs of the database's own objects, and what they are shown as.
async fn own_objects(session: &Session<'_>) -> Vec<(String, String)> {
    let classes = "SELECT oid, relname FROM pg_class WHERE oid >= 16384 ORDER BY oid DESC";
    let constraints = "SELECT oid, conname FROM pg_constraint ORDER BY oid DESC";
    let namespaces = "SELECT oid, nspname FROM pg_namespace WHERE oid >= 16384";
    let roles = "SELECT oid, rolname FROM pg_roles WHERE oid >= 16384";
    let mut objects = Vec::new();
    for (kind, sql) in [("oid", classes), ("constraint", constraints), ("schema", namespaces), ("role", roles)] {
        for row in session.rows(sql).await {
            let (oid, name) = row.split_once('|').unwrap();
            objects.push((oid.to_owned(), format!("{{{kind} {name}}}")));
        }
    }
    objects
}

/// A query without the lines of its parameters, and the values of these.
fn parameters(case: &str) -> (String, Vec<Value>) {
    let (lines, sql): (Vec<&str>, Vec<&str>) = case.lines().partition(|line| line.starts_with("-- $"));
    let value = |line: &&str| match line.split_once(" = ") {
        Some((_, text)) => Value::Text(text.to_owned()),
        None => line.split_once(" : ").and_then(|(_, number)| number.parse().ok()).map_or(Value::Null, Value::Int),
    };
    (sql.join("\n"), lines.iter().map(value).collect())
}

async fn answer(session: &Session<'_>, objects: &[(String, String)], case: &str) -> String {
    let mut case = case.to_owned();
    for (oid, shown) in objects {
        case = case.replace(shown, oid);
    }
    let (sql, values) = parameters(&case);
    let answer = match session.ask_with(&sql, values).await {
        Ok(answer) if is_ordered(&sql) => answer.lines(ROWS_MAX),
        Ok(mut answer) => {
            answer.rows.sort();
            answer.lines(ROWS_MAX)
        }
        Err(error) => format!("error: {error}"),
    };
    shown(&answer, objects)
}

/// Whether a query says in which order its rows come. The rows of others are sorted here.
fn is_ordered(sql: &str) -> bool {
    sql.to_ascii_lowercase().contains("order by")
}

/// An answer with the names of objects for their OIDs.
fn shown(answer: &str, objects: &[(String, String)]) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let (mut out, mut rest) = (String::new(), answer);
    while let Some(start) = rest.find(is_digit) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c| !is_digit(c)).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        out.push_str(before);
        out.push_str(objects.iter().find(|(oid, _)| oid == number).map_or(number, |(_, shown)| shown));
        rest = after;
    }
    out + rest
}

#[test]
fn queries_of_clients_have_their_answers() {
    let runtime = runtime();
    let server = Server::with(DEFINITIONS);
    let session = server.owner();
    let objects = runtime.block_on(own_objects(&session));
    let rewritten =
        |_: &Path, text: &str| with_outcomes(text, |case| runtime.block_on(answer(&session, &objects, case)));
    assert_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients")), rewritten);
}
