//! The prompt: short, and as wide on further lines as on the first. It has a `*` in a transaction, and a `!` in a failed
//! one.

use std::borrow::Cow;

use reedline::{Color, Prompt, PromptEditMode, PromptHistorySearch};
use saltwing::TransactionState;

/// The prompt of a statement's first line.
pub(crate) const FIRST: &str = "saltwing> ";
/// The prompt of further lines.
pub(crate) const NEXT: &str = "     ...> ";

pub(super) struct ShellPrompt(pub(super) TransactionState);

impl Prompt for ShellPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        match self.0 {
            TransactionState::None => FIRST.into(),
            TransactionState::Open => FIRST.replace('>', "*>").into(),
            TransactionState::Failed => FIRST.replace('>', "!>").into(),
        }
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        match self.0 {
            TransactionState::None => NEXT.into(),
            TransactionState::Open | TransactionState::Failed => format!(" {NEXT}").into(),
        }
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(history: {}) ", search.term).into()
    }

    fn get_prompt_color(&self) -> Color {
        Color::Cyan
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::Cyan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_statement_start_in_one_column() {
        for state in [TransactionState::None, TransactionState::Open, TransactionState::Failed] {
            let prompt = ShellPrompt(state);
            assert_eq!(prompt.render_prompt_left().len(), prompt.render_prompt_multiline_indicator().len());
        }
    }
}
