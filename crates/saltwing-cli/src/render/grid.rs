//! Tables in frames.
//!
//! The first rows are kept until the widths are known; later rows stream with those
//! widths. On a terminal, cells that are too wide are cut and columns that find no
//! room are left out; elsewhere a wide value only shifts its own line.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::layout::{ELLIPSIS, Shown, cell_lines, fill, layout, table_width, text_width};
use super::renderer::{Options, Renderer, is_number, write_text};
use crate::failure::Failure;

/// Rows that widths are taken from.
const KEPT_ROWS_MAX: usize = 1000;
/// Bytes of text after which fewer rows do.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// A rule's four characters: left end, crossing, right end, line.
type Rule = [&'static str; 4];

/// The characters of frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    top: Rule,
    middle: Rule,
    bottom: Rule,
    bar: &'static str,
}

impl Frame {
    /// `+---+` and `|`.
    pub(super) const ASCII: Frame =
        Frame { top: ["+", "+", "+", "-"], middle: ["+", "+", "+", "-"], bottom: ["+", "+", "+", "-"], bar: "|" };
    /// Lines.
    pub(super) const LINES: Frame =
        Frame {
            top: ["┌", "┬", "┐", "─"], middle: ["├", "┼", "┤", "─"], bottom: ["└", "┴", "┘", "─"], bar: "│"
        };
}

/// A value's lines; `None` is NULL.
type Cell = Option<Vec<String>>;

pub(super) struct Grid {
    columns: Vec<ResultColumn>,
    frame: Frame,
    options: Options,
    kept: Vec<Vec<Cell>>,
    kept_bytes: usize,
    /// Known once the header is written.
    layout: Option<Vec<Shown>>,
}

impl Grid {
    pub(super) fn new(columns: Vec<ResultColumn>, frame: Frame, options: Options) -> Self {
        Self { columns, frame, options, kept: Vec::new(), kept_bytes: 0, layout: None }
    }

    fn cells(&self, batch: &RecordBatch, row: usize) -> Result<(Vec<Cell>, usize), Failure> {
        let mut bytes = 0;
        let mut cells = Vec::with_capacity(self.columns.len());
        for (i, column) in self.columns.iter().enumerate() {
            let mut text = String::new();
            let cell = write_text(batch, row, i, column, &mut text)?.then(|| cell_lines(&text));
            bytes += text.len();
            cells.push(cell);
        }
        Ok((cells, bytes))
    }

    /// Settles the widths; writes the header and the rows that were kept.
    fn open(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.layout.is_some() {
            return Ok(());
        }
        let shown = layout(&self.natural_widths(), self.options.width);
        let header = |shown: &Shown| match shown {
            Shown::Column { index, width } => {
                let column = self.columns.get(*index);
                let label = cell_lines(column.map_or("", |c| c.label.as_str())).join(" ");
                self.options.paint.bold(&fill(&label, *width, column.is_some_and(is_number), self.cuts()))
            }
            Shown::Gap => self.options.paint.dim(ELLIPSIS),
        };
        self.rule(self.frame.top, &shown, out)?;
        self.line(shown.iter().map(header), out)?;
        self.rule(self.frame.middle, &shown, out)?;
        for row in std::mem::take(&mut self.kept) {
            self.row(&row, &shown, out)?;
        }
        self.layout = Some(shown);
        Ok(())
    }

    fn natural_widths(&self) -> Vec<usize> {
        let null_width = text_width(&self.options.null_text);
        let widest = |i: usize| {
            let cells = self.kept.iter().filter_map(|row| row.get(i));
            let width = |cell: &Cell| match cell {
                None => null_width,
                Some(lines) => lines.iter().map(|line| text_width(line)).max().unwrap_or(0),
            };
            cells.map(width).max().unwrap_or(0)
        };
        let label_width = |column: &ResultColumn| text_width(&cell_lines(&column.label).join(" "));
        self.columns.iter().enumerate().map(|(i, column)| widest(i).max(label_width(column))).collect()
    }

    fn cuts(&self) -> bool {
        self.options.width.is_some()
    }

    fn rule(&self, rule: Rule, shown: &[Shown], out: &mut dyn Write) -> Result<(), Failure> {
        let [left, cross, right, line] = rule;
        let parts: Vec<String> = shown.iter().map(|shown| line.repeat(shown.width() + 2)).collect();
        let text = format!("{left}{}{right}", parts.join(cross));
        Ok(writeln!(out, "{}", self.options.paint.dim(&text))?)
    }

    fn line(&self, cells: impl Iterator<Item = String>, out: &mut dyn Write) -> Result<(), Failure> {
        let bar = self.options.paint.dim(self.frame.bar);
        let mut text = String::new();
        for cell in cells {
            text.push_str(&bar);
            text.push(' ');
            text.push_str(&cell);
            text.push(' ');
        }
        text.push_str(&bar);
        Ok(writeln!(out, "{text}")?)
    }

