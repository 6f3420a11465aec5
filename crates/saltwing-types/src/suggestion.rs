//! What a mistyped word was meant to be, for messages.

/// The word of `known` that `word` was most likely meant to be.
///
/// At most two slips (a letter wrong, missing, too many, or two swapped), and
/// fewer than half of the letters.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    let slips_max = if letters <= 3 { 1 } else { 2 };
    known
        .into_iter()
        // A long word is no slip of a short one; this also bounds the work.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= slips_max)
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(slips, candidate)| *slips <= slips_max && slips * 2 < candidate.chars().count())
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn slips_are_forgiven_and_strangers_are_not() {
        let known = ["SELECT", "UPSERT", "DELETE", "CREATE"];
        assert_eq!(suggest("SELCT", known), Some("SELECT"));
        assert_eq!(suggest("slect", known), Some("SELECT"));
        assert_eq!(suggest("ESLECT", known), Some("SELECT"));
        assert_eq!(suggest("UPSRET", known), Some("UPSERT"));
        assert_eq!(suggest("FOO", known), None);
        assert_eq!(suggest("", known), None);
        assert_eq!(suggest("SELECTION", known), None);
    }

    #[test]
    fn names_match_in_any_case() {
        let names = ["flights", "Airports", "t"];
        assert_eq!(suggest("fligths", names), Some("flights"));
        assert_eq!(suggest("airport", names), Some("Airports"));
        assert_eq!(suggest("customers", names), None);
    }
}
