//! Custom settings: names with a dot, whose texts the session keeps for its client.

use std::collections::BTreeMap;

use super::custom_limits::{CUSTOM_BYTES_MAX, CUSTOM_SETTINGS_MAX};
use super::error::SettingError;
use super::text_at::{TextAt, shortened};

/// The custom settings of a session, by their names in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CustomSettings {
    texts: BTreeMap<String, String>,
}

impl CustomSettings {
    /// Whether a name is meant as that of a custom setting.
    pub(crate) fn is_meant(name: &str) -> bool {
        name.contains('.')
    }

    /// The text of a setting.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(&name.to_lowercase()).map(String::as_str)
    }

    /// All names with their texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Keeps a text under a name.
    ///
    /// # Errors
    /// [`SettingError::InvalidName`], [`SettingError::TooManyCustom`].
    pub(crate) fn set(&mut self, name: &TextAt, text: String) -> Result<(), SettingError> {
        if !name.text.split('.').all(is_word) {
            return Err(SettingError::InvalidName { name: shortened(&name.text), position: name.position });
        }
        let key = name.text.to_lowercase();
        let others = self.texts.iter().filter(|(other, _)| **other != key);
        let (count, bytes) = others.fold((0_usize, 0_usize), |(count, bytes), (name, text)| {
            (count.saturating_add(1), bytes.saturating_add(name.len()).saturating_add(text.len()))
        });
        let bytes = bytes.saturating_add(key.len()).saturating_add(text.len());
        if count >= CUSTOM_SETTINGS_MAX || bytes > CUSTOM_BYTES_MAX {
            return Err(SettingError::TooManyCustom { position: name.position });
        }
        self.texts.insert(key, text);
        Ok(())
    }

    /// Gives a setting the text that it has in `defaults`, or removes it.
    pub(crate) fn reset(&mut self, name: &str, defaults: &Self) {
        let name = name.to_lowercase();
        match defaults.texts.get(&name) {
            Some(text) => {
                self.texts.insert(name, text.clone());
            }
            None => {
                self.texts.remove(&name);
            }
        }
    }
}

/// Whether a part of a name is a word.
fn is_word(part: &str) -> bool {
    let mut chars = part.chars();
    let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    begins && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
