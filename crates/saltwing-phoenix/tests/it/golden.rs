//! The golden files: definitions that Phoenix's classes made, and cells that a live Phoenix wrote.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use saltwing_phoenix::{CellRef, RowFormat, TableDefinition};
use saltwing_types::text::unhex;

pub fn lines(file: &str) -> Vec<serde_json::Value> {
    let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The definitions of one line, by name, `@tenant@` in front of a tenant's.
pub struct Definitions {
    pub id: String,
    pub tables: BTreeMap<String, Vec<u8>>,
}

impl Definitions {
    pub fn table(&self, name: &str) -> TableDefinition {
        let bytes = self.tables.get(name).unwrap_or_else(|| panic!("{} has no {name}", self.id));
        TableDefinition::from_bytes(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn format(&self, name: &str) -> RowFormat {
        let mut table = self.table(name);
        // A column that ALTER TABLE dropped stands in the golden definition, so that the numbers of the others are right.
        table.columns.retain(|column| column.name != "ZDROPPED");
        table.row_format().unwrap()
    }
}

pub fn definitions() -> Vec<Definitions> {
    let definitions = |line: &serde_json::Value| Definitions {
        id: line["id"].as_str().unwrap().to_owned(),
        tables: line["tables"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, bytes)| (name.clone(), unhex(bytes.as_str().unwrap()).unwrap()))
            .collect(),
    };
    lines("tables.jsonl").iter().map(definitions).collect()
}

/// A row of an HBase table.
pub struct HbaseRow {
    pub key: Vec<u8>,
    /// Family, qualifier, value.
    pub cells: Vec<(String, Vec<u8>, Vec<u8>)>,
}

impl HbaseRow {
    pub fn cells(&self) -> impl Iterator<Item = CellRef<'_>> {
        self.cells.iter().map(|(family, qualifier, value)| CellRef { family: family.as_bytes(), qualifier, value })
    }
}

/// A table with the statements that wrote it, and its rows afterwards.
pub struct Written {
    pub id: String,
    pub dml: Vec<String>,
    pub rows: Vec<HbaseRow>,
    pub others: Vec<(String, Vec<HbaseRow>)>,
}

fn rows(list: &serde_json::Value) -> Vec<HbaseRow> {
    let bytes = |value: &serde_json::Value| unhex(value.as_str().unwrap()).unwrap();
    let cell = |cell: &serde_json::Value| (cell[0].as_str().unwrap().to_owned(), bytes(&cell[1]), bytes(&cell[2]));
    let row = |row: &serde_json::Value| HbaseRow {
        key: bytes(&row["key"]),
        cells: row["cells"].as_array().unwrap().iter().map(cell).collect(),
    };
    list.as_array().unwrap().iter().map(row).collect()
}

pub fn written() -> Vec<Written> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let table = |line: &serde_json::Value| Written {
        id: text(&line["id"]),
        dml: line["dml"].as_array().unwrap().iter().map(text).collect(),
        rows: rows(&line["rows"]),
        others: line["other_tables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|other| (text(&other["table"]), rows(&other["rows"])))
            .collect(),
    };
    lines("cells.jsonl").iter().map(table).collect()
}

/// A row of the catalog: its key, then name and value of each cell.
pub type CatalogRow = (Vec<u8>, Vec<(String, Vec<u8>)>);

/// All rows of the golden catalog, which are read once.
pub static CATALOG_ROWS: LazyLock<Vec<CatalogRow>> = LazyLock::new(catalog_rows);

fn catalog_rows() -> Vec<CatalogRow> {
    let bytes = |value: &serde_json::Value| unhex(value.as_str().unwrap()).unwrap();
    let row = |line: &serde_json::Value| {
        let cells = line["cells"].as_object().unwrap().iter();
        (bytes(&line["key"]), cells.map(|(name, value)| (name.clone(), bytes(value))).collect())
    };
    lines("catalog.jsonl").iter().map(row).collect()
}

/// Names of tables, and the attribute with the maintainers of their indexes in hex.
pub fn maintainers() -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    lines("maintainers.jsonl").iter().map(|line| (text(&line["table"]), text(&line["maintainers"]))).collect()
}
