//! How wide a table's columns are, and which of them are shown.
//!
//! ```text
//! too wide:   | id: 45 | url: 80 | flow: 5 | ..
//! 1. the widest columns are cut, all to the same width, down to CELL_WIDTH_MIN;
//! 2. if that is not enough, columns in the middle are left out: | id | … | flow |
//! ```
//!
//! # Laws
//! 1. A layout made for a width is no wider, unless not even two columns fit.
//! 2. What fits is not cut.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells that a column keeps before others are left out.
const CELL_WIDTH_MIN: usize = 10;
/// Cells of a column besides its text: a bar and two blanks.
const COLUMN_FRAME: usize = 3;
/// Cells of the last bar.
const TABLE_FRAME: usize = 1;
/// Stands for columns that are left out, and for the end of a text that is cut.
pub(super) const ELLIPSIS: &str = "…";

/// Cells of a text on a terminal.
pub(crate) fn text_width(text: &str) -> usize {
    text.width()
}

/// A column as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A column of the result, and the cells it gets.
    Column { index: usize, width: usize },
    /// Some columns are left out here.
    Gap,
}

impl Shown {
    pub(super) fn width(self) -> usize {
        match self {
            Self::Column { width, .. } => width,
            Self::Gap => 1,
        }
    }
}

/// Cells of a whole table.
pub(super) fn table_width(shown: &[Shown]) -> usize {
    TABLE_FRAME + shown.iter().map(|shown| shown.width() + COLUMN_FRAME).sum::<usize>()
}

/// The columns to show, where they would like to have `natural` cells.
pub(super) fn layout(natural: &[usize], width: Option<usize>) -> Vec<Shown> {
    let all: Vec<usize> = (0..natural.len()).collect();
    let Some(width) = width else { return shown(&all, natural, natural) };
    let cells = |widths: &mut dyn Iterator<Item = usize>| TABLE_FRAME + widths.map(|w| w + COLUMN_FRAME).sum::<usize>();
    if cells(&mut natural.iter().copied()) <= width {
        return shown(&all, natural, natural);
    }
    let least: Vec<usize> = natural.iter().map(|w| (*w).min(CELL_WIDTH_MIN)).collect();
    if cells(&mut least.iter().copied()) <= width {
        let text_cells = width - TABLE_FRAME - natural.len() * COLUMN_FRAME;
        return shown(&all, &share(natural, text_cells), natural);
    }
    let kept = kept(&least, width.saturating_sub(TABLE_FRAME + COLUMN_FRAME + 1));
    let kept_natural: Vec<usize> = kept.iter().filter_map(|i| natural.get(*i).copied()).collect();
    let text_cells = width.saturating_sub(TABLE_FRAME + COLUMN_FRAME + 1 + kept.len() * COLUMN_FRAME);
    shown(&kept, &share(&kept_natural, text_cells), natural)
}

/// The columns from both ends, the first ones before the last ones, that fit `cells`.
fn kept(least: &[usize], cells: usize) -> Vec<usize> {
    let (mut first, mut last, mut used) = (0, least.len(), 0);
    while first < last {
        // Two from the front, where the key is, for one from the back.
        let index = if (first + least.len() - last) % 3 == 2 { last - 1 } else { first };
        let more = least.get(index).map_or(0, |w| w + COLUMN_FRAME);
        if used + more > cells && first + least.len() > last {
            break;
        }
        used += more;
        if index == first { first += 1 } else { last -= 1 }
    }
    (0..first).chain(last..least.len()).collect()
}

