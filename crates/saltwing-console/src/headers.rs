//! Headers that every answer has.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};

/// The page may use its own files and calls, and nothing else; no other page may show it in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'self'";

/// Headers by which a browser protects the page.
const PROTECTION: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (http::header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds what protects the page. An answer that says nothing of its keeping is not kept.
pub(crate) fn protect(headers: &mut HeaderMap) {
    for (name, value) in PROTECTION {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// An answer of one line.
pub(crate) fn text(status: StatusCode, line: &'static str) -> Response<Bytes> {
    with_body(status, "text/plain; charset=utf-8", Bytes::from_static(line.as_bytes()))
}

/// An answer with a body of this type.
pub(crate) fn with_body(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The answer to another method than these.
pub(crate) fn not_allowed(methods: &'static str) -> Response<Bytes> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "this path has no such method\n");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}
