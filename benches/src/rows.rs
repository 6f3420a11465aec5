//! The log rows: from a fixed seed, the same for every engine.

/// A row of the log.
pub struct LogRow {
    /// Eleven digits.
    pub phone: String,
    /// Milliseconds since 1970; grows from row to row.
    pub ts: i64,
    /// Four integers.
    pub numbers: [i64; 4],
    /// One of 2,000 paths.
    pub url: String,
}

/// Rows of one phone: a phone's 500 newest are a prefix of it.
pub const ROWS_A_PHONE: u64 = 1000;

/// A small generator of well-mixed numbers (splitmix64).
pub struct Mix(pub u64);

impl Mix {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// How many phones there are among `rows` rows.
pub fn phones(rows: u64) -> u64 {
    (rows / ROWS_A_PHONE).max(1)
}

/// The number of a phone.
pub fn phone(index: u64) -> String {
    (18_600_000_000 + index).to_string()
}

/// Row `index` of `rows`: arriving by time, phones in turn.
pub fn log_row(index: u64, rows: u64) -> LogRow {
    let mut mix = Mix(index);
    LogRow {
        phone: phone(index % phones(rows)),
        ts: 1_400_000_000_000 + index as i64 * 10,
        numbers: [0; 4].map(|_| mix.below(1_000_000) as i64),
        url: format!(
            "http://www.example.com/section/{:04}/article.html?ref=frontpage&campaign=summer",
            mix.below(2000)
        ),
    }
}
