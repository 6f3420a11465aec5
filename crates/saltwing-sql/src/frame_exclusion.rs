//! `EXCLUDE ..` at the end of a frame, which sqlparser does not read: it becomes a part of the window's name.
//!
//! ```text
//! OVER (w ORDER BY k ROWS 2 PRECEDING EXCLUDE TIES)   ──►   OVER ([w EXCLUDE TIES] ORDER BY k ROWS 2 PRECEDING)
//! ```

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;

use sqlparser::ast::{Expr, Ident, OrderByExpr, OrderByOptions, WindowSpec};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The quote of such a name; no statement can write it.
const QUOTE: char = '[';

const EXCLUDE: &str = "EXCLUDE";

/// The rows of a frame that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcludedRows {
    /// `EXCLUDE CURRENT ROW`.
    CurrentRow,
    /// `EXCLUDE GROUP`: the row and its peers.
    Group,
    /// `EXCLUDE TIES`: its peers without itself.
    Ties,
}

impl ExcludedRows {
    const ALL: [Self; 3] = [Self::CurrentRow, Self::Group, Self::Ties];

    fn words(self) -> &'static [&'static str] {
        match self {
            Self::CurrentRow => &["CURRENT", "ROW"],
            Self::Group => &["GROUP"],
            Self::Ties => &["TIES"],
        }
    }
}

/// The name of a window without what its frame excludes, and that.
pub fn excluded_rows(name: Ident) -> (Option<Ident>, Option<ExcludedRows>) {
    let parts = name.value.rsplit_once(EXCLUDE).filter(|_| name.quote_style == Some(QUOTE));
    let Some((base, words)) = parts else { return (Some(name), None) };
    let excluded = ExcludedRows::ALL.into_iter().find(|rows| words.trim() == rows.words().join(" "));
    let base = base.trim_end();
    let base = (!base.is_empty()).then(|| Ident { value: base.to_owned(), quote_style: Some('"'), span: name.span });
    (base, excluded)
}

/// Whether a window has an exclusion in its name.
pub(crate) fn is_marked(window: &WindowSpec) -> bool {
    window.window_name.as_ref().is_some_and(|name| excluded_rows(name.clone()).1.is_some())
}

/// Moves the exclusion in a window's name behind its frame, for printing: both become a part of the name that is printed last before
/// the frame.
pub(crate) fn put_back(window: &mut WindowSpec) {
    let Some(name) = window.window_name.take() else { return };
    let (base, rows) = excluded_rows(name);
    window.window_name = base;
    let (Some(rows), Some(frame)) = (rows, window.window_frame.take()) else { return };
    let end = match &frame.end_bound {
        Some(end) => format!("{} BETWEEN {} AND {end}", frame.units, frame.start_bound),
        None => format!("{} {}", frame.units, frame.start_bound),
    };
    let end = format!("{end} {EXCLUDE} {}", rows.words().join(" "));
    let behind = |before: &dyn Display| Ident::new(format!("{before} {end}"));
    if let Some(last) = window.order_by.last_mut() {
        let expr = Expr::Identifier(behind(&*last));
        *last = OrderByExpr { expr, options: OrderByOptions { asc: None, nulls_first: None }, with_fill: None };
    } else if let Some(last) = window.partition_by.last_mut() {
        *last = Expr::Identifier(behind(&*last));
    } else {
        window.window_name = Some(match &window.window_name {
            Some(name) => behind(name),
            None => Ident::new(end),
        });
    }
}

/// Moves each exclusion into the name of its window. `EXCLUDE NO OTHERS` says what holds anyway.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    // Few statements have the word.
    if !tokens.iter().any(|token| is_word(Some(token), EXCLUDE)) {
        return;
    }
    let (mut brackets, mut excluded, mut left_out) = (Vec::new(), HashMap::new(), Vec::new());
    for (index, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => brackets.push(index),
            Token::RParen => drop(brackets.pop()),
            _ => {
                if let (Some((rows, end)), Some(bracket)) = (exclusion(tokens, index), brackets.last()) {
                    rows.map(|rows| excluded.insert(*bracket, rows));
                    left_out.push(index..end);
                }
            }
        }
    }
    let (mut kept, mut kept_ranges) = (Vec::with_capacity(tokens.len()), Vec::with_capacity(tokens.len()));
    let (mut left_out, mut rows_before) = (left_out.into_iter().peekable(), None);
    for (index, (mut token, range)) in tokens.drain(..).zip(ranges.drain(..)).enumerate() {
        while left_out.peek().is_some_and(|range| range.end <= index) {
            left_out.next();
        }
        if left_out.peek().is_some_and(|range| range.contains(&index)) {
            continue;
        }
        if let Some(rows) = rows_before.take() {
            match &mut token.token {
                Token::Word(name) if name.keyword == Keyword::NoKeyword => *name = named(&name.value, rows),
                _ => {
                    kept.push(TokenWithSpan { token: Token::Word(named("", rows)), span: token.span });
                    kept_ranges.push(range.start..range.start);
                }
            }
        }
        rows_before = excluded.get(&index).copied();
        kept.push(token);
        kept_ranges.push(range);
    }
    (*tokens, *ranges) = (kept, kept_ranges);
}

/// Reads the exclusion that begins at token `index`, after a frame: the exclusion, and the index of the token after it; `Some(None)` is NO OTHERS.
fn exclusion(tokens: &[TokenWithSpan], index: usize) -> Option<(Option<ExcludedRows>, usize)> {
    let token = |index: usize| tokens.get(index);
    let before = token(index.checked_sub(1)?);
    if !is_word(token(index), EXCLUDE) || !["ROW", "PRECEDING", "FOLLOWING"].iter().any(|end| is_word(before, end)) {
        return None;
    }
    let first = index + 1;
    let stand_there = |words: &[&str]| {
        let ends = matches!(token(first + words.len()), Some(TokenWithSpan { token: Token::RParen, .. }));
        ends && words.iter().enumerate().all(|(place, word)| is_word(token(first + place), word))
    };
    if stand_there(&["NO", "OTHERS"]) {
        return Some((None, first + 2));
    }
    let rows = ExcludedRows::ALL.into_iter().find(|rows| stand_there(rows.words()))?;
    Some((Some(rows), first + rows.words().len()))
}

fn named(name: &str, rows: ExcludedRows) -> Word {
    let value = format!("{name} {EXCLUDE} {}", rows.words().join(" ")).trim_start().to_owned();
    Word { value, quote_style: Some(QUOTE), keyword: Keyword::NoKeyword }
}

fn is_word(token: Option<&TokenWithSpan>, text: &str) -> bool {
    match token {
        Some(TokenWithSpan { token: Token::Word(word), .. }) => {
            word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text)
        }
        _ => false,
    }
}
