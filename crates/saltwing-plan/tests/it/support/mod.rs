//! Tables, values and conditions for tests.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod brute_force;
pub mod parser;
pub mod random;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltwing_plan::{Access, CandidateKey, Condition, Request, choose};
use saltwing_rowkey::RowKeyCodec;
use saltwing_types::{ColumnRef, Expr, KeySchema, SortOrder, SqlType, Value};

/// The folder of files of cases.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

/// A table: its columns, and the key over some of them.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub schema: KeySchema,
    pub codec: Arc<RowKeyCodec>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub ty: SqlType,
    pub nullable: bool,
}

impl Table {
    pub fn new(name: &str, columns: Vec<Column>, schema: KeySchema) -> Self {
        let codec = Arc::new(RowKeyCodec::new(&schema).unwrap());
        Self { name: name.into(), columns, schema, codec }
    }

    /// A column as conditions name it.
    pub fn column(&self, index: usize) -> Expr {
        let Column { name, ty, nullable } = self.columns[index].clone();
        Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
    }

    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub fn candidate(&self) -> CandidateKey<'_> {
        CandidateKey::of_table(&self.name, &self.schema, &self.codec)
    }

    /// Plans the conditions of WHERE.
    pub fn plan(&self, conditions: Vec<Condition>) -> Access {
        choose(Request::new(&self.name, &[self.candidate()], conditions)).unwrap()
    }

    /// The key values of a row; `None` where one cannot be computed.
    pub fn key_values(&self, row: &[Value]) -> Option<Vec<Value>> {
        self.schema.columns.iter().map(|key| key.value(row).ok()).collect()
    }

    /// The definition as tests write it.
    pub fn definition(&self) -> String {
        let column = |key: &saltwing_types::KeyColumn| {
            let desc = if key.order == SortOrder::Desc { " desc" } else { "" };
            let null = if key.nullable { " null" } else { "" };
            format!("{} {}{desc}{null}", key.name, key.ty)
        };
        let columns: Vec<String> = self.schema.columns.iter().map(column).collect();
        format!("key ({}) salt {:?}", columns.join(", "), self.schema.salt)
    }
}
