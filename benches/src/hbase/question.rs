//! The questions that both sides answer, and the values in them.

use super::log::{ClusterLog, ROWS_A_PHONE};
use crate::rows::Mix;

/// A value of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    Text(String),
    Int(i64),
}

/// Kinds of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Point,
    Prefix500,
    Latest10,
    Aggregate401,
    List100,
    SkipScan,
    CountAll,
    SumAll,
    GroupBy,
}

/// Keys of a list.
const LISTED: usize = 100;
/// Phones of a skip scan, and the rows of each.
const SKIPPED_PHONES: usize = 20;
const SKIPPED_ROWS: u64 = 10;
/// Rows of an aggregate.
const AGGREGATED: u64 = 401;

impl Work {
    pub const ALL: [Self; 9] = [
        Self::Point,
        Self::Prefix500,
        Self::Latest10,
        Self::Aggregate401,
        Self::List100,
        Self::SkipScan,
        Self::CountAll,
        Self::SumAll,
        Self::GroupBy,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Prefix500 => "prefix500",
            Self::Latest10 => "latest10",
            Self::Aggregate401 => "agg401",
            Self::List100 => "list100",
            Self::SkipScan => "skip_scan",
            Self::CountAll => "count_all",
            Self::SumAll => "sum_all",
            Self::GroupBy => "group_by",
        }
    }

    /// The goal: Phoenix's time divided by ours.
    pub fn goal(self) -> f64 {
        match self {
            Self::Point => 8.0,
            Self::Latest10 => 6.0,
            Self::Prefix500 | Self::Aggregate401 | Self::List100 | Self::SkipScan => 4.0,
            Self::CountAll | Self::SumAll | Self::GroupBy => 1.0,
        }
    }

    /// The number of questions of this kind in a run.
    pub fn questions(self) -> usize {
        match self {
            Self::Point | Self::Latest10 => 500,
            Self::Prefix500 | Self::Aggregate401 | Self::List100 | Self::SkipScan => 100,
            Self::CountAll | Self::SumAll | Self::GroupBy => 5,
        }
    }

    pub fn sql(self, table: &str) -> String {
        match self {
            Self::Point => format!("SELECT up, down, lac, ci, url FROM {table} WHERE phone = ? AND ts = ?"),
            Self::Prefix500 => format!("SELECT * FROM {table} WHERE phone = ?"),
            Self::Latest10 => format!("SELECT * FROM {table} WHERE phone = ? ORDER BY ts DESC LIMIT 10"),
            Self::Aggregate401 => {
                format!("SELECT COUNT(*), SUM(up) FROM {table} WHERE phone = ? AND ts BETWEEN ? AND ?")
            }
            Self::List100 => {
                format!(
                    "SELECT phone, ts, up FROM {table} WHERE (phone, ts) IN ({})",
                    vec!["(?, ?)"; LISTED].join(", ")
                )
            }
            Self::SkipScan => {
                let phones = vec!["?"; SKIPPED_PHONES].join(", ");
                format!("SELECT phone, ts, up FROM {table} WHERE phone IN ({phones}) AND ts BETWEEN ? AND ?")
            }
            Self::CountAll => format!("SELECT COUNT(*) FROM {table}"),
            Self::SumAll => format!("SELECT SUM(up) FROM {table}"),
            Self::GroupBy => format!("SELECT lac, COUNT(*), SUM(up) FROM {table} GROUP BY lac"),
        }
    }

    /// The values of a question.
    pub fn parameters(self, log: ClusterLog, mix: &mut Mix) -> Vec<Parameter> {
        let phone = mix.below(log.phones());
        let text = |phone: u64| Parameter::Text(log.phone(phone));
        let ts = |phone: u64, place: u64| Parameter::Int(log.ts_of_phone(phone, place));
        match self {
            Self::Point => vec![text(phone), ts(phone, mix.below(ROWS_A_PHONE))],
            Self::Prefix500 | Self::Latest10 => vec![text(phone)],
            Self::Aggregate401 => {
                let from = mix.below(ROWS_A_PHONE - AGGREGATED);
                vec![text(phone), ts(phone, from), ts(phone, from + AGGREGATED - 1)]
            }
            Self::List100 => {
                let mut keys = std::collections::BTreeSet::new();
                while keys.len() < LISTED {
                    keys.insert((mix.below(log.phones()), mix.below(ROWS_A_PHONE)));
                }
                keys.into_iter().flat_map(|(phone, place)| [text(phone), ts(phone, place)]).collect()
            }
            Self::SkipScan => {
                let from = mix.below(ROWS_A_PHONE - SKIPPED_ROWS);
                let phones = (0..SKIPPED_PHONES as u64).map(|at| text(phone + at * 3));
                let last = log.ts_of_phone(log.phones() - 1, from + SKIPPED_ROWS - 1);
                phones.chain([ts(0, from), Parameter::Int(last)]).collect()
            }
            Self::CountAll | Self::SumAll | Self::GroupBy => Vec::new(),
        }
    }
}
