//! TimeZone: values have no zone, so the zone of a session is UTC under one of its names.

use super::value::{Refusal, Value};

/// A name of UTC, as the zone database writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeZone(&'static str);

impl Default for TimeZone {
    fn default() -> Self {
        Self("UTC")
    }
}

/// The names of UTC in the zone database.
const NAMES: [&str; 18] = [
    "UTC",
    "Etc/UTC",
    "GMT",
    "Etc/GMT",
    "UCT",
    "Etc/UCT",
    "Zulu",
    "Etc/Zulu",
    "Universal",
    "Etc/Universal",
    "Greenwich",
    "Etc/Greenwich",
    "GMT0",
    "Etc/GMT0",
    "GMT+0",
    "GMT-0",
    "Etc/GMT+0",
    "Etc/GMT-0",
];

impl Value for TimeZone {
    fn show(&self) -> String {
        self.0.to_owned()
    }

    /// Reads a name of UTC in any case, and a distance of zero hours: `0`, `+00:00`.
    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let text = text.trim();
        if let Some(name) = NAMES.into_iter().find(|name| name.eq_ignore_ascii_case(text)) {
            self.0 = name;
            return Ok(());
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_distance = digits.starts_with(|c: char| c.is_ascii_digit());
        if is_distance && digits.bytes().all(|b| matches!(b, b'0' | b':' | b'.')) {
            *self = Self::default();
            return Ok(());
        }
        match text {
            "" => Err(Refusal::Takes("UTC".to_owned())),
            _ => Err(Refusal::NotSupported("values have no time zone, and the session's is UTC")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_utc_are_accepted() {
        for (text, shown) in
            [("utc", "UTC"), ("ETC/utc", "Etc/UTC"), ("0", "UTC"), ("-00:00", "UTC"), ("+0", "UTC"), ("gmt+0", "GMT+0")]
        {
            let mut zone = TimeZone("Zulu");
            zone.read(text).unwrap();
            assert_eq!(zone.show(), shown, "{text}");
        }
    }

    #[test]
    fn other_zones_are_refused_with_the_reason() {
        for text in ["Europe/Berlin", "EST5EDT", "+01", "1", "-05:30", "00:01", "local", "+", ":"] {
            let mut zone = TimeZone::default();
            assert!(matches!(zone.read(text), Err(Refusal::NotSupported(_))), "{text}");
            assert_eq!(zone, TimeZone::default());
        }
        assert!(matches!(TimeZone::default().read(" "), Err(Refusal::Takes(_))));
    }
}
