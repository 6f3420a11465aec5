//! The record of a view.
//!
//! ```json
//! {"record_version":2, "id":100, "name":{"schema":null,"name":"v"}, "columns":[{"name":"a","type":"BIGINT","nullable":true}],
//!  "query":"SELECT a FROM t", "uses":[{"name":{"schema":null,"name":"t"},"columns":["a"]}]}
//! ```

use saltwing_types::{ObjectId, ViewColumn, ViewDef, ViewUse};
use serde::{Deserialize, Serialize};

use super::sql_type::TypeRecord;
use super::{NameRecord, parsed, stored, unreadable};
use crate::CatalogError;

/// The version of the records that are written, and the latest that can be read.
const RECORD_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewRecord {
    record_version: u32,
    /// Absent before version 2: the catalog numbers the view at its opening (`earlier_format.rs`).
    id: Option<u32>,
    name: NameRecord,
    columns: Vec<ViewColumnRecord>,
    query: String,
    uses: Vec<UseRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewColumnRecord {
    name: String,
    #[serde(rename = "type")]
    sql_type: TypeRecord,
    nullable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UseRecord {
    name: NameRecord,
    columns: Vec<String>,
}

/// # Errors
/// [`CatalogError::Corrupt`], which no statement causes.
pub(crate) fn write(def: &ViewDef) -> Result<String, CatalogError> {
    let column = |it: &ViewColumn| ViewColumnRecord {
        name: it.name.clone(),
        sql_type: TypeRecord(it.ty),
        nullable: it.nullable,
        comment: it.comment.clone(),
    };
    let used = |it: &ViewUse| UseRecord { name: NameRecord::of(&it.name), columns: it.columns.clone() };
    let record = ViewRecord {
        record_version: RECORD_VERSION,
        id: Some(def.id.0),
        name: NameRecord::of(&def.name),
        columns: def.columns.iter().map(column).collect(),
        query: def.query.clone(),
        uses: def.uses.iter().map(used).collect(),
        comment: def.comment.clone(),
    };
    stored(("view", &def.name), &record)
}

/// # Errors
/// [`CatalogError::NewerRecord`]; [`CatalogError::Corrupt`].
pub(crate) fn read(name: &str, text: &str) -> Result<ViewDef, CatalogError> {
    let of = ("view", name);
    let it = parsed::<ViewRecord>(of, text, RECORD_VERSION)?.map_err(|why| unreadable(of, why))?;
    if it.columns.is_empty() {
        return Err(unreadable(of, "it has no columns"));
    }
    let column = |it: ViewColumnRecord| ViewColumn {
        name: it.name,
        ty: it.sql_type.0,
        nullable: it.nullable,
        comment: it.comment,
    };
    Ok(ViewDef {
        id: it.id.map_or(ObjectId::NEW, ObjectId),
        name: it.name.into_name(),
        columns: it.columns.into_iter().map(column).collect(),
        query: it.query,
        uses: it.uses.into_iter().map(|it| ViewUse { name: it.name.into_name(), columns: it.columns }).collect(),
        comment: it.comment,
    })
}

#[cfg(test)]
mod tests {
    use saltwing_types::{SqlType, TableName};

    use super::*;

    const TEXT: &str = r#"{"record_version":2,"id":105,"name":{"schema":"App","name":"Big orders"},"columns":[{"name":"a","type":"DECIMAL(10,2)","nullable":true},{"name":"B","type":"VARCHAR","nullable":false}],"query":"SELECT a, 'x' AS \"B\" FROM t","uses":[{"name":{"schema":null,"name":"t"},"columns":["a"]}]}"#;

    /// Databases hold these bytes. A change of the record needs a new version, and a reader that still accepts this one.
    #[test]
    fn a_record_is_these_bytes() {
        let column = |name: &str, ty, nullable| ViewColumn { name: name.into(), ty, nullable, comment: None };
        let mut def = ViewDef {
            id: ObjectId(105),
            name: TableName { schema: Some("App".into()), name: "Big orders".into() },
            columns: vec![
                column("a", SqlType::Decimal(Some((10, 2))), true),
                column("B", SqlType::Varchar(None), false),
            ],
            query: "SELECT a, 'x' AS \"B\" FROM t".into(),
            uses: vec![ViewUse { name: TableName::bare("t"), columns: vec!["a".into()] }],
            comment: None,
        };
        assert_eq!(write(&def).unwrap(), TEXT);
        assert_eq!(read("v", TEXT).unwrap(), def);
        let first = TEXT.replacen(r#""record_version":2,"id":105"#, r#""record_version":1"#, 1);
        assert_eq!(read("v", &first).unwrap(), ViewDef { id: ObjectId::NEW, ..def.clone() });
        (def.comment, def.columns[0].comment) = (Some("of the view".into()), Some("of a".into()));
        assert_eq!(read("v", &write(&def).unwrap()).unwrap(), def);
    }

    #[test]
    fn a_record_that_cannot_be_read_says_why() {
        for (from, to, why) in [
            (r#""query""#, r#""text""#, "unknown field"),
            ("DECIMAL(10,2)", "NUMBERS", "NUMBERS"),
            (r#""record_version":2"#, r#""record_version":3,"new":[]"#, "record version 3"),
        ] {
            let error = read("v", &TEXT.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains("view v") && error.contains(why), "{error}");
        }
        let columns = TEXT.find(r#"[{"name":"a""#).unwrap()..TEXT.find(r#","query""#).unwrap();
        let mut without = TEXT.to_owned();
        without.replace_range(columns, "[]");
        assert!(read("v", &without).unwrap_err().to_string().contains("it has no columns"));
    }
}
