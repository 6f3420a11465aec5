//! Colours for terminals.

use nu_ansi_term::{Color, Style};

/// Colours text, or leaves it unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Without colours.
    #[default]
    Off,
    /// With colours.
    On,
}

/// Of the 256 colours of terminals: from nearly black over red to light yellow.
const HEAT: [u8; 10] = [235, 52, 88, 124, 160, 196, 202, 208, 214, HOTTEST];
const HOTTEST: u8 = 228;

impl Paint {
    fn styled(self, style: Style, text: &str) -> String {
        match self {
            Self::Off => text.to_owned(),
            Self::On => style.paint(text).to_string(),
        }
    }

    /// The style of frames, footers, NULL.
    pub(crate) fn dim(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    /// The style of labels and of an error's text.
    pub(crate) fn bold(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// The style of an error's code and caret.
    pub(crate) fn error(self, text: &str) -> String {
        self.styled(Color::Red.bold(), text)
    }

    /// The style of a notice.
    pub(crate) fn notice(self, text: &str) -> String {
        self.styled(Color::Yellow.bold(), text)
    }

    /// A cell of a picture of heat: a level from 0 to 9 as a background, or as a digit.
    pub(crate) fn heat(self, level: u8) -> String {
        let color = HEAT.get(usize::from(level)).copied().unwrap_or(HOTTEST);
        match self {
            Self::Off => level.to_string(),
            Self::On => Style::new().on(Color::Fixed(color)).paint(" ").to_string(),
        }
    }

    /// The style of help and positions.
    pub(crate) fn help(self, text: &str) -> String {
        self.styled(Color::Cyan.normal(), text)
    }
}
