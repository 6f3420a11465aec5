//! A generated log of mobile data sessions, always with the same rows, for the demo, tests and benches.
//!
//! The key begins with three digits of the phone's MD5, which spread the phones. The table
//! computes them, so no statement names them. A phone's sessions of a day are one range.
//!
//! ```text
//! key = 0d7             18601134210  2014-06-24 09:30:12  5f0c4e1b2a99d3e7
//!       MD5(phone), 3   phone_no     start_time           id: MD5(columns), 16
//! ```

use std::fmt::Write;

use md5::{Digest, Md5};

/// The statement that creates the table.
pub const CREATE_TABLE: &str = "\
CREATE TABLE mobile_log (
    phone_no VARCHAR NOT NULL,
    term_model_id VARCHAR, lac VARCHAR, ci VARCHAR,
    busi_id VARCHAR, app_id VARCHAR, busi_type_id VARCHAR,
    start_time DATE NOT NULL, up_flow BIGINT, down_flow BIGINT,
    site_name_id VARCHAR, site_channel_id VARCHAR,
    charging_id VARCHAR, c_ggsn_ip VARCHAR, ex_tl_domain VARCHAR,
    ex_comp_domain VARCHAR, acce_url VARCHAR,
    flow BIGINT, rev_01 VARCHAR, id VARCHAR NOT NULL,
    CONSTRAINT pk PRIMARY KEY
        (SUBSTR(MD5(phone_no), 1, 3), phone_no, start_time, id)
)";

/// The table's columns, in order.
pub const COLUMNS: [&str; 20] = [
    "phone_no",
    "term_model_id",
    "lac",
    "ci",
    "busi_id",
    "app_id",
    "busi_type_id",
    "start_time",
    "up_flow",
    "down_flow",
    "site_name_id",
    "site_channel_id",
    "charging_id",
    "c_ggsn_ip",
    "ex_tl_domain",
    "ex_comp_domain",
    "acce_url",
    "flow",
    "rev_01",
    "id",
];

/// A session: the texts of [`COLUMNS`].
pub type Session = [String; 20];

/// The index of the column `phone_no` in [`COLUMNS`].
pub const PHONE_NO: usize = 0;
/// The index of a further key column, as [`PHONE_NO`].
pub const START_TIME: usize = 7;
/// The index of a further key column, as [`PHONE_NO`].
pub const ID: usize = 19;

/// Sites: name, channel, top domain.
const SITES: [(&str, &str, &str); 6] = [
    ("news", "front", "news.example"),
    ("video", "clips", "video.example"),
    ("maps", "tiles", "maps.example"),
    ("mail", "inbox", "mail.example"),
    ("music", "radio", "music.example"),
    ("shop", "search", "shop.example"),
];
const SECONDS_A_DAY: u64 = 86_400;

/// The day of June 2014 on which the log begins.
pub const FIRST_DAY: u64 = 22;

/// The size of a log: every phone has `sessions_a_day` sessions on each of `days` days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobileLog {
    /// The number of phones, from [`phone`]`(0)`.
    pub phones: u64,
    /// The number of days from 2014-06-[`FIRST_DAY`], at most 8.
    pub days: u64,
    /// Sessions of one phone on one day, at most 86,400.
    pub sessions_a_day: u64,
}

impl MobileLog {
    /// The number of rows.
    pub fn row_count(&self) -> u64 {
        self.phones * self.days * self.sessions_a_day
    }

    /// The rows in the order of their time: by day, by time of day, by phone.
    pub fn sessions(&self) -> impl Iterator<Item = Session> + use<> {
        let Self { phones, sessions_a_day, .. } = *self;
        let slot_seconds = (SECONDS_A_DAY / sessions_a_day.max(1)).max(1);
        (0..self.row_count()).map(move |row| {
            let (slot, phone_index) = (row / phones, row % phones);
            let (day, slot) = (FIRST_DAY + slot / sessions_a_day, slot % sessions_a_day);
            let random = mixed(row);
            session(&phone(phone_index), day, slot * slot_seconds + random % slot_seconds, random)
        })
    }
}

