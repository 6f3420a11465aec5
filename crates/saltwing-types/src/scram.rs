//! Verifiers of passwords: what SCRAM-SHA-256 (RFC 5802, RFC 7677) keeps in the place of a password.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What checks a password without telling it.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramVerifier {
    /// How often the password was hashed.
    pub iterations: u32,
    /// Random bytes, so that equal passwords have different verifiers.
    pub salt: Vec<u8>,
    /// Checks what a client proves.
    pub stored_key: [u8; 32],
    /// Proves to a client that the server knows the verifier.
    pub server_key: [u8; 32],
}

/// The first word of the text of a verifier.
const MECHANISM: &str = "SCRAM-SHA-256";

impl ScramVerifier {
    /// The fewest iterations: those of RFC 7677.
    pub const ITERATIONS_MIN: u32 = 4_096;
    /// The most: a login with so many takes about as many microseconds.
    pub const ITERATIONS_MAX: u32 = 1_000_000;
    /// The fewest and the most bytes of a salt.
    const SALT_BYTES: std::ops::RangeInclusive<usize> = 8..=64;

    /// Whether a text begins as that of a verifier does: no password.
    pub fn is_meant(text: &str) -> bool {
        text.strip_prefix(MECHANISM).is_some_and(|rest| rest.starts_with('$'))
    }

    /// The verifier that a text in the form of PostgreSQL holds: `SCRAM-SHA-256$iterations:salt$stored:server`, all but the number in
    /// base64. `None` if it holds none, or one outside the limits.
    pub fn from_text(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(MECHANISM)?.strip_prefix('$')?;
        let (hashing, keys) = rest.split_once('$')?;
        let ((iterations, salt), (stored, server)) = (hashing.split_once(':')?, keys.split_once(':')?);
        let is_number = !iterations.is_empty() && iterations.bytes().all(|byte| byte.is_ascii_digit());
        let key = |text: &str| <[u8; 32]>::try_from(STANDARD.decode(text).ok()?).ok();
        let verifier = Self {
            iterations: iterations.parse().ok().filter(|_| is_number)?,
            salt: STANDARD.decode(salt).ok()?,
            stored_key: key(stored)?,
            server_key: key(server)?,
        };
        let is_within = (Self::ITERATIONS_MIN..=Self::ITERATIONS_MAX).contains(&verifier.iterations);
        (is_within && Self::SALT_BYTES.contains(&verifier.salt.len())).then_some(verifier)
    }

    /// The text of [`ScramVerifier::from_text`]. Who has it can try passwords on it: it is kept as a secret.
    pub fn to_text(&self) -> String {
        let [salt, stored, server] =
            [&self.salt[..], &self.stored_key, &self.server_key].map(|bytes| STANDARD.encode(bytes));
        format!("{MECHANISM}${}:{salt}${stored}:{server}", self.iterations)
    }
}

/// Without the keys, which belong into no log.
impl fmt::Debug for ScramVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MECHANISM}${}", self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The password `pencil` in the form of PostgreSQL, with the salt of the example of RFC 7677.
    const TEXT: &str = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

    #[test]
    fn the_text_is_that_of_postgresql() {
        let verifier = ScramVerifier::from_text(TEXT).unwrap();
        assert_eq!((verifier.iterations, verifier.salt.len(), verifier.to_text().as_str()), (4096, 16, TEXT));
        assert_eq!(format!("{verifier:?}"), "SCRAM-SHA-256$4096");
        assert!(
            ScramVerifier::is_meant(TEXT) && ScramVerifier::is_meant("SCRAM-SHA-256$") && !ScramVerifier::is_meant("x")
        );
    }

    #[test]
    fn other_texts_hold_none() {
        for (from, to) in [
            ("SCRAM-SHA-256", "SCRAM-SHA-1"),
            ("4096", "4095"),
            ("4096", "1000001"),
            ("4096", "+4096"),
            ("4096", ""),
            ("W22ZaJ0SNY7soEsUEjb6gQ==", "W22ZaJ0="),
            ("W22ZaJ0SNY7soEsUEjb6gQ==", "?"),
            ("WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=", "WG5d"),
            ("$WG5", ":WG5"),
            ("dU=", "dU=:"),
        ] {
            assert_eq!(ScramVerifier::from_text(&TEXT.replacen(from, to, 1)), None, "{to}");
        }
    }
}
