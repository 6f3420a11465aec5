//! The statements of the golden cells, as changes of a model of the table: what Phoenix reads afterwards.

use saltwing_phoenix::TableDefinition;
use saltwing_types::datetime;
use saltwing_types::text::unhex;
use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType as T, Value as V};

/// A row of the model: a value for each key column, and for each value column what was last written.
#[derive(Clone, Debug)]
pub struct ModelRow {
    pub key: Vec<V>,
    pub values: Vec<Option<V>>,
}

/// A literal of the golden statements as a value of `ty`.
fn literal(text: &str, ty: T) -> V {
    let text = text.trim();
    let quoted = || text.split_once('\'').unwrap().1.trim_end_matches('\'').replace("''", "'");
    let instant = || {
        let written = quoted();
        let written = if written.contains(' ') { written } else { format!("{written} 00:00:00") };
        datetime::parse(&written).unwrap()
    };
    match (text, ty) {
        ("NULL", _) => V::Null,
        ("TRUE", _) => V::Bool(true),
        ("FALSE", _) => V::Bool(false),
        (list, T::Array(..)) => {
            let inside = list.strip_prefix("ARRAY[").unwrap().strip_suffix(']').unwrap();
            V::Array(items(inside).iter().map(|item| literal(item, ty.element().unwrap())).collect())
        }
        (call, _) if call.starts_with("LPAD(") => V::text(format!("{}x", "y".repeat(32_999))),
        (_, T::Date | T::Time) => V::Date(instant().ms),
        (_, T::Timestamp) => V::Timestamp(Timestamp { ..instant() }),
        (_, T::Varchar(_) | T::Char(_)) => Some(quoted()).filter(|text| !text.is_empty()).map_or(V::Null, V::Text),
        (_, T::Binary(_) | T::Varbinary) => {
            let mut bytes = unhex(&quoted()).unwrap();
            bytes.resize(bytes.len().max(ty.fixed_key_bytes().unwrap_or(0)), 0);
            V::Bytes(bytes)
        }
        (_, T::Decimal(_)) => V::Decimal(text.parse().unwrap()),
        (_, T::Float | T::UnsignedFloat) => V::Float(text.parse().unwrap()),
        (_, T::Double | T::UnsignedDouble) => V::Double(text.parse().unwrap()),
        _ => V::Int(text.parse().unwrap()),
    }
}

/// Splits at commas outside of quotes and brackets.
fn items(list: &str) -> Vec<String> {
    let (mut depth, mut is_quoted, mut items) = (0, false, vec![String::new()]);
    for c in list.chars() {
        is_quoted ^= c == '\'' || c == '"';
        if !is_quoted {
            depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        }
        match c {
            ',' if depth == 0 && !is_quoted => items.push(String::new()),
            c => items.last_mut().unwrap().push(c),
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

/// The inside of the parentheses at the front, and what follows them.
fn parenthesized(text: &str) -> (&str, &str) {
    let (mut depth, mut is_quoted) = (0, false);
    for (at, c) in text.char_indices() {
        is_quoted ^= c == '\'' || c == '"';
        if !is_quoted {
            depth += i32::from(c == '(') - i32::from(c == ')');
        }
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    panic!("{text}")
}

/// The name of a column without its family and type.
fn column_name(item: &str) -> String {
    if let Some(quoted) = item.strip_prefix('"') {
        return quoted.split('"').next().unwrap().to_owned();
    }
    let name = item.split(' ').next().unwrap();
    name.rsplit('.').next().unwrap().to_uppercase()
}

/// Runs UPSERTs and DELETEs on a model whose rows have the columns of `wide`. `target` gives the definition that a statement
/// names, with `@tenant@` in front.
pub struct Model<'t> {
    pub wide: &'t TableDefinition,
    pub rows: Vec<ModelRow>,
}

impl Model<'_> {
    pub fn run(&mut self, statement: &str, target: impl Fn(&str) -> TableDefinition) {
        let (tenant, statement) = match statement.strip_prefix('@') {
            Some(rest) => rest.split_once('@').map(|(tenant, rest)| (Some(tenant), rest)).unwrap(),
            None => (None, statement),
        };
        if let Some(rest) = statement.strip_prefix("UPSERT INTO ") {
            let name = rest.split([' ', '(']).next().unwrap();
            let prefix = tenant.map_or(String::new(), |tenant| format!("@{tenant}@"));
            self.upsert(&target(&format!("{prefix}{name}")), tenant, rest[name.len()..].trim());
        } else if let Some(condition) = statement.strip_prefix("DELETE FROM ") {
            let (column, text) = condition.split_once("WHERE ").unwrap().1.split_once(" = ").unwrap();
            let place = self.key_place(&column.to_uppercase()).unwrap();
            let ty = self.wide.columns.iter().find(|c| c.name == column.to_uppercase()).unwrap().ty;
            self.rows.retain(|row| row.key[place] != literal(text, ty));
        }
    }

    fn key_place(&self, name: &str) -> Option<usize> {
        self.wide.columns.iter().filter(|column| column.is_key()).position(|column| column.name == name)
    }

    fn value_place(&self, name: &str) -> Option<usize> {
        self.wide.columns.iter().filter(|column| !column.is_key()).position(|column| column.name == name)
    }

    fn upsert(&mut self, target: &TableDefinition, tenant: Option<&str>, rest: &str) {
        let (named, rest) = match rest.strip_prefix("VALUES") {
            Some(values) => (None, values),
            None => {
                let (columns, rest) = parenthesized(rest);
                (Some(items(columns)), rest.trim().strip_prefix("VALUES").unwrap())
            }
        };
        let (literals, duplicate) = parenthesized(rest.trim());
        let all = || target.columns.iter().map(|column| column.name.clone()).collect();
        let names: Vec<String> = named.map_or_else(all, |named| named.iter().map(|item| column_name(item)).collect());
        let mut key = vec![V::Null; self.wide.columns.iter().filter(|column| column.is_key()).count()];
        let mut values = vec![None; self.wide.columns.len() - key.len()];
        if let Some(tenant) = tenant {
            key[0] = V::text(tenant);
        }
        let mut set = |name: &str, value: V| match (self.key_place(name), self.value_place(name)) {
            (Some(place), _) => key[place] = value,
            (None, Some(place)) => values[place] = Some(value),
            // A dynamic column.
            (None, None) => {}
        };
        for column in &target.columns {
            if let Some(constant) = &column.view_constant {
                set(&column.name, constant.clone());
            }
        }
        for (name, text) in names.iter().zip(items(literals)) {
            let Some(column) = target.columns.iter().find(|column| column.name == *name) else { continue };
            set(name, literal(&text, column.ty));
        }
        match self.rows.iter_mut().find(|row| row.key == key) {
            Some(_) if duplicate.ends_with("IGNORE") => {}
            Some(row) if duplicate.contains("cnt = cnt + 1") => {
                let Some(V::Int(count)) = row.values[0] else { panic!("{row:?}") };
                row.values[0] = Some(V::Int(count + 1));
            }
            Some(row) => {
                for (old, new) in row.values.iter_mut().zip(values) {
                    *old = new.or(old.take());
                }
            }
            None => self.rows.push(ModelRow { key, values }),
        }
    }
}
