//! Results as text: a renderer for each mode.
//!
//! `saltwing-expr` makes the texts of values (`docs/contracts.md#text-of-values`); a mode arranges them.
//!
//! | mode | NULL | empty text | header | value with line ends |
//! |---|---|---|---|---|
//! | `csv`, `tsv` | nothing | `""` | always | quoted |
//! | `json` | `null` | `""` | keys; `[]` for no rows | escaped |
//! | `jsonl` | `null` | `""` | keys | escaped |
//! | `markdown` | nothing | nothing | always | `<br>` |
//! | `line` | nothing | nothing | before each value | unchanged |
//! | `table`, `box` | nothing; dim `NULL` on a terminal | nothing | always | in several lines |
//!
//! Numbers are JSON numbers with all digits; NaN and the infinities are strings.
//! All modes stream, except `table` and `box`, which keep their first rows for the widths.

mod csv;
mod grid;
mod json;
mod layout;
mod line;
mod markdown;
mod paint;
mod plain;
mod renderer;

use clap::ValueEnum;
use saltwing::ResultColumn;

pub(crate) use layout::text_width;
pub(crate) use paint::Paint;
pub(crate) use plain::Plain;
pub(crate) use renderer::{COMMA, Options, Renderer, TAB};

/// The form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    Table,
    Box,
    Csv,
    Tsv,
    Json,
    Jsonl,
    Markdown,
    Line,
}

impl Mode {
    /// All modes, in the order of the help.
    pub(crate) const ALL: [Mode; 8] =
        [Self::Table, Self::Box, Self::Csv, Self::Tsv, Self::Json, Self::Jsonl, Self::Markdown, Self::Line];

    /// The name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Box => "box",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
            Self::Line => "line",
        }
    }

    /// The mode with a name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str().eq_ignore_ascii_case(name))
    }

    /// A renderer for a result with these columns.
    pub(crate) fn renderer(self, columns: &[ResultColumn], options: &Options) -> Box<dyn Renderer> {
        let columns = columns.to_vec();
        match self {
            Self::Csv => Box::new(csv::Csv::new(columns, options.separator)),
            Self::Tsv => Box::new(csv::Csv::new(columns, TAB)),
            Self::Json => Box::new(json::Json::array(&columns)),
            Self::Jsonl => Box::new(json::Json::lines(&columns)),
            Self::Markdown => Box::new(markdown::Markdown::new(columns)),
            Self::Line => Box::new(line::Line::new(columns, options.clone())),
            Self::Table => Box::new(grid::Grid::new(columns, grid::Frame::ASCII, options.clone())),
            Self::Box => Box::new(grid::Grid::new(columns, grid::Frame::LINES, options.clone())),
        }
    }
}

#[cfg(test)]
pub(crate) mod sample {
    use saltwing::blocking::Connection;

    use super::*;

    /// A database with a table of all kinds of values.
    pub(crate) fn connection() -> Connection {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection
            .execute(
                "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, s VARCHAR, d DECIMAL(10,2), n DECIMAL, f DOUBLE,
                 g FLOAT, b BOOLEAN, day DATE, ts TIMESTAMP, bin VARBINARY)",
                (),
            )
            .unwrap();
        connection
            .execute(
                "UPSERT INTO t VALUES
                 (1, 'plain', 1.5, 100, 1, 0.1, true, DATE '2024-05-01', TIMESTAMP '2024-05-01 10:00:00', X'00ff'),
                 (2, '', -0.05, 0.0010, 1e300, -2.5, false, DATE '2024-05-01 10:11:12.013',
                  TIMESTAMP '2024-05-01 10:00:00.123456', X''),
                 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                (),
            )
            .unwrap();
        connection
            .execute("UPSERT INTO t (k, s, f) VALUES (4, ?, ?)", saltwing::params!["a,\"b\"\n\tc\\|", f64::NAN])
            .unwrap();
        connection
    }

    /// The output of a query in each mode.
    pub(crate) fn rendered(connection: &Connection, sql: &str, mode: Mode, options: &Options) -> String {
        let mut rows = connection.query_arrow(sql, ()).unwrap();
        let mut renderer = mode.renderer(rows.columns(), options);
        let mut out = Vec::new();
        renderer.start(&mut out).unwrap();
        while let Some(batch) = rows.next_blocking().unwrap() {
            renderer.batch(&batch, &mut out).unwrap();
        }
        renderer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The same without a terminal.
    pub(crate) fn batch(connection: &Connection, sql: &str, mode: Mode) -> String {
        rendered(connection, sql, mode, &Options::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for mode in Mode::ALL {
            assert_eq!(Mode::from_str(mode.as_str(), false).unwrap(), mode);
            assert_eq!(Mode::by_name(&mode.as_str().to_uppercase()), Some(mode));
        }
        assert_eq!(Mode::by_name("xml"), None);
    }
}
