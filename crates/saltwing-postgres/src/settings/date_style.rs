//! DateStyle: dates are written in ISO form, and the order of day and month is kept for clients that show it.

use super::value::{Refusal, Value};

/// The order in which a client writes the parts of a date.
///
/// Saltwing reads dates of the form `yyyy-MM-dd` alone, in which the order cannot be mistaken. So the order changes nothing;
/// SHOW and the report to the client have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

const NOT_ISO: Refusal = Refusal::NotSupported("dates and times are written in ISO form");

impl Value for DateOrder {
    fn show(&self) -> String {
        match self {
            Self::Mdy => "ISO, MDY",
            Self::Dmy => "ISO, DMY",
            Self::Ymd => "ISO, YMD",
        }
        .to_owned()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let mut order = *self;
        for word in text.split(',') {
            let word = word.trim().to_ascii_lowercase();
            order = match word.as_str() {
                "iso" => order,
                "mdy" | "us" => Self::Mdy,
                "dmy" => Self::Dmy,
                "ymd" => Self::Ymd,
                "default" => Self::default(),
                word if word.starts_with("noneuro") => Self::Mdy,
                word if word.starts_with("euro") => Self::Dmy,
                "sql" | "german" => return Err(NOT_ISO),
                word if word.starts_with("postgres") => return Err(NOT_ISO),
                _ => return Err(Refusal::Takes("ISO with MDY, DMY or YMD".to_owned())),
            };
        }
        *self = order;
        Ok(())
    }

    fn assign(&mut self, values: &[&str]) -> Result<(), Refusal> {
        self.read(&values.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_iso_and_the_order_is_kept() {
        for (text, shown) in [
            ("ISO", "ISO, DMY"),
            ("iso, mdy", "ISO, MDY"),
            ("YMD", "ISO, YMD"),
            ("European", "ISO, DMY"),
            ("NonEuropean,ISO", "ISO, MDY"),
            ("default", "ISO, MDY"),
        ] {
            let mut order = DateOrder::Dmy;
            order.read(text).unwrap();
            assert_eq!(order.show(), shown, "{text}");
        }
        for (text, is_known) in [("SQL, DMY", true), ("German", true), ("Postgres", true), ("", false), ("ISO;", false)]
        {
            let mut order = DateOrder::Ymd;
            let refusal = order.read(text).unwrap_err();
            assert_eq!((refusal == NOT_ISO, order), (is_known, DateOrder::Ymd), "{text}");
        }
    }
}
