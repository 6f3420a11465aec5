//! The prompt: short, and as wide on the lines that follow as on the first.

use std::borrow::Cow;

use reedline::{Color, Prompt, PromptEditMode, PromptHistorySearch};

/// Stands before a statement's first line.
pub(crate) const FIRST: &str = "saltwing> ";
/// Stands before its other lines.
pub(crate) const NEXT: &str = "     ...> ";

pub(super) struct ShellPrompt;

impl Prompt for ShellPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        FIRST.into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        NEXT.into()
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
    #[test]
    fn lines_of_a_statement_start_in_one_column() {
        assert_eq!(super::FIRST.len(), super::NEXT.len());
    }
}