/// The number of a phone.
pub fn phone(index: u64) -> String {
    (18_601_134_200 + index).to_string()
}

/// Start and end of the sessions of a day of June 2014.
pub fn day_range(day: u64) -> (String, String) {
    (format!("2014-06-{day:02}"), format!("2014-06-{:02}", day + 1))
}

fn session(phone: &str, day: u64, second: u64, random: u64) -> Session {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Each column uses its own bits.
    let part = |shift: u32, count: u64| (random >> shift) % count;
    let (site, channel, domain) = SITES.get(part(8, 6) as usize).copied().unwrap_or(SITES[0]);
    let (up, down) = (200 + part(16, 9_000), 1_000 + part(24, 800_000));
    let mut columns = [
        phone.to_owned(),
        format!("T{:03}", part(12, 40)),
        format!("{:04X}", 0x2500 + part(20, 64)),
        format!("{:04X}", part(28, 0x10000)),
        format!("{}", 1 + part(32, 5)),
        format!("{}", 100 + part(36, 20)),
        format!("{}", part(40, 3)),
        format!("2014-06-{day:02} {hour:02}:{minute:02}:{second:02}"),
        up.to_string(),
        down.to_string(),
        site.to_owned(),
        channel.to_owned(),
        format!("{:08x}", part(4, 1 << 32)),
        format!("10.0.{}.{}", part(44, 8), 1 + part(48, 250)),
        domain.to_owned(),
        format!("{channel}.{domain}"),
        format!("http://{channel}.{domain}/{:x}", part(10, 1 << 24)),
        (up + down).to_string(),
        String::new(),
        String::new(),
    ];
    columns[ID] = md5_hex(&columns[..ID].join("|"), 16);
    columns
}

/// The first `digits` hex digits of a text's MD5, as of SQL's MD5.
fn md5_hex(text: &str, digits: usize) -> String {
    let mut hex = Md5::digest(text).iter().fold(String::with_capacity(32), |mut hex, byte| {
        // Writing to a String does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    hex.truncate(digits);
    hex
}

/// A pseudorandom number from `seed` (splitmix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LOG: MobileLog = MobileLog { phones: 20, days: 4, sessions_a_day: 6 };

    #[test]
    fn a_phones_day_is_a_range_of_times_and_its_keys_differ() {
        let all: Vec<Session> = LOG.sessions().collect();
        let keys: BTreeSet<_> = all.iter().map(|s| (&s[PHONE_NO], &s[START_TIME], &s[ID])).collect();
        assert_eq!((all.len() as u64, keys.len() as u64), (LOG.row_count(), LOG.row_count()));
        let (from, to) = day_range(24);
        let inside = all.iter().filter(|s| s[PHONE_NO] == "18601134210" && s[START_TIME] >= from && s[START_TIME] < to);
        assert_eq!(inside.count() as u64, LOG.sessions_a_day);
    }

    #[test]
    fn rows_are_the_same_each_time_and_fit_the_table() {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute(CREATE_TABLE, ()).unwrap();
        let insert = format!("INSERT INTO mobile_log ({}) VALUES ({})", COLUMNS.join(", "), ["?"; 20].join(", "));
        let insert = connection.prepare(&insert).unwrap();
        for session in LOG.sessions() {
            insert.execute(session.to_vec()).unwrap();
        }
        let sql = "SELECT id FROM mobile_log WHERE phone_no = ? AND start_time >= ? AND start_time < ?";
        let (from, to) = day_range(25);
        let mut rows = connection.query(sql, saltwing::params![phone(3), from, to]).unwrap();
        assert_eq!(rows.by_ref().count() as u64, LOG.sessions_a_day);
        assert_eq!(rows.stats().keys_read, LOG.sessions_a_day);
    }
}
