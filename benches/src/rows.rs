//! The log rows: from a fixed seed, the same for every engine.

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// Eleven digits.
    pub phone: String,
    /// Milliseconds since 1970; grows from row to row.
    pub ts: i64,
    /// Below 1,000,000, 1,000,000, 331 and [`ITEMS`].
    pub numbers: [i64; 4],
    /// A web address.
    pub url: String,
}

/// Rows of one phone: a phone's 500 newest are a prefix of it.
pub const ROWS_A_PHONE: u64 = 1000;
/// Items that the log's last number names.
pub const ITEMS: u64 = 10_000;

const FIRST_TS: i64 = 1_400_000_000_000;
const TS_STEP: i64 = 10;
/// What each of a row's numbers is below.
pub const NUMBERS_BELOW: [u64; 4] = [1_000_000, 1_000_000, 331, ITEMS];
const PATHS: u64 = 2000;

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

/// How much the rows' addresses have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urls {
    /// Drawn from 2,000 paths, as a log of a site has them.
    Paths,
    /// As long, and nothing in common: no block compresses them.
    Random,
}

/// The log: rows by their number, arriving by time, phones in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// How many rows are loaded; later ones are written by the works.
    pub rows: u64,
    /// Their addresses.
    pub urls: Urls,
}

impl Log {
    /// How many phones there are.
    pub fn phones(self) -> u64 {
        (self.rows / ROWS_A_PHONE).max(1)
    }

    /// The number of a phone.
    pub fn phone(self, index: u64) -> String {
        (18_600_000_000 + index % self.phones()).to_string()
    }

    /// When row `index` came.
    pub fn ts(self, index: u64) -> i64 {
        FIRST_TS + index as i64 * TS_STEP
    }

    /// In how much time so many rows of one phone come.
    pub fn span_of(self, rows: u64) -> i64 {
        (rows * self.phones()) as i64 * TS_STEP
    }

    /// One row at random of every so many: so many per cent of all, by index.
    pub fn some(self, percent: u64, mix: &mut Mix) -> Vec<u64> {
        let step = 100 / percent;
        (0..self.rows / step).map(|i| i * step + mix.below(step)).collect()
    }

    /// Row `index`.
    pub fn row(self, index: u64) -> LogRow {
        let mut mix = Mix(index);
        LogRow {
            phone: self.phone(index),
            ts: self.ts(index),
            numbers: NUMBERS_BELOW.map(|end| mix.below(end) as i64),
            url: url(self.urls, &mut mix),
        }
    }

    /// Rows `from` to `to`.
    pub fn rows(self, from: u64, to: u64) -> Vec<LogRow> {
        (from..to).map(|index| self.row(index)).collect()
    }
}

fn url(urls: Urls, mix: &mut Mix) -> String {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    match urls {
        Urls::Paths => {
            let path = mix.below(PATHS);
            format!("http://www.example.com/section/{path:04}/article.html?ref=frontpage&campaign=summer")
        }
        Urls::Random => {
            let mut url = String::from("http://www.example.com/");
            for _ in 0..6 {
                let bits = mix.next();
                url.extend((0..10).map(|i| char::from(LETTERS[(bits >> (6 * i)) as usize % LETTERS.len()])));
            }
            url
        }
    }
}

/// What a row is made of, in bytes: 8 for the time, 4 for a number.
pub fn row_bytes(row: &LogRow) -> u64 {
    (row.phone.len() + 8 + 4 * row.numbers.len() + row.url.len()) as u64
}
