//! The random value by which a browser is known after its login.

use saltwing::text;

use crate::error::ConsoleError;

/// 32 random bytes, as text of 64 characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// [`ConsoleError::NoRandomBytes`].
    pub(crate) fn random() -> Result<Self, ConsoleError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            tracing::error!(target: "saltwing::console", %error, "the system gives no random bytes");
            ConsoleError::NoRandomBytes
        })?;
        Ok(Self(text::hex(&bytes)))
    }

    /// Of the text of a cookie; `None` for a text that is no token.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// Its text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Token;

    #[test]
    fn tokens_differ() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one != other);
        assert!(Token::parse(one.as_str()).unwrap() == one);
    }

    proptest! {
        #[test]
        fn other_texts_are_no_tokens(text in "\\PC{0,80}") {
            let is_token = text.len() == 64 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
            prop_assert_eq!(Token::parse(&text).is_some(), is_token);
        }
    }
}
