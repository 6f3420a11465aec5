//! Answers as texts.

use saltwing::{Error, SqlType, Statement, Value};
use saltwing_pg_catalog::CatalogQuery;

/// What a client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Labels and types of the columns: `oid oid`, `relname name`.
    pub(crate) columns: Vec<String>,
    /// The values of each row with bars between.
    pub(crate) rows: Vec<String>,
}

impl Answer {
    pub(crate) async fn read(
        query: &CatalogQuery,
        statement: &Statement,
        parameters: Vec<Value>,
    ) -> Result<Self, Error> {
        let described = statement.description().columns.clone().unwrap_or_default();
        let mut columns = Vec::new();
        let mut types = Vec::new();
        for (place, column) in described.iter().enumerate() {
            let (label, oid) = query.columns.get(place).cloned().unwrap_or((column.label.clone(), None));
            let ty = oid.map_or_else(|| type_of_value(column.ty), |oid| type_name(oid).to_owned());
            columns.push(format!("{label} {ty}"));
            types.push(oid);
        }
        let mut rows = Vec::new();
        let mut open = statement.query(parameters).await?;
        while let Some(row) = open.next().await? {
            let values = types.iter().enumerate().map(|(place, oid)| Ok(text(&row.get::<Value>(place)?, *oid)));
            rows.push(values.collect::<Result<Vec<String>, Error>>()?.join("|"));
        }
        Ok(Self { columns, rows })
    }

    /// The columns, then a line for each row, or for so many of them.
    pub(crate) fn lines(&self, most: usize) -> String {
        let mut lines = vec![self.columns.join(" | ")];
        lines.extend(self.rows.iter().take(most).cloned());
        if self.rows.len() > most {
            lines.push("..".to_owned());
        }
        lines.join("\n")
    }
}

/// The name that PostgreSQL has for the type of a value.
fn type_of_value(ty: SqlType) -> String {
    use SqlType::*;
    let name = match ty {
        Boolean => "bool",
        TinyInt | SmallInt | UnsignedTinyInt | UnsignedSmallInt => "int2",
        Integer | UnsignedInt => "int4",
        BigInt | UnsignedLong => "int8",
        Float | UnsignedFloat => "float4",
        Double | UnsignedDouble => "float8",
        Decimal(_) => "numeric",
        Date | Time | UnsignedDate | UnsignedTime | Timestamp | UnsignedTimestamp => "timestamp",
        Char(_) | Varchar(_) => "varchar",
        Json => "json",
        Array(element, _) => return format!("_{}", type_of_value(element.sql_type())),
        other => return other.to_string(),
    };
    name.to_owned()
}

fn type_name(oid: u32) -> &'static str {
    match oid {
        18 => "char",
        19 => "name",
        22 => "int2vector",
        25 => "text",
        26 => "oid",
        28 => "xid",
        30 => "oidvector",
        1002 => "_char",
        1003 => "_name",
        1009 => "_text",
        1028 => "_oid",
        1043 => "varchar",
        2278 => "void",
        _ => "unknown",
    }
}

fn text(value: &Value, oid: Option<u32>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(value) => if *value { "t" } else { "f" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        Value::Array(values) if matches!(oid, Some(22 | 30)) => {
            values.iter().map(|value| text(value, None)).collect::<Vec<_>>().join(" ")
        }
        Value::Array(values) => {
            format!("{{{}}}", values.iter().map(|value| text(value, None)).collect::<Vec<_>>().join(","))
        }
        other => format!("{other:?}"),
    }
}
