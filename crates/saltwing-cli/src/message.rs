//! The shell's output besides results: errors, notices, row counts, footers.

use std::fmt::Write;
use std::time::Duration;

use saltwing::{Error, ErrorCode, Span, Stats, render_caret};

use crate::failure::Failure;
use crate::render::{Options, Paint, text_width};
use crate::script::StatementText;
use crate::statement_kind::lead_bytes;

/// Cells of a long line that are shown around the position of an error if the width of the terminal is unknown.
const SHOWN_CELLS: usize = 160;
/// The fewest cells, even on a narrower terminal.
const SHOWN_CELLS_MIN: usize = 20;

/// The style of messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    paint: Paint,
    /// The width of the terminal in cells, at which lines are broken; `None` breaks no lines.
    width: Option<usize>,
}

impl Look {
    /// The style of messages that matches the options for results.
    pub(crate) fn of(options: &Options) -> Self {
        Self { paint: options.paint, width: options.width }
    }

    /// Breaks a line between words, so that it fits after `before` cells; further lines are indented by `indent` blanks.
    fn wrapped(self, text: &str, before: usize, indent: usize) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let (mut out, mut used) = (String::new(), before);
        for word in text.split(' ') {
            let cells = text_width(word);
            if out.is_empty() {
                used += cells;
            } else if used + 1 + cells < width {
                out.push(' ');
                used += 1 + cells;
            } else {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                used = indent + cells;
            }
            out.push_str(word);
        }
        out
    }
}

/// The text of a failure at a statement of the file `source`; without a last line feed.
pub(crate) fn failure(failure: &Failure, source: Option<&str>, statement: &StatementText, look: &Look) -> String {
    let paint = look.paint;
    match failure {
        Failure::Sql(sql) => error(sql, source, statement, look),
        Failure::Output(io) => io_error(&format!("the output cannot be written: {io}"), paint),
        Failure::Input(name, io) => io_error(&format!("{name} cannot be read: {io}"), paint),
        Failure::Usage(text) => match source {
            Some(source) => format!("{}{text} ({source}:{})", paint.error("error: "), statement.line),
            None => format!("{}{text}", paint.error("error: ")),
        },
        Failure::Interrupted(text) => paint.notice(text),
        Failure::Reported => String::new(),
    }
}

fn io_error(text: &str, paint: Paint) -> String {
    format!("{} {text}", paint.error("error[58030 io]:"))
}

/// An error as [`Error::render`] prints it, with the line numbers of the statement's file.
///
/// ```text
/// error[42703 no_such_column]: ..
///   --> load.sql:12:8
/// 12 | SELECT flw FROM t;
///    |        ^^^
///   help: did you mean flow?
/// ```
fn error(error: &Error, source: Option<&str>, statement: &StatementText, look: &Look) -> String {
    let paint = look.paint;
    let code = format!("error[{} {}]:", error.sqlstate(), error.code());
    let text = look.wrapped(&error.to_string(), code.len() + 1, 2);
    let mut out = format!("{} {}", paint.error(&code), paint.bold(&text));
    match error.span() {
        Some(span) => push_place(&mut out, span, source, statement, look),
        None => {
            let lead = statement.sql.get(..lead_bytes(&statement.sql)).unwrap_or("");
            let line = statement.line as usize + lead.matches('\n').count();
            if let Some(source) = source {
                push_line(&mut out, &paint.help(&format!("  --> {source}:{line}")));
            }
        }
    }
    for line in error.help().into_iter().flat_map(str::lines) {
        let help = "  help: ";
        let text = look.wrapped(line, help.len(), help.len());
        push_line(&mut out, &format!("{}{text}", paint.help(help)));
    }
    if error.code() == ErrorCode::BadParameter {
        push_line(&mut out, &format!("{}.param set ?1 VALUE, or .param set :name VALUE", paint.help("  help: ")));
    }
    out
}

fn push_line(out: &mut String, line: &str) {
    // Writing to a String does not fail.
    let _ = write!(out, "\n{line}");
}

