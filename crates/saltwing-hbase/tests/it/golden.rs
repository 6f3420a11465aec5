//! The golden files: definitions that Phoenix's classes made, and cells that a live Phoenix wrote.

use std::collections::BTreeMap;

use saltwing_phoenix::TableDefinition;
use saltwing_types::text::unhex;

fn lines(file: &str) -> Vec<serde_json::Value> {
    let path = format!("{}/../saltwing-phoenix/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bytes(value: &serde_json::Value) -> Vec<u8> {
    unhex(value.as_str().unwrap()).unwrap()
}

/// The definitions of tables that are not of a tenant, by name, as bytes of the message.
pub fn definitions() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for line in lines("tables.jsonl") {
        let tables = line["tables"].as_object().unwrap().iter().filter(|(name, _)| !name.starts_with('@'));
        all.extend(tables.map(|(name, message)| (name.clone(), bytes(message))));
    }
    all
}

/// A definition by name.
pub fn definition(name: &str) -> TableDefinition {
    TableDefinition::from_bytes(&definitions()[name]).unwrap()
}

/// A cell: family, qualifier, value.
pub type GoldenCell = (String, Vec<u8>, Vec<u8>);

/// A row: its key, and its cells.
pub type GoldenRow = (Vec<u8>, Vec<GoldenCell>);

/// A table and the rows of its HBase table.
pub struct Written {
    /// Its name.
    pub table: String,
    pub rows: Vec<GoldenRow>,
}

/// The 43 tables that a live Phoenix wrote.
pub fn written() -> Vec<Written> {
    let cell = |cell: &serde_json::Value| (cell[0].as_str().unwrap().to_owned(), bytes(&cell[1]), bytes(&cell[2]));
    let row =
        |row: &serde_json::Value| (bytes(&row["key"]), row["cells"].as_array().unwrap().iter().map(cell).collect());
    let written = |line: &serde_json::Value| Written {
        table: format!("CA{}", line["id"].as_str().unwrap().trim_start_matches("cells-").trim_start_matches('0')),
        rows: line["rows"].as_array().unwrap().iter().map(row).collect(),
    };
    lines("cells.jsonl").iter().map(written).collect()
}
