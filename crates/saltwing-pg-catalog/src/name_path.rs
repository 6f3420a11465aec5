//! Names of several parts, such as `public."My t"`.

/// The parts of a name such as `public."My t"`; `None` if the text is not a name.
pub(crate) fn name_parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_part(quoted)?,
            None => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
                let (part, after) = rest.split_at_checked(end)?;
                (part.to_lowercase(), after)
            }
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match after.trim_start().strip_prefix('.') {
            Some(after) => rest = after.trim_start(),
            None if after.trim().is_empty() || after.starts_with('(') => return Some(parts),
            None => return None,
        }
    }
}

/// A quoted name after its first quote, and what comes after it.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None => return Some((part, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts() {
        let parts = |text: &str| name_parts(text).map(|parts| parts.join("|"));
        assert_eq!(parts("Public.T").as_deref(), Some("public|t"));
        assert_eq!(parts("\"My T\".\"a\"\"b\"").as_deref(), Some("My T|a\"b"));
        assert_eq!(parts("f(int)").as_deref(), Some("f"));
        for bad in ["", "a.", ".a", "\"a", "a b", "\"\""] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
