//! Arrays from the client: the elements of a text or of bytes. Their types are the caller's matter.

use saltwing::Value;

use super::error::{ARRAY_ELEMENTS_MAX, WireError};
use super::pg_type::PgType;

/// The blanks that mean nothing around an element.
const BLANKS: [char; 6] = [' ', '\t', '\n', '\u{b}', '\u{c}', '\r'];

/// Reads `{1,NULL,"a b"}`, before which the indexes may stand, as in `[0:2]={..}`: they are dropped, because Saltwing counts all
/// arrays from 1.
///
/// # Errors
/// [`WireError::BadArrayText`]; [`WireError::SeveralDimensions`]; [`WireError::TooManyElements`]; those of `element`.
pub(super) fn read_text(
    text: &str,
    ty: PgType,
    element: impl Fn(&str) -> Result<Value, WireError>,
) -> Result<Value, WireError> {
    let bad = |reason| WireError::bad_array(text, reason);
    let (declared, body) = dimensions(text.trim_matches(BLANKS)).ok_or_else(|| bad("the indexes are malformed"))?;
    if declared.len() > 1 {
        return Err(WireError::SeveralDimensions { ty });
    }
    let mut rest = body.strip_prefix('{').ok_or_else(|| bad("it starts with no \"{\""))?.trim_start_matches(BLANKS);
    let mut elements = Vec::new();
    if let Some(after) = rest.strip_prefix('}') {
        rest = after;
    } else {
        let mut item = String::new();
        loop {
            let (kind, after) = read_item(rest, &mut item).map_err(|fault| match fault {
                ItemFault::Nested => WireError::SeveralDimensions { ty },
                ItemFault::Malformed(reason) => bad(reason),
            })?;
            if elements.len() == ARRAY_ELEMENTS_MAX {
                return Err(WireError::TooManyElements);
            }
            elements.push(match kind {
                Item::Null => Value::Null,
                Item::Text => element(&item)?,
            });
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => {
                    rest =
                        after.strip_prefix('}').ok_or_else(|| bad("a \",\" or a \"}\" is missing after an element"))?;
                    break;
                }
            }
        }
    }
    if !rest.is_empty() {
        return Err(bad("text follows the \"}\""));
    }
    if declared.first().is_some_and(|count| usize::try_from(*count) != Ok(elements.len())) {
        return Err(bad("the indexes do not match the elements"));
    }
    Ok(Value::Array(elements))
}

/// The counts of elements that the indexes before an array declare, and the text after them.
fn dimensions(text: &str) -> Option<(Vec<i64>, &str)> {
    let (mut counts, mut rest) = (Vec::new(), text);
    // A second dimension is refused, so no more of them are read.
    while counts.len() < 2
        && let Some(inside) = rest.strip_prefix('[')
    {
        let (indexes, after) = inside.split_once(']')?;
        let (first, last) = indexes.split_once(':').unwrap_or(("1", indexes));
        let (first, last) = (first.parse::<i32>().ok()?, last.parse::<i32>().ok()?);
        counts.push(i64::from(last) - i64::from(first) + 1);
        rest = after.trim_start_matches(BLANKS);
    }
    match counts.len() {
        1 => Some((counts, rest.strip_prefix('=')?.trim_start_matches(BLANKS))),
        _ => Some((counts, rest)),
    }
}

/// An element of a text.
enum Item {
    /// The word NULL without quotes.
    Null,
    /// Another element: its text is in the buffer.
    Text,
}

