//! Tokens of pages: a query stops after some rows, and a later statement continues from the position in the token.
//!
//! A token is text in base64url:
//! ```text
//! format version | identity of the query | number of the scan | physical key of the last row | checksum
//!  1 byte        |  8 bytes              |  1 byte            |                              |  4 bytes
//! ```
//! The identity covers the query, the values of its parameters and the definition of its table: if one of these differs, the key is not a
//! valid position. A token grants no access: its key only narrows the ranges of the query's conditions.

use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use saltwing_exec::{PageEnd, PagePosition};
use sha2::{Digest, Sha256};

/// The version of the token format.
const TOKEN_VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 4;

/// The identity of the query for which a token is valid.
pub(crate) type Identity = [u8; 8];

/// The beginning of the next page, which is known after the page is read.
pub(crate) struct NextPage {
    identity: Identity,
    end: Arc<OnceLock<PageEnd>>,
}

impl NextPage {
    pub(crate) fn new(identity: Identity, end: Arc<OnceLock<PageEnd>>) -> Self {
        Self { identity, end }
    }

    pub(crate) fn token(&self) -> Option<String> {
        self.end.get().map(|end| token(self.identity, &end.position))
    }

    /// The notice about a page that a budget or timeout has cut.
    pub(crate) fn notice(&self) -> Option<String> {
        const CUT: &str = "rows_max, bytes_max or statement_timeout ended the page; the next one goes on behind it";
        self.end.get().filter(|end| end.is_cut).map(|_| CUT.to_owned())
    }
}

/// The identity of a query that this text describes.
pub(crate) fn identity_of(text: &str) -> Identity {
    first_bytes(text.as_bytes())
}

fn first_bytes<const N: usize>(text: &[u8]) -> [u8; N] {
    let digest = Sha256::digest(text);
    std::array::from_fn(|i| digest.get(i).copied().unwrap_or_default())
}

fn token(identity: Identity, position: &PagePosition) -> String {
    let mut bytes = vec![TOKEN_VERSION];
    bytes.extend_from_slice(&identity);
    bytes.push(position.scan);
    bytes.extend_from_slice(&position.row_key);
    bytes.extend_from_slice(&first_bytes::<CHECKSUM_BYTES>(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position in a token, or the reason why the token is not valid for a query of this identity.
pub(crate) fn position(identity: Identity, token: &str) -> Result<PagePosition, &'static str> {
    const DAMAGED: &str = "the text behind AFTER is no token of a page, or not the whole of one";
    let bytes = URL_SAFE_NO_PAD.decode(token.trim()).map_err(|_| DAMAGED)?;
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(DAMAGED)?;
    if first_bytes::<CHECKSUM_BYTES>(content) != *checksum {
        return Err(DAMAGED);
    }
    match content {
        [TOKEN_VERSION, rest @ ..] => match rest.split_first_chunk() {
            Some((of, [scan, row_key @ ..])) if *of == identity => {
                Ok(PagePosition { scan: *scan, row_key: row_key.to_vec() })
            }
            Some(_) => Err(
                "the token is of another query, of other values of its parameters, or of another definition of its table",
            ),
            None => Err(DAMAGED),
        },
        _ => Err("the token is of another version of Saltwing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_its_position_and_no_altered_one_does() {
        let here = PagePosition { scan: 1, row_key: vec![0, 255, 7] };
        let text = token([5; 8], &here);
        assert_eq!(position([5; 8], &text), Ok(here));
        assert!(position([6; 8], &text).is_err());
        for at in 0..text.len() {
            assert!(position([5; 8], &text[..at]).is_err(), "{at}");
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert!(position([5; 8], &other).is_err(), "{other}");
        }
        assert!(position([5; 8], "").is_err());
    }
}
