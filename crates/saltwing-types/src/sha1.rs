//! SHA-1, as RFC 3174 defines it: for digests that others have made, and no longer for secrets.

const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
const BLOCK_BYTES: usize = 64;

/// The 20 bytes of the digest.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 20] {
    let mut state = START;
    let blocks = bytes.chunks_exact(BLOCK_BYTES);
    let mut rest = blocks.remainder().to_vec();
    blocks.for_each(|block| add(&mut state, block));
    rest.push(0x80);
    while rest.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
        rest.push(0);
    }
    rest.extend((bytes.len() as u64 * 8).to_be_bytes());
    rest.chunks_exact(BLOCK_BYTES).for_each(|block| add(&mut state, block));
    let mut digest = [0; 20];
    for (target, byte) in digest.iter_mut().zip(state.into_iter().flat_map(u32::to_be_bytes)) {
        *target = byte;
    }
    digest
}

fn add(state: &mut [u32; 5], block: &[u8]) {
    let mut words: Vec<u32> =
        block.chunks_exact(4).map(|word| word.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))).collect();
    while let [.., a, _, b, _, _, _, _, _, c, _, _, _, _, d, _, _] = words.as_slice()
        && words.len() < 80
    {
        words.push((a ^ b ^ c ^ d).rotate_left(1));
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (round, word) in words.into_iter().enumerate() {
        let (mixed, constant) = match round {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc_u32),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_the_standard() {
        let long = "a".repeat(1_000_000);
        for (text, expected) in [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
            (long.as_str(), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ] {
            assert_eq!(crate::text::hex(&digest(text.as_bytes())), expected);
        }
    }
}
