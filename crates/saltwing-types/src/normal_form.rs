//! The normal forms of Unicode.

use crate::ValueError;
use crate::error::shorten;

/// A normal form of Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl NormalForm {
    /// The form of this name, in any case.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for another word.
    pub(crate) fn by_name(name: &str) -> Result<Self, ValueError> {
        let forms = [("NFC", Self::Nfc), ("NFD", Self::Nfd), ("NFKC", Self::Nfkc), ("NFKD", Self::Nfkd)];
        let found = forms.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, form)| form).ok_or_else(|| {
            let name = shorten(name);
            ValueError::BadArgument(format!("'{name}' is no normal form; there are NFC, NFD, NFKC and NFKD"))
        })
    }
}
