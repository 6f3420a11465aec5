//! Colours, on a terminal that wants them.

use nu_ansi_term::{Color, Style};

/// Colours text, or leaves it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    /// As it is.
    #[default]
    Off,
    /// With colours.
    On,
}

impl Paint {
    fn styled(self, style: Style, text: &str) -> String {
        match self {
            Self::Off => text.to_owned(),
            Self::On => style.paint(text).to_string(),
        }
    }

    /// Frames, footers, NULL.
    pub(crate) fn dim(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    /// Labels, an error's text.
    pub(crate) fn bold(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// An error's code and caret.
    pub(crate) fn error(self, text: &str) -> String {
        self.styled(Color::Red.bold(), text)
    }

    /// A notice.
    pub(crate) fn notice(self, text: &str) -> String {
        self.styled(Color::Yellow.bold(), text)
    }

    /// Help, and places.
    pub(crate) fn help(self, text: &str) -> String {
        self.styled(Color::Cyan.normal(), text)
    }
}
