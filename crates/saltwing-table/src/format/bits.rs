//! The smallest elements of a block's parts: integers, NULL maps, checksums.
//!
//! ```text
//! ints    width, 1 byte: 0, 1, 2, 4 or 8 | base, 8 bytes | a difference of `width` bytes a row
//! nulls   0: no row is NULL | 1: every row is | 2: a bit a row, lowest first, 1 is NULL
//! part    ... | CRC-32 of all before, 4 bytes
//! ```
//! All numbers are little endian. A value is base plus difference, wrapping, so that any two `i64` have one.

use std::ops::Range;

use saltwing_store::Direction;

use crate::format::row_order::RowSelection;

/// Bytes of the checksum at the end of a part.
const CHECKSUM_BYTES: usize = 4;

/// Reads a part from its front; every call is `None` where the bytes end.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A part that has no checksum.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The content of a part whose checksum is right.
    pub(crate) fn checked(part: &'a [u8]) -> Option<Self> {
        let (content, sum) = part.split_at_checked(part.len().checked_sub(CHECKSUM_BYTES)?)?;
        (crc32fast::hash(content).to_le_bytes() == sum).then_some(Self { bytes: content, at: 0 })
    }

    /// Passes over `count` bytes; where they stand.
    pub(crate) fn skip(&mut self, count: usize) -> Option<Range<usize>> {
        let end = self.at.checked_add(count)?;
        (end <= self.bytes.len()).then(|| std::mem::replace(&mut self.at, end)..end)
    }

    /// Skips `count` bytes; returns their offset, which fits 32 bits because no part has 4 GB.
    pub(crate) fn place(&mut self, count: usize) -> Option<u32> {
        self.skip(count).and_then(|range| u32::try_from(range.start).ok())
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let range = self.skip(count)?;
        self.bytes.get(range)
    }

    /// The bytes that `take` passes over.
    pub(crate) fn taken(&mut self, take: impl FnOnce(&mut Self) -> Option<()>) -> Option<&'a [u8]> {
        let start = self.at;
        take(self)?;
        self.bytes.get(start..self.at)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn ints(&mut self, rows: usize) -> Option<Ints> {
        let width = Width::of(self.u8()?)?;
        let base = self.i64()?;
        let at = self.place(rows.checked_mul(width.bytes())?)?;
        Some(Ints { width, base, at })
    }

    pub(crate) fn nulls(&mut self, rows: usize) -> Option<Nulls> {
        match self.u8()? {
            0 => Some(Nulls::None),
            1 => Some(Nulls::All),
            2 => Some(Nulls::Bits(self.place(rows.div_ceil(8))?)),
            _ => None,
        }
    }

    /// Where the content that is left stands.
    pub(crate) fn rest(&mut self) -> Range<usize> {
        std::mem::replace(&mut self.at, self.bytes.len())..self.bytes.len()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// Appends the checksum to a part's content.
pub(crate) fn seal(mut content: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&content);
    content.extend_from_slice(&sum.to_le_bytes());
    content
}

/// The position of a column of integers in a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ints {
    width: Width,
    at: u32,
    base: i64,
}

/// Bytes of each difference.
#[derive(Clone, Copy, Debug)]
enum Width {
    Zero = 0,
    One = 1,
    Two = 2,
    Four = 4,
    Eight = 8,
}

impl Width {
    fn of(bytes: u8) -> Option<Self> {
        Some(match bytes {
            0 => Self::Zero,
            1 => Self::One,
            2 => Self::Two,
            4 => Self::Four,
            8 => Self::Eight,
            _ => return None,
        })
    }

    /// The narrowest that takes differences up to `most`.
    fn for_most(most: u64) -> Self {
        match most {
            0 => Self::Zero,
            1..=0xff => Self::One,
            0x100..=0xffff => Self::Two,
            0x1_0000..=0xffff_ffff => Self::Four,
            _ => Self::Eight,
        }
    }

    fn bytes(self) -> usize {
        self as usize
    }
}

