//! Comparators.

use std::cmp::Ordering;

use bytes::Bytes;
use hbase_client::proto::{self, CompareType};
use prost::Message;

use super::class;
use crate::exception::Exception;

/// A comparator with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparator {
    Binary(Bytes),
    BinaryPrefix(Bytes),
    Null,
    /// In small letters.
    Substring(String),
}

impl Comparator {
    pub(crate) fn decode(message: &proto::Comparator) -> Result<Self, Exception> {
        let bytes = message.serialized_comparator.clone().unwrap_or_default();
        let wrong = |error: prost::DecodeError| Exception::do_not_retry(format!("DeserializationException: {error}"));
        Ok(match class::name_of(&message.name) {
            Some("BinaryComparator") => Self::Binary(
                proto::BinaryComparator::decode(bytes).map_err(wrong)?.comparable.value.unwrap_or_default(),
            ),
            Some("BinaryPrefixComparator") => {
                let comparator = proto::BinaryPrefixComparator::decode(bytes).map_err(wrong)?;
                Self::BinaryPrefix(comparator.comparable.value.unwrap_or_default())
            }
            Some("NullComparator") => Self::Null,
            Some("SubstringComparator") => {
                Self::Substring(proto::SubstringComparator::decode(bytes).map_err(wrong)?.substr.to_lowercase())
            }
            _ => return Err(class::not_found(&message.name)),
        })
    }

    /// Its value; empty if it has none.
    pub(crate) fn value(&self) -> &[u8] {
        match self {
            Self::Binary(value) | Self::BinaryPrefix(value) => value,
            Self::Null => &[],
            Self::Substring(text) => text.as_bytes(),
        }
    }

    /// Whether its value is nothing, which conditions take for an absent cell.
    pub(crate) fn is_null(&self) -> bool {
        self.value().is_empty()
    }

    /// The comparator's value compared with that of a cell, in this order.
    pub(crate) fn compare(&self, value: &[u8]) -> Ordering {
        match self {
            Self::Binary(own) => own[..].cmp(value),
            Self::BinaryPrefix(own) => own[..].cmp(&value[..own.len().min(value.len())]),
            Self::Null => Ordering::Greater,
            Self::Substring(text) => {
                let is_in = String::from_utf8_lossy(value).to_lowercase().contains(text.as_str());
                if is_in { Ordering::Equal } else { Ordering::Greater }
            }
        }
    }
}

/// Whether two that compare so are in a relation.
pub(crate) fn holds(relation: CompareType, ordering: Ordering) -> bool {
    match relation {
        CompareType::Less => ordering.is_lt(),
        CompareType::LessOrEqual => ordering.is_le(),
        CompareType::Equal => ordering.is_eq(),
        CompareType::NotEqual => ordering.is_ne(),
        CompareType::GreaterOrEqual => ordering.is_ge(),
        CompareType::Greater => ordering.is_gt(),
        CompareType::NoOp => false,
    }
}
