//! What stands in the texts of exceptions.

use std::time::Duration;

use crate::address::Address;

/// The most bytes of a server's text that an error keeps: a stack trace may be long.
const TEXT_BYTES_MAX: usize = 2048;

/// The first [`TEXT_BYTES_MAX`] bytes of a text.
pub(super) fn shortened(text: &str) -> String {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// The place in a text such as `Region moved to: hostname=h port=16020 startCode=1.`.
pub(super) fn moved_place(text: &str) -> Option<Address> {
    let after = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        rest.split([' ', ',', '\n', '.']).next().filter(|part| !part.is_empty())
    };
    let (_, host) = text.split_once("hostname=")?;
    let host = host.split([' ', ',', '\n']).next().filter(|host| !host.is_empty())?;
    Some(Address::new(host, after("port=")?.parse().ok()?))
}

/// A time such as `1mins, 2sec, 10ms` or `2sec, 10ms`; its parts may be missing.
pub(super) fn parse_wait(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = part[..digits].parse().ok()?;
        sum += match &part[digits..] {
            "ms" | "ms." => Duration::from_millis(number.min(600_000)),
            "sec" | "secs" => Duration::from_secs(number.min(600)),
            "mins" | "min" => Duration::from_secs(number.min(10) * 60),
            _ => return None,
        };
    }
    Some(sum)
}
