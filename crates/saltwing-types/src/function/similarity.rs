//! How alike two texts are.

use std::collections::HashSet;

use super::signature::{VARCHAR, text};
use super::{ResultType, ScalarFunction, Signature};
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&HAMMING, &JACCARD, &SOUNDEX];

static HAMMING: ScalarFunction = ScalarFunction::new(
    "HAMMING",
    &[Signature::new(&[text("text"), text("other")], ResultType::Is(SqlType::BigInt))],
    |args| {
        let (text, other) = (args.text(0)?, args.text(1)?);
        if text.chars().count() != other.chars().count() {
            return Err(args.refused("both texts have the same length"));
        }
        Ok(Value::Int(text.chars().zip(other.chars()).filter(|(a, b)| a != b).count() as i64))
    },
)
.gives("At how many places two texts of one length differ.")
.example("HAMMING('karolin', 'kathrin')", "3");

static JACCARD: ScalarFunction = ScalarFunction::new(
    "JACCARD",
    &[Signature::new(&[text("text"), text("other")], ResultType::Is(SqlType::Double))],
    |args| {
        let of = |index| Ok::<HashSet<char>, crate::ValueError>(args.text(index)?.chars().collect());
        let (a, b) = (of(0)?, of(1)?);
        if a.is_empty() || b.is_empty() {
            return Err(args.refused("an empty text has no characters to compare"));
        }
        Ok(Value::Double(a.intersection(&b).count() as f64 / a.union(&b).count() as f64))
    },
)
.gives("The share of the characters of two texts that both have, as in DuckDB.")
.example("JACCARD('abc', 'abd')", "0.5");

static SOUNDEX: ScalarFunction =
    ScalarFunction::new("SOUNDEX", &[Signature::new(&[text("text")], VARCHAR)], |args| {
        Ok(Value::Text(soundex(args.text(0)?)))
    })
    .gives("The sound of an English name, a letter and three digits, as PostgreSQL's fuzzystrmatch has it; empty without a letter.")
    .example("SOUNDEX('Robert')", "R163");

/// The digits of the letters from A to Z.
const SOUNDS: &[u8; 26] = b"01230120022455012623010202";
const CODE_LENGTH: usize = 4;

fn sound(c: char) -> char {
    let place = (c.to_ascii_uppercase() as usize).checked_sub('A' as usize);
    place.and_then(|place| SOUNDS.get(place)).map_or(c, |sound| char::from(*sound))
}

fn soundex(text: &str) -> String {
    let mut letters = text.chars().skip_while(|c| !c.is_ascii_alphabetic());
    let Some(first) = letters.next() else { return String::new() };
    let (mut code, mut previous) = (first.to_ascii_uppercase().to_string(), first);
    for c in letters {
        if code.len() == CODE_LENGTH {
            break;
        }
        let is_another = c.is_ascii_alphabetic() && sound(c) != sound(previous);
        code.extend(Some(sound(c)).filter(|sound| is_another && *sound != '0'));
        previous = c;
    }
    format!("{code:0<CODE_LENGTH$}")
}
