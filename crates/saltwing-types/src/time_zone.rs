//! Time zones by name: those of the IANA database, and fixed offsets.

use chrono::{DateTime, Offset, TimeDelta, TimeZone as _};

use crate::error::shorten;
use crate::{ValueError, datetime};

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeZone {
    /// So many minutes east of Greenwich.
    Fixed(i64),
    /// Offsets that change, by place.
    Place(chrono_tz::Tz),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self::Fixed(0);

    /// The zone of a name such as `Europe/Berlin`, `UTC`, `+02:00` or `GMT+2`.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`].
    pub fn by_name(name: &str) -> Result<Self, ValueError> {
        let offset = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC")).unwrap_or(name);
        // Java writes GMT+2 as well as GMT+02:00.
        let padded = match offset.as_bytes() {
            [sign @ (b'+' | b'-'), hour] => format!("{}0{}", char::from(*sign), char::from(*hour)),
            _ => offset.to_owned(),
        };
        match (name.is_empty(), datetime::parse_offset(&padded), name.parse()) {
            (false, Some(minutes), _) => Ok(Self::Fixed(minutes)),
            (_, _, Ok(place)) => Ok(Self::Place(place)),
            _ => {
                let name = shorten(name);
                Err(ValueError::BadArgument(format!("'{name}' is no time zone such as 'Europe/Berlin' or '+02:00'")))
            }
        }
    }

    /// Milliseconds by which the zone's clocks are ahead of UTC at an instant.
    ///
    /// # Errors
    /// [`ValueError::DatetimeOverflow`] for an instant that cannot be written.
    pub fn offset_ms(self, at_ms: i64) -> Result<i64, ValueError> {
        match self {
            Self::Fixed(minutes) => Ok(minutes * 60_000),
            Self::Place(place) => {
                let at = DateTime::from_timestamp_millis(at_ms).ok_or_else(|| beyond_calendar(at_ms))?;
                Ok(i64::from(at.with_timezone(&place).offset().fix().local_minus_utc()) * 1000)
            }
        }
    }

    /// The instant at which the zone's clocks show a time, as in PostgreSQL: of a time that comes twice the second one; a time that is
    /// skipped is moved by the length of the gap.
    ///
    /// # Errors
    /// As [`Self::offset_ms`].
    pub fn instant_of(self, local_ms: i64) -> Result<i64, ValueError> {
        let offset_ms = match self {
            Self::Fixed(minutes) => minutes * 60_000,
            Self::Place(place) => {
                let local = DateTime::from_timestamp_millis(local_ms).ok_or_else(|| beyond_calendar(local_ms))?;
                // Before a gap the zone has the offset by which a time in the gap is read.
                let before = |steps| local.naive_utc().checked_sub_signed(GAP_STEP * steps);
                let offset = (0..=GAP_STEPS)
                    .find_map(|steps| place.offset_from_local_datetime(&before(steps)?).latest())
                    .ok_or_else(|| beyond_calendar(local_ms))?;
                i64::from(offset.fix().local_minus_utc()) * 1000
            }
        };
        Ok(local_ms.saturating_sub(offset_ms))
    }
}

/// No gap of a zone's clocks is longer than a day.
const GAP_STEP: TimeDelta = TimeDelta::minutes(15);
const GAP_STEPS: i32 = 97;

fn beyond_calendar(ms: i64) -> ValueError {
    ValueError::DatetimeOverflow { value: datetime::format_date(ms), target: "the calendar".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_seasons() {
        let berlin = TimeZone::by_name("Europe/Berlin").unwrap();
        let at = |text: &str| datetime::parse(text).unwrap().ms;
        let hour = 3_600_000;
        assert_eq!(berlin.offset_ms(at("2024-01-15 12:00")).unwrap(), hour);
        assert_eq!(berlin.offset_ms(at("2024-07-15 12:00")).unwrap(), 2 * hour);
        assert_eq!(berlin.instant_of(at("2024-07-15 12:00")).unwrap(), at("2024-07-15 10:00"));
        assert_eq!(berlin.instant_of(at("2024-03-31 01:59")).unwrap(), at("2024-03-31 00:59"));
        assert_eq!(berlin.instant_of(at("2024-03-31 03:00")).unwrap(), at("2024-03-31 01:00"));
        assert_eq!(berlin.instant_of(at("2024-10-27 01:30")).unwrap(), at("2024-10-26 23:30"));
        assert!(berlin.offset_ms(i64::MAX).is_err() && berlin.instant_of(i64::MAX).is_err());
    }

    #[test]
    fn times_that_come_twice_or_never() {
        for (zone, local, instant) in [
            ("Europe/Berlin", "2024-10-27 02:30", "2024-10-27 01:30"),
            ("Europe/Berlin", "2024-03-31 02:30", "2024-03-31 01:30"),
            ("America/New_York", "2024-11-03 01:30", "2024-11-03 06:30"),
            ("America/New_York", "2024-03-10 02:30", "2024-03-10 07:30"),
            // No December 30: the clocks went on by a day.
            ("Pacific/Apia", "2011-12-30 12:00", "2011-12-30 22:00"),
        ] {
            let at = |text: &str| datetime::parse(text).unwrap().ms;
            assert_eq!(TimeZone::by_name(zone).unwrap().instant_of(at(local)), Ok(at(instant)), "{local} {zone}");
        }
    }

    #[test]
    fn names_of_zones() {
        for (name, minutes) in [("UTC", 0), ("GMT", 0), ("Z", 0), ("+02:00", 120), ("GMT-3", -180), ("UTC+0530", 330)] {
            assert_eq!(TimeZone::by_name(name), Ok(TimeZone::Fixed(minutes)), "{name}");
        }
        for name in ["", "Europe/Nowhere", "berlin", "+2x", "GMT+99"] {
            assert!(TimeZone::by_name(name).is_err(), "{name}");
        }
    }
}
