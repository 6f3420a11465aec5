//! A log of mobile data sessions: the same rows each time, for the demo, tests and benches.
//!
//! The key is text: a phone's sessions of a day are one range of it, and the digits of
//! the MD5 spread the phones.
//!
//! ```text
//! id = 0d7             18601134210  20140624093012    5f0c4e1b2a99d3e7
//!      MD5(phone), 3   phone        yyyyMMddHHmmss    MD5(columns), 16
//! ```

use std::fmt::Write;

use md5::{Digest, Md5};

/// Makes the table.
pub const CREATE_TABLE: &str = "\
CREATE TABLE mobile_log (
    id VARCHAR NOT NULL PRIMARY KEY,
    phone_no VARCHAR, term_model_id VARCHAR, lac VARCHAR, ci VARCHAR,
    busi_id VARCHAR, app_id VARCHAR, busi_type_id VARCHAR,
    start_time DATE, up_flow BIGINT, down_flow BIGINT,
    site_name_id VARCHAR, site_channel_id VARCHAR,
    charging_id VARCHAR, c_ggsn_ip VARCHAR, ex_tl_domain VARCHAR,
    ex_comp_domain VARCHAR, acce_url VARCHAR,
    flow BIGINT, rev_01 VARCHAR
)";

/// The table's columns behind `id`, in order.
pub const COLUMNS: [&str; 19] = [
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
];

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

/// How many rows, and of what: every phone has `sessions_a_day` sessions on each of `days` days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobileLog {
    /// Phones, from [`phone`]`(0)` on.
    pub phones: u64,
    /// Days from 2014-06-22 on, at most 9.
    pub days: u64,
    /// Sessions of one phone on one day, at most 86,400.
    pub sessions_a_day: u64,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The key.
    pub id: String,
    /// The texts of [`COLUMNS`].
    pub columns: [String; 19],
}

impl MobileLog {
    /// How many rows there are.
    pub fn row_count(&self) -> u64 {
        self.phones * self.days * self.sessions_a_day
    }

    /// The rows in the order in which they came about: by day, by time of day, by phone.
    pub fn sessions(&self) -> impl Iterator<Item = Session> + use<> {
        let Self { phones, sessions_a_day, .. } = *self;
        let slot_seconds = (SECONDS_A_DAY / sessions_a_day.max(1)).max(1);
        (0..self.row_count()).map(move |row| {
            let (slot, phone_index) = (row / phones, row % phones);
            let (day, slot) = (22 + slot / sessions_a_day, slot % sessions_a_day);
            let random = mixed(row);
            session(&phone(phone_index), day, slot * slot_seconds + random % slot_seconds, random)
        })
    }
}

/// The number of a phone.
pub fn phone(index: u64) -> String {
    (18_601_134_200 + index).to_string()
}

/// What the keys of a phone's sessions start with.
pub fn key_prefix(phone: &str) -> String {
    format!("{}{phone}", md5_hex(phone, 3))
}

/// From which key on, and up to which, a phone's sessions of one day (yyyyMMdd, not a month's last) lie.
pub fn day_range(phone: &str, day: u32) -> (String, String) {
    let prefix = key_prefix(phone);
    (format!("{prefix}{day}"), format!("{prefix}{}", day + 1))
}

fn session(phone: &str, day: u64, second: u64, random: u64) -> Session {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Each column takes bits of its own.
    let part = |shift: u32, count: u64| (random >> shift) % count;
    let (site, channel, domain) = SITES.get(part(8, 6) as usize).copied().unwrap_or(SITES[0]);
    let (up, down) = (200 + part(16, 9_000), 1_000 + part(24, 800_000));
    let columns = [
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
    ];
    let time = format!("201406{day:02}{hour:02}{minute:02}{second:02}");
    Session { id: format!("{}{time}{}", key_prefix(phone), md5_hex(&columns.join("|"), 16)), columns }
}

/// The first `digits` hex digits of a text's MD5, as SQL's MD5 has them.
fn md5_hex(text: &str, digits: usize) -> String {
    let mut hex = Md5::digest(text).iter().fold(String::with_capacity(32), |mut hex, byte| {
        // Writing to a String does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    hex.truncate(digits);
    hex
}

/// A number that looks random, always the same for the same `seed` (splitmix64).
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
    fn a_phones_day_is_a_range_of_ids_and_nothing_else_is_in_it() {
        let all: Vec<Session> = LOG.sessions().collect();
        let ids: BTreeSet<&str> = all.iter().map(|s| s.id.as_str()).collect();
        assert_eq!((all.len() as u64, ids.len() as u64), (LOG.row_count(), LOG.row_count()));
        let (from, to) = day_range("18601134210", 20_140_624);
        let inside: Vec<&Session> = all.iter().filter(|s| s.id >= from && s.id < to).collect();
        assert_eq!(inside.len() as u64, LOG.sessions_a_day);
        for session in inside {
            assert_eq!(session.columns[0], "18601134210");
            assert!(session.columns[7].starts_with("2014-06-24 "));
        }
    }

    #[test]
    fn ids_have_their_four_parts() {
        let first = LOG.sessions().next().unwrap();
        assert_eq!(first.id.len(), 3 + 11 + 14 + 16);
        assert!(first.id.starts_with(&key_prefix("18601134200")));
        assert_eq!(LOG.sessions().next(), Some(first));
    }

    #[test]
    fn md5_is_sqls() {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute(CREATE_TABLE, ()).unwrap();
        let sql = "UPSERT INTO mobile_log (id) VALUES (SUBSTR(MD5(?), 1, 3) || ?)";
        connection.execute(sql, saltwing::params!["18601134210", "18601134210"]).unwrap();
        let id = key_prefix("18601134210");
        let rows = connection.query("SELECT id FROM mobile_log WHERE id = ?", saltwing::params![id]).unwrap();
        assert_eq!(rows.count(), 1);
    }

    #[test]
    fn the_table_has_the_columns() {
        let positions: Vec<_> = COLUMNS.iter().map(|c| CREATE_TABLE.find(&format!(" {c} ")).unwrap()).collect();
        assert!(positions.is_sorted());
    }
}
