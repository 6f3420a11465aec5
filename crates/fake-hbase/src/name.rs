//! Names of tables and of regions.

use bytes::Bytes;
use hbase_client::proto::{RegionInfo, TableName};
use md5::{Digest, Md5};

/// The name of the catalog of regions.
pub(crate) const META: &str = "hbase:meta";
/// The whole name of the catalog's only region, which has no hash.
pub(crate) const META_REGION: &[u8] = b"hbase:meta,,1";

/// A table's name as text: tables of the namespace `default` have no prefix.
pub(crate) fn table_text(name: &TableName) -> String {
    let qualifier = String::from_utf8_lossy(&name.qualifier);
    match &name.namespace[..] {
        b"" | b"default" => qualifier.into_owned(),
        namespace => format!("{}:{qualifier}", String::from_utf8_lossy(namespace)),
    }
}

/// The parts of a table's name.
pub(crate) fn table_name(text: &str) -> TableName {
    let (namespace, qualifier) = text.split_once(':').unwrap_or(("default", text));
    TableName {
        namespace: Bytes::copy_from_slice(namespace.as_bytes()),
        qualifier: Bytes::copy_from_slice(qualifier.as_bytes()),
    }
}

/// Which region: its table, where it starts and ends, and the number that tells it from those that were there before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegionId {
    /// The table.
    pub table: String,
    /// The first row; empty for the first region.
    pub start: Bytes,
    /// The row after the last; empty for the last region.
    pub end: Bytes,
    /// Daughters have greater numbers than their parents.
    pub number: u64,
}

impl RegionId {
    pub(crate) fn meta() -> Self {
        Self { table: META.to_owned(), start: Bytes::new(), end: Bytes::new(), number: 1 }
    }

    /// The whole name, which is the row of the catalog: table, start, number, and a hash of these.
    pub fn name(&self) -> Bytes {
        let mut name = self.plain_name();
        if self.table != META {
            name.extend_from_slice(format!(".{}.", self.encoded_name()).as_bytes());
        }
        name.into()
    }

    /// The hash in the name.
    pub fn encoded_name(&self) -> String {
        if self.table == META {
            return "1588230740".to_owned();
        }
        Md5::digest(self.plain_name()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a row lies in it.
    pub fn contains(&self, row: &[u8]) -> bool {
        row >= &self.start[..] && (self.end.is_empty() || row < &self.end[..])
    }

    pub(crate) fn info(&self) -> RegionInfo {
        RegionInfo {
            region_id: self.number,
            table_name: table_name(&self.table),
            start_key: Some(self.start.clone()),
            end_key: Some(self.end.clone()),
            offline: Some(false),
            split: Some(false),
            replica_id: Some(0),
        }
    }

    fn plain_name(&self) -> Vec<u8> {
        let mut name = format!("{},", self.table).into_bytes();
        name.extend_from_slice(&self.start);
        name.extend_from_slice(format!(",{}", self.number).as_bytes());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hbase() {
        let id = RegionId { table: "t".into(), start: "m".into(), end: Bytes::new(), number: 5 };
        assert_eq!(id.name(), &b"t,m,5.9a81c0b3c43d7748555aac2dc379ef10."[..]);
        assert_eq!(RegionId::meta().name(), META_REGION);
    }

    #[test]
    fn a_name_of_a_table_comes_back() {
        for name in ["t", "ns:t"] {
            assert_eq!(table_text(&table_name(name)), name);
        }
    }
}
