//! Who sends a request: HTTP Basic authentication.
//!
//! A password is checked once, when a connection is opened, since that takes milliseconds. Every further request must bring the same
//! credentials; the id of a connection alone is none.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A name and a password as a client sends them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Credentials {
    /// The credentials in an `Authorization` header of the scheme Basic; `None` for other schemes and for a malformed header.
    pub(crate) fn of_header(header: &str) -> Option<Self> {
        let (scheme, encoded) = header.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (user, password) = decoded.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }

    /// Whether these are the other ones, in a time that does not depend on where they differ.
    fn are(&self, other: &Self) -> bool {
        let users = are_same(self.user.as_bytes(), other.user.as_bytes());
        users & are_same(self.password.as_bytes(), other.password.as_bytes())
    }
}

/// Whether a request comes from who opened the connection.
pub(crate) fn is_same_client(own: Option<&Credentials>, given: Option<&Credentials>) -> bool {
    match (own, given) {
        (Some(own), Some(given)) => own.are(given),
        (None, None) => true,
        _ => false,
    }
}

fn are_same(own: &[u8], given: &[u8]) -> bool {
    let difference = own.iter().zip(given).fold(0, |difference, (own, given)| difference | (own ^ given));
    (difference == 0) & (own.len() == given.len())
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::{Credentials, is_same_client};

    fn header(user: &str, password: &str) -> String {
        format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
    }

    #[test]
    fn a_header_gives_name_and_password() {
        // RFC 7617, section 2.
        let credentials = Credentials::of_header("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").unwrap();
        assert_eq!((credentials.user.as_str(), credentials.password.as_str()), ("Aladdin", "open sesame"));
        assert_eq!(Credentials::of_header(&header("ann", "a:b")).unwrap().password, "a:b");
        assert!(Credentials::of_header(&header("ann", "x").replace("Basic", "bAsIc")).is_some());
        for bad in ["", "Basic", "Basic !", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic QWxhZGRpbg==", "Basic /w=="] {
            assert!(Credentials::of_header(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_client_without_credentials_is_another_one() {
        let ann = Credentials::of_header(&header("ann", "x"));
        assert!(is_same_client(None, None));
        assert!(!is_same_client(ann.as_ref(), None));
        assert!(!is_same_client(None, ann.as_ref()));
    }

    proptest! {
        #[test]
        fn clients_are_the_same_if_name_and_password_are(
            (user, password) in ("[a-c]{0,3}", "[a-c]{0,3}"),
            (other_user, other_password) in ("[a-c]{0,3}", "[a-c]{0,3}"),
        ) {
            let (own, given) = (Credentials::of_header(&header(&user, &password)), Credentials::of_header(&header(&other_user, &other_password)));
            prop_assert_eq!(is_same_client(own.as_ref(), given.as_ref()), (user, password) == (other_user, other_password));
        }
    }
}
