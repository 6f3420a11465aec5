//! Date patterns of PostgreSQL's `to_char`: `YYYY-MM-DD HH24:MI:SS`.
//!
//! # Laws
//! 1. No pattern and no instant makes anything here panic.
//! 2. A pattern is one if it has a field, and no letters outside of fields and double quotes.

use crate::calendar::{DateField, JULIAN_DAY_OF_1970, civil_of};
use crate::calendar_names::{DAYS, MONTHS};
use crate::value::Timestamp;

/// A pattern, ready to write instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PgDatePattern {
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Text(char),
    Field(Field),
}

/// A field as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    /// In upper case.
    name: &'static str,
    letters: Letters,
    /// FM: without the zeros and blanks that make it longer.
    is_plain: bool,
    /// TH or th: with the ending of an ordinal number.
    ordinal: Option<Letters>,
}

/// How a field is written, and so its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letters {
    Upper,
    Capital,
    Lower,
}

/// The fields; one comes before another with which it begins.
const FIELDS: [&str; 46] = [
    "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "D", "FF1", "FF2", "FF3", "FF4", "FF5",
    "FF6", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J", "MI", "MM", "MONTH", "MON", "MS",
    "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS", "US", "WW", "W", "Y,YYY", "YYYY",
];
/// More of them.
const YEARS: [&str; 3] = ["YYY", "YY", "Y"];
/// Fields that are words, whose letters the pattern decides.
const WORDS: [&str; 5] = ["DAY", "DY", "MONTH", "MON", "RM"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
const MS_PER_DAY: i64 = 86_400_000;
const NAME_CHARS: usize = 9;

impl PgDatePattern {
    /// Reads a pattern; `None` if it is none.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let (mut items, mut rest, mut has_field) = (Vec::new(), pattern, false);
        while let Some(c) = rest.chars().next() {
            if let Some(quoted) = rest.strip_prefix('"') {
                let (text, after) = quoted.split_once('"')?;
                items.extend(text.chars().map(Item::Text));
                rest = after;
                continue;
            }
            let plain = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm"));
            match field(plain.unwrap_or(rest)) {
                Some((field, after)) => {
                    items.push(Item::Field(Field { is_plain: plain.is_some(), ..field }));
                    (rest, has_field) = (after, true);
                }
                None if c.is_alphabetic() => return None,
                None => {
                    items.push(Item::Text(c));
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        has_field.then_some(Self { items })
    }

    /// Whether a field is there that nobody writes for letters of another language: HH24, FF3, Day.
    pub(crate) fn has_field_of_its_own(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Text(_) => false,
            Item::Field(field) => {
                field.letters == Letters::Capital || field.name.contains(|c: char| c.is_ascii_digit())
            }
        })
    }

    /// The text of an instant, in UTC.
    pub(crate) fn format(&self, at: Timestamp) -> String {
        self.items.iter().fold(String::new(), |mut text, item| {
            match item {
                Item::Text(c) => text.push(*c),
                Item::Field(field) => text.push_str(&field.format(at)),
            }
            text
        })
    }
}

/// The field that a text begins with, and the text after it.
fn field(text: &str) -> Option<(Field, &str)> {
    let begins = |name: &&&str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let name = FIELDS.iter().chain(&YEARS).find(begins)?;
    let (written, rest) = text.split_at_checked(name.len())?;
    let is_upper = |text: &str| !text.chars().any(|c| c.is_ascii_lowercase());
    let is_lower = |text: &str| !text.chars().any(|c| c.is_ascii_uppercase());
    let letters = match written {
        written if is_upper(written) => Letters::Upper,
        written if is_lower(written) => Letters::Lower,
        written if WORDS.contains(name) && written.get(1..).is_some_and(is_lower) => Letters::Capital,
        _ => return None,
    };
    let (ordinal, rest) = match rest.get(..2) {
        Some("TH") => (Some(Letters::Upper), rest.get(2..)?),
        Some("th") => (Some(Letters::Lower), rest.get(2..)?),
        _ => (None, rest),
    };
    Some((Field { name, letters, is_plain: false, ordinal }, rest))
}

impl Field {
    fn format(&self, at: Timestamp) -> String {
        let of = |field: DateField| field.of(at);
        let date = civil_of(at.ms);
        // There is no year 0: before the year 1 comes the first one before Christ.
        let year_of_era = |year: i64| if year > 0 { year } else { 1 - year };
        let year = year_of_era(date.year);
        let second_of_day = at.ms.rem_euclid(MS_PER_DAY) / 1000;
        let nanos = at.ms.rem_euclid(1000) * 1_000_000 + i64::from(at.nanos);
        let hour = of(DateField::Hour);
        let name_of = |names: &[&'static str], place: i64| {
            usize::try_from(place).ok().and_then(|place| names.get(place)).copied().unwrap_or_default()
        };
        match self.name {
            "AM" | "PM" => self.word(if hour < 12 { "AM" } else { "PM" }, 0),
            "A.M." | "P.M." => self.word(if hour < 12 { "A.M." } else { "P.M." }, 0),
            "AD" | "BC" => self.word(if date.year > 0 { "AD" } else { "BC" }, 0),
            "A.D." | "B.C." => self.word(if date.year > 0 { "A.D." } else { "B.C." }, 0),
            "MONTH" => self.word(name_of(&MONTHS, date.month - 1), NAME_CHARS),
            "MON" => self.word(name_of(&MONTHS, date.month - 1).get(..3).unwrap_or_default(), 0),
            "DAY" => self.word(name_of(&DAYS, of(DateField::Dow)), NAME_CHARS),
            "DY" => self.word(name_of(&DAYS, of(DateField::Dow)).get(..3).unwrap_or_default(), 0),
            "RM" => self.word(name_of(&ROMAN, date.month - 1), 4),
            "Y,YYY" => self.ended(format!("{},{:03}", year / 1000, year % 1000), year),
            "YYYY" => self.number(year, 4),
            "YYY" => self.number(year % 1000, 3),
            "YY" => self.number(year % 100, 2),
            "Y" => self.number(year % 10, 1),
            "IYYY" => self.number(year_of_era(of(DateField::IsoYear)), 4),
            "IYY" => self.number(year_of_era(of(DateField::IsoYear)) % 1000, 3),
            "IY" => self.number(year_of_era(of(DateField::IsoYear)) % 100, 2),
            "I" => self.number(year_of_era(of(DateField::IsoYear)) % 10, 1),
            "CC" => self.number(of(DateField::Century), 2),
            "MM" => self.number(date.month, 2),
            "DDD" => self.number(of(DateField::DayOfYear), 3),
            "IDDD" => self.number((of(DateField::Week) - 1) * 7 + of(DateField::DayOfWeek), 3),
            "DD" => self.number(date.day, 2),
            "D" => self.number(of(DateField::Dow) + 1, 1),
            "ID" => self.number(of(DateField::DayOfWeek), 1),
            "W" => self.number((date.day - 1) / 7 + 1, 1),
            "WW" => self.number((of(DateField::DayOfYear) - 1) / 7 + 1, 2),
            "IW" => self.number(of(DateField::Week), 2),
            "Q" => self.number(of(DateField::Quarter), 1),
            "J" => self.number(at.ms.div_euclid(MS_PER_DAY) + JULIAN_DAY_OF_1970, 1),
            "HH" | "HH12" => self.number((hour + 11) % 12 + 1, 2),
            "HH24" => self.number(hour, 2),
            "MI" => self.number(of(DateField::Minute), 2),
            "SS" => self.number(of(DateField::Second), 2),
            "SSSS" | "SSSSS" => self.number(second_of_day, 1),
            "MS" | "FF3" => self.fraction(nanos, 3),
            "US" | "FF6" => self.fraction(nanos, 6),
            "FF1" => self.fraction(nanos, 1),
            "FF2" => self.fraction(nanos, 2),
            "FF4" => self.fraction(nanos, 4),
            _ => self.fraction(nanos, 5),
        }
    }

    fn word(&self, word: &str, chars: usize) -> String {
        let word = match self.letters {
            Letters::Upper => word.to_uppercase(),
            Letters::Lower => word.to_lowercase(),
            Letters::Capital => word.to_owned(),
        };
        if self.is_plain { word } else { format!("{word:<chars$}") }
    }

    fn number(&self, number: i64, digits: usize) -> String {
        let digits = if self.is_plain { 1 } else { digits };
        self.ended(format!("{number:0digits$}"), number)
    }

    fn fraction(&self, nanos: i64, digits: u32) -> String {
        let number = nanos / 10_i64.pow(9 - digits);
        let width = digits as usize;
        self.ended(format!("{number:0width$}"), number)
    }

    fn ended(&self, text: String, number: i64) -> String {
        let ending = match (number % 100, number % 10) {
            (11..=13, _) => "th",
            (_, 1) => "st",
            (_, 2) => "nd",
            (_, 3) => "rd",
            _ => "th",
        };
        match self.ordinal {
            None => text,
            Some(Letters::Upper) => text + &ending.to_uppercase(),
            Some(_) => text + ending,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns() {
        let at = crate::datetime::parse("2024-05-05 03:04:05.678901").unwrap();
        let shown = |pattern: &str| PgDatePattern::parse(pattern).map(|pattern| pattern.format(at));
        for (pattern, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.US", "2024-05-05 03:04:05.678901"),
            ("Day, DDth Month YYYY", "Sunday   , 05th May       2024"),
            ("FMDay, FMDDth FMMonth", "Sunday, 5th May"),
            ("DY Mon mon MON rm RM", "SUN May may MAY v    V   "),
            ("HH:MI A.M. pm", "03:04 A.M. am"),
            ("Y,YYY \"Y is\" CC Q W WW IW ID D J", "2,024 Y is 21 2 1 18 18 7 1 2460436"),
        ] {
            assert_eq!(shown(pattern).as_deref(), Some(expected), "{pattern}");
        }
        for none in ["", "--", "YYYY T", "yyyyx", "\"YYYY"] {
            assert_eq!(shown(none), None, "{none}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases))]

        #[test]
        fn nothing_makes_it_panic(pattern in "[YMDHISQWJ,.: \"AaPpéthFMfm0-9]{0,12}", ms in any::<i64>()) {
            if let Some(pattern) = PgDatePattern::parse(&pattern) {
                let _ = pattern.format(Timestamp { ms: ms / 2, nanos: 999_999 });
            }
        }
    }
}