fn push_place(out: &mut String, span: Span, source: Option<&str>, statement: &StatementText, look: &Look) {
    let paint = look.paint;
    let is_first = span.start.line <= 1;
    let line = statement.line + span.start.line.saturating_sub(1);
    if let Some(source) = source {
        let column = span.start.column + if is_first { statement.column_offset } else { 0 };
        push_line(out, &paint.help(&format!("  --> {source}:{line}:{column}")));
    }
    let text = statement.sql.split('\n').nth((span.start.line as usize).saturating_sub(1)).unwrap_or("");
    let before = if is_first { statement.prefix.as_str() } else { "" };
    let from = before.chars().count() + (span.start.column as usize).saturating_sub(1);
    let length = match span.end.line > span.start.line {
        true => usize::MAX,
        false => (span.end.column as usize + 1).saturating_sub(span.start.column as usize),
    };
    let gutter = format!("{line} | ");
    // The last cell of a terminal's line stays free, and either end may have an ellipsis.
    let cells = look.width.map_or(SHOWN_CELLS, |width| width.saturating_sub(gutter.len() + 3).max(SHOWN_CELLS_MIN));
    let (shown, from) = window(&format!("{before}{}", text.trim_end_matches('\r')), from, cells);
    let column = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let length = length.min(shown.chars().count().saturating_sub(from));
    let caret = render_caret(&shown, Span::on_line(1, column(from + 1), column(from.saturating_add(length.max(1)))));
    let blank = format!("{}| ", " ".repeat(gutter.len().saturating_sub(2)));
    for (i, text) in caret.lines().enumerate() {
        let text = if i == 0 { text.to_owned() } else { paint.error(text) };
        push_line(out, &format!("{}{text}", paint.help(if i == 0 { &gutter } else { &blank })));
    }
}

/// The part of a long line around the character `at` that fits into `cells` cells, and the position of `at` in it.
fn window(line: &str, at: usize, cells: usize) -> (String, usize) {
    if text_width(line) <= cells {
        return (line.to_owned(), at);
    }
    let chars: Vec<char> = line.chars().collect();
    let width_of =
        |range: std::ops::Range<usize>| text_width(&chars.get(range).unwrap_or_default().iter().collect::<String>());
    // Wide characters take two cells, so fewer of them are shown.
    let mut count = cells.min(chars.len());
    loop {
        let skipped = at.saturating_sub(count * 3 / 8).min(chars.len() - count);
        let end = skipped + count;
        if count > 1 && width_of(skipped..end) > cells {
            count -= 1;
            continue;
        }
        let mut shown = String::from(if skipped > 0 { "…" } else { "" });
        shown.extend(chars.get(skipped..end).unwrap_or_default());
        if end < chars.len() {
            shown.push('…');
        }
        return (shown, at - skipped + usize::from(skipped > 0));
    }
}

/// An error as one line of JSON, for programs; includes Phoenix's number.
pub(crate) fn json(error: &Error) -> String {
    let place = error.span().map(|span| span.start);
    let object = serde_json::json!({ "error": {
        "code": error.code().as_str(),
        "sqlstate": error.sqlstate(),
        "message": error.to_string(),
        "place": place.map(|place| serde_json::json!({ "line": place.line, "column": place.column })),
        "help": error.help(),
        "table": error.table(),
        "column": error.column(),
        "key": error.key(),
        "phoenix_code": error.phoenix_code(),
    }});
    object.to_string()
}

