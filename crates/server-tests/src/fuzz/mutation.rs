//! Damage to bytes and texts.

use crate::random::Random;

/// Numbers at which lengths and counts break.
const EDGES: [u32; 12] = [0, 1, 2, 3, 4, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

/// Damages bytes in one to four places: flips a bit, changes a byte or four, cuts, repeats, takes out, puts in, or goes on with other bytes.
pub fn damage(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=random.below(4) {
        let at = random.index(bytes.len());
        let end = at.saturating_add(random.index(40)).min(bytes.len());
        match random.below(9) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let part = bytes.get(at..end).unwrap_or_default().to_vec();
                bytes.splice(at..at, part);
            }
            6 => {
                let edge = random.one_of(&EDGES).copied().unwrap_or_default().to_be_bytes();
                let end = at.saturating_add(4).min(bytes.len());
                bytes.splice(at..end, edge);
            }
            7 => {
                let more = random.bytes(20);
                bytes.splice(at..at, more);
            }
            _ => {
                let from = random.index(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(other.get(from..).unwrap_or_default());
            }
        }
    }
}

/// Words and signs of a text: each string in quotes, number or name is one.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = match first {
            '\'' | '"' => rest.get(1..).and_then(|inner| inner.find(first)).map_or(rest.len(), |end| end + 2),
            _ if is_word(first) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// A text with tokens taken out, doubled, swapped, or replaced by those of another text.
pub fn damaged_text(random: &mut Random, text: &str, other: &str) -> String {
    let (mut own, others) = (tokens(text), tokens(other));
    for _ in 0..=random.below(3) {
        let (one, two) = (random.index(own.len()), random.index(own.len()));
        let replacement = random.one_of(&others).copied().unwrap_or("NULL");
        match random.below(5) {
            0 if one < own.len() => drop(own.remove(one)),
            1 if one < own.len() => own.insert(one, own.get(two).copied().unwrap_or_default()),
            2 if one < own.len() => own.swap(one, two),
            3 => own.insert(one, replacement),
            _ => {
                if let Some(token) = own.get_mut(one) {
                    *token = replacement;
                }
            }
        }
    }
    own.concat()
}

#[cfg(test)]
mod tests {
    use super::{damage, damaged_text, tokens};
    use crate::random::Random;

    #[test]
    fn tokens_are_the_whole_text() {
        for text in ["", "SELECT 'a b', \"c\" FROM t1;", "'open", "é + 'ü' || 1.5"] {
            assert_eq!(tokens(text).concat(), text);
        }
        assert_eq!(tokens("a 'b c'"), ["a", " ", "'b c'"]);
    }

    #[test]
    fn damage_is_repeatable_and_bounded() {
        let damaged = |seed| {
            let (mut random, mut bytes) = (Random::new(seed), (0..100).collect::<Vec<u8>>());
            damage(&mut random, &mut bytes, b"other bytes");
            (bytes, damaged_text(&mut random, "SELECT a FROM b", "UPDATE c"))
        };
        assert!((0..500).all(|seed| damaged(seed) == damaged(seed) && damaged(seed).0.len() < 1000));
        assert!((0..500).filter(|seed| damaged(*seed).0 != (0..100).collect::<Vec<u8>>()).count() > 400);
        damage(&mut Random::new(1), &mut Vec::new(), b"");
    }
}