    fn row(&self, row: &[Cell], shown: &[Shown], out: &mut dyn Write) -> Result<(), Failure> {
        let height = row.iter().flatten().map(Vec::len).max().unwrap_or(1);
        for at in 0..height {
            // If a later row needs more cells than the first rows, it takes them from the rest of the line.
            let mut spare = self.options.width.map_or(0, |width| width.saturating_sub(table_width(shown)));
            let cell = |shown: &Shown| match shown {
                Shown::Gap => self.options.paint.dim(ELLIPSIS),
                Shown::Column { index, width } => {
                    let right = self.columns.get(*index).is_some_and(is_number);
                    match row.get(*index) {
                        Some(Some(lines)) => {
                            let text = lines.get(at).map_or("", String::as_str);
                            let more = text_width(text).saturating_sub(*width).min(spare);
                            spare -= more;
                            fill(text, width + more, right, self.cuts())
                        }
                        _ if at > 0 => " ".repeat(*width),
                        _ => self.options.paint.dim(&fill(&self.options.null_text, *width, right, self.cuts())),
                    }
                }
            };
            self.line(shown.iter().map(cell), out)?;
        }
        Ok(())
    }
}

impl Renderer for Grid {
    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            let (cells, bytes) = self.cells(batch, row)?;
            if let Some(shown) = self.layout.take() {
                let written = self.row(&cells, &shown, out);
                self.layout = Some(shown);
                written?;
                continue;
            }
            self.kept.push(cells);
            self.kept_bytes += bytes;
            if self.kept.len() >= KEPT_ROWS_MAX || self.kept_bytes >= KEPT_BYTES_MAX {
                self.open(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.open(out)?;
        let shown = self.layout.take().unwrap_or_default();
        self.rule(self.frame.bottom, &shown, out)?;
        let count = shown.iter().filter(|shown| matches!(shown, Shown::Column { .. })).count();
        if count < self.columns.len() {
            let text = format!("{count} of {} columns are shown; .mode line shows all", self.columns.len());
            writeln!(out, "{}", self.options.paint.dim(&text))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{batch, connection, rendered};
    use super::super::{Mode, Paint};
    use super::*;

    #[test]
    fn a_table_of_ascii_and_a_box_of_lines() {
        let sql = "SELECT k, s AS text FROM t WHERE k > 2";
        assert_eq!(
            batch(&connection(), sql, Mode::Table),
            "+---+-------+\n\
             | k | text  |\n\
             +---+-------+\n\
             | 3 |       |\n\
             | 4 | a,\"b\" |\n\
             |   | \\tc\\| |\n\
             +---+-------+\n"
        );
        assert_eq!(
            batch(&connection(), "SELECT k, s FROM t WHERE k = 1", Mode::Box),
            "┌───┬───────┐\n│ k │ s     │\n├───┼───────┤\n│ 1 │ plain │\n└───┴───────┘\n"
        );
    }

    #[test]
    fn a_result_without_rows_has_its_header() {
        let text = batch(&connection(), "SELECT k, s FROM t WHERE k = 9", Mode::Table);
        assert_eq!(text, "+---+---+\n| k | s |\n+---+---+\n+---+---+\n");
    }

    #[test]
    fn a_terminal_is_not_overrun() {
        let options = Options { width: Some(40), null_text: "NULL".into(), paint: Paint::Off };
        let text = rendered(&connection(), "SELECT * FROM t WHERE k = 3", Mode::Box, &options);
        assert!(text.lines().all(|line| text_width(line) <= 60), "{text}");
        assert!(text.lines().take(5).all(|line| text_width(line) <= 40), "{text}");
        assert!(text.contains("NULL") && text.contains('…'), "{text}");
        assert!(text.ends_with("of 10 columns are shown; .mode line shows all\n"), "{text}");
    }

    #[test]
    fn later_rows_stream_with_the_widths_of_the_first() {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute("CREATE TABLE n (k INTEGER NOT NULL PRIMARY KEY, s VARCHAR)", ()).unwrap();
        for k in 0..KEPT_ROWS_MAX + 1 {
            let text = if k < KEPT_ROWS_MAX { "a" } else { "longer than the column" };
            connection.execute("UPSERT INTO n VALUES (?, ?)", saltwing::params![k as i64, text]).unwrap();
        }
        let text = batch(&connection, "SELECT * FROM n WHERE k >= 0", Mode::Table);
        assert!(text.contains("| 1000 | longer than the column |\n"));
        assert!(text.starts_with("+-----+---+\n"));
        let options = Options { width: Some(20), ..Options::default() };
        let text = rendered(&connection, "SELECT * FROM n WHERE k >= 0", Mode::Table, &options);
        assert!(text.contains("\n| 1000 | longer t… |\n"), "{}", &text[text.len() - 100..]);
    }
}
