//! Passwords, and the verifiers that are stored instead: SCRAM-SHA-256 (RFC 5802, RFC 7677).

use hmac::{Hmac, Mac};
use saltwing_types::{ErrorCode, ScramVerifier};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Error;

const SALT_BYTES: usize = 16;

type Key = [u8; 32];

/// The verifier from a statement, which gives a password or the text of a verifier.
///
/// # Errors
/// [`ErrorCode::BadArgument`] for an empty password, for forbidden characters, and for a text that begins like a verifier but is
/// not one; [`ErrorCode::Io`] if the system has no random bytes. No error contains the text.
pub(crate) fn given_verifier(text: &str) -> Result<ScramVerifier, Error> {
    if ScramVerifier::is_meant(text) {
        let (least, most) = (ScramVerifier::ITERATIONS_MIN, ScramVerifier::ITERATIONS_MAX);
        let help = format!("it is SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey with {least} to {most} iterations");
        let wrong = || bad_password("the password begins as a stored verifier, and is none").with_help(Some(help));
        return ScramVerifier::from_text(text).ok_or_else(wrong);
    }
    verifier(text)
}

/// The verifier of a password, with a new random salt.
fn verifier(password: &str) -> Result<ScramVerifier, Error> {
    let refused = || {
        bad_password("the password has a character that no password may have").with_help(Some(
            "control characters, and characters that Unicode has not assigned, cannot be typed everywhere",
        ))
    };
    let prepared = stringprep::saslprep(password).map_err(|_| refused())?;
    if prepared.is_empty() {
        return Err(bad_password("a password has at least one character"));
    }
    let mut salt = vec![0; SALT_BYTES];
    fill_randomly(&mut salt)?;
    let iterations = ScramVerifier::ITERATIONS_MIN;
    let (stored_key, server_key) = keys(prepared.as_bytes(), &salt, iterations);
    Ok(ScramVerifier { iterations, salt, stored_key, server_key })
}

fn bad_password(text: &str) -> Error {
    Error::new(ErrorCode::BadArgument, text)
}

/// Fills `bytes` with random bytes of the system.
///
/// # Errors
/// [`ErrorCode::Io`].
pub(crate) fn fill_randomly(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes)
        .map_err(|error| Error::new(ErrorCode::Io, format!("the system gives no random bytes: {error}")))
}

/// Whether a password matches a verifier. The time does not depend on the result.
pub(crate) fn is_password(password: &str, verifier: &ScramVerifier) -> bool {
    // A verifier from another system may be of a password that SASLprep refuses: then it is made from the raw bytes.
    let prepared = stringprep::saslprep(password).unwrap_or_else(|_| password.into());
    let (stored_key, server_key) = keys(prepared.as_bytes(), &verifier.salt, verifier.iterations);
    (stored_key.ct_eq(&verifier.stored_key) & server_key.ct_eq(&verifier.server_key)).into()
}

/// A verifier for a user that does not exist: always the same for a name, and without a known password.
pub(crate) fn made_up_verifier(secret: &Key, name: &str) -> ScramVerifier {
    let name = name.to_lowercase();
    let made_up = |what: &str| hmac(secret, &[what.as_bytes(), b"\0", name.as_bytes()]);
    let mut salt = made_up("salt").to_vec();
    salt.truncate(SALT_BYTES);
    let (stored_key, server_key) = (made_up("stored key"), made_up("server key"));
    ScramVerifier { iterations: ScramVerifier::ITERATIONS_MIN, salt, stored_key, server_key }
}

/// The stored key and the server key.
fn keys(password: &[u8], salt: &[u8], iterations: u32) -> (Key, Key) {
    let salted = pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(password, salt, iterations);
    (Sha256::digest(hmac(&salted, &[b"Client Key"])).into(), hmac(&salted, &[b"Server Key"]))
}

fn hmac(key: &Key, parts: &[&[u8]]) -> Key {
    // HMAC fills a shorter key with zeros up to a block of the hash; a key of this length cannot be refused.
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(byte, of_key)| *byte = *of_key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verifier of the password `pencil` that PostgreSQL stores.
    const PENCIL: &str = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

    #[test]
    fn a_verifier_knows_its_password_alone() {
        let pencil = given_verifier(PENCIL).unwrap();
        assert!(is_password("pencil", &pencil) && !is_password("Pencil", &pencil) && !is_password("", &pencil));
        let (one, other) = (given_verifier("pencil").unwrap(), given_verifier("pencil").unwrap());
        assert!(is_password("pencil", &one) && is_password("pencil", &other) && one.salt != other.salt);
        assert_eq!((one.iterations, one.salt.len()), (4096, 16));
    }

    /// RFC 4013: equivalent characters make the same password.
    #[test]
    fn passwords_are_prepared() {
        let given = given_verifier("I\u{ad}X \u{2168}").unwrap();
        assert!(is_password("IX IX", &given) && is_password("IX\u{a0}\u{2168}", &given));
        for wrong in ["", "\u{ad}", "a\nb", "a\u{7f}", "SCRAM-SHA-256$x", "\u{627}1"] {
            let error = given_verifier(wrong).unwrap_err();
            assert_eq!(error.code(), ErrorCode::BadArgument, "{wrong:?}");
        }
        // Another system may have used the raw bytes.
        let (stored_key, server_key) = keys("a\nb".as_bytes(), &[1; 16], 4096);
        assert!(is_password("a\nb", &ScramVerifier { iterations: 4096, salt: vec![1; 16], stored_key, server_key }));
    }

    #[test]
    fn what_is_made_up_stays_and_differs() {
        let made_up = |secret: u8, name: &str| made_up_verifier(&[secret; 32], name);
        assert_eq!(made_up(1, "Ann"), made_up(1, "ann"));
        assert!(made_up(1, "ann").salt != made_up(2, "ann").salt && made_up(1, "ann").salt != made_up(1, "bob").salt);
        assert_eq!((made_up(1, "ann").salt.len(), made_up(1, "ann").iterations), (16, 4096));
    }
}
