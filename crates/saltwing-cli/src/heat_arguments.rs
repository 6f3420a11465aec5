//! The arguments of `.heat`.

use saltwing::KeyHeat;

/// How far back the picture goes, in seconds, unless the command says otherwise.
const SECONDS: u64 = 300;
/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accesses {
    Reads,
    Writes,
}

impl Accesses {
    pub(crate) const BOTH: [Self; 2] = [Self::Reads, Self::Writes];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }

    pub(crate) fn of(self, heat: &KeyHeat) -> &[Vec<f64>] {
        match self {
            Self::Reads => &heat.reads,
            Self::Writes => &heat.writes,
        }
    }
}

/// The arguments of `.heat`: `NAME [SECONDS] [reads|writes]`; `None` if they are not that.
pub(crate) fn arguments(text: &str) -> Option<(String, u64, Option<Accesses>)> {
    let last = |text: &str| -> Option<(String, String)> {
        let (before, word) = text.trim_end().rsplit_once(char::is_whitespace)?;
        Some((before.trim_end().to_owned(), word.to_lowercase()))
    };
    let (mut rest, mut accesses, mut seconds) = (text.trim().to_owned(), None, SECONDS);
    if let Some((before, word)) = last(&rest)
        && let Some(named) = Accesses::BOTH.into_iter().find(|accesses| accesses.as_str() == word)
    {
        (rest, accesses) = (before, Some(named));
    }
    if let Some((before, word)) = last(&rest)
        && word.starts_with(|c: char| c.is_ascii_digit())
    {
        (rest, seconds) = (before, word.parse().ok().filter(|seconds| *seconds > 0)?);
    }
    (!rest.is_empty()).then_some((rest, seconds, accesses))
}

#[cfg(test)]
mod tests {
    use super::{Accesses, SECONDS, arguments};

    #[test]
    fn arguments_are_read_from_the_end() {
        let of = |text: &str| arguments(text);
        assert_eq!(of("t"), Some(("t".to_owned(), SECONDS, None)));
        assert_eq!(of("s.t 60"), Some(("s.t".to_owned(), 60, None)));
        assert_eq!(of("\"my t\".i 60 Writes"), Some(("\"my t\".i".to_owned(), 60, Some(Accesses::Writes))));
        assert_eq!(of("t reads"), Some(("t".to_owned(), SECONDS, Some(Accesses::Reads))));
        assert_eq!(of("reads"), Some(("reads".to_owned(), SECONDS, None)), "the table of this name");
        assert_eq!(of("t 0"), None);
        assert_eq!(of("t 6x"), None);
        assert_eq!(of(""), None);
    }
}
