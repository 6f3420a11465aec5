//! Chooses the columns of a table that are shown, and their widths.
//!
//! ```text
//! too wide:   | id: 45 | url: 80 | flow: 5 | ..
//! 1. the widest texts are cut, all to the same width, down to CELL_WIDTH_MIN;
//! 2. if that is not enough, columns in the middle are left out: | id | … | flow |
//! 3. if the key alone is too wide, its texts are cut as well, and at last all columns.
//! ```
//!
//! # Laws
//! 1. A layout for a width is not wider.
//! 2. Texts that fit are not cut.
//! 3. A number, an instant or a column of the key is cut only if no layout without such a cut shows the whole key, or any column.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells that a column keeps before others are left out.
const CELL_WIDTH_MIN: usize = 10;
/// Cells of a column besides its text: a bar and two blanks.
const COLUMN_FRAME: usize = 3;
/// Cells of the last bar.
const TABLE_FRAME: usize = 1;
/// Marks omitted columns, and the end of a text that is cut.
pub(super) const ELLIPSIS: &str = "…";

/// Cells of a text on a terminal.
pub(crate) fn text_width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.width() }
}

/// Whether each byte of a text is one cell.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A column before the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Cells of its widest text.
    pub(super) width: usize,
    /// Whether values must not be cut, because a part of a number or an instant would be another value.
    pub(super) is_whole: bool,
    pub(super) is_key: bool,
}

/// A column of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A column of the result, and the cells it gets.
    Column {
        index: usize,
        width: usize,
        /// Whether longer texts are cut; otherwise they shift the rest of their line.
        is_cut: bool,
    },
    /// Columns are omitted here.
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

/// Which columns may be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Texts,
    TextsOfKeys,
    All,
}

impl Cut {
    fn takes(self, column: &Wanted) -> bool {
        match self {
            Self::Texts => !column.is_whole && !column.is_key,
            Self::TextsOfKeys => !column.is_whole,
            Self::All => true,
        }
    }

    /// The fewest cells of a column.
    fn least(self, column: &Wanted) -> usize {
        if self.takes(column) { column.width.min(CELL_WIDTH_MIN) } else { column.width }
    }
}

/// The columns to show in `width` cells; without a width, all columns, uncut.
pub(super) fn layout(wanted: &[Wanted], width: Option<usize>) -> Vec<Shown> {
    let all = vec![true; wanted.len()];
    let Some(width) = width else { return shown(&all, wanted, |column| (column.width, false)) };
    let uncut = shown(&all, wanted, |column| (column.width, Cut::Texts.takes(column)));
    if table_width(&uncut) <= width {
        return uncut;
    }
    let found = [Cut::Texts, Cut::TextsOfKeys].into_iter().find_map(|cut| Some((cut, kept(wanted, cut, width)?)));
    let (cut, kept) = found.unwrap_or_else(|| (Cut::All, kept_of_key(wanted, width)));
    let least = shown(&kept, wanted, |column| (cut.least(column), cut.takes(column)));
    widened(least, wanted, width)
}

/// The key, and the columns from both ends that fit beside it; `None` if the key does not fit, or no column fits.
fn kept(wanted: &[Wanted], cut: Cut, width: usize) -> Option<Vec<bool>> {
    let mut kept: Vec<bool> = wanted.iter().map(|column| column.is_key).collect();
    if !fits(&kept, wanted, cut, width) {
        return None;
    }
    let others: Vec<usize> = (0..wanted.len()).filter(|index| !wanted[*index].is_key).collect();
    for index in from_both_ends(&others) {
        kept[index] = true;
        if !fits(&kept, wanted, cut, width) {
            kept[index] = false;
        }
    }
    kept.contains(&true).then_some(kept)
}

/// As many columns of the key as fit, or of all columns if there is no key, but at least one.
fn kept_of_key(wanted: &[Wanted], width: usize) -> Vec<bool> {
    let mut kept = vec![false; wanted.len()];
    let has_key = wanted.iter().any(|column| column.is_key);
    for (index, _) in wanted.iter().enumerate().filter(|(_, column)| column.is_key || !has_key) {
        let is_first = !kept.contains(&true);
        kept[index] = true;
        if !is_first && !fits(&kept, wanted, Cut::All, width) {
            kept[index] = false;
            break;
        }
    }
    kept
}

fn fits(kept: &[bool], wanted: &[Wanted], cut: Cut, width: usize) -> bool {
    table_width(&shown(kept, wanted, |column| (cut.least(column), false))) <= width
}

/// Alternates two columns from the front, where the key often is, and one from the back.
fn from_both_ends(indices: &[usize]) -> impl Iterator<Item = usize> {
    let (mut first, mut last) = (0, indices.len());
    (0..indices.len()).map(move |taken| {
        if taken % 3 == 2 {
            last -= 1;
            indices[last]
        } else {
            first += 1;
            indices[first - 1]
        }
    })
}

