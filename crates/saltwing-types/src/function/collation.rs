//! The order of texts in a language.

use std::cell::RefCell;

use icu_collator::options::{CollatorOptions, Strength};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;

use super::signature::{integer, of_kind, text};
use super::{Args, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::error::shorten;
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&COLLATION_KEY];

static COLLATION_KEY: ScalarFunction = ScalarFunction::new(
    "COLLATION_KEY",
    &[Signature::new(
        &[
            text("text"),
            text("locale"),
            of_kind("upper", ParameterKind::Boolean),
            integer("strength"),
            integer("decomposition"),
        ],
        ResultType::Is(SqlType::Varbinary),
    )
    .optional(3)],
    |args| match args.values() {
        [Value::Text(text), Value::Text(locale), options @ ..] => {
            let (upper, strength) = (options.first() == Some(&Value::Bool(true)), strength(options.get(1))?);
            check_decomposition(options.get(2))?;
            let key = if upper { key(&text.to_uppercase(), locale, strength) } else { key(text, locale, strength) };
            key.map(Value::Bytes)
        }
        _ => Ok(Value::Null),
    },
)
.with_own_nulls()
.checked_by(check)
.size(SizeBound { bytes: key_bytes, multiplies: false })
.gives(
    "Bytes in the order of the texts in a locale, such as 'de', 'sv_SE' or 'zh_TW_STROKE'; with TRUE of the texts in upper case. \
     The strength is 0 for letters alone, 1 with accents, 2 (so without it) with case, 3 with punctuation, or 15 with all else.",
)
.example("COLLATION_KEY('Äpfel', 'de') < COLLATION_KEY('Zebra', 'de')", "true");

/// Bytes for each byte of a text: a character of Arabic stands for eighteen, each with weights of three levels.
const KEY_BYTES_PER_BYTE: usize = 40;

fn key_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    Ok(match args.value(0)? {
        Value::Text(text) => text.len().saturating_mul(KEY_BYTES_PER_BYTE),
        _ => 0,
    })
}

fn check(literals: &[Option<&Value>]) -> Result<(), ValueError> {
    let literal = |index: usize| literals.get(index).copied().flatten();
    if let Some(Value::Text(locale)) = literal(1) {
        preferences(locale)?;
    }
    strength(literal(3))?;
    check_decomposition(literal(4))
}

/// As ICU counts them.
fn strength(value: Option<&Value>) -> Result<Strength, ValueError> {
    Ok(match value {
        Some(Value::Int(0)) => Strength::Primary,
        Some(Value::Int(1)) => Strength::Secondary,
        Some(Value::Int(3)) => Strength::Quaternary,
        Some(Value::Int(15)) => Strength::Identical,
        Some(Value::Int(number)) if *number != 2 => {
            return Err(refused(format!("a strength is 0, 1, 2, 3 or 15, not {number}")));
        }
        _ => Strength::Tertiary,
    })
}

/// Composed and decomposed characters are always the same, so there is nothing to choose.
fn check_decomposition(value: Option<&Value>) -> Result<(), ValueError> {
    match value {
        Some(Value::Int(number)) if !(0..=2).contains(number) => {
            Err(refused(format!("a decomposition is 0, 1 or 2, not {number}")))
        }
        _ => Ok(()),
    }
}

fn refused(why: String) -> ValueError {
    ValueError::BadArgument(format!("COLLATION_KEY: {why}"))
}

/// The locale of a name as Java writes it, whose variant is an order (`zh_TW_STROKE`), or as BCP 47 does.
fn preferences(name: &str) -> Result<CollatorPreferences, ValueError> {
    let mut parts: Vec<&str> = name.split(['_', '-']).filter(|part| !part.is_empty()).collect();
    let order = parts.last().and_then(|last| match last.to_ascii_uppercase().as_str() {
        "STROKE" => Some("stroke"),
        "PINYIN" => Some("pinyin"),
        "PHONEBOOK" => Some("phonebk"),
        "TRADITIONAL" => Some("trad"),
        _ => None,
    });
    if let Some(order) = order {
        parts.pop();
        parts.extend(["u", "co", order]);
    }
    let locale = Locale::try_from_str(&parts.join("-"));
    let locale = locale.map_err(|_| refused(format!("'{}' is no locale, such as de or pt_BR", shorten(name))))?;
    Ok(CollatorPreferences::from(&locale))
}

/// The key of a text. The collator of the last call is kept: a function meets the same locale row after row.
fn key(text: &str, locale: &str, strength: Strength) -> Result<Vec<u8>, ValueError> {
    thread_local! {
        static LAST: RefCell<Option<(String, Strength, CollatorBorrowed<'static>)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        if !matches!(last, Some((name, known, _)) if name == locale && *known == strength) {
            let mut options = CollatorOptions::default();
            options.strength = Some(strength);
            let collator = Collator::try_new(preferences(locale)?, options);
            let collator = collator.map_err(|error| refused(format!("the order of '{}': {error}", shorten(locale))))?;
            *last = Some((locale.to_owned(), strength, collator));
        }
        let mut key = Vec::new();
        if let Some((_, _, collator)) = last {
            let Ok(()) = collator.write_sort_key_to(text, &mut key);
        }
        Ok(key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<'t>(locale: &str, strength: Strength, mut texts: Vec<&'t str>) -> Vec<&'t str> {
        texts.sort_by_cached_key(|text| key(text, locale, strength).unwrap());
        texts
    }

    #[test]
    fn keys_order_as_the_language_does() {
        let order = |locale, texts: &[&'static str]| sorted(locale, Strength::Tertiary, texts.to_vec());
        assert_eq!(order("de", &["Zebra", "Äpfel", "apfel", "Apfel"]), ["apfel", "Apfel", "Äpfel", "Zebra"]);
        assert_eq!(order("sv_SE", &["ö", "z", "å", "ä"]), ["z", "å", "ä", "ö"]);
        assert_eq!(order("de", &["z", "ö", "o"]), ["o", "ö", "z"]);
        assert_eq!(order("es_ES_TRADITIONAL", &["cu", "ch", "d"]), ["cu", "ch", "d"]);
        assert_eq!(order("es", &["cu", "ch", "d"]), ["ch", "cu", "d"]);
        assert_ne!(order("zh_TW_STROKE", &["鄭", "一", "王"]), order("zh__PINYIN", &["鄭", "一", "王"]));
    }

    #[test]
    fn a_strength_says_what_makes_texts_differ() {
        let same = |strength, a: &str, b: &str| key(a, "fr", strength) == key(b, "fr", strength);
        assert!(same(Strength::Primary, "Élan", "elan"));
        assert!(!same(Strength::Secondary, "élan", "elan") && same(Strength::Secondary, "Élan", "élan"));
        assert!(!same(Strength::Tertiary, "Élan", "élan"));
        assert!(same(Strength::Tertiary, "e\u{301}", "é"));
    }

    #[test]
    fn what_is_no_locale_is_refused() {
        for name in ["", "deutsch-oder-so", "d e", "x"] {
            assert_eq!(preferences(name).unwrap_err().code().as_str(), "bad_argument", "{name}");
        }
        assert!(strength(Some(&Value::Int(4))).is_err() && check_decomposition(Some(&Value::Int(3))).is_err());
    }
}
