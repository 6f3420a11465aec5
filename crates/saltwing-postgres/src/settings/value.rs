//! The values of parameters: how each is read from text and shown.
//!
//! # Laws
//! 1. [`Value::read`] takes what [`Value::show`] gives, and does not change the value by it.
//! 2. A text that is refused leaves the value as it was.

/// Why a parameter does not take a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The text is no value of the parameter. It takes these.
    Takes(String),
    /// The text is a value in PostgreSQL, and would have no effect here, for this reason.
    NotSupported(&'static str),
}

/// A value that a session keeps for a parameter.
pub(crate) trait Value {
    /// The text that SHOW gives.
    fn show(&self) -> String;

    /// Takes the value that a text stands for: of a startup parameter, of `set_config`, and of SET with one value.
    ///
    /// # Errors
    /// A text that is refused.
    fn read(&mut self, text: &str) -> Result<(), Refusal>;

    /// Takes the values of a SET, which may be several for a parameter that is a list.
    ///
    /// # Errors
    /// As [`Value::read`]; several values for a parameter that takes one.
    fn assign(&mut self, values: &[&str]) -> Result<(), Refusal> {
        match values {
            [value] => self.read(value),
            _ => Err(Refusal::Takes("one value".to_owned())),
        }
    }
}

impl Value for bool {
    fn show(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        *self = truth(text).ok_or_else(|| Refusal::Takes("on or off".to_owned()))?;
        Ok(())
    }
}

/// A Boolean as PostgreSQL reads it: in any case, and also as the first letters of a word that no other word begins with.
pub(crate) fn truth(text: &str) -> Option<bool> {
    let text = text.trim().to_ascii_lowercase();
    let begins = |word: &str, letters_min: usize| text.len() >= letters_min && word.starts_with(&text);
    if begins("true", 1) || begins("yes", 1) || text == "on" || text == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0" {
        Some(false)
    } else {
        None
    }
}

/// The name of a program, for the list of sessions and the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApplicationName(String);

impl ApplicationName {
    /// The most bytes of a name. The rest is cut off.
    pub(crate) const BYTES_MAX: usize = 63;

    /// Whether a text is longer than a name can be.
    pub(crate) fn is_cut(text: &str) -> bool {
        cleaned(text).map(char::len_utf8).sum::<usize>() > Self::BYTES_MAX
    }
}

/// Control characters become question marks, because the name appears in logs and on terminals.
fn cleaned(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { '?' } else { c })
}

impl Value for ApplicationName {
    fn show(&self) -> String {
        self.0.clone()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        self.0.clear();
        for c in cleaned(text) {
            if self.0.len().saturating_add(c.len_utf8()) > Self::BYTES_MAX {
                break;
            }
            self.0.push(c);
        }
        Ok(())
    }
}

/// How many digits a float is written with. Saltwing always writes the fewest digits that read back as the same float, which
/// PostgreSQL does for 1 and above; fewer digits are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatDigits(i8);

impl Default for FloatDigits {
    fn default() -> Self {
        Self(1)
    }
}

impl Value for FloatDigits {
    fn show(&self) -> String {
        self.0.to_string()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        match text.trim().parse::<i8>() {
            Ok(digits @ 1..=3) => self.0 = digits,
            Ok(-15..=0) => {
                return Err(Refusal::NotSupported("floats are written with the digits that give the same float again"));
            }
            _ => return Err(Refusal::Takes("1, 2 or 3".to_owned())),
        }
        Ok(())
    }
}

/// The encoding of texts between client and server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientEncoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// The bytes of the server without a conversion, which are UTF-8. psql asks for it where no locale is set.
    SqlAscii,
}

impl Value for ClientEncoding {
    fn show(&self) -> String {
        match self {
            Self::Utf8 => "UTF8",
            Self::SqlAscii => "SQL_ASCII",
        }
        .to_owned()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        *self = match letters.to_ascii_lowercase().as_str() {
            "utf8" | "unicode" => Self::Utf8,
            "sqlascii" => Self::SqlAscii,
            "" => return Err(Refusal::Takes("UTF8".to_owned())),
            _ => return Err(Refusal::NotSupported("texts are UTF-8, and are not converted")),
        };
        Ok(())
    }
}

/// The least severe message that a client gets besides errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageLevel {
    /// Messages for developers, from this level of detail on: 5 is the greatest.
    Debug(std::cmp::Reverse<u8>),
    /// Messages for the operator.
    Log,
    /// Notices, such as that of a statement that scanned many rows.
    #[default]
    Notice,
    /// Warnings.
    Warning,
    /// Errors alone.
    Error,
}

impl MessageLevel {
    const NAMES: [(&'static str, Self); 9] = [
        ("debug5", Self::Debug(std::cmp::Reverse(5))),
        ("debug4", Self::Debug(std::cmp::Reverse(4))),
        ("debug3", Self::Debug(std::cmp::Reverse(3))),
        ("debug2", Self::Debug(std::cmp::Reverse(2))),
        ("debug1", Self::Debug(std::cmp::Reverse(1))),
        ("log", Self::Log),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
    ];

    /// Whether a client with this setting gets a message of a level.
    pub(crate) fn includes(self, message: Self) -> bool {
        message >= self
    }
}

impl Value for MessageLevel {
    fn show(&self) -> String {
        match self {
            Self::Debug(std::cmp::Reverse(detail)) => format!("debug{detail}"),
            Self::Log => "log".to_owned(),
            Self::Notice => "notice".to_owned(),
            Self::Warning => "warning".to_owned(),
            Self::Error => "error".to_owned(),
        }
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let word = text.trim().to_ascii_lowercase();
        // PostgreSQL's older names.
        let word = match word.as_str() {
            "debug" => "debug2",
            "info" => "notice",
            word => word,
        };
        let found = Self::NAMES.iter().find(|(name, _)| *name == word);
        let takes = || Refusal::Takes(format!("one of {}", Self::NAMES.map(|(name, _)| name).join(", ")));
        *self = found.ok_or_else(takes)?.1;
        Ok(())
    }
}
