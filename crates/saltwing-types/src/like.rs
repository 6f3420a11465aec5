//! LIKE patterns.

use crate::ValueError;

/// One step of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This very character.
    Char(char),
    /// `_`: any one character.
    AnyChar,
    /// `%`: any characters, none included.
    AnyText,
}

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikePattern {
    steps: Vec<Step>,
    ignore_case: bool,
}

impl LikePattern {
    /// Parses a pattern.
    ///
    /// The escape character makes a following `%`, `_` or escape character plain;
    /// before anything else it stands for itself, as in Phoenix, unless it is `%` or `_`: then what follows is plain.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] when the pattern ends in a lone escape character.
    pub fn parse(pattern: &str, escape: Option<char>, ignore_case: bool) -> Result<Self, ValueError> {
        let mut steps = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if Some(c) == escape {
                match chars.peek() {
                    None => {
                        return Err(ValueError::BadArgument(format!(
                            "LIKE pattern '{pattern}' ends with its escape character"
                        )));
                    }
                    Some(&next) if next == '%' || next == '_' || Some(next) == escape => {
                        chars.next();
                        steps.push(Step::Char(next));
                    }
                    // As an escape character a wildcard is none.
                    Some(_) if matches!(c, '%' | '_') => {}
                    Some(_) => steps.push(Step::Char(c)),
                }
                continue;
            }
            match c {
                '%' if steps.last() == Some(&Step::AnyText) => {}
                '%' => steps.push(Step::AnyText),
                '_' => steps.push(Step::AnyChar),
                c if ignore_case => steps.extend(c.to_lowercase().map(Step::Char)),
                c => steps.push(Step::Char(c)),
            }
        }
        Ok(Self { steps, ignore_case })
    }

    /// The prefix of every match, and the steps after it.
    pub fn prefix(&self) -> (String, &[Step]) {
        let end = self.steps.iter().position(|s| !matches!(s, Step::Char(_))).unwrap_or(self.steps.len());
        let (head, rest) = self.steps.split_at(end);
        (head.iter().filter_map(|s| if let Step::Char(c) = s { Some(*c) } else { None }).collect(), rest)
    }

    /// Whether letters match in both cases.
    pub fn ignores_case(&self) -> bool {
        self.ignore_case
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> =
            if self.ignore_case { text.chars().flat_map(char::to_lowercase).collect() } else { text.chars().collect() };
        // The last % seen and the place its match may grow from: backtracking to it alone is enough.
        let (mut at, mut step, mut retry) = (0, 0, None);
        loop {
            match (self.steps.get(step), text.get(at)) {
                (Some(Step::AnyText), _) => {
                    retry = Some((step, at));
                    step += 1;
                }
                (Some(Step::AnyChar), Some(_)) => (at, step) = (at + 1, step + 1),
                (Some(Step::Char(c)), Some(t)) if c == t => (at, step) = (at + 1, step + 1),
                (None, None) => return true,
                _ => match retry {
                    Some((any, from)) if from < text.len() => {
                        retry = Some((any, from + 1));
                        (at, step) = (from + 1, any + 1);
                    }
                    _ => return false,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_sql() {
        for (text, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("", "_", false),
            ("aXbXc", "a%b%c", true),
            ("aab", "%ab", true),
            ("a%c", r"a\%c", true),
            ("abc", r"a\%c", false),
            (r"a\b", r"a\b", true),
            ("漢字", "漢_", true),
            ("mississippi", "m%iss%pi", true),
        ] {
            let pattern_parsed = LikePattern::parse(pattern, Some('\\'), false).unwrap();
            assert_eq!(pattern_parsed.matches(text), expected, "{text} LIKE {pattern}");
        }
        for (text, pattern, escape) in
            [("bear", "b_ear", '_'), ("maca", "m%aca", '%'), ("be_r", "b_e__r", '_'), ("a%xb", "a%%_b", '%')]
        {
            let parsed = LikePattern::parse(pattern, Some(escape), false).unwrap();
            assert!(parsed.matches(text), "{text} LIKE {pattern} ESCAPE {escape}");
        }
        assert!(LikePattern::parse("ÄB%", None, true).unwrap().matches("äbc"));
        assert!(LikePattern::parse("a\\", Some('\\'), false).is_err());
        let pattern = LikePattern::parse("ab%c", None, false).unwrap();
        assert_eq!(pattern.prefix(), ("ab".to_owned(), &[Step::AnyText, Step::Char('c')][..]));
    }
}