/// Why a text has no element.
enum ItemFault {
    /// There is an array.
    Nested,
    /// For this reason.
    Malformed(&'static str),
}

/// Reads an element into a buffer, and gives the text after it, which has no blanks at its beginning.
fn read_item<'a>(text: &'a str, item: &mut String) -> Result<(Item, &'a str), ItemFault> {
    const UNFINISHED: ItemFault = ItemFault::Malformed("it ends inside an element");
    item.clear();
    let text = text.trim_start_matches(BLANKS);
    if let Some(quoted) = text.strip_prefix('"') {
        let mut characters = quoted.chars();
        loop {
            match characters.next().ok_or(UNFINISHED)? {
                '"' => return Ok((Item::Text, characters.as_str().trim_start_matches(BLANKS))),
                '\\' => item.push(characters.next().ok_or(UNFINISHED)?),
                character => item.push(character),
            }
        }
    }
    let mut characters = text.chars();
    // Blanks at the end mean nothing, except after a backslash.
    let (mut kept, mut is_escaped) = (0, false);
    let rest = loop {
        let rest = characters.as_str();
        match characters.next().ok_or(UNFINISHED)? {
            ',' | '}' => break rest,
            '{' => return Err(ItemFault::Nested),
            '"' => return Err(ItemFault::Malformed("a quote stands inside an element")),
            '\\' => {
                item.push(characters.next().ok_or(UNFINISHED)?);
                (kept, is_escaped) = (item.len(), true);
            }
            character => {
                item.push(character);
                if !BLANKS.contains(&character) {
                    kept = item.len();
                }
            }
        }
    };
    item.truncate(kept);
    match item.as_str() {
        "" => Err(ItemFault::Malformed("an element is missing")),
        word if !is_escaped && word.eq_ignore_ascii_case("null") => Ok((Item::Null, rest)),
        _ => Ok((Item::Text, rest)),
    }
}

/// Reads an array in the binary format. `element` gets the number of the elements' type and the bytes of an element.
///
/// # Errors
/// [`WireError::BadBinary`]; [`WireError::SeveralDimensions`]; [`WireError::TooManyElements`]; those of `element`.
pub(super) fn read_binary(
    bytes: &[u8],
    ty: PgType,
    element: impl Fn(u32, &[u8]) -> Result<Value, WireError>,
) -> Result<Value, WireError> {
    let bad = |reason: &str| WireError::bad_binary(ty, reason);
    let short = || bad("it ends too early");
    let mut rest = Words(bytes);
    let (dimensions, flags) = rest.next().zip(rest.next()).ok_or_else(short)?;
    let element_oid = rest.next().ok_or_else(short)?.cast_unsigned();
    if !matches!(flags, 0 | 1) {
        return Err(bad("the flags are none"));
    }
    let count = match dimensions {
        0 => 0,
        1 => {
            // Where the indexes begin says nothing: Saltwing counts all arrays from 1.
            let (count, _first) = rest.next().zip(rest.next()).ok_or_else(short)?;
            usize::try_from(count).map_err(|_| bad("the number of elements is negative"))?
        }
        2.. => return Err(WireError::SeveralDimensions { ty }),
        _ => return Err(bad("the number of dimensions is negative")),
    };
    if count > ARRAY_ELEMENTS_MAX {
        return Err(WireError::TooManyElements);
    }
    // An element has a length at least, so a count that the bytes cannot have reserves nothing.
    if count > rest.0.len() / size_of::<i32>() {
        return Err(short());
    }
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        elements.push(match rest.next().ok_or_else(short)? {
            -1 => Value::Null,
            length => {
                let length = usize::try_from(length).map_err(|_| bad("a length is negative"))?;
                element(element_oid, rest.take(length).ok_or_else(short)?)?
            }
        });
    }
    if rest.0.is_empty() { Ok(Value::Array(elements)) } else { Err(bad("bytes follow the last element")) }
}

