//! Colours typed SQL.

use nu_ansi_term::{Color, Style};
use reedline::{Highlighter, StyledText};
use saltwing::syntax::{Lexeme, lexemes};

use crate::dot_command::DotCommand;
use crate::render::Paint;
use crate::vocabulary;

pub(crate) struct SqlColours {
    pub(crate) paint: Paint,
}

impl Highlighter for SqlColours {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut styled = StyledText::new();
        if self.paint == Paint::Off {
            styled.push((Style::new(), line.to_owned()));
        } else if DotCommand::is_one(line) {
            styled.push((Style::new().bold(), line.to_owned()));
        } else {
            for (kind, range) in lexemes(line) {
                let text = line.get(range).unwrap_or("");
                styled.push((style(kind, text), text.to_owned()));
            }
        }
        styled
    }
}

fn style(kind: Lexeme, text: &str) -> Style {
    match kind {
        Lexeme::Word if vocabulary::is_keyword(text) => Color::Cyan.bold(),
        Lexeme::Text
        | Lexeme::EscapedText
        | Lexeme::UnicodeText
        | Lexeme::DollarText
        | Lexeme::Hex
        | Lexeme::Unterminated(_) => Color::Green.normal(),
        Lexeme::Number | Lexeme::Parameter => Color::Purple.normal(),
        Lexeme::Comment => Style::new().dimmed(),
        Lexeme::Hint => Color::Yellow.normal(),
        Lexeme::BadNumber | Lexeme::Stray => Color::Red.normal(),
        Lexeme::Blank | Lexeme::Word | Lexeme::QuotedName | Lexeme::Symbol => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_keywords_have_a_colour() {
        let sql = "SELECT 'x' AS é, 1 -- c\nFROM t /*+ FULL_SCAN */ WHERE 'open";
        let styled = SqlColours { paint: Paint::On }.highlight(sql, 0);
        assert_eq!(styled.raw_string(), sql);
        let of = |text: &str| styled.buffer.iter().find(|(_, t)| t == text).unwrap().0;
        assert_eq!(of("SELECT"), of("FROM"));
        assert_ne!(of("SELECT"), of("t"));
        assert_ne!(of("'x'"), of("t"));
        let plain = SqlColours { paint: Paint::Off }.highlight(sql, 0);
        assert_eq!(plain.render_simple(), sql);
    }
}
