//! Values of options: their text, and back.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::time::Duration;

/// The port of a listener: a number, 0 for a free one, `off` for no listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// This listener is left out.
    Off,
    /// This port; 0 lets the system choose a free one.
    Number(u16),
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            _ => text
                .parse()
                .map(Self::Number)
                .map_err(|_| "a port from 0 to 65535, where 0 chooses a free one, or off".to_owned()),
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => out.write_str("off"),
            Self::Number(port) => port.fmt(out),
        }
    }
}

/// Units of times by name, with their milliseconds, the longest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];

/// A time, such as `500ms`, `30s`, `10min`, `2h`. A number without a unit is milliseconds, as in `SET statement_timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(
    /// The time, in whole milliseconds.
    pub Duration,
);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
        let unit_ms = match unit.trim() {
            "" => Some(1),
            unit => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ms)| *ms),
        };
        let ms = unit_ms.and_then(|unit_ms| number.parse::<u64>().ok()?.checked_mul(unit_ms));
        ms.map(|ms| Self(Duration::from_millis(ms))).ok_or_else(|| "a time, such as 500ms, 30s, 10min or 2h".to_owned())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        let fits = |unit_ms: u64| ms > 0 && ms.is_multiple_of(u128::from(unit_ms));
        match UNITS.iter().find(|(_, unit_ms)| fits(*unit_ms)) {
            Some((name, unit_ms)) => write!(out, "{}{name}", ms / u128::from(*unit_ms)),
            None => out.write_str("0ms"),
        }
    }
}

/// A limit of a time: as [`Time`], and `off` or 0 for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(
    /// `None` is no limit.
    pub Option<Duration>,
);

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let Time(time) = text.parse().map_err(|error| format!("{error}, or off"))?;
        Ok(Self((!time.is_zero()).then_some(time)))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => Time(time).fmt(out),
            None => out.write_str("off"),
        }
    }
}

/// From how many milliseconds on a statement is slow; 0 makes every statement slow, `off` none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowMs(
    /// `None` is never.
    pub Option<u64>,
);

impl FromStr for SlowMs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self(None)),
            _ => text.parse().map(|ms| Self(Some(ms))).map_err(|_| "milliseconds, or off".to_owned()),
        }
    }
}

impl fmt::Display for SlowMs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(ms) => ms.fmt(out),
            None => out.write_str("off"),
        }
    }
}

/// The longest message: from 64 kB, which every driver's login fits into, to 1 GB, the most that PostgreSQL's protocol can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSize(
    /// In bytes.
    pub usize,
);

const KB: usize = 1 << 10;
const MESSAGE_BYTES: std::ops::RangeInclusive<usize> = 64 * KB..=1 << 30;

impl FromStr for MessageSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = saltwing::parse_bytes(text).and_then(|bytes| usize::try_from(bytes).ok());
        bytes
            .filter(|bytes| MESSAGE_BYTES.contains(bytes))
            .map(Self)
            .ok_or_else(|| "a number of bytes from 64kB to 1GB, such as 64MB".to_owned())
    }
}

impl fmt::Display for MessageSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", KB)];
        match units.iter().find(|(_, bytes)| self.0 > 0 && self.0.is_multiple_of(*bytes)) {
            Some((name, bytes)) => write!(out, "{}{name}", self.0 / bytes),
            None => self.0.fmt(out),
        }
    }
}

/// Names of this machine, separated by commas: `db.example.org,db`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames(
    /// In lower case, without ports.
    pub Vec<String>,
);

impl FromStr for HostNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |name: &str| {
            let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
            !name.is_empty() && name.len() <= 253 && name.bytes().all(is_name_byte)
        };
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
        match names.iter().all(|name| is_name(name)) {
            true => Ok(Self(names)),
            false => Err("names of this machine without ports, separated by commas".to_owned()),
        }
    }
}

/// Reads the address to listen on: an address of IP, or `localhost`.
pub(crate) fn listen_address(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        _ => text.parse().map_err(|_| "an address such as 127.0.0.1, 0.0.0.0 or ::".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{HostNames, MessageSize, Port, SlowMs, Time, TimeLimit, listen_address};

    #[test]
    fn times_have_units() {
        let ms = |text: &str| text.parse::<Time>().map(|time| time.0.as_millis());
        assert_eq!(
            ["250", "500ms", "30s", "10 min", "2h", "0"].map(|text| ms(text).unwrap()),
            [250, 500, 30_000, 600_000, 7_200_000, 0]
        );
        for bad in ["", "s", "-1s", "1.5s", "1d", "99999999999999999999", "18446744073709551615h", "off"] {
            assert!(ms(bad).is_err(), "{bad}");
        }
        assert_eq!(["off", "0", "0s"].map(|text| text.parse::<TimeLimit>().unwrap().0), [None; 3]);
        assert_eq!("1s".parse::<TimeLimit>().unwrap().0, Some(Duration::from_secs(1)));
    }

    #[test]
    fn ports_and_thresholds_can_be_off() {
        assert_eq!(
            ["off", "0", "65535"].map(|text| text.parse::<Port>().unwrap()),
            [Port::Off, Port::Number(0), Port::Number(65535)]
        );
        assert_eq!(["off", "0", "20"].map(|text| text.parse::<SlowMs>().unwrap().0), [None, Some(0), Some(20)]);
        for bad in ["", "65536", "-1", "on", "pg"] {
            assert!(bad.parse::<Port>().is_err() && bad.parse::<SlowMs>().is_err() == (bad != "65536"), "{bad}");
        }
    }

    #[test]
    fn sizes_of_messages_have_bounds() {
        assert_eq!(
            ["64kB", "1 GB", "65537"].map(|text| text.parse::<MessageSize>().unwrap().0),
            [1 << 16, 1 << 30, 65_537]
        );
        for bad in ["63kB", "2GB", "", "much"] {
            assert!(bad.parse::<MessageSize>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_and_addresses_are_checked() {
        assert_eq!("DB.example.org, db".parse::<HostNames>().unwrap().0, ["db.example.org", "db"]);
        for bad in ["", "a,,b", "db:8080", "http://db", "*"] {
            assert!(bad.parse::<HostNames>().is_err(), "{bad}");
        }
        assert_eq!(["localhost", "::1"].map(|text| listen_address(text).unwrap().to_string()), ["127.0.0.1", "::1"]);
        for bad in ["", "127.0.0.1:5433", "db.example.org"] {
            assert!(listen_address(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        /// The help shows defaults as text: it can be given back.
        #[test]
        fn what_is_shown_is_read_back(ms in any::<u64>(), port in any::<u16>(), bytes in 65_536_usize..=1 << 30) {
            let time = Time(Duration::from_millis(ms));
            prop_assert_eq!(time.to_string().parse::<Time>(), Ok(time));
            let limit = TimeLimit((ms > 0).then_some(time.0));
            prop_assert_eq!(limit.to_string().parse::<TimeLimit>(), Ok(limit));
            prop_assert_eq!(Port::Number(port).to_string().parse::<Port>(), Ok(Port::Number(port)));
            prop_assert_eq!(MessageSize(bytes).to_string().parse::<MessageSize>(), Ok(MessageSize(bytes)));
            prop_assert_eq!(SlowMs(Some(ms)).to_string().parse::<SlowMs>(), Ok(SlowMs(Some(ms))));
        }
    }
}
