//! Tables in frames.
//!
//! The first rows are kept until the widths are known; later rows stream with those
//! widths. On a terminal, texts that are too wide are cut, and columns without room
//! are omitted; elsewhere a wide value only shifts its own line, as a number always does.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::layout::{
    ELLIPSIS, Shown, Wanted, cell_lines, cells_of_line, fill, layout, push_filled, table_width, text_width,
};
use super::renderer::{Options, Renderer, is_number, is_whole, write_text};
use crate::failure::Failure;

/// Most rows that determine the widths.
const KEPT_ROWS_MAX: usize = 1000;
/// Bytes of text after which fewer rows determine the widths.
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
    /// Box-drawing characters.
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
    /// `None` until the header is written.
    layout: Option<Layout>,
    /// Buffers for the current row and value, whose memory is used again.
    line: String,
    field: String,
}

/// The parts of each line.
struct Layout {
    shown: Vec<Shown>,
    /// Cells of the terminal that no column uses.
    spare: usize,
    bar: String,
    gap: String,
    /// The text of NULL for each of the shown columns.
    nulls: Vec<String>,
}

impl Grid {
    pub(super) fn new(columns: Vec<ResultColumn>, frame: Frame, options: Options) -> Self {
        let (line, field) = (String::new(), String::new());
        Self { columns, frame, options, kept: Vec::new(), kept_bytes: 0, layout: None, line, field }
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

    /// Determines the widths; writes the header and the kept rows.
    fn open(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.layout.is_some() {
            return Ok(());
        }
        let paint = self.options.paint;
        let mut shown = layout(&self.wanted(), self.options.width);
        for shown in &mut shown {
            if let Shown::Column { index, is_cut, .. } = shown
                && self.options.widths.of(*index).is_some()
            {
                *is_cut = !self.columns.get(*index).is_some_and(is_whole);
            }
        }
        let null = |shown: &Shown| match shown {
            Shown::Column { index, width, is_cut } => {
                paint.dim(&fill(&self.options.null_text, *width, self.is_right(*index), *is_cut))
            }
            Shown::Gap => String::new(),
        };
        let layout = Layout {
            spare: self.options.width.map_or(0, |width| width.saturating_sub(table_width(&shown))),
            bar: paint.dim(self.frame.bar),
            gap: paint.dim(ELLIPSIS),
            nulls: shown.iter().map(null).collect(),
            shown,
        };
        let header = |shown: &Shown| match shown {
            Shown::Column { index, width, .. } => {
                paint.bold(&fill(&self.label(*index), *width, self.is_right(*index), self.cuts_label(*index)))
            }
            Shown::Gap => layout.gap.clone(),
        };
        self.rule(self.frame.top, &layout, out)?;
        line(&layout, layout.shown.iter().map(header), out)?;
        self.rule(self.frame.middle, &layout, out)?;
        for row in std::mem::take(&mut self.kept) {
            self.row(&row, &layout, out)?;
        }
        self.layout = Some(layout);
        Ok(())
    }

    fn label(&self, index: usize) -> String {
        cell_lines(self.columns.get(index).map_or("", |column| column.label.as_str())).join(" ")
    }

    fn is_right(&self, index: usize) -> bool {
        let is_right = self.options.widths.of(index).is_some_and(|width| width.is_right);
        is_right || self.columns.get(index).is_some_and(is_number)
    }

    fn cuts_label(&self, index: usize) -> bool {
        self.options.width.is_some() || self.options.widths.of(index).is_some()
    }

    /// The width of a column on a line whose text needs more cells, as far as `spare` allows; a width that the user gave stays.
    fn widened(&self, index: usize, width: usize, needed: usize, spare: &mut usize) -> usize {
        if self.options.widths.of(index).is_some() {
            return width;
        }
        let more = needed.saturating_sub(width).min(*spare);
        *spare -= more;
        width + more
    }

    fn wanted(&self) -> Vec<Wanted> {
        let null_width = text_width(&self.options.null_text);
        let widest = |i: usize| {
            let cells = self.kept.iter().filter_map(|row| row.get(i));
            let width = |cell: &Cell| match cell {
                None => null_width,
                Some(lines) => lines.iter().map(|line| text_width(line)).max().unwrap_or(0),
            };
            cells.map(width).max().unwrap_or(0)
        };
        let given = |index: usize| self.options.widths.of(index);
        let wanted = |(index, column): (usize, &ResultColumn)| Wanted {
            width: given(index).map_or_else(|| widest(index).max(text_width(&self.label(index))), |width| width.cells),
            // A width that the user gave is not made smaller.
            is_whole: is_whole(column) || given(index).is_some(),
            is_key: self.options.keys.iter().any(|key| key.eq_ignore_ascii_case(&column.label)),
        };
        self.columns.iter().enumerate().map(wanted).collect()
    }

    fn rule(&self, rule: Rule, layout: &Layout, out: &mut dyn Write) -> Result<(), Failure> {
        let [left, cross, right, line] = rule;
        let parts: Vec<String> = layout.shown.iter().map(|shown| line.repeat(shown.width() + 2)).collect();
        let text = format!("{left}{}{right}", parts.join(cross));
        Ok(writeln!(out, "{}", self.options.paint.dim(&text))?)
    }

    /// Writes a row whose values may have several lines.
    fn row(&self, row: &[Cell], layout: &Layout, out: &mut dyn Write) -> Result<(), Failure> {
        let height = row.iter().flatten().map(Vec::len).max().unwrap_or(1);
        for at in 0..height {
            // If a later row needs more cells than the first rows, it takes them from the spare cells of the line.
            let mut spare = layout.spare;
            let cell = |(shown, null): (&Shown, &String)| match shown {
                Shown::Gap => layout.gap.clone(),
                Shown::Column { index, width, is_cut } => match row.get(*index) {
                    Some(Some(lines)) => {
                        let text = lines.get(at).map_or("", String::as_str);
                        let width = self.widened(*index, *width, text_width(text), &mut spare);
                        fill(text, width, self.is_right(*index), *is_cut)
                    }
                    _ if at > 0 => " ".repeat(*width),
                    _ => null.clone(),
                },
            };
            line(layout, layout.shown.iter().zip(&layout.nulls).map(cell), out)?;
        }
        Ok(())
    }

    /// Writes a row of a batch if each of its values is one line; returns whether it did.
    fn row_of_lines(
        &mut self,
        batch: &RecordBatch,
        row: usize,
        layout: &Layout,
        out: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let mut spare = layout.spare;
        self.line.clear();
        for (shown, null) in layout.shown.iter().zip(&layout.nulls) {
            self.line.push_str(&layout.bar);
            self.line.push(' ');
            match *shown {
                Shown::Gap => self.line.push_str(&layout.gap),
                Shown::Column { index, width, is_cut } => {
                    let Some(column) = self.columns.get(index) else { continue };
                    self.field.clear();
                    if write_text(batch, row, index, column, &mut self.field)? {
                        let Some(cells) = cells_of_line(&self.field) else { return Ok(false) };
                        let width = self.widened(index, width, cells, &mut spare);
                        push_filled(&self.field, cells, (width, self.is_right(index), is_cut), &mut self.line);
                    } else {
                        self.line.push_str(null);
                    }
                }
            }
            self.line.push(' ');
        }
        self.line.push_str(&layout.bar);
        self.line.push('\n');
        out.write_all(self.line.as_bytes())?;
        Ok(true)
    }

    /// The number of shown columns, and the names of omitted ones, as far as a line of the terminal has room.
    fn left_out(&self, shown: &[Shown]) -> Option<[String; 2]> {
        let is_shown = |index: usize| shown.iter().any(|s| matches!(s, Shown::Column { index: i, .. } if *i == index));
        let names: Vec<String> =
            (0..self.columns.len()).filter(|index| !is_shown(*index)).map(|index| self.label(index)).collect();
        let (first, others) = names.split_first()?;
        let room = self.options.width.unwrap_or(usize::MAX);
        let mut text = format!("left out: {first}");
        for (place, name) in others.iter().enumerate() {
            let more = format!(", and {} more", others.len() - place);
            let is_last = place + 1 == others.len();
            let after = if is_last { 0 } else { text_width(&more) };
            if text_width(&text) + 2 + text_width(name) + after >= room {
                text += &more;
                break;
            }
            text += &format!(", {name}");
        }
        let count = self.columns.len() - names.len();
        Some([text, format!("{count} of {} columns are shown; .mode line shows all", self.columns.len())])
    }
}

fn line(layout: &Layout, cells: impl Iterator<Item = String>, out: &mut dyn Write) -> Result<(), Failure> {
    let mut text = String::new();
    for cell in cells {
        text.push_str(&layout.bar);
        text.push(' ');
        text.push_str(&cell);
        text.push(' ');
    }
    text.push_str(&layout.bar);
    Ok(writeln!(out, "{text}")?)
}

impl Renderer for Grid {
    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            if let Some(layout) = self.layout.take() {
                let written = self.row_of_lines(batch, row, &layout, out).and_then(|is_written| {
                    if is_written { Ok(()) } else { self.row(&self.cells(batch, row)?.0, &layout, out) }
                });
                self.layout = Some(layout);
                written?;
                continue;
            }
            let (cells, bytes) = self.cells(batch, row)?;
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
        let Some(layout) = self.layout.take() else { return Ok(()) };
        self.rule(self.frame.bottom, &layout, out)?;
        for text in self.left_out(&layout.shown).into_iter().flatten() {
            writeln!(out, "{}", self.options.paint.dim(&text))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::sample::{batch, connection, rendered};
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

    /// Texts are cut to the width that the user gave a column, numbers are not; the other columns are as wide as their values.
    #[test]
    fn the_user_gives_widths() {
        let sql = "SELECT s, k, 'right' AS x, 123456 AS number FROM t WHERE k < 3";
        for width in [None, Some(60)] {
            let widths = crate::column_widths::ColumnWidths::parse("3 0 -7 3").unwrap();
            let options = Options { width, widths, ..Options::default() };
            assert_eq!(
                rendered(&connection(), sql, Mode::Table, &options),
                "+-----+---+---------+-----+\n\
                 | s   | k |       x | nu… |\n\
                 +-----+---+---------+-----+\n\
                 | pl… | 1 |   right | 123456 |\n\
                 |     | 2 |   right | 123456 |\n\
                 +-----+---+---------+-----+\n"
            );
        }
    }

    #[test]
    fn a_result_without_rows_has_its_header() {
        let text = batch(&connection(), "SELECT k, s FROM t WHERE k = 9", Mode::Table);
        assert_eq!(text, "+---+---+\n| k | s |\n+---+---+\n+---+---+\n");
    }

    #[test]
    fn a_terminal_is_not_overrun() {
        let options = Options { width: Some(40), null_text: "NULL".into(), ..Options::default() };
        let text = rendered(&connection(), "SELECT * FROM t WHERE k = 3", Mode::Box, &options);
        assert!(text.lines().all(|line| text_width(line) <= 60), "{text}");
        assert!(text.lines().take(5).all(|line| text_width(line) <= 40), "{text}");
        assert!(text.contains("NULL") && text.contains('…'), "{text}");
        assert!(text.ends_with("of 10 columns are shown; .mode line shows all\n"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_shows_keys_and_numbers_as_they_are() {
        let options = Options { width: Some(60), keys: vec!["ts".into()], ..Options::default() };
        let sql = "SELECT s, f, n, d, b, ts FROM t WHERE k < 3";
        let text = rendered(&connection(), sql, Mode::Table, &options);
        assert!(text.contains("| 2024-05-01 10:00:00.123456 |\n") && text.contains("| 1e300 |"), "{text}");
        assert!(text.ends_with("\nleft out: n, d\n4 of 6 columns are shown; .mode line shows all\n"), "{text}");
        assert!(text.lines().take(6).all(|line| text_width(line) <= 60), "{text}");
    }

    /// A number that is wider than the first ones shifts its line; a text is cut.
    #[test]
    fn a_later_number_is_not_cut() {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute("CREATE TABLE n (k BIGINT NOT NULL PRIMARY KEY, s VARCHAR)", ()).unwrap();
        let insert = connection.prepare("UPSERT INTO n VALUES (?, ?)").unwrap();
        for k in 0..KEPT_ROWS_MAX {
            insert.execute(saltwing::params![k as i64, "a"]).unwrap();
        }
        insert.execute(saltwing::params![1_i64 << 60, "é and more text"]).unwrap();
        let options = Options { width: Some(20), ..Options::default() };
        let text = rendered(&connection, "SELECT * FROM n WHERE k >= 0", Mode::Table, &options);
        assert!(text.contains("\n| 1152921504606846976 | … |\n"), "{}", &text[text.len() - 100..]);
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
