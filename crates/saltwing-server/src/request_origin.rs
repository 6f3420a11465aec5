//! Which requests may come from a browser: those of pages that this server sent.
//!
//! A page of another site can make its visitor's browser send requests to an address that only the visitor reaches, such as one of loopback. Two rules keep it from data:
//!
//! 1. The `Host` of a request is an address, `localhost`, or a name of `--http-host`. The owner of any other name could let it point to this server ("DNS rebinding"),
//!    so that pages under that name would count as pages of this server. An address cannot be pointed elsewhere.
//! 2. A request with an `Origin` comes from a page of the same host, and one that a page of another site makes (`Sec-Fetch-Site`) only follows a link.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode, Version, header};

use crate::option_value::HostNames;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Why a request is refused: the status and the text of the answer.
pub(crate) type Refused = (StatusCode, &'static str);

const NO_HOST: Refused = (StatusCode::BAD_REQUEST, "the request has no Host, or more than one\n");
const FOREIGN_HOST: Refused = (
    StatusCode::MISDIRECTED_REQUEST,
    "the Host of the request is no address and no name of this server: start the server with --http-host NAME\n",
);
const FOREIGN_ORIGIN: Refused = (StatusCode::FORBIDDEN, "the request comes from a page of another site\n");

/// Checks both rules for a request.
///
/// # Errors
/// The answer to a request that breaks one.
pub(crate) fn check<B>(request: &Request<B>, names: &HostNames) -> Result<(), Refused> {
    let host = host(request)?;
    let Some(host) = host else { return check_site(request.method(), request.headers(), None) };
    if !is_own(&host, names) || request.uri().authority().is_some_and(|authority| !is_own(authority, names)) {
        return Err(FOREIGN_HOST);
    }
    check_site(request.method(), request.headers(), Some(&host))
}

/// Checks that no page of a browser sent a request. A browser names the page's origin in every POST, and drivers name none.
///
/// # Errors
/// The answer to a request of a page.
pub(crate) fn check_no_page(headers: &HeaderMap) -> Result<(), Refused> {
    match headers.contains_key(header::ORIGIN) || headers.contains_key(SEC_FETCH_SITE) {
        true => Err(FOREIGN_ORIGIN),
        false => Ok(()),
    }
}

/// The host of the request. HTTP/1.0 knows requests without one, and no browser sends them.
fn host<B>(request: &Request<B>) -> Result<Option<Authority>, Refused> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => Authority::try_from(host.as_bytes()).map(Some).map_err(|_| NO_HOST),
        (None, None) if request.version() == Version::HTTP_10 => Ok(None),
        _ => Err(NO_HOST),
    }
}

fn is_own(authority: &Authority, names: &HostNames) -> bool {
    let host = authority.host().to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let is_bracketed = |host: &str| {
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok())
    };
    !authority.as_str().contains('@')
        && (host == "localhost"
            || host.parse::<std::net::Ipv4Addr>().is_ok()
            || is_bracketed(host)
            || names.0.iter().any(|name| name == host))
}

