//! Suggestions for mistyped words, for messages.

/// The word of `known` that `word` was most likely meant to be.
///
/// At most two slips (a letter wrong, missing, too many, or two swapped), one in words of four letters or
/// fewer, and fewer than half of the letters. Of several the nearest, and of those one as long as the word.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    let slips_max = if letters <= 4 { 1 } else { 2 };
    known
        .into_iter()
        // A long word is no slip of a short one; this also bounds the work.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= slips_max)
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate.chars().count(), candidate))
        .filter(|(slips, count, _)| *slips <= slips_max && slips * 2 < *count)
        .min_by_key(|(slips, count, _)| (*slips, count.abs_diff(letters)))
        .map(|(_, _, candidate)| candidate)
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
    fn short_words_have_one_slip_and_keep_their_length() {
        assert_eq!(suggest("nofn", ["now", "nope"]), None);
        assert_eq!(suggest("nwo", ["now"]), Some("now"));
        assert_eq!(suggest("sibn", ["sin", "sign"]), Some("sign"));
    }

    #[test]
    fn names_match_in_any_case() {
        let names = ["flights", "Airports", "t"];
        assert_eq!(suggest("fligths", names), Some("flights"));
        assert_eq!(suggest("airport", names), Some("Airports"));
        assert_eq!(suggest("customers", names), None);
    }
}
