//! The key of a table in the form of the region servers.

use saltwing_types::{KeySchema, SortOrder, SqlType};

use crate::serialized_column::type_number;
use crate::writable::write_number;

/// As many bytes are expected of a column that varies in width.
const VARYING_BYTES_EXPECTED: usize = 10;

/// Bytes that a column of this type is expected to take.
pub(super) fn bytes_expected(ty: SqlType) -> usize {
    ty.fixed_key_bytes().unwrap_or(VARYING_BYTES_EXPECTED)
}

/// A column of a key, as far as its bytes tell.
#[derive(Clone, Copy, PartialEq)]
struct Field {
    ty: SqlType,
    nullable: bool,
    is_desc: bool,
}

/// Appends a row key, the salt as its first column. Equal neighbours are one field with a number. `None` if a type has no
/// number.
pub(super) fn write(key: &KeySchema, out: &mut Vec<u8>) -> Option<()> {
    let salt = key.salt.as_ref().map(|_| Field { ty: SqlType::Binary(1), nullable: false, is_desc: false });
    let columns = key.columns.iter().map(|column| Field {
        // The limit of a VARCHAR is no part of the key.
        ty: if matches!(column.ty, SqlType::Varchar(_)) { SqlType::Varchar(None) } else { column.ty },
        nullable: column.nullable,
        is_desc: column.order == SortOrder::Desc,
    });
    let fields: Vec<Field> = salt.into_iter().chain(columns).collect();
    let last_not_null = fields.iter().rposition(|field| !field.nullable);
    write_number(last_not_null.map_or(0, |place| place as i64 + 1), out);
    // Negative: descending columns have the separators of Phoenix 4.5 and later.
    write_number(-(fields.len() as i64), out);
    for group in fields.chunk_by(PartialEq::eq) {
        let field = group.first()?;
        let number = type_number(field.ty)? as i64 + 1;
        write_number(if field.nullable { -number } else { number }, out);
        let count = group.len() as i64;
        write_number(if field.is_desc { -count } else { count }, out);
        if let SqlType::Char(width) | SqlType::Binary(width) = field.ty {
            write_number(width.into(), out);
        }
    }
    Some(())
}
