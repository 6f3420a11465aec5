//! Requests of HTTP, right and broken.

use crate::random::Random;

/// The header of who logs in at the servers of these tests: tester, correct-horse.
const RIGHT: &str = "Authorization: Basic dGVzdGVyOmNvcnJlY3QtaG9yc2U=\r\n";
/// Headers that are wrong or unusual.
const ODD_HEADERS: &[&str] = &[
    "Authorization: Basic !!!!\r\n",
    "Authorization: Bearer x\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Host: evil.example\r\n",
    "Content-Encoding: gzip\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Upgrade: h2c\r\n",
    "Origin: http://evil.example\r\n",
    "X: \x01\x7f\r\n",
    " folded\r\n",
    "Cookie: saltwing=x; saltwing=y\r\n",
    "Content-Length: 0\r\n",
    "No-Colon\r\n",
    "Range: bytes=0-1\r\n",
    "Accept-Encoding: br\r\n",
];
const LENGTHS: &[&str] =
    &["0", "1", "-1", "99999999999999999999", "9223372036854775807", "1e3", "", "0x10", "67108864", "3, 3"];
const METHODS: &[&str] = &["GET", "PUT", "OPTIONS", "post", "POST\0", "CONNECT", "HEAD", "DELETE"];

/// How a request comes.
pub struct Request<'a> {
    /// Such as `/`.
    pub path: &'a str,
    /// Further headers, each with its end of line.
    pub headers: &'a str,
    /// Whether the right name and password come with it.
    pub has_password: bool,
    /// The body.
    pub body: &'a [u8],
}

/// A request with the right framing.
pub fn request(random: &mut Random, request: &Request<'_>) -> Vec<u8> {
    let Request { path, headers, body, .. } = request;
    let login = if request.has_password { RIGHT } else { "" };
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{login}{headers}");
    match random.one_in(4) {
        true => [head.as_bytes(), b"Transfer-Encoding: chunked\r\n\r\n", &chunked(random, body)].concat(),
        false => [head.as_bytes(), format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat(),
    }
}

/// The last request of a connection: the server answers it, and ends the connection.
pub fn last_request() -> Vec<u8> {
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".to_vec()
}

/// A request that is wrong or unusual in one of many ways.
pub fn odd_request(random: &mut Random, right: &Request<'_>) -> Vec<u8> {
    let Request { path, headers, body, .. } = right;
    let odd = random.text_of(ODD_HEADERS);
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{RIGHT}{headers}{odd}");
    match random.below(9) {
        0 => {
            [head.as_bytes(), format!("Content-Length: {}\r\n\r\n", random.text_of(LENGTHS)).as_bytes(), body].concat()
        }
        1 => [head.as_bytes(), b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", &chunked(random, body)]
            .concat(),
        2 => format!(
            "{} {path} HTTP/{}\r\n{odd}\r\n",
            random.text_of(METHODS),
            random.text_of(&["1.0", "1.1", "2", "9.9"])
        )
        .into_bytes(),
        3 => [
            head.as_bytes(),
            b"Transfer-Encoding: chunked\r\n\r\n",
            random.text_of(&["ffffffffffffffff\r\n", "-1\r\n", "zz\r\n", "5;x=", "\r\n"]).as_bytes(),
            body,
        ]
        .concat(),
        4 => format!(
            "POST /{} HTTP/1.1\r\nHost: x\r\n{}\r\n",
            "%00../".repeat(random.index(3000)),
            "A: b\r\n".repeat(random.index(500))
        )
        .into_bytes(),
        5 => [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &random.bytes(200)].concat(),
        6 => [head.as_bytes(), b"Content-Length: 60000000\r\n\r\n", body].concat(),
        _ => {
            let (headers, has_password) = (format!("{headers}{odd}"), random.one_in(2));
            request(random, &Request { path, headers: &headers, has_password, body })
        }
    }
}

/// A body in chunks.
fn chunked(random: &mut Random, mut body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !body.is_empty() {
        let (chunk, rest) = body.split_at(random.index(body.len()).max(1));
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
        body = rest;
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Request, chunked, request};
    use crate::random::Random;

    #[test]
    fn chunks_are_the_body() {
        let text = String::from_utf8(chunked(&mut Random::new(4), b"abcdefgh")).unwrap();
        let chunks: String = text.split("\r\n").skip(1).step_by(2).collect();
        assert!(text.ends_with("0\r\n\r\n") && chunks == "abcdefgh", "{text}");
        let right = Request { path: "/", headers: "", has_password: true, body: b"x" };
        assert!((0..50).all(|seed| request(&mut Random::new(seed), &right).starts_with(b"POST / HTTP/1.1\r\nHost: ")));
    }
}
