//! Checks whether the input is complete: a statement ends at its `;`, a dot command at the end of its line.

use reedline::{ValidationResult, Validator};
use saltwing::split_statements;

use crate::dot_command::DotCommand;

pub(super) struct StatementEnd;

impl Validator for StatementEnd {
    fn validate(&self, line: &str) -> ValidationResult {
        if is_complete(line) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

fn is_complete(text: &str) -> bool {
    DotCommand::is_one(text)
        || DotCommand::of_bare_word(text).is_some()
        || split_statements(text).all(|piece| piece.complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_their_semicolon() {
        for text in [
            "",
            "  ",
            "SELECT 1;",
            "SELECT 1; SELECT 2;",
            "-- only a comment",
            ".help",
            " \\d t",
            "exit",
            "SELECT 1; -- end",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["SELECT 1", "SELECT ';", "SELECT 1; SELECT", "/* open", "SELECT \"a;", "SELECT 1 -- ;"] {
            assert!(!is_complete(text), "{text}");
        }
    }
}
