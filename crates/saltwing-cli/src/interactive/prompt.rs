//! The prompt: short, and as wide on the lines that follow as on the first. Inside a transaction it has a `*`, inside one that
//! has failed a `!`.

use std::borrow::Cow;

use reedline::{Color, Prompt, PromptEditMode, PromptHistorySearch};
use saltwing::TransactionState;

/// Stands before a statement's first line.
pub(crate) const FIRST: &str = "saltwing> ";
/// Stands before its other lines.
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
