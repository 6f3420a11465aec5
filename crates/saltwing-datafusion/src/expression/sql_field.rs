//! SQL types in the metadata of Arrow fields.
//!
//! DataFusion carries a field's metadata along with its column. So a column that is only passed on keeps its SQL type:
//! a CHAR(5) stays a CHAR(5), a TIME stays a TIME. A computed column has the SQL type of its Arrow type. The metadata
//! holds nothing but the type, because DataFusion treats columns of different metadata as columns of different types
//! and refuses their UNION.

use arrow::datatypes::Field;
use saltwing_expr::{arrow_type, sql_type};
use saltwing_types::SqlType;

/// The key of the SQL type.
const TYPE_KEY: &str = "saltwing.type";

/// A field of an SQL type. Its name is as DataFusion is to know it.
pub(crate) fn typed_field(name: &str, ty: SqlType, nullable: bool) -> Field {
    Field::new(name, arrow_type(ty), nullable).with_metadata(type_metadata(ty).into_iter().collect())
}

/// The type as metadata, where the Arrow type does not say it.
fn type_metadata(ty: SqlType) -> Option<(String, String)> {
    (sql_type(&arrow_type(ty)) != Some(ty)).then(|| (TYPE_KEY.to_owned(), ty.to_string()))
}

/// The SQL type of a field; `None` where SQL has no such type.
pub(crate) fn field_type(field: &Field) -> Option<SqlType> {
    let stated = field.metadata().get(TYPE_KEY).and_then(|text| text.parse().ok());
    // Metadata may outlive a cast: the Arrow type has the last word.
    stated.filter(|ty| arrow_type(*ty) == *field.data_type()).or_else(|| sql_type(field.data_type()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;

    #[test]
    fn types_come_back() {
        for ty in [
            SqlType::Time,
            SqlType::Char(5),
            SqlType::Varchar(Some(3)),
            SqlType::Varchar(None),
            SqlType::Decimal(Some((10, 2))),
            SqlType::Decimal(None),
            SqlType::UnsignedTimestamp,
            SqlType::Binary(4),
            SqlType::VarbinaryEncoded,
        ] {
            assert_eq!(field_type(&typed_field("c", ty, true)), Some(ty));
        }
    }

    #[test]
    fn the_arrow_type_has_the_last_word() {
        let cast = typed_field("c", SqlType::Time, true).with_data_type(DataType::Int64);
        assert_eq!(field_type(&cast), Some(SqlType::BigInt));
    }

    #[test]
    fn columns_of_one_type_differ_in_their_names_alone() {
        let (a, b) = (typed_field("Phone", SqlType::Time, false), typed_field("city", SqlType::Time, false));
        assert_eq!((a.name().as_str(), a.metadata()), ("Phone", b.metadata()));
    }
}
