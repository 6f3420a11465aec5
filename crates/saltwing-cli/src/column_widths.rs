//! The widths that the user gives the columns of tables: `.width 20 0 -8`.

use std::fmt;

/// The most cells of a column.
const WIDTH_MAX: u16 = 10_000;

/// The width of one column, and whether its values stand on the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnWidth {
    pub(crate) cells: usize,
    pub(crate) is_right: bool,
}

/// The widths of the first columns of a result; the width of the others follows from their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnWidths(Vec<Option<ColumnWidth>>);

impl ColumnWidths {
    /// Reads the arguments of `.width`: a number for each column from the left, 0 for the width of its values, a negative one
    /// for values on the right.
    pub(crate) fn parse(words: &str) -> Option<Self> {
        let width = |word: &str| {
            let number: i32 = word.parse().ok()?;
            let cells = u16::try_from(number.unsigned_abs()).ok().filter(|cells| *cells <= WIDTH_MAX)?;
            let width = ColumnWidth { cells: cells.into(), is_right: number < 0 };
            Some((cells > 0).then_some(width))
        };
        words.split_whitespace().map(width).collect::<Option<_>>().map(Self)
    }

    /// The width of a column, if one was given.
    pub(crate) fn of(&self, index: usize) -> Option<ColumnWidth> {
        self.0.get(index).copied().flatten()
    }
}

impl fmt::Display for ColumnWidths {
    /// As `.width` takes them; `0` if none was given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |width: &Option<ColumnWidth>| match width {
            None => "0".to_owned(),
            Some(ColumnWidth { cells, is_right: true }) => format!("-{cells}"),
            Some(ColumnWidth { cells, is_right: false }) => cells.to_string(),
        };
        let words: Vec<String> = self.0.iter().map(word).collect();
        f.write_str(if words.is_empty() { "0".to_owned() } else { words.join(" ") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_read_and_shown() {
        for (words, shown) in [("", "0"), (" 20  0 -8 ", "20 0 -8"), ("0", "0"), ("+5", "5"), ("10000", "10000")] {
            assert_eq!(ColumnWidths::parse(words).unwrap().to_string(), shown);
        }
        for words in ["x", "1 x", "1.5", "10001", "-2147483648", "99999999999"] {
            assert_eq!(ColumnWidths::parse(words), None, "{words}");
        }
        let widths = ColumnWidths::parse("20 0 -8").unwrap();
        assert_eq!(widths.of(2), Some(ColumnWidth { cells: 8, is_right: true }));
        assert_eq!([widths.of(1), widths.of(3)], [None, None]);
    }
}
