//! What a result has, in a few words: engines that agree in it have the same rows.

/// How many rows there are, and a checksum over every value of every row, by its column.
///
/// # Laws
/// 1. Results with the same rows have the same fingerprint: in the same order, or, where no order was promised, in any.
/// 2. Values that change their places in a row, or go from one row to another, change it (but for chance).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    is_ordered: bool,
    rows: u64,
    checksum: u64,
    /// Of the row that is being taken.
    row: u64,
}

/// An odd number without a pattern in its bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const TEXT: u64 = 1;
const INT: u64 = 2;

fn mixed(sum: u64, word: u64) -> u64 {
    let mixed = (sum.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    mixed ^ (mixed >> 29)
}

impl Fingerprint {
    /// Of no row; `is_ordered` says whether the order of rows is a part of the result.
    pub fn new(is_ordered: bool) -> Self {
        Self { is_ordered, rows: 0, checksum: 0, row: 0 }
    }

    /// Takes the next value of a row.
    pub fn int(&mut self, n: i64) {
        self.row = mixed(mixed(self.row, INT), n.cast_unsigned());
    }

    /// Takes the next value of a row.
    pub fn text(&mut self, text: &[u8]) {
        self.row = mixed(mixed(self.row, TEXT), text.len() as u64);
        for word in text.chunks(8) {
            let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.row = mixed(self.row, word);
        }
    }

    /// The values taken since the last row were a row.
    pub fn end_row(&mut self) {
        self.rows += 1;
        self.checksum = match self.is_ordered {
            true => mixed(self.checksum, self.row),
            false => self.checksum.wrapping_add(mixed(FACTOR, self.row)),
        };
        self.row = 0;
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows, checksum {:016x}", self.rows, self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(is_ordered: bool, rows: &[(i64, &str, &str)]) -> Fingerprint {
        let mut fingerprint = Fingerprint::new(is_ordered);
        for (n, a, b) in rows {
            fingerprint.int(*n);
            fingerprint.text(a.as_bytes());
            fingerprint.text(b.as_bytes());
            fingerprint.end_row();
        }
        fingerprint
    }

    #[test]
    fn every_value_and_its_place_count() {
        let rows = [(1, "a", "b"), (2, "", "long enough for two words"), (-3, "x", "y")];
        for is_ordered in [true, false] {
            let whole = of(is_ordered, &rows);
            assert_eq!(whole, of(is_ordered, &rows));
            for other in [
                [(2, "a", "b"), (1, "", "long enough for two words"), (-3, "x", "y")],
                [(1, "b", "a"), (2, "", "long enough for two words"), (-3, "x", "y")],
                [(1, "ab", ""), (2, "", "long enough for two words"), (-3, "x", "y")],
                [(1, "a", "b"), (2, "", "long enough for two wordz"), (-3, "x", "y")],
                [(1, "x", "b"), (2, "", "long enough for two words"), (-3, "a", "y")],
            ] {
                assert_ne!(whole, of(is_ordered, &other), "{other:?}");
            }
            assert_ne!(whole, of(is_ordered, &rows[..2]));
            // Nor does a row that comes twice go out against itself.
            assert_ne!(of(is_ordered, &[rows[0], rows[0]]), of(is_ordered, &[rows[1], rows[1]]));
        }
    }

    #[test]
    fn the_order_counts_where_there_is_one() {
        let (a, b) = ((1, "a", "b"), (2, "c", "d"));
        assert_ne!(of(true, &[a, b]), of(true, &[b, a]));
        assert_eq!(of(false, &[a, b]), of(false, &[b, a]));
    }
}
