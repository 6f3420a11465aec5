//! Names of types, PostgreSQL's and Saltwing's, in PREPARE and in casts.

use saltwing::SqlType;
use saltwing::syntax::Lexeme;

use super::error::SessionSyntaxError;
use crate::settings::shortened;
use crate::tokens::{TokenError, Tokens};

/// The type of a name, with its length and its brackets; `None` is `unknown`, which PREPARE infers.
///
/// # Errors
/// [`SessionSyntaxError::NoSuchType`], and [`SessionSyntaxError::NotSupported`] for types with a time zone.
pub(super) fn parse(tokens: &mut Tokens<'_>) -> Result<Option<SqlType>, SessionSyntaxError> {
    let position = tokens.position();
    let mut name = tokens.name("a type")?.text;
    if name == "pg_catalog" && tokens.eat_symbol(".") {
        name = tokens.name("a type")?.text;
    }
    let no_type = |name: String| SessionSyntaxError::NoSuchType { name: shortened(&name), position };
    // PostgreSQL has a type `char` of one byte, in quotes.
    let second = match name.as_str() {
        "double" => Some("precision"),
        "character" | "char" => Some("varying"),
        _ => None,
    };
    if let Some(second) = second
        && tokens.eat(&[second])
    {
        name = format!("{name} {second}");
    }
    let lengths = lengths(tokens)?;
    zone(tokens, &name, position)?;
    if name == "unknown" && lengths.is_empty() {
        return Ok(None);
    }
    let Some(base) = base(&name, &lengths) else { return Err(no_type(name)) };
    let mut found = base;
    let mut is_array = tokens.eat(&["ARRAY"]);
    while tokens.eat_symbol("[") {
        tokens.eat_number();
        tokens.expect_symbol("]")?;
        is_array = true;
    }
    if is_array {
        found = SqlType::array(base).ok_or_else(|| no_type(format!("{name}[]")))?;
    }
    Ok(Some(found))
}

/// `(n)`, `(p, s)`, or nothing.
fn lengths(tokens: &mut Tokens<'_>) -> Result<Vec<u32>, SessionSyntaxError> {
    let mut lengths = Vec::new();
    if !matches!(tokens.peek(0), Some((Lexeme::Symbol, "("))) {
        return Ok(lengths);
    }
    tokens.skip();
    loop {
        let position = tokens.position();
        let Some(number) = tokens.eat_number() else { return Err(tokens.expected("a number").into()) };
        let bad = |_| TokenError::Malformed { reason: "the length of a type is a whole number", position };
        lengths.push(number.parse().map_err(bad)?);
        match tokens.eat_symbol(",") {
            true if lengths.len() < 2 => {}
            _ => {
                tokens.expect_symbol(")")?;
                return Ok(lengths);
            }
        }
    }
}

/// `WITH TIME ZONE`, `WITHOUT TIME ZONE`, or nothing.
fn zone(tokens: &mut Tokens<'_>, name: &str, position: usize) -> Result<(), SessionSyntaxError> {
    let can_have_one = matches!(name, "time" | "timestamp");
    if can_have_one && tokens.eat(&["WITHOUT", "TIME", "ZONE"]) {
        return Ok(());
    }
    let has_one = matches!(name, "timetz" | "timestamptz") || can_have_one && tokens.eat(&["WITH", "TIME", "ZONE"]);
    match has_one {
        true => Err(SessionSyntaxError::NotSupported {
            statement: "a type with a time zone",
            reason: "values have no time zone",
            help: Some("write TIMESTAMP, and the time in UTC"),
            position,
        }),
        false => Ok(()),
    }
}

/// The type of a name in lower case, with these lengths.
fn base(name: &str, lengths: &[u32]) -> Option<SqlType> {
    let plain = |ty: SqlType| lengths.is_empty().then_some(ty);
    let digits =
        |precision: u32, scale: u32| Some(SqlType::Decimal(Some((precision.try_into().ok()?, scale.try_into().ok()?))));
    let checked = |ty: SqlType| ty.to_string().parse::<SqlType>().ok();
    match name {
        "int2" => plain(SqlType::SmallInt),
        "int" | "int4" => plain(SqlType::Integer),
        // An OID does not fit 32 bits with a sign.
        "int8" | "oid" => plain(SqlType::BigInt),
        "real" | "float4" => plain(SqlType::Float),
        // Saltwing's FLOAT has 32 bits, as Phoenix's.
        "float8" | "double precision" => plain(SqlType::Double),
        "numeric" | "decimal" | "dec" => match lengths {
            [] => Some(SqlType::Decimal(None)),
            [precision] => checked(digits(*precision, 0)?),
            [precision, scale] => checked(digits(*precision, *scale)?),
            _ => None,
        },
        "bool" => plain(SqlType::Boolean),
        "bytea" | "blob" => plain(SqlType::Varbinary),
        "datetime" => plain(SqlType::Timestamp),
        "text" | "name" | "string" => plain(SqlType::Varchar(None)),
        "varchar" | "character varying" | "char varying" => match lengths {
            [] => Some(SqlType::Varchar(None)),
            [length] => (*length > 0).then_some(SqlType::Varchar(Some(*length))),
            _ => None,
        },
        "bpchar" if lengths.is_empty() => Some(SqlType::Varchar(None)),
        "char" | "character" | "bpchar" => match lengths {
            [] => Some(SqlType::Char(1)),
            [length] => (*length > 0).then_some(SqlType::Char(*length)),
            _ => None,
        },
        "binary" => match lengths {
            [length] => (*length > 0).then_some(SqlType::Binary(*length)),
            _ => None,
        },
        "jsonb" => plain(SqlType::Json),
        // Instants have milliseconds or nanoseconds, and no other precision.
        name => plain(name.to_uppercase().parse().ok().filter(|ty| *ty != SqlType::Null)?),
    }
}
