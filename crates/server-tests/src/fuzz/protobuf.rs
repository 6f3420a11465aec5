//! Bytes of protobuf messages, made by hand, so that they can be wrong.

/// A field of a number.
pub fn number(tag: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(tag) << 3), varint(value)].concat()
}

/// A field of a signed number in zigzag form.
pub fn signed(tag: u32, value: i64) -> Vec<u8> {
    number(tag, ((value << 1) ^ (value >> 63)) as u64)
}

/// A field of bytes, a text or a message.
pub fn bytes(tag: u32, value: &[u8]) -> Vec<u8> {
    [varint(u64::from(tag) << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A field of eight bytes.
pub fn double(tag: u32, value: f64) -> Vec<u8> {
    [varint(u64::from(tag) << 3 | 1), value.to_le_bytes().to_vec()].concat()
}

/// A message that has itself in a field, nested to this depth.
pub fn nested(tag: u32, innermost: &[u8], depth: usize) -> Vec<u8> {
    (0..depth).fold(innermost.to_vec(), |inner, _| bytes(tag, &inner))
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{bytes, nested, number, signed};

    #[test]
    fn fields_have_their_bytes() {
        assert_eq!(number(1, 150), [8, 0x96, 1]);
        assert_eq!(number(1, u64::MAX).len(), 11);
        assert_eq!((signed(4, -1), signed(4, 1)), (vec![32, 1], vec![32, 2]));
        assert_eq!(bytes(2, b"testing"), b"\x12\x07testing");
        assert_eq!(nested(8, b"", 2), [66, 2, 66, 0]);
    }
}
