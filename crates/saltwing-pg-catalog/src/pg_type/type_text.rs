//! Types as SQL writes them.

use super::number::PgType;

/// A type with its modifier as SQL writes it; `???` of a number that is no type's. Without a modifier (`None`) the type alone.
pub(crate) fn format_type(oid: i64, modifier: Option<i64>) -> String {
    let Ok(oid) = u32::try_from(oid) else { return "???".to_owned() };
    if oid == 0 {
        return "-".to_owned();
    }
    let ty = PgType(oid);
    if let (Some(element), false) = (ty.element(), matches!(ty, PgType::INT2VECTOR | PgType::OIDVECTOR)) {
        return format_type(element.0.into(), modifier) + "[]";
    }
    let Some(entry) = ty.entry() else { return "???".to_owned() };
    let name = entry.sql_name;
    let length = modifier.and_then(|modifier| modifier.checked_sub(4)).filter(|length| *length >= 0);
    match (oid, modifier, length) {
        (1042 | 1043, _, Some(length)) => format!("{name}({length})"),
        // A CHAR without a length is another type than CHAR(1).
        (1042, Some(-1), _) => "bpchar".to_owned(),
        (1700, _, Some(digits)) => format!("numeric({},{})", (digits >> 16) & 0xffff, digits & 0x7ff),
        (1083 | 1114 | 1184 | 1266, Some(seconds @ 0..), _) => {
            let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
            format!("{first}({seconds}) {rest}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::built_in::BUILT_IN;
    use super::*;

    #[test]
    fn a_type_and_its_arrays_know_each_other() {
        for entry in BUILT_IN {
            let ty = PgType(entry.oid);
            assert_eq!(PgType::by_catalog_name(entry.name), Some(ty), "{}", entry.name);
            if let Some(array) = ty.array() {
                assert_eq!(array.element(), Some(ty), "{}", entry.name);
                assert_eq!(PgType::by_catalog_name(&format!("_{}", entry.name)), Some(array));
            }
            assert_eq!(PgType::by_sql_name(&format_type(entry.oid.into(), None)), Some(ty), "{}", entry.name);
        }
    }

    /// What PostgreSQL 15 prints.
    #[test]
    fn types_are_written_as_sql_has_them() {
        let cases = [
            (1043, Some(44), "character varying(40)"),
            (1043, Some(-1), "character varying"),
            (1043, None, "character varying"),
            (1042, Some(9), "character(5)"),
            (1042, Some(-1), "bpchar"),
            (1042, None, "character"),
            (1700, Some(655_366), "numeric(10,2)"),
            (1700, Some(-1), "numeric"),
            (1114, Some(3), "timestamp(3) without time zone"),
            (1114, Some(-1), "timestamp without time zone"),
            (1015, Some(44), "character varying(40)[]"),
            (22, None, "int2vector"),
            (18, Some(-1), "\"char\""),
            (0, None, "-"),
            (999_999, None, "???"),
            (-1, None, "???"),
        ];
        for (oid, modifier, text) in cases {
            assert_eq!(format_type(oid, modifier), text);
        }
    }

    #[test]
    fn names_of_types_are_found() {
        for (name, oid) in [
            ("INT", 23),
            ("char", 1042),
            ("\"char\"", 18),
            ("\"pg_catalog\".\"int8\"", 20),
            ("\"pg_catalog\".\"int8\"[]", 1016),
            ("pg_catalog.int2[]", 1005),
            ("varchar(5)", 1043),
        ] {
            assert_eq!(PgType::by_sql_name(name), Some(PgType(oid)), "{name}");
        }
        assert_eq!(PgType::by_sql_name("timestamp(3) without time zone"), Some(PgType::TIMESTAMP));
        assert_eq!(PgType::by_sql_name("hstore"), None);
    }
}
