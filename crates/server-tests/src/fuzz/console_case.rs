//! Cases of the console's calls.

use super::case::{Case, End, Port, Step, TOKEN};
use super::corpus::Corpus;
use super::http_framing::{Request, last_request, odd_request, request};
use super::mutation::damage;
use super::sql;
use crate::random::Random;

const CALLS: &[&str] = &[
    "run",
    "run",
    "run",
    "run",
    "poll",
    "more",
    "cancel",
    "plan",
    "plan",
    "tables",
    "table",
    "sessions",
    "statements",
    "cancel-session",
    "heat",
    "refusals",
    "session",
    "nothing",
    "login",
];
const NUMBERS: &[&str] = &["0", "1", "2", "5000", "-1", "1e400", "18446744073709551616", "0.5", "null", "\"1\"", "[]"];
const NAMES: &[&str] = &["fuzz_a", "fuzz_b", "fuzz_view", "missing", "", "public.fuzz_a", "information_schema.tables"];

/// A case: some calls on one connection of HTTP.
pub fn case(random: &mut Random, corpus: &Corpus) -> Case {
    let cookie = format!("Content-Type: application/json\r\nCookie: saltwing={TOKEN}\r\n");
    let mut all = Vec::new();
    for _ in 0..=random.below(10) {
        let mut body = body(random, corpus).into_bytes();
        if random.one_in(8) {
            damage(random, &mut body, b"{\"sql\": \"SELECT 1\"}");
        }
        let path = match random.one_in(30) {
            true => random
                .text_of(&["/", "/metrics", "/healthz", "/page/../x", "/api/", "/api/run/run", "//", "/%2e%2e"])
                .to_owned(),
            false => format!("/api/{}", random.text_of(CALLS)),
        };
        let right = Request { path: &path, headers: &cookie, has_password: false, body: &body };
        let one = if random.one_in(15) { odd_request(random, &right) } else { request(random, &right) };
        all.extend_from_slice(&one);
    }
    all.extend_from_slice(&last_request());
    if random.one_in(10) {
        damage(random, &mut all, b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
    }
    let end = if random.one_in(8) { End::Vanish } else { End::HalfClose };
    Case { port: Port::Console, steps: vec![Step::Send(all)], end, reads: end == End::HalfClose || random.one_in(2) }
}

fn body(random: &mut Random, corpus: &Corpus) -> String {
    if random.one_in(30) {
        return random.text_of(&["[", "{\"sql\":", "{\"a\":"]).repeat(random.index(20_000));
    }
    let text = quoted(&sql::statement(random, corpus));
    let mut number = || random.text_of(NUMBERS);
    let (rows, run, from) = (number(), number(), number());
    let (table, name) = (random.text_of(NAMES), random.text_of(&["table", "name", "relation", "index"]));
    format!(
        "{{\"sql\": {text}, \"rows\": {rows}, \"run\": {run}, \"result\": {from}, \"id\": {run}, \"{name}\": \"{table}\", \"table\": \"{table}\"}}"
    )
}

/// A text of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            ' '.. => out.push(character),
            _ => out.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
    }
    out.push('"');
    out
}
