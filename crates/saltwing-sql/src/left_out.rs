//! Tokens that a rewriting takes out of a statement, all at once.

use std::ops::Range;

use sqlparser::tokenizer::TokenWithSpan;

/// The numbers of tokens to be left out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(Vec<Range<usize>>);

impl LeftOut {
    /// Adds tokens that follow those which were added before.
    pub(crate) fn add(&mut self, tokens: Range<usize>) {
        debug_assert!(self.0.last().is_none_or(|last| last.end <= tokens.start), "in their order");
        self.0.push(tokens);
    }

    /// Takes them out: one pass, however many there are.
    pub(crate) fn apply(self, tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
        if self.0.is_empty() {
            return;
        }
        self.keep(tokens);
        self.keep(ranges);
    }

    fn keep<T>(&self, items: &mut Vec<T>) {
        let (mut place, mut next) = (0, self.0.iter().peekable());
        items.retain(|_| {
            while next.peek().is_some_and(|range| range.end <= place) {
                next.next();
            }
            let keeps = next.peek().is_none_or(|range| place < range.start);
            place += 1;
            keeps
        });
    }
}