/// The same for the stored differences of any width; `zero` if there are none.
macro_rules! by_width {
    ($width:expr, $stored:expr, $all:ident => $body:expr, zero => $zero:expr) => {
        match $width {
            Width::Zero => $zero,
            Width::One => by_width!(@$stored, 1, $all => $body),
            Width::Two => by_width!(@$stored, 2, $all => $body),
            Width::Four => by_width!(@$stored, 4, $all => $body),
            Width::Eight => by_width!(@$stored, 8, $all => $body),
        }
    };
    (@$stored:expr, $bytes:literal, $all:ident => $body:expr) => {{
        let $all = $stored.as_chunks::<$bytes>().0;
        $body
    }};
}

mod chosen;

impl Ints {
    /// Writes integers.
    pub(crate) fn write(values: &[i64], out: &mut Vec<u8>) {
        let base = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().map(|v| v.wrapping_sub(base) as u64).max().unwrap_or(0);
        let width = Width::for_most(most);
        out.push(width as u8);
        out.extend_from_slice(&base.to_le_bytes());
        for value in values {
            let difference = (value.wrapping_sub(base) as u64).to_le_bytes();
            out.extend_from_slice(difference.get(..width.bytes()).unwrap_or_default());
        }
    }

    /// Where the difference of a row begins in the part.
    #[inline]
    pub(crate) fn place(&self, row: usize) -> usize {
        self.at as usize + row * self.width.bytes()
    }

    /// One row's integer. `part` is the part that these were read from, `row` one of its rows.
    #[inline]
    pub(crate) fn get(&self, part: &[u8], row: usize) -> i64 {
        let rest = part.get(self.place(row)..).unwrap_or_default();
        let difference = match self.width {
            Width::Zero => 0,
            Width::One => rest.first().copied().unwrap_or(0).into(),
            Width::Two => rest.first_chunk().map_or(0, |d| u16::from_le_bytes(*d).into()),
            Width::Four => rest.first_chunk().map_or(0, |d| u32::from_le_bytes(*d).into()),
            Width::Eight => rest.first_chunk().map_or(0, |d| i64::from_le_bytes(*d)),
        };
        self.base.wrapping_add(difference)
    }

    /// The sum of the integers of `rows`.
    pub(crate) fn sum(&self, part: &[u8], rows: Range<usize>) -> i128 {
        let stored = self.stored(part, &rows);
        if let Width::Eight = self.width {
            // Base and difference wrap: only both together are the integer.
            return stored.as_chunks::<8>().0.iter().map(|d| i128::from(d.above(self.base))).sum();
        }
        // No block has rows enough for sums of narrower differences to leave 64 bits.
        let differences: u64 = by_width!(self.width, stored, all => all.iter().map(|d| d.number()).sum(), zero => 0);
        i128::from(self.base) * rows.len() as i128 + i128::from(differences)
    }

    /// Hands the integers of `rows` to `take`, in the direction of the scan.
    #[inline]
    pub(crate) fn give(&self, part: &[u8], rows: Range<usize>, direction: Direction, mut take: impl FnMut(i64)) {
        let base = self.base;
        let stored = self.stored(part, &rows);
        by_width!(self.width, stored,
            all => match direction {
                Direction::Forward => all.iter().for_each(|d| take(d.above(base))),
                Direction::Reverse => all.iter().rev().for_each(|d| take(d.above(base))),
            },
            zero => rows.for_each(|_| take(base))
        );
    }

    /// The differences of `rows`.
    fn stored<'p>(&self, part: &'p [u8], rows: &Range<usize>) -> &'p [u8] {
        let (at, width) = (self.at as usize, self.width.bytes());
        part.get(at + rows.start * width..at + rows.end * width).unwrap_or_default()
    }

    /// Appends the integers of some rows, each brought to `T`.
    #[inline]
    pub(crate) fn append<T>(
        &self,
        part: &[u8],
        rows: &RowSelection<'_>,
        out: &mut Vec<T>,
        to: impl Fn(i64) -> T + Copy,
    ) {
        match rows {
            RowSelection::Run(rows, direction) => {
                let first = out.len();
                self.extend(part, rows.clone(), out, to);
                if *direction == Direction::Reverse {
                    out.get_mut(first..).unwrap_or_default().reverse();
                }
            }
            RowSelection::List(rows) => self.pick(part, rows, out, to),
        }
    }

    #[inline]
    fn extend<T>(&self, part: &[u8], rows: Range<usize>, out: &mut Vec<T>, to: impl Fn(i64) -> T + Copy) {
        let base = self.base;
        let stored = self.stored(part, &rows);
        by_width!(self.width, stored,
            all => out.extend(all.iter().map(|d| to(d.above(base)))),
            zero => out.extend(rows.map(|_| to(base)))
        );
    }

    #[inline]
    fn pick<T>(&self, part: &[u8], rows: &[u32], out: &mut Vec<T>, to: impl Fn(i64) -> T + Copy) {
        let base = self.base;
        let stored = part.get(self.at as usize..).unwrap_or_default();
        by_width!(self.width, stored,
            all => out.extend(rows.iter().map(|row| to(all.get(*row as usize).map_or(base, |d| d.above(base))))),
            zero => out.extend(rows.iter().map(|_| to(base)))
        );
    }
}

