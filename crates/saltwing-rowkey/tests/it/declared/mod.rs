//! Column definitions as CREATE TABLE has them, read by tests.

use saltwing_types::SqlType as T;

/// `DECIMAL(5,2) NOT NULL ..` as a type.
pub fn sql_type(text: &str) -> T {
    if let Some((element, _)) = text.split_once(" ARRAY") {
        return T::array(sql_type(element)).unwrap();
    }
    let (word, rest) = text.split_at(text.find([' ', '(']).unwrap_or(text.len()));
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let numbers: Vec<u32> = inside.map_or(vec![], |list| list.split(',').map(|n| n.trim().parse().unwrap()).collect());
    match (word, numbers.as_slice()) {
        ("TINYINT", _) => T::TinyInt,
        ("SMALLINT", _) => T::SmallInt,
        ("INTEGER", _) => T::Integer,
        ("BIGINT", _) => T::BigInt,
        ("UNSIGNED_TINYINT", _) => T::UnsignedTinyInt,
        ("UNSIGNED_SMALLINT", _) => T::UnsignedSmallInt,
        ("UNSIGNED_INT", _) => T::UnsignedInt,
        ("UNSIGNED_LONG", _) => T::UnsignedLong,
        ("FLOAT", _) => T::Float,
        ("DOUBLE", _) => T::Double,
        ("UNSIGNED_FLOAT", _) => T::UnsignedFloat,
        ("UNSIGNED_DOUBLE", _) => T::UnsignedDouble,
        ("DECIMAL", [precision, scale]) => T::Decimal(Some((*precision as u8, *scale as u8))),
        ("DECIMAL", _) => T::Decimal(None),
        ("BOOLEAN", _) => T::Boolean,
        ("DATE", _) => T::Date,
        ("TIME", _) => T::Time,
        ("TIMESTAMP", _) => T::Timestamp,
        ("UNSIGNED_DATE", _) => T::UnsignedDate,
        ("UNSIGNED_TIME", _) => T::UnsignedTime,
        ("UNSIGNED_TIMESTAMP", _) => T::UnsignedTimestamp,
        ("CHAR", [width]) => T::Char(*width),
        ("VARCHAR", limit) => T::Varchar(limit.first().copied()),
        ("BINARY", [width]) => T::Binary(*width),
        ("UUID", _) => T::Uuid,
        ("VARBINARY", _) => T::Varbinary,
        ("VARBINARY_ENCODED", _) => T::VarbinaryEncoded,
        _ => panic!("{text}"),
    }
}

/// Splits at commas that stand in no parentheses.
pub fn items(list: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in list.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match c {
            ',' if depth == 0 => items.push(String::new()),
            c => items.last_mut().unwrap().push(c),
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

/// A name in quotes or not, and what follows it.
pub fn name(item: &str) -> (&str, &str) {
    match item.strip_prefix('"') {
        Some(rest) => rest.split_once('"').unwrap(),
        None => item.split_once(' ').unwrap_or((item, "")),
    }
}