/// Bytes that are read from the beginning.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn next(&mut self) -> Option<i32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_be_bytes(*word))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pg_type::BaseType;
    use super::*;

    const TEXTS: PgType = PgType::Array(BaseType::Text);

    fn read(text: &str) -> Result<Value, WireError> {
        read_text(text, TEXTS, |item| Ok(Value::text(item)))
    }

    fn read_bytes(bytes: &[u8]) -> Result<Value, WireError> {
        read_binary(bytes, TEXTS, |_, item| Ok(Value::Bytes(item.to_vec())))
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\[[0-9:]{0,4}\\]=)?[{]{0,2}[a\"\\\\, {}N]{0,12}[}]?") {
            let _ = read(&text);
        }

        #[test]
        fn no_bytes_make_it_panic(dimensions in 0i32..3, count in -2i32..5, length in -2i32..9, bytes: Vec<u8>) {
            let words = [dimensions, 0, 25, count, 1, length];
            let mut hostile: Vec<u8> = words.into_iter().flat_map(i32::to_be_bytes).collect();
            hostile.extend(&bytes);
            let _ = (read_bytes(&hostile), read_bytes(&bytes));
        }
    }

    /// What PostgreSQL 15 reads.
    #[test]
    fn texts_of_postgresql() {
        for (text, expected) in [
            ("{}", &[][..]),
            (" { } ", &[]),
            (" { 1 , 2 } ", &[Some("1"), Some("2")]),
            ("{a b, c ,\"d e\"}", &[Some("a b"), Some("c"), Some("d e")]),
            ("{\"a\\\"b\",\"c\\\\d\",e\\\"f}", &[Some("a\"b"), Some("c\\d"), Some("e\"f")]),
            ("{nUlL,\"NULL\",\\NULL}", &[None, Some("NULL"), Some("NULL")]),
            ("{\"\"}", &[Some("")]),
            ("{\"a\" }", &[Some("a")]),
            ("{a\\ }", &[Some("a ")]),
            ("{\\N}", &[Some("N")]),
            ("[1:2]={1,2}", &[Some("1"), Some("2")]),
            ("[0:1] = {1,2}", &[Some("1"), Some("2")]),
            ("[2]={1,2}", &[Some("1"), Some("2")]),
        ] {
            let expected = expected.iter().map(|text| Value::from(*text)).collect();
            assert_eq!(read(text).unwrap(), Value::Array(expected), "{text}");
        }
    }

    #[test]
    fn refuses() {
        for text in [
            "",
            "1",
            "{",
            "{1",
            "{1,}",
            "{,1}",
            "{1}x",
            "{}}",
            "\"{1}\"",
            "{\"1\"2}",
            "{a\"b\"}",
            "{a,\"}",
            "{a\\}",
            "[1:2]={1}",
            "[1:2]{1,2}",
            "[a]={1}",
            "[1:99999999999]={1}",
            "[1:2",
            "[-2147483648:2147483647]={1}",
        ] {
            assert_eq!(read(text).unwrap_err().sqlstate(), "22P02", "{text}");
        }
        for text in ["{{1},{2}}", "{{}}", "[1:1][1:2]={{1,2}}", "{1,{2}}"] {
            assert_eq!(read(text).unwrap_err(), WireError::SeveralDimensions { ty: TEXTS }, "{text}");
        }
        let words = |words: &[i32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        for bytes in [
            words(&[]),
            words(&[1, 0]),
            words(&[1, 0, 25, 1]),
            words(&[1, 0, 25, 1, 1]),
            words(&[1, 0, 25, -1, 1]),
            words(&[-1, 0, 25]),
            words(&[0, 2, 25]),
            words(&[0, 0, 25, 0]),
            words(&[1, 0, 25, 1, 1, 5, 0]),
            words(&[1, 0, 25, 1, 1, -2]),
            words(&[1, 0, 25, 1, 1, i32::MAX]),
            words(&[1, 0, 25, 1 << 22, 1, -1]),
        ] {
            assert_eq!(read_bytes(&bytes).unwrap_err().sqlstate(), "22P03", "{bytes:?}");
        }
        assert_eq!(read_bytes(&words(&[2, 0, 25])).unwrap_err().sqlstate(), "0A000");
        assert_eq!(read_bytes(&words(&[1, 0, 25, i32::MAX, 1, -1])).unwrap_err(), WireError::TooManyElements);
        let many = format!("{{{}1}}", "1,".repeat(ARRAY_ELEMENTS_MAX));
        assert_eq!(read(&many).unwrap_err(), WireError::TooManyElements);
    }
}