/// Distributes the remaining cells among the columns that may be cut.
fn widened(mut shown: Vec<Shown>, wanted: &[Wanted], width: usize) -> Vec<Shown> {
    let spare = width.saturating_sub(table_width(&shown));
    let over = table_width(&shown).saturating_sub(width);
    let mut cuttable: Vec<(usize, &mut usize)> = Vec::new();
    for column in &mut shown {
        if let Shown::Column { index, width, is_cut: true } = column {
            cuttable.push((wanted[*index].width, width));
        }
    }
    let cells = cuttable.iter().map(|(_, width)| **width).sum::<usize>();
    let natural: Vec<usize> = cuttable.iter().map(|(natural, _)| *natural).collect();
    let shares = share(&natural, (cells + spare).saturating_sub(over));
    cuttable.into_iter().zip(shares).for_each(|((_, width), share)| *width = share);
    shown
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

/// The kept columns, with their cells and whether they are cut, and the gaps between them.
fn shown(kept: &[bool], wanted: &[Wanted], cells: impl Fn(&Wanted) -> (usize, bool)) -> Vec<Shown> {
    let mut columns = Vec::new();
    for (index, (column, is_kept)) in wanted.iter().zip(kept).enumerate() {
        if *is_kept {
            let (width, is_cut) = cells(column);
            columns.push(Shown::Column { index, width, is_cut });
        } else if columns.last() != Some(&Shown::Gap) {
            columns.push(Shown::Gap);
        }
    }
    columns
}

/// `text` in exactly `width` cells or, uncut, in more: cut with an ellipsis if `cut`, filled up with blanks.
pub(super) fn fill(text: &str, width: usize, right: bool, cut: bool) -> String {
    let mut out = String::new();
    push_filled(text, text_width(text), (width, right, cut), &mut out);
    out
}

/// Appends a text of `cells` cells in the form of [`fill`].
pub(super) fn push_filled(text: &str, cells: usize, (width, right, cut): (usize, bool, bool), out: &mut String) {
    if cells > width && cut {
        return push_cut(text, width, out);
    }
    let blanks = width.saturating_sub(cells);
    if right {
        push_blanks(blanks, out);
    }
    out.push_str(text);
    if !right {
        push_blanks(blanks, out);
    }
}

fn push_blanks(mut count: usize, out: &mut String) {
    const BLANKS: &str = "                                ";
    while count > BLANKS.len() {
        out.push_str(BLANKS);
        count -= BLANKS.len();
    }
    out.push_str(&BLANKS[..count]);
}

fn push_cut(text: &str, width: usize, out: &mut String) {
    let room = width.saturating_sub(1);
    let mut used = 0;
    for c in text.chars() {
        let cells = c.width().unwrap_or(0);
        if used + cells > room {
            break;
        }
        out.push(c);
        used += cells;
    }
    out.push_str(ELLIPSIS);
    // A wide character may leave one cell empty.
    push_blanks(room - used, out);
}

/// The cells of a text that is one line without control characters; `None` for other texts.
pub(super) fn cells_of_line(text: &str) -> Option<usize> {
    if is_plain(text) {
        return Some(text.len());
    }
    (!text.chars().any(char::is_control)).then(|| text.width())
}

/// The lines of a cell, without characters that move a terminal's cursor.
pub(super) fn cell_lines(text: &str) -> Vec<String> {
    if cells_of_line(text).is_some() {
        return vec![text.to_owned()];
    }
    let visible = |line: &str| {
        let mut out = String::with_capacity(line.len());
        for c in line.chars() {
            if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
        }
        out
    };
    text.split('\n').map(|line| visible(line.strip_suffix('\r').unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A column of texts, of numbers (`n`) or of the key (`k`, `K` of numbers).
    fn wanted(columns: &[(usize, char)]) -> Vec<Wanted> {
        let column = |(width, kind): &(usize, char)| Wanted {
            width: *width,
            is_whole: matches!(kind, 'n' | 'K'),
            is_key: matches!(kind, 'k' | 'K'),
        };
        columns.iter().map(column).collect()
    }

    /// The indices and widths of the columns that are shown; a gap is `None`.
    fn laid_out(columns: &[(usize, char)], width: usize) -> Vec<Option<(usize, usize)>> {
        let shown = layout(&wanted(columns), Some(width));
        assert!(table_width(&shown) <= width, "{shown:?}");
        let column = |shown: Shown| match shown {
            Shown::Column { index, width, .. } => Some((index, width)),
            Shown::Gap => None,
        };
        shown.into_iter().map(column).collect()
    }

    fn widths(natural: &[usize], width: usize) -> Vec<usize> {
        let texts: Vec<_> = natural.iter().map(|width| (*width, 't')).collect();
        layout(&wanted(&texts), Some(width)).iter().map(|shown| shown.width()).collect()
    }

    #[test]
    fn wide_columns_give_first() {
        assert_eq!(widths(&[3, 5], 80), [3, 5]);
        assert_eq!(widths(&[3, 200, 100], 80), [3, 34, 33]);
        assert_eq!(widths(&[30, 10, 100], 40), [10, 10, 10]);
    }

    #[test]
    fn the_middle_is_left_out() {
        let indices: Vec<_> = laid_out(&[(20, 't'); 9], 60).iter().map(|shown| shown.map(|(index, _)| index)).collect();
        assert_eq!(indices, [Some(0), Some(1), Some(2), None, Some(8)]);
    }

    #[test]
    fn numbers_and_keys_are_not_cut() {
        let weather = [(6, 'k'), (4, 'n'), (5, 'n'), (4, 'n'), (4, 'n'), (30, 't'), (19, 'K')];
        let cells = |index: usize| Some((index, weather[index].0));
        // All columns except the text keep their widths; the text gets the rest.
        assert_eq!(laid_out(&weather, 80)[5..], [Some((5, 16)), cells(6)]);
        assert_eq!(laid_out(&weather, 60), [cells(0), cells(1), cells(2), cells(3), None, cells(6)]);
        assert_eq!(laid_out(&weather, 40), [cells(0), None, cells(6)]);
        // The last resort: a text of the key is cut, then any column.
        assert_eq!(laid_out(&[(60, 'k'), (8, 'K'), (9, 'n')], 40), [Some((0, 13)), Some((1, 8)), Some((2, 9))]);
        assert_eq!(laid_out(&[(30, 'K'), (30, 'n')], 30), [Some((0, 22)), None]);
        assert_eq!(laid_out(&[(38, 'n'), (4, 't')], 30), [None, Some((1, 4))]);
        assert_eq!(laid_out(&[(38, 'n')], 30), [Some((0, 26))]);
    }

    #[test]
    fn texts_are_cut_by_cells() {
        assert_eq!(fill("abc", 5, false, true), "abc  ");
        assert_eq!(fill("abc", 5, true, true), "  abc");
        assert_eq!(fill("abcdef", 4, false, true), "abc…");
        assert_eq!(fill("abcdef", 4, false, false), "abcdef");
        assert_eq!(fill("電話番号", 6, false, true), "電話… ");
        assert_eq!(fill("電話", 6, false, true), "電話  ");
        assert_eq!(fill("a", 100, true, true), format!("{:>100}", "a"));
    }

    #[test]
    fn a_cell_moves_no_cursor() {
        assert_eq!(cell_lines("a\tb\r\n\u{1b}[2J"), ["a\\tb", "\\u{1b}[2J"]);
        assert_eq!((cells_of_line("ab é"), cells_of_line("電"), cells_of_line("a\u{85}")), (Some(4), Some(2), None));
    }

    proptest! {
        /// Laws 1 to 3.
        #[test]
        fn a_layout_keeps_its_width(
            columns in prop::collection::vec((0usize..60, prop::sample::select(vec!['t', 'n', 'k', 'K'])), 1..30),
            width in 20usize..200,
        ) {
            let wanted = wanted(&columns);
            let shown = layout(&wanted, Some(width));
            let cells = table_width(&shown);
            prop_assert!(cells <= width, "{shown:?} takes {cells}");
            let whole = layout(&wanted, None);
            if table_width(&whole) <= width {
                prop_assert_eq!(shown.iter().map(|s| s.width()).collect::<Vec<_>>(), columns.iter().map(|c| c.0).collect::<Vec<_>>());
            }
            let key: Vec<Wanted> = wanted.iter().copied().filter(|column| column.is_key).collect();
            let gaps = (key.len() + 1) * (COLUMN_FRAME + 1);
            if !key.is_empty() && table_width(&layout(&key, None)) + gaps <= width {
                let keys = shown.iter().filter(|s| matches!(s, Shown::Column { index, .. } if wanted[*index].is_key));
                prop_assert_eq!(keys.count(), key.len());
                for column in &shown {
                    if let Shown::Column { index, width, .. } = column && (wanted[*index].is_whole || wanted[*index].is_key) {
                        prop_assert_eq!(*width, wanted[*index].width);
                    }
                }
            }
        }

        #[test]
        fn filled_texts_have_the_width(text in "[a-z電é]{0,12}", width in 1usize..10, right: bool) {
            prop_assert_eq!(text_width(&fill(&text, width, right, true)), width);
        }
    }
}
