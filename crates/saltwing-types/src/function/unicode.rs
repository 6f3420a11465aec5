//! Forms of texts in Unicode.

use std::sync::LazyLock;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use regex::Regex;

use super::signature::{VARCHAR, of_kind, text};
use super::text::OF_TEXT;
use super::{ParameterKind, ScalarFunction, Signature};
use crate::normal_form::NormalForm;
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&NORMALIZE, &STRIP_ACCENTS];

pub(super) static NORMALIZE: ScalarFunction = ScalarFunction::new(
    "NORMALIZE",
    &[Signature::new(&[text("text"), of_kind("form", ParameterKind::NormalForm)], VARCHAR).optional(1)],
    |args| {
        let (text, form) = (args.text(0)?, args.optional_text(1)?);
        let form = form.map_or(Ok(NormalForm::Nfc), NormalForm::by_name)?;
        Ok(Value::text(match form {
            NormalForm::Nfc => ComposingNormalizerBorrowed::new_nfc().normalize(text),
            NormalForm::Nfd => DecomposingNormalizerBorrowed::new_nfd().normalize(text),
            NormalForm::Nfkc => ComposingNormalizerBorrowed::new_nfkc().normalize(text),
            NormalForm::Nfkd => DecomposingNormalizerBorrowed::new_nfkd().normalize(text),
        }))
    },
)
.size(super::SizeBound {
    // No character has more than 18 in any form.
    bytes: |args| Ok(args.text(0)?.len().saturating_mul(18)),
    multiplies: false,
})
.gives("The text in a normal form of Unicode: NFC, NFD, NFKC or NFKD.")
.example("NORMALIZE('ﬁ', NFKC)", "fi");

static STRIP_ACCENTS: ScalarFunction = ScalarFunction::new("STRIP_ACCENTS", OF_TEXT, |args| {
    // Marks are what the decomposed text has beside its letters.
    static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{M}+").ok());
    let marks = MARKS.as_ref().ok_or_else(|| ValueError::Internal("the pattern of marks is none".into()))?;
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(args.text(0)?);
    let letters = marks.replace_all(&decomposed, "");
    Ok(Value::text(ComposingNormalizerBorrowed::new_nfc().normalize(&letters)))
})
.gives("The text without the accents and other marks of its letters, as in DuckDB.")
.aliases(&["UNACCENT"])
.example("STRIP_ACCENTS('déjà')", "deja");
