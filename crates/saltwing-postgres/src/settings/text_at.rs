//! A piece of a statement's text with its place, for the errors about it.

/// A name or a value of a statement, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextAt {
    /// The text: of a string and of a quoted name without its quotes.
    pub(crate) text: String,
    /// Its first character in the statement, counted in characters from 1; `None` if it comes from elsewhere, such as a
    /// startup parameter.
    pub(crate) position: Option<usize>,
}

/// The characters of a client's text that an error shows.
const SHOWN_CHARS_MAX: usize = 60;

/// A text of a client as errors show it: its beginning, if it is long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX).and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => format!("{beginning}…"),
        None => text.to_owned(),
    }
}

impl From<&str> for TextAt {
    /// A text without a place.
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), position: None }
    }
}
