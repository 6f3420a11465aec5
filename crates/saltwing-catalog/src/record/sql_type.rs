//! Types in records: their names in SQL.

use saltwing_types::{SqlType, ValueError};
use serde::{Deserialize, Serialize};

/// A type, as in `"DECIMAL(10,2)"`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "TypeForm")]
pub(super) struct TypeRecord(pub(super) SqlType);

impl From<TypeRecord> for String {
    fn from(record: TypeRecord) -> Self {
        record.0.to_string()
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TypeForm {
    Name(String),
    Earlier(EarlierType),
}

/// Types with a length in the formats 1 to 4. Other types are names in another spelling, as in `"UnsignedInt"`.
#[derive(Deserialize)]
enum EarlierType {
    Decimal(Option<(u8, u8)>),
    Char(u32),
    Varchar(Option<u32>),
    Binary(u32),
}

impl TryFrom<TypeForm> for TypeRecord {
    type Error = ValueError;

    fn try_from(form: TypeForm) -> Result<Self, ValueError> {
        Ok(Self(match form {
            TypeForm::Name(name) => match name.parse() {
                Err(_) => {
                    name.replace("Unsigned", "UNSIGNED_").replace("Encoded", "_ENCODED").to_uppercase().parse()?
                }
                Ok(sql_type) => sql_type,
            },
            TypeForm::Earlier(EarlierType::Decimal(digits)) => SqlType::Decimal(digits),
            TypeForm::Earlier(EarlierType::Char(length)) => SqlType::Char(length),
            TypeForm::Earlier(EarlierType::Varchar(length)) => SqlType::Varchar(length),
            TypeForm::Earlier(EarlierType::Binary(length)) => SqlType::Binary(length),
        }))
    }
}