/// A difference as it is stored.
trait Difference: Copy {
    /// The integer that lies so far above `base`.
    fn above(self, base: i64) -> i64;

    /// The difference; one of 8 bytes wraps.
    fn number(self) -> u64;
}

macro_rules! differences {
    ($($number:ty),*) => {
        $(impl Difference for [u8; size_of::<$number>()] {
            #[inline]
            fn above(self, base: i64) -> i64 {
                base.wrapping_add(self.number() as i64)
            }

            #[inline]
            fn number(self) -> u64 {
                <$number>::from_le_bytes(self).into()
            }
        })*
    };
}

differences!(u8, u16, u32, u64);

/// Which rows of a column are NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// None is.
    None,
    /// All are.
    All,
    /// A bit a row, from this byte of the part on.
    Bits(u32),
}

impl Nulls {
    /// Writes which rows are NULL.
    pub(crate) fn write(nulls: &[bool], out: &mut Vec<u8>) {
        let count = nulls.iter().filter(|null| **null).count();
        if count == 0 {
            out.push(0);
        } else if count == nulls.len() {
            out.push(1);
        } else {
            out.push(2);
            let byte = |eight: &[bool]| eight.iter().enumerate().fold(0, |bits, (i, &null)| bits | u8::from(null) << i);
            out.extend(nulls.chunks(8).map(byte));
        }
    }

    #[inline]
    pub(crate) fn is_null(&self, part: &[u8], row: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Bits(at) => part.get(*at as usize + row / 8).is_some_and(|bits| bits & (1 << (row % 8)) != 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), -3i64..300, Just(i64::MIN), Just(i64::MAX), 1_700_000_000_000i64..1_700_000_000_500]
    }

    proptest! {
        #[test]
        fn integers_and_nulls_read_as_they_were_written(values in prop::collection::vec((value(), any::<bool>()), 0..40)) {
            let (ints, nulls): (Vec<i64>, Vec<bool>) = values.into_iter().unzip();
            let mut part = vec![7];
            Ints::write(&ints, &mut part);
            Nulls::write(&nulls, &mut part);
            let sealed = seal(part.clone());
            let mut reader = Reader::checked(&sealed).unwrap();
            reader.u8().unwrap();
            let (read, map) = (reader.ints(ints.len()).unwrap(), reader.nulls(ints.len()).unwrap());
            prop_assert!(reader.is_at_end());
            for (row, value) in ints.iter().enumerate() {
                prop_assert_eq!(read.get(&part, row), *value);
                prop_assert_eq!(map.is_null(&part, row), nulls[row]);
            }
            for start in 0..=ints.len() {
                let mut wanted = ints[start..].to_vec();
                for direction in [Direction::Forward, Direction::Reverse] {
                    let (mut each, mut all) = (Vec::new(), vec![7]);
                    read.give(&part, start..ints.len(), direction, |v| each.push(v));
                    read.append(&part, &RowSelection::Run(start..ints.len(), direction), &mut all, |v| v);
                    prop_assert_eq!(&each, &wanted);
                    prop_assert_eq!(&all[1..], &wanted);
                    wanted.reverse();
                }
                prop_assert_eq!(read.sum(&part, start..ints.len()), ints[start..].iter().map(|&v| i128::from(v)).sum::<i128>());
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_seen() {
        let part = seal(b"content".to_vec());
        assert!(Reader::checked(&part).is_some());
        for at in 0..part.len() {
            let mut damaged = part.clone();
            damaged[at] ^= 4;
            assert!(Reader::checked(&damaged).is_none());
        }
        assert!(Reader::checked(&part[..3]).is_none());
    }
}
