//! The limits of custom settings.

/// The most custom settings of a session.
pub(crate) const CUSTOM_SETTINGS_MAX: usize = 1000;

/// The most bytes of their names and texts.
pub(crate) const CUSTOM_BYTES_MAX: usize = 1 << 20;
