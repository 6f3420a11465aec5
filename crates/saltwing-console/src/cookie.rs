//! The cookie of a login. Its name has the port of the address: browsers send cookies of one port to all ports of a host.

use http::HeaderMap;
use http::header::{COOKIE, HOST, HeaderValue};

use crate::client::Client;
use crate::error::ConsoleError;
use crate::token::Token;

/// The name for requests to this host.
fn name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    match !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("saltwing-{port}"),
        false => "saltwing".to_owned(),
    }
}

/// The token that a request brings.
pub(crate) fn token(headers: &HeaderMap) -> Option<Token> {
    let name = name(headers);
    let texts = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| Token::parse(value))
}

/// The header that gives a browser its token, until the browser or the login ends; without a token, the one that takes it away.
///
/// # Errors
/// [`ConsoleError::Bug`].
pub(crate) fn header(headers: &HeaderMap, client: Client, token: Option<&Token>) -> Result<HeaderValue, ConsoleError> {
    let (value, age) = token.map_or(("", "; Max-Age=0"), |token| (token.as_str(), ""));
    let secure = if client.is_tls { "; Secure" } else { "" };
    let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{age}", name(headers));
    HeaderValue::try_from(text).map_err(|_| ConsoleError::Bug("a cookie is no header"))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use proptest::prelude::*;

    use super::{header, token};
    use crate::client::Client;
    use crate::token::Token;

    fn headers(host: &str, cookie: &str) -> HeaderMap {
        let value = |text: &str| http::HeaderValue::try_from(text).unwrap();
        HeaderMap::from_iter([(http::header::HOST, value(host)), (http::header::COOKIE, value(cookie))])
    }

    proptest! {
        /// A cookie comes back among others, and is that of its port alone.
        #[test]
        fn cookies_come_back(other in "[a-z]{1,8}=[a-z0-9]{0,9}", port in 1..9999_u16, is_tls: bool) {
            let (given, client) = (Token::random().unwrap(), Client { peer: None, is_tls });
            let host = format!("127.0.0.1:{port}");
            let set = header(&headers(&host, ""), client, Some(&given)).unwrap();
            let set = set.to_str().unwrap();
            prop_assert_eq!(set.contains("; Secure"), is_tls);
            prop_assert!(set.contains("; HttpOnly; SameSite=Strict"));
            let cookie = format!("{other}; {}", set.split(';').next().unwrap());
            prop_assert!(token(&headers(&host, &cookie)) == Some(given));
            let elsewhere = format!("127.0.0.1:{}", port + 1);
            prop_assert!(token(&headers(&elsewhere, &cookie)).is_none());
        }
    }
}
