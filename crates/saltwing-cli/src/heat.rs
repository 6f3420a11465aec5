//! `.heat`: how often the keys of a table or an index were read and written, as a picture.

use std::io::Write;

use saltwing::{HeatShape, KeyHeat};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::failure::Failure;
use crate::heat_arguments::Accesses;
use crate::render::Paint;
use crate::runner::Runner;
use crate::screen::Screen;

/// Rows of a picture, and columns where no screen limits them.
const ROWS: usize = 20;
const COLUMNS: usize = 60;
/// Cells of the keys at the left.
const LABEL_WIDTH: usize = 28;

impl Runner<'_> {
    /// Prints the picture of a table's or an index's keys: of reads, of writes, or of both.
    ///
    /// # Errors
    /// As [`saltwing::Connection::key_heat`].
    pub(crate) fn heat(&mut self, name: &str, seconds: u64, accesses: Option<Accesses>) -> Result<(), Failure> {
        let screen = Screen::of_results().filter(|_| self.out.file().is_none());
        let room = screen.map_or(COLUMNS, |screen| screen.columns.saturating_sub(LABEL_WIDTH + 2).max(10));
        let shape = HeatShape { key_spans: ROWS, time_slots: room, seconds };
        let heat = self.connection.key_heat(name, shape)?;
        let paint = if screen.is_some() { self.paint() } else { Paint::Off };
        let shown = accesses.map_or(Accesses::BOTH.to_vec(), |one| vec![one]);
        for accesses in shown {
            for line in lines(&heat, accesses, paint) {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(self.out.flush()?)
    }
}

/// The lines of a picture: a title, a line for each span of keys, and the times.
fn lines(heat: &KeyHeat, accesses: Accesses, paint: Paint) -> Vec<String> {
    let (what, field) = (accesses.as_str(), accesses.of(heat));
    let most = field.iter().flatten().copied().fold(0.0, f64::max);
    let title = format!("{what} of {} by {}", heat.relation, heat.key_columns.join(", "));
    let Some(last) = heat.slots.last().filter(|_| most > 0.0) else {
        return vec![format!("{title}: none")];
    };
    let scale = format!(": 9 is {:.1} a second", most / last.seconds as f64);
    let mut lines = vec![paint.bold(&title) + &scale];
    for (row, span) in heat.spans.iter().enumerate() {
        let cells = field.iter().map(|column| {
            let level = level(column.get(row).copied().unwrap_or_default(), most);
            paint.heat(level)
        });
        let label = if row == 0 { "first key" } else { &span.from_text };
        lines.push(format!("{} {}", fitted(label), cells.collect::<String>()));
    }
    let (start, end) = (ago(heat.slots.len() as u64 * last.seconds), "now");
    let between = heat.slots.len().saturating_sub(start.len() + end.len());
    lines.push(format!("{} {start}{}{end}", " ".repeat(LABEL_WIDTH), " ".repeat(between.max(1))));
    lines
}

/// The digit of a weight: 0 for none, 9 for the most.
fn level(weight: f64, most: f64) -> u8 {
    if weight > 0.0 { (9.0 * weight / most).ceil().clamp(1.0, 9.0) as u8 } else { 0 }
}

/// The text in as many cells as labels have.
fn fitted(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.width() <= LABEL_WIDTH {
        return format!("{text}{}", " ".repeat(LABEL_WIDTH - text.width()));
    }
    let (mut cut, mut width) = (String::new(), 0);
    for c in text.chars() {
        let of_char = c.width().unwrap_or_default();
        if width + of_char >= LABEL_WIDTH {
            break;
        }
        cut.push(c);
        width += of_char;
    }
    format!("{cut}…{}", " ".repeat(LABEL_WIDTH - 1 - width))
}

/// `-90 s`, `-5 min` or `-24 h`.
fn ago(seconds: u64) -> String {
    match seconds {
        0..120 => format!("-{seconds} s"),
        120..7200 => format!("-{} min", seconds / 60),
        _ => format!("-{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use saltwing::{HeatSlot, HeatSpan};

    use super::*;

    fn heat() -> KeyHeat {
        let span = |from: &str, to: Option<&str>| HeatSpan {
            from: from.as_bytes().to_vec(),
            to: to.map(|to| to.as_bytes().to_vec()),
            from_text: from.to_owned(),
            to_text: to.map(str::to_owned),
        };
        KeyHeat {
            relation: "t".into(),
            key_columns: vec!["a".into(), "b".into()],
            spans: vec![span("", Some("5")), span("5", None)],
            slots: (0..10).map(|slot| HeatSlot { start_ms: slot * 30_000, seconds: 30, known_seconds: 30 }).collect(),
            reads: vec![vec![0.0, 0.0]; 10],
            writes: (0..10).map(|slot| vec![f64::from(slot) * 30.0, 270.0]).collect(),
        }
    }

    #[test]
    fn a_picture_without_colours_has_digits() {
        let blank = |text: &str| format!("{text:LABEL_WIDTH$}");
        assert_eq!(
            lines(&heat(), Accesses::Writes, Paint::Off),
            [
                "writes of t by a, b: 9 is 9.0 a second".to_owned(),
                format!("{} 0123456789", blank("first key")),
                format!("{} 9999999999", blank("5")),
                format!("{} -5 min now", blank("")),
            ]
        );
        assert_eq!(lines(&heat(), Accesses::Reads, Paint::Off), ["reads of t by a, b: none"]);
    }

    #[test]
    fn a_picture_with_colours_has_cells() {
        let painted = lines(&heat(), Accesses::Writes, Paint::On);
        assert!(painted[2].contains("\u{1b}[48;5;"), "{:?}", painted[2]);
        assert!(!painted[2].contains('9'.to_string().repeat(10).as_str()));
    }

    #[test]
    fn labels_have_one_width() {
        for text in [
            "",
            "a",
            "'a long text of a key', 12345678",
            "ключ ключ ключ ключ ключ ключ ключ",
            "漢字漢字漢字漢字漢字漢字漢字漢字",
            "a\nb",
        ] {
            assert_eq!(fitted(text).width(), LABEL_WIDTH, "{text}");
        }
    }
}