/// `1 row`, `3 rows`, `12,345 rows`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && i % 3 == lead {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time in a suitable unit.
pub(crate) fn duration(time: Duration) -> String {
    let micros = time.as_micros();
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..100_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        100_000..1_000_000 => format!("{:.0} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// The line below a statement: its effect, time, keys read, buckets.
pub(crate) fn footer(done: String, time: Option<Duration>, stats: Stats) -> String {
    let mut parts = vec![done];
    parts.extend(time.map(duration));
    // Catalog results read no table.
    if stats != Stats::default() {
        parts.push(format!("{} read", count(stats.keys_read, "key", "keys")));
        parts.push(count(stats.buckets.into(), "bucket", "buckets"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(sql: &str) -> Error {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, flow BIGINT)", ()).unwrap();
        connection.execute(sql, ()).unwrap_err()
    }

    fn statement(sql: &str, line: u32, prefix: &str) -> StatementText {
        let column_offset = prefix.chars().count() as u32;
        StatementText { sql: sql.into(), line, column_offset, prefix: prefix.into() }
    }

    #[test]
    fn an_error_looks_as_the_library_renders_it() {
        for sql in [
            "SELECT flw FROM t WHERE k = 1",
            "SELEC 1",
            "SELECT *\nFROM t\nWHERE flow = 1",
            "UPSERT INTO t VALUES (NULL, 1)",
        ] {
            let e = error_of(sql);
            assert_eq!(error(&e, None, &statement(sql, 1, ""), &Look::default()), e.render(sql), "{sql}");
        }
    }

    #[test]
    fn lines_and_columns_are_those_of_the_file() {
        let sql = " SELECT flw FROM t WHERE k = 1";
        let text = error(&error_of(sql), Some("a.sql"), &statement(sql, 12, "SELECT 1;"), &Look::default());
        assert!(text.contains("\n  --> a.sql:12:18\n12 | SELECT 1; SELECT flw FROM t WHERE k = 1\n"), "{text}");
        assert!(text.contains("\n   |                  ^^^\n"), "{text}");
        let sql = "\n-- c\nUPSERT INTO t VALUES (NULL, 1)";
        let text = error(&error_of(sql), Some("a.sql"), &statement(sql, 3, "x;"), &Look::default());
        assert!(text.contains("a.sql:5"), "{text}");
    }

    #[test]
    fn long_lines_are_shown_around_the_place() {
        let sql = format!("SELECT k{}, flw FROM t WHERE k = 1", ", k".repeat(5000));
        let text = error(&error_of(&sql), None, &statement(&sql, 1, ""), &Look::default());
        assert!(text.len() < 1000, "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let at = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().skip(at).take(3).collect::<String>(), "flw");
    }

    #[test]
    fn lines_are_as_wide_as_the_terminal() {
        let sql = format!("SELECT {}, flw FROM t WHERE k = 1", vec!["'日本語'"; 60].join(", "));
        for width in [40, 80, 200] {
            let look = Look { width: Some(width), paint: Paint::Off };
            let text = error(&error_of(&sql), None, &statement(&sql, 1, ""), &look);
            assert!(text.lines().all(|line| text_width(line) < width), "{width}: {text}");
            assert!(text.contains("flw") && text.contains("^^^"), "{text}");
        }
        let look = Look { width: Some(400), paint: Paint::Off };
        let text = error(&error_of(&sql), None, &statement(&sql, 1, ""), &look);
        assert!(text.lines().any(|line| text_width(line) > 300), "{text}");
    }

    #[test]
    fn programs_get_errors_as_data() {
        let text = json(&error_of("SELECT flw FROM t WHERE k = 1"));
        for part in
            ["\"code\":\"no_such_column\"", "\"sqlstate\":\"42703\"", "\"phoenix_code\":504", "\"column\":\"flw\""]
        {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_terminal_breaks_lines_between_words() {
        let look = Look { width: Some(60), paint: Paint::Off };
        let sql = "SELECT * FROM t WHERE flow = 1";
        let text = error(&error_of(sql), None, &statement(sql, 1, ""), &look);
        assert!(text.lines().all(|line| text_width(line) < 60), "{text}");
        let whole = error(&error_of(sql), None, &statement(sql, 1, ""), &Look::default());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&whole));
    }

    #[test]
    fn footers_read_well() {
        assert_eq!(footer("1 row".into(), Some(Duration::from_micros(420)), Stats::default()), "1 row, 420 us");
        let stats = Stats { keys_read: 1234, seeks: 2, buckets: 1 };
        assert_eq!(footer(count(12_345, "row", "rows"), None, stats), "12,345 rows, 1,234 keys read, 1 bucket");
        assert_eq!(duration(Duration::from_millis(12)), "12.0 ms");
        assert_eq!(duration(Duration::from_millis(1500)), "1.50 s");
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
    }
}
