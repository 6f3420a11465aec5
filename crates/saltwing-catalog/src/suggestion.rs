//! The nearest name, for messages.

/// The candidate that differs from `name` by the fewest edits, if by few enough to be a slip.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let edits_max = (wanted.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_only() {
        let names = ["flights", "Airports", "t"];
        assert_eq!(nearest("fligths", names.into_iter()), Some("flights"));
        assert_eq!(nearest("airport", names.into_iter()), Some("Airports"));
        assert_eq!(nearest("customers", names.into_iter()), None);
    }
}