fn check_site(method: &Method, headers: &HeaderMap, host: Option<&Authority>) -> Result<(), Refused> {
    for origin in headers.get_all(header::ORIGIN) {
        let authority =
            origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
        let is_same =
            authority.zip(host).is_some_and(|(authority, host)| authority.eq_ignore_ascii_case(host.as_str()));
        if !is_same {
            return Err(FOREIGN_ORIGIN);
        }
    }
    let follows_link = *method == Method::GET && headers.get(SEC_FETCH_MODE).is_some_and(|mode| mode == "navigate");
    match headers.get(SEC_FETCH_SITE) {
        Some(site) if site != "same-origin" && site != "none" && !follows_link => Err(FOREIGN_ORIGIN),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, Request, StatusCode, Version};
    use proptest::prelude::*;

    use super::{check, check_no_page};
    use crate::option_value::HostNames;

    fn names() -> HostNames {
        "db.example.org".parse().unwrap()
    }

    /// The status of the refusal of a request with these headers; 200 if it is none.
    fn status(uri: &str, headers: &[(&str, &str)]) -> u16 {
        let builder =
            headers.iter().fold(Request::builder().uri(uri), |builder, (name, value)| builder.header(*name, *value));
        let request = builder.body(()).unwrap();
        check(&request, &names()).map_or_else(|(status, _)| status, |()| StatusCode::OK).as_u16()
    }

    #[test]
    fn hosts_are_addresses_and_own_names() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "127.0.0.1:8080",
            "10.1.2.3",
            "[::1]:8080",
            "[::1]",
            "DB.example.org:80",
        ] {
            assert_eq!(status("/metrics", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "example.org",
            "127.0.0.1.example.org",
            "localhost.example.org",
            "sub.db.example.org",
            "user@localhost",
            "[x]",
            "0x7f000001",
        ] {
            assert_ne!(status("/metrics", &[("host", host)]), 200, "{host}");
        }
        assert_eq!(status("/", &[]), 400);
        assert_eq!(status("/", &[("host", "localhost"), ("host", "localhost")]), 400);
        assert_eq!(status("http://example.org/", &[("host", "localhost")]), 421);
        let old = Request::builder().version(Version::HTTP_10).uri("/healthz").body(()).unwrap();
        assert_eq!(check(&old, &names()), Ok(()));
    }

    #[test]
    fn pages_are_of_the_same_host() {
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(status("/", &[host, ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-origin")]), 200);
        for origin in ["http://127.0.0.1:8081", "http://example.org", "null", "127.0.0.1:8080", ""] {
            assert_eq!(status("/", &[host, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(status("/", &[host, ("origin", "http://127.0.0.1:8080"), ("origin", "http://example.org")]), 403);
        for site in ["cross-site", "same-site", "other"] {
            assert_eq!(status("/", &[host, ("sec-fetch-site", site)]), 403, "{site}");
            assert_eq!(status("/", &[host, ("sec-fetch-site", site), ("sec-fetch-mode", "navigate")]), 200, "{site}");
        }
        let post = Request::builder().method(Method::POST).uri("/").header("host", "localhost");
        let post = post.header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate").body(()).unwrap();
        assert!(check(&post, &names()).is_err());
    }

    #[test]
    fn drivers_are_no_pages() {
        let page = Request::builder().header("origin", "http://127.0.0.1:8765").body(()).unwrap();
        assert!(check_no_page(page.headers()).is_err());
        let fetch = Request::builder().header("sec-fetch-site", "same-origin").body(()).unwrap();
        assert!(check_no_page(fetch.headers()).is_err());
        assert!(check_no_page(Request::builder().header("host", "db").body(()).unwrap().headers()).is_ok());
    }

    proptest! {
        /// A name that can be bought is never a host of this server, unless the operator says so.
        #[test]
        fn names_of_others_are_refused(label in "[a-z0-9-]{1,12}", top in "[a-z]{2,6}", port in any::<u16>()) {
            let name = format!("{label}.{top}");
            prop_assume!(name != "db.example.org");
            prop_assert_ne!(status("/", &[("host", &name)]), 200);
            prop_assert_ne!(status("/", &[("host", &format!("{name}:{port}"))]), 200);
            prop_assert_ne!(status("/", &[("host", &format!("127.0.0.1.{name}"))]), 200);
        }

        #[test]
        fn addresses_are_hosts(address in any::<std::net::IpAddr>(), port in any::<u16>()) {
            let host = std::net::SocketAddr::new(address, port).to_string();
            prop_assert_eq!(status("/", &[("host", &host)]), 200);
        }

        /// Only the origin of the very host is the same origin.
        #[test]
        fn other_origins_are_refused(origin in "[ -~]{0,40}") {
            prop_assume!(!origin.ends_with("://localhost:8080"));
            prop_assert_eq!(status("/", &[("host", "localhost:8080"), ("origin", &origin)]), 403);
        }
    }
}
