//! Statements and what becomes of them, as text: `testdata/*.txt`.
//!
//! A block is a statement, `----`, and the outcome: what was read, printed again,
//! or the error with its caret. `UPDATE_GOLDEN=1 cargo test -p saltwing-sql`
//! writes the outcomes; read the diff like code. Whatever is read here must also
//! print itself.

use std::fmt::Write;

use saltwing_sql::Statement;
use saltwing_sql::statement::{Hint, QueryStatement};

use crate::support;

fn outcome(sql: &str) -> String {
    let mut out = String::new();
    match saltwing_sql::parse(sql) {
        Ok(statements) => {
            for parsed in statements {
                support::assert_prints_itself(&parsed.statement);
                writeln!(out, "{}", support::print::text(&parsed.statement)).unwrap();
                describe(&mut out, &parsed.statement);
                if !parsed.parameters.is_empty() {
                    let numbers: Vec<String> = parsed.parameters.iter().map(|it| it.number.to_string()).collect();
                    writeln!(out, "parameters {}", numbers.join(" ")).unwrap();
                }
            }
        }
        Err(error) => {
            writeln!(out, "{} {error}", error.code().sqlstate()).unwrap();
            writeln!(out, "{}", saltwing_sql::render_caret(sql, error.span())).unwrap();
            if let Some(help) = error.help() {
                writeln!(out, "help: {help}").unwrap();
            }
        }
    }
    out
}

fn describe(out: &mut String, statement: &Statement) {
    match statement {
        Statement::Query(QueryStatement { items, hints, .. }) => {
            let items: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            writeln!(out, "items {}", items.join(" | ")).unwrap();
            describe_hints(out, hints);
        }
        Statement::Upsert(it) | Statement::Insert(it) => describe_hints(out, &it.hints),
        Statement::Delete(it) => describe_hints(out, &it.hints),
        Statement::Unsupported(it) => writeln!(out, "unsupported {}", it.what).unwrap(),
        _ => {}
    }
}

fn describe_hints(out: &mut String, hints: &[Hint]) {
    for hint in hints {
        writeln!(out, "hint {} at {}:{}", support::print::text(hint), hint.span.start.line, hint.span.start.column)
            .unwrap();
    }
}

#[test]
fn golden() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    golden_files::assert_files(&folder, |_, text| golden_files::with_outcomes(text, outcome));
}
