//! The words of statements that the session reads itself.
//!
//! The lexemes are the library's, in the dialect of the session, so that a text has the same words, strings and names here and there.
//!
//! | module | has |
//! |---|---|
//! | `reader` | the words of a statement, one after the other |
//! | `quoted` | the characters that strings and quoted names stand for |
//! | `error` | why a word cannot be read |

mod error;
mod quoted;
mod reader;

pub(crate) use error::TokenError;
#[cfg(test)]
pub(crate) use reader::BYTES_COUNTED;
pub(crate) use reader::{Body, Tokens};