/// Distributes `cells`: each column gets its width or an equal share, and the rest goes to the columns from left to
/// right.
fn share(natural: &[usize], cells: usize) -> Vec<usize> {
    let fits = |most: usize| natural.iter().map(|w| (*w).min(most)).sum::<usize>() <= cells;
    let (mut low, mut high) = (1, natural.iter().copied().max().unwrap_or(1).max(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    let mut over = cells.saturating_sub(natural.iter().map(|w| (*w).min(low)).sum());
    let one_more = |w: &usize| {
        let more = usize::from(*w > low && over > 0);
        over -= more;
        (*w).min(low) + more
    };
    natural.iter().map(one_more).collect()
}

fn shown(kept: &[usize], widths: &[usize], natural: &[usize]) -> Vec<Shown> {
    let mut columns = Vec::with_capacity(kept.len() + 1);
    let mut expected = 0;
    for (&index, &width) in kept.iter().zip(widths) {
        if index != expected {
            columns.push(Shown::Gap);
        }
        columns.push(Shown::Column { index, width });
        expected = index + 1;
    }
    if expected != natural.len() {
        columns.push(Shown::Gap);
    }
    columns
}

/// `text` in exactly `width` cells or, uncut, in more: cut with an ellipsis if `cut`, filled up with blanks.
pub(super) fn fill(text: &str, width: usize, right: bool, cut: bool) -> String {
    let cells = text_width(text);
    if cells > width {
        return if cut { shorten(text, width) } else { text.to_owned() };
    }
    let blanks = " ".repeat(width - cells);
    if right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

fn shorten(text: &str, width: usize) -> String {
    let room = width.saturating_sub(1);
    let (mut out, mut used) = (String::new(), 0);
    for c in text.chars() {
        let cells = c.width().unwrap_or(0);
        if used + cells > room {
            break;
        }
        out.push(c);
        used += cells;
    }
    out.push_str(ELLIPSIS);
    // A wide character may have left one cell open.
    out.push_str(&" ".repeat(room - used));
    out
}

/// The lines of a cell, with nothing in them that moves a terminal's cursor.
pub(super) fn cell_lines(text: &str) -> Vec<String> {
    let visible = |line: &str| {
        line.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() }).collect()
    };
    text.split('\n').map(|line| visible(line.strip_suffix('\r').unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn widths(natural: &[usize], width: usize) -> Vec<usize> {
        layout(natural, Some(width)).iter().map(|shown| shown.width()).collect()
    }

    #[test]
    fn wide_columns_give_first() {
        assert_eq!(widths(&[3, 5], 80), [3, 5]);
        assert_eq!(widths(&[3, 200, 100], 80), [3, 34, 33]);
        assert_eq!(widths(&[30, 10, 100], 40), [10, 10, 10]);
    }

    #[test]
    fn the_middle_is_left_out() {
        let natural = [20; 9];
        let shown = layout(&natural, Some(60));
        let indices: Vec<_> = shown
            .iter()
            .map(|shown| match shown {
                Shown::Column { index, .. } => Some(*index),
                Shown::Gap => None,
            })
            .collect();
        assert_eq!(indices, [Some(0), Some(1), Some(2), None, Some(8)]);
    }

    #[test]
    fn texts_are_cut_by_cells() {
        assert_eq!(fill("abc", 5, false, true), "abc  ");
        assert_eq!(fill("abc", 5, true, true), "  abc");
        assert_eq!(fill("abcdef", 4, false, true), "abc…");
        assert_eq!(fill("abcdef", 4, false, false), "abcdef");
        assert_eq!(fill("電話番号", 6, false, true), "電話… ");
        assert_eq!(fill("電話", 6, false, true), "電話  ");
    }

    #[test]
    fn a_cell_moves_no_cursor() {
        assert_eq!(cell_lines("a\tb\r\n\u{1b}[2J"), ["a\\tb", "\\u{1b}[2J"]);
    }

    proptest! {
        #[test]
        fn a_layout_keeps_its_width(natural in prop::collection::vec(0usize..60, 1..30), width in 20usize..200) {
            let shown = layout(&natural, Some(width));
            let cells = table_width(&shown);
            prop_assert!(cells <= width, "{shown:?} takes {cells}");
            let full = TABLE_FRAME + natural.iter().map(|w| w + COLUMN_FRAME).sum::<usize>();
            if full <= width {
                prop_assert_eq!(shown, layout(&natural, None));
            }
        }

        #[test]
        fn filled_texts_have_the_width(text in "[a-z電é]{0,12}", width in 1usize..10, right: bool) {
            prop_assert_eq!(text_width(&fill(&text, width, right, true)), width);
        }
    }
}
