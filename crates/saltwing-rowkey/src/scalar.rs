//! Bytes of fixed-width numbers and instants, ascending.
//!
//! | kind | bytes |
//! |---|---|
//! | signed integer, DATE | big endian, sign bit flipped |
//! | unsigned integer, UNSIGNED_DATE | plain big endian; the top bit is never set |
//! | FLOAT, DOUBLE | IEEE bits, sign bit flipped (all bits below zero), **plus one** |
//! | UNSIGNED_FLOAT, UNSIGNED_DOUBLE | plain IEEE bits |
//!
//! Readers take stored bytes and the inversion mask (00 ASC, FF DESC).

use crate::BadBytes;

const WIDTH: BadBytes = BadBytes("wrong number of bytes");
pub(crate) const NEGATIVE: BadBytes = BadBytes("a negative value in an unsigned column");

/// Appends an integer of `width` bytes (1, 2, 4 or 8).
pub(crate) fn write_int(value: i64, width: usize, signed: bool, out: &mut Vec<u8>) {
    let raw = if signed { value as u64 ^ sign_bit(width) } else { value as u64 };
    out.extend_from_slice(&raw.to_be_bytes()[8 - width..]);
}

/// Reads an integer of as many bytes as are given.
#[inline]
pub(crate) fn read_int(stored: &[u8], signed: bool, mask: u8) -> Result<i64, BadBytes> {
    let raw = match stored.len() {
        1 => stored.first().map(|byte| u64::from(byte ^ mask)),
        2 => stored.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes) ^ u16::from_be_bytes([mask; 2]))),
        4 => stored.first_chunk().map(|bytes| u64::from(u32::from_be_bytes(*bytes) ^ u32::from_be_bytes([mask; 4]))),
        8 => stored.first_chunk().map(|bytes| u64::from_be_bytes(*bytes) ^ u64::from_be_bytes([mask; 8])),
        _ => None,
    };
    let raw = raw.ok_or(WIDTH)?;
    let sign = sign_bit(stored.len());
    match (signed, raw & sign != 0) {
        // Flipping the bit and then subtracting its weight sign-extends.
        (true, _) => Ok((raw as i64).wrapping_sub(sign as i64)),
        (false, false) => Ok(raw as i64),
        (false, true) => Err(NEGATIVE),
    }
}

fn sign_bit(width: usize) -> u64 {
    1 << (8 * width - 1)
}

/// Appends a 32-bit float: NaN in one form, -0.0 as 0.0.
pub(crate) fn write_f32(value: f32, signed: bool, out: &mut Vec<u8>) {
    let bits = if value.is_nan() { f32::NAN.to_bits() & 0x7fff_ffff } else { (value + 0.0).to_bits() };
    let bytes = match (signed, bits >> 31) {
        (false, _) => bits,
        (true, 0) => (bits ^ 1 << 31).wrapping_add(1),
        (true, _) => (!bits).wrapping_add(1),
    };
    out.extend_from_slice(&bytes.to_be_bytes());
}

/// Appends a 64-bit float: NaN in one form, -0.0 as 0.0.
pub(crate) fn write_f64(value: f64, signed: bool, out: &mut Vec<u8>) {
    let bits = if value.is_nan() { f64::NAN.to_bits() & (u64::MAX >> 1) } else { (value + 0.0).to_bits() };
    let bytes = match (signed, bits >> 63) {
        (false, _) => bits,
        (true, 0) => (bits ^ 1 << 63).wrapping_add(1),
        (true, _) => (!bits).wrapping_add(1),
    };
    out.extend_from_slice(&bytes.to_be_bytes());
}

/// Reads a 32-bit float.
#[inline]
pub(crate) fn read_f32(stored: &[u8], signed: bool, mask: u8) -> Result<f32, BadBytes> {
    let bytes: [u8; 4] = stored.try_into().map_err(|_| WIDTH)?;
    let raw = u32::from_be_bytes(bytes) ^ u32::from_be_bytes([mask; 4]);
    if !signed {
        return if raw >> 31 == 0 { Ok(f32::from_bits(raw)) } else { Err(NEGATIVE) };
    }
    let raw = raw.wrapping_sub(1);
    Ok(f32::from_bits(if raw >> 31 == 1 { raw ^ 1 << 31 } else { !raw }))
}

/// Reads a 64-bit float.
#[inline]
pub(crate) fn read_f64(stored: &[u8], signed: bool, mask: u8) -> Result<f64, BadBytes> {
    let bytes: [u8; 8] = stored.try_into().map_err(|_| WIDTH)?;
    let raw = u64::from_be_bytes(bytes) ^ u64::from_be_bytes([mask; 8]);
    if !signed {
        return if raw >> 63 == 0 { Ok(f64::from_bits(raw)) } else { Err(NEGATIVE) };
    }
    let raw = raw.wrapping_sub(1);
    Ok(f64::from_bits(if raw >> 63 == 1 { raw ^ 1 << 63 } else { !raw }))
}

/// Reads TRUE (01) and FALSE (00).
#[inline]
pub(crate) fn read_bool(stored: &[u8], mask: u8) -> Result<bool, BadBytes> {
    match stored {
        [byte] if byte ^ mask == 0 => Ok(false),
        [byte] if byte ^ mask == 1 => Ok(true),
        _ => Err(BadBytes("not the byte of a boolean")),
    }
}
