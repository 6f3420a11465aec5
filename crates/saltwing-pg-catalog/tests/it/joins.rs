//! The joins that clients make hold, whatever the definitions are.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use saltwing::{SqlType, Statement};

use crate::server::{Server, Session};

/// Types of columns as CREATE TABLE has them.
const TYPES: [&str; 14] = [
    "BIGINT",
    "INTEGER",
    "SMALLINT",
    "VARCHAR",
    "VARCHAR(7)",
    "CHAR(3)",
    "DECIMAL(10,2)",
    "DOUBLE",
    "BOOLEAN",
    "TIMESTAMP",
    "UUID",
    "JSON",
    "VARBINARY",
    "VARCHAR[]",
];

/// Names, some of which need quotes.
const NAMES: [&str; 8] = ["a", "b2", "select", "My Column", "x\"y", "ü", "order", "A"];

#[derive(Clone, Debug)]
struct Column {
    name: usize,
    ty: usize,
    is_not_null: bool,
    has_default: bool,
    has_comment: bool,
}

#[derive(Clone, Debug)]
struct Table {
    in_schema: bool,
    keys: usize,
    columns: Vec<Column>,
    /// Each the places of its columns, and whether it is unique, descending, with an included column, over an expression.
    indexes: Vec<(Vec<usize>, bool, bool, bool, bool)>,
    has_check: bool,
    has_view: bool,
    is_identity: bool,
    has_comment: bool,
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Table {
    /// The statements that make the table `t<number>`.
    fn script(&self, number: usize) -> String {
        let path = format!("{}t{number}", if self.in_schema { "app." } else { "" });
        let mut parts = Vec::new();
        for key in 0..self.keys {
            let identity = if key == 0 && self.is_identity { " GENERATED ALWAYS AS IDENTITY" } else { " NOT NULL" };
            parts.push(format!("k{key} BIGINT{identity}"));
        }
        for (place, column) in self.columns.iter().enumerate() {
            let not_null = if column.is_not_null { " NOT NULL" } else { "" };
            let default = if column.has_default { default_of(TYPES[column.ty]) } else { "" };
            parts.push(format!("{} {}{default}{not_null}", self.column(place, column), TYPES[column.ty]));
        }
        let keys: Vec<String> =
            (0..self.keys).map(|key| format!("k{key}{}", if key % 2 == 1 { " DESC" } else { "" })).collect();
        parts.push(format!("CONSTRAINT key{number} PRIMARY KEY ({})", keys.join(", ")));
        if self.has_check {
            parts.push(format!("CONSTRAINT check{number} CHECK (k0 > {number})"));
        }
        let mut script = format!("CREATE TABLE {path} ({});\n", parts.join(", "));
        for (place, index) in self.indexes.iter().enumerate() {
            script.push_str(&self.index(&path, number, place, index));
        }
        if self.has_view {
            script.push_str(&format!("CREATE VIEW {path}_view AS SELECT * FROM {path} WHERE k0 > 5;\n"));
        }
        if self.has_comment {
            script.push_str(&format!("COMMENT ON TABLE {path} IS 'it''s {number}';\n"));
        }
        for (place, column) in self.columns.iter().enumerate().filter(|(_, column)| column.has_comment) {
            script.push_str(&format!("COMMENT ON COLUMN {path}.{} IS 'column {place}';\n", self.column(place, column)));
        }
        script
    }

    fn column(&self, place: usize, column: &Column) -> String {
        quote(&format!("{}{place}", NAMES[column.name]))
    }

    fn index(&self, path: &str, number: usize, place: usize, index: &(Vec<usize>, bool, bool, bool, bool)) -> String {
        let (columns, is_unique, is_descending, has_included, is_expression) = index;
        let mut parts: Vec<String> = columns
            .iter()
            .map(|column| column % self.columns.len())
            // Only the last part of a key may be bytes.
            .filter(|column| !matches!(TYPES[self.columns[*column].ty], "VARCHAR[]" | "JSON" | "VARBINARY"))
            .map(|column| self.column(column, &self.columns[column]))
            .collect();
        parts.sort();
        parts.dedup();
        if *is_expression {
            parts.push(format!("k0 + {place}"));
        }
        if parts.is_empty() {
            return String::new();
        }
        let direction = if *is_descending { " DESC" } else { "" };
        let include = if *has_included { " INCLUDE (k0)" } else { "" };
        let unique = if *is_unique { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX i{number}_{place} ON {path} ({}{direction}){include};\n", parts.join(", "))
    }
}

fn default_of(ty: &str) -> &'static str {
    match ty {
        "BIGINT" | "INTEGER" | "SMALLINT" => " DEFAULT 7",
        "DECIMAL(10,2)" => " DEFAULT 1.5",
        "VARCHAR" | "VARCHAR(7)" | "CHAR(3)" => " DEFAULT 'x''y'",
        "BOOLEAN" => " DEFAULT true",
        _ => "",
    }
}

fn column() -> impl Strategy<Value = Column> {
    (0..NAMES.len(), 0..TYPES.len(), any::<[bool; 3]>()).prop_map(
        |(name, ty, [is_not_null, has_default, has_comment])| Column {
            name,
            ty,
            is_not_null,
            has_default,
            has_comment,
        },
    )
}

fn table() -> impl Strategy<Value = Table> {
    let columns = proptest::collection::vec(column(), 1..5);
    let index = (proptest::collection::vec(0..5_usize, 1..3), any::<[bool; 4]>());
    let indexes = proptest::collection::vec(index.prop_map(|(columns, [a, b, c, d])| (columns, a, b, c, d)), 0..3);
    (columns, indexes, 1..4_usize, any::<[bool; 5]>()).prop_map(|(columns, indexes, keys, flags)| {
        let [in_schema, has_check, has_view, is_identity, has_comment] = flags;
        Table { in_schema, keys, columns, indexes, has_check, has_view, is_identity, has_comment }
    })
}

/// Queries that have no rows, whatever is defined.
const EMPTY: [&str; 16] = [
    "SELECT indrelid FROM pg_index i WHERE NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = i.indrelid AND c.relkind = 'r')",
    "SELECT indexrelid FROM pg_index i WHERE NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = i.indexrelid AND c.relkind = 'i')",
    "SELECT oid FROM pg_class c WHERE relkind = 'i' AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = c.oid)",
    "SELECT attrelid FROM pg_attribute a WHERE NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = a.attrelid)",
    "SELECT attname FROM pg_attribute a WHERE NOT EXISTS (SELECT 1 FROM pg_type t WHERE t.oid = a.atttypid)",
    "SELECT oid FROM pg_class c WHERE relnatts <> (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid)",
    "SELECT oid FROM pg_class c WHERE NOT EXISTS (SELECT 1 FROM pg_namespace n WHERE n.oid = c.relnamespace)",
    "SELECT conname FROM pg_constraint k WHERE NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = k.conrelid AND c.relkind = 'r')",
    "SELECT conname FROM pg_constraint k WHERE contype = 'p' AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = k.conindid AND i.indrelid = k.conrelid AND i.indisprimary)",
    "SELECT conname FROM (SELECT conname, conrelid, unnest(conkey) AS number FROM pg_constraint) k WHERE NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = k.number)",
    "SELECT indexrelid FROM (SELECT indexrelid, indrelid, unnest(indkey) AS number FROM pg_index) k WHERE number <> 0 AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.indrelid AND a.attnum = k.number)",
    "SELECT adrelid, adnum FROM pg_attrdef d WHERE NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.atthasdef)",
    "SELECT attname FROM pg_attribute a WHERE atthasdef AND NOT EXISTS (SELECT 1 FROM pg_attrdef d WHERE a.attrelid = d.adrelid AND a.attnum = d.adnum)",
    "SELECT objid FROM pg_depend d WHERE classid = 1259 AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = d.objid)",
    "SELECT refobjid FROM pg_depend d WHERE refclassid = 1259 AND refobjsubid <> 0 AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = d.refobjid AND a.attnum = d.refobjsubid)",
    "SELECT objoid FROM pg_description d WHERE classoid = 1259 AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = d.objoid)",
];

async fn check(server: &Server, session: &Session<'_>) {
    for sql in EMPTY {
        assert_eq!(session.rows(sql).await, Vec::<String>::new(), "{sql}");
    }
    // The columns of an index are those of its table, in the order of indkey.
    let columns = "SELECT i.indexrelid, i.indrelid, k.number, a.attname FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(number, place), pg_attribute a
        WHERE a.attrelid = i.indexrelid AND a.attnum = k.place AND k.number <> 0 AND a.attname <> (SELECT t.attname FROM pg_attribute t WHERE t.attrelid = i.indrelid AND t.attnum = k.number)";
    assert_eq!(session.rows(columns).await, Vec::<String>::new());
    let types = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid >= 16384";
    for ty in session.rows(types).await {
        assert!(ty.parse::<SqlType>().is_ok() || is_type(server, &ty).await, "{ty}");
    }
    let statements = "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE NOT indisprimary";
    for text in session.rows(statements).await {
        // The library has one access method, and does not name it.
        assert_parses(&text.replace(" USING btree", ""));
    }
    for text in session.rows("SELECT pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND oid >= 16384").await {
        assert_parses(&text);
    }
    for text in session.rows("SELECT pg_get_constraintdef(oid) FROM pg_constraint").await {
        assert_parses(&format!("CREATE TABLE x (a BIGINT, {text})"));
    }
    for text in session.rows("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef").await {
        assert_parses(&format!("SELECT {text}"));
    }
}

/// Whether a type is one of the library's: a column of it can be made.
async fn is_type(server: &Server, ty: &str) -> bool {
    let connection = server.database.connect();
    let made = connection.prepare(&format!("SELECT CAST(NULL AS {ty})")).await;
    made.map(|_: Statement| ()).is_ok()
}

fn assert_parses(sql: &str) {
    let parsed = saltwing::syntax::properties(sql, saltwing::Dialect::Saltwing);
    assert!(parsed.is_ok(), "{sql}: {}", parsed.err().map(|error| error.to_string()).unwrap_or_default());
}

/// The law of this file, over random definitions.
#[test]
fn the_joins_of_clients_hold() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let config = ProptestConfig { cases: (ProptestConfig::default().cases / 32).max(1), ..ProptestConfig::default() };
    let tables = proptest::collection::vec(table(), 1..4);
    let checked = TestRunner::new(config).run(&tables, |tables| {
        let server = Server::with("CREATE SCHEMA app; CREATE SEQUENCE s START WITH 3");
        for (number, table) in tables.iter().enumerate() {
            server.run(&table.script(number));
        }
        runtime.block_on(check(&server, &server.owner()));
        Ok(())
    });
    checked.unwrap();
}
