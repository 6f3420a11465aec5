//! Lengths of time in milliseconds, as PostgreSQL reads and shows them.

use std::time::Duration;

use super::value::{Refusal, Value};

/// A limit of time; zero is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeout {
    ms: u32,
}

/// The largest limit, as in PostgreSQL: some 24 days.
const MS_MAX: u32 = i32::MAX as u32;

/// The units with their milliseconds, the longest first.
const UNITS: [(&str, u32); 5] = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];

impl Timeout {
    /// The limit; `None` if there is none.
    pub(crate) fn limit(self) -> Option<Duration> {
        (self.ms > 0).then(|| Duration::from_millis(self.ms.into()))
    }
}

impl From<Option<Duration>> for Timeout {
    /// A limit below a millisecond becomes one millisecond, and one beyond the largest becomes the largest.
    fn from(limit: Option<Duration>) -> Self {
        let Some(limit) = limit else { return Self { ms: 0 } };
        Self { ms: u32::try_from(limit.as_millis()).unwrap_or(MS_MAX).clamp(1, MS_MAX) }
    }
}

impl Value for Timeout {
    fn show(&self) -> String {
        let whole = |(_, unit_ms): &&(&str, u32)| self.ms.is_multiple_of(*unit_ms);
        match UNITS.iter().find(whole) {
            Some((unit, unit_ms)) if self.ms > 0 => format!("{}{unit}", self.ms / unit_ms),
            _ => "0".to_owned(),
        }
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let takes =
            || Refusal::Takes(format!("milliseconds up to {MS_MAX}, or a time such as '5s' or '2min'; 0 is no limit"));
        self.ms = milliseconds(text.trim()).ok_or_else(takes)?;
        Ok(())
    }
}

/// `5000`, `5s`, `1.5 min`; fractions of a millisecond are rounded.
fn milliseconds(text: &str) -> Option<u32> {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(number_end)?;
    let number = number.parse::<f64>().ok()?;
    let unit_ms = match unit.trim_start() {
        "" => 1.0,
        "us" => 0.001,
        unit => f64::from(UNITS.iter().find(|(name, _)| *name == unit)?.1),
    };
    let ms = (number * unit_ms).round();
    // In this range a float of no fraction is an integer of 32 bits.
    (0.0..=f64::from(MS_MAX)).contains(&ms).then_some(ms as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, ms, shown) in [
            ("0", 0, "0"),
            ("250", 250, "250ms"),
            ("5000", 5000, "5s"),
            (" 5 s ", 5000, "5s"),
            ("1.5s", 1500, "1500ms"),
            ("2min", 120_000, "2min"),
            ("90min", 5_400_000, "90min"),
            ("24h", 86_400_000, "1d"),
            ("1500us", 2, "2ms"),
            ("2147483647", 2_147_483_647, "2147483647ms"),
        ] {
            let mut timeout = Timeout::default();
            timeout.read(text).unwrap();
            assert_eq!((timeout.ms, timeout.show().as_str()), (ms, shown), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "s", "-1", "5 S", "5m", "1e3", "2147483648", "25d", "nan", "1.2.3", "0x10", "5s6"] {
            let mut timeout = Timeout { ms: 7 };
            assert!(matches!(timeout.read(text), Err(Refusal::Takes(_))), "{text}");
            assert_eq!(timeout.ms, 7);
        }
    }

    #[test]
    fn a_limit_never_becomes_no_limit() {
        assert_eq!(Timeout::from(Some(Duration::from_nanos(1))).ms, 1);
        assert_eq!(Timeout::from(Some(Duration::MAX)).ms, MS_MAX);
        assert_eq!(Timeout::from(None).limit(), None);
    }
}
