//! Casts: `x::regclass`, `CAST (x AS text)`, `regclass 'x'`.

use sqlparser::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, Expr, TimezoneInfo, Value};

use super::build::{call, cast, concat, int, null, take, text};
use super::scope::{Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::{PgType, Storage};

/// Bytes of the texts that `name` holds, one less than its length.
const NAME_BYTES_MAX: i64 = 63;

impl Translator<'_> {
    pub(super) fn cast(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let (mut inner, wanted) = match expr {
            Expr::Cast { expr: inner, data_type, .. } => (take(inner), named_type(data_type)?),
            Expr::TypedString(typed) => {
                let ty = named_type(&typed.data_type)?;
                let Value::SingleQuotedString(value) = &typed.value.value else {
                    return Err(not_supported("literals of a type in this form"));
                };
                (text(value), ty)
            }
            _ => return Ok(Type::Natural),
        };
        if let Some(number) = parameter_number(&inner) {
            self.parameter_types.push((number, wanted));
        }
        let from = self.expr(&mut inner, scope)?;
        *expr = self.converted(inner, &from, wanted)?;
        Ok(Type::Of(wanted))
    }

    /// A translated expression as another type.
    pub(super) fn converted(&mut self, expr: Expr, from: &Type, wanted: PgType) -> Result<Expr, CatalogError> {
        if let Type::Record(_) = from {
            return Err(not_supported("casts of rows"));
        }
        if from.pg() == Some(wanted) {
            return Ok(expr);
        }
        if wanted.is_object() {
            let is_number = matches!(from, Type::Natural)
                || from.pg().is_some_and(|ty| {
                    ty.is_object() || matches!(ty.storage(), Storage::Int2 | Storage::Int4 | Storage::Int8)
                });
            return if is_number { Ok(expr) } else { self.object_number(expr, wanted) };
        }
        if from.object_kind().is_some() && !wanted.is_text() {
            return Ok(expr);
        }
        if wanted == PgType::NAME && *from != Type::Open && from.pg().is_none_or(|ty| ty.storage() != Storage::Text) {
            return Ok(call("left", vec![as_text(expr, from), int(NAME_BYTES_MAX)]));
        }
        if wanted.is_text() && *from != Type::Open && wanted.storage() == Storage::Text && engine_is_text(wanted) {
            return Ok(as_text(expr, from));
        }
        let is_object_array = from.pg().and_then(PgType::element).and_then(PgType::object_kind).is_some();
        if is_object_array && wanted.storage() == Storage::TextArray {
            return object_texts(expr, from);
        }
        Ok(match from.pg().map(PgType::storage) {
            // The same values under another name.
            Some(storage) if storage == wanted.storage() && storage != Storage::Text => expr,
            _ => cast(expr, engine_type(wanted)),
        })
    }

    /// The number of the object that a text names, or is.
    pub(super) fn object_number(&mut self, expr: Expr, ty: PgType) -> Result<Expr, CatalogError> {
        let Some(kind) = ty.object_kind() else { return Ok(expr) };
        if let Expr::Value(value) = &expr {
            match &value.value {
                Value::Null => return Ok(null()),
                // A malformed name in the query fails the query; one in a parameter fails the run.
                Value::SingleQuotedString(name) => self.lookups.object_number(kind, name).map(|_| ())?,
                _ => {}
            }
        }
        Ok(call(&format!("{kind}_in"), vec![cast(expr, DataType::Varchar(None))]))
    }
}

/// The number of the parameter that an expression is, from 1.
fn parameter_number(expr: &Expr) -> Option<usize> {
    let Expr::Value(value) = expr else { return None };
    let Value::Placeholder(name) = &value.value else { return None };
    name.strip_prefix('$')?.parse().ok()
}

/// A value as a text, as PostgreSQL writes it.
pub(super) fn as_text(expr: Expr, from: &Type) -> Expr {
    if let Some(kind) = from.object_kind() {
        return call(&format!("{kind}_out"), vec![expr]);
    }
    match from {
        Type::Of(PgType::INT2VECTOR | PgType::OIDVECTOR) => call("array_to_string", vec![expr, text(" ")]),
        Type::Of(ty) if ty.element().is_some() => {
            let elements = match object_texts(expr.clone(), from) {
                Ok(texts) if ty.element().is_some_and(PgType::is_object) => texts,
                _ => expr,
            };
            concat(concat(text("{"), call("array_to_string", vec![elements, text(","), text("NULL")])), text("}"))
        }
        Type::Of(ty) if engine_is_text(*ty) && ty.storage() == Storage::Text => expr,
        _ => cast(expr, DataType::Varchar(None)),
    }
}

/// A value as a text; a literal or a parameter is cast.
pub(super) fn open_as_text(expr: Expr, from: &Type) -> Expr {
    if *from == Type::Open { cast(expr, engine_type(PgType::TEXT)) } else { as_text(expr, from) }
}

/// Numbers of objects in an array, as their names.
pub(super) fn object_texts(expr: Expr, from: &Type) -> Result<Expr, CatalogError> {
    let kind = from.pg().and_then(PgType::element).and_then(PgType::object_kind);
    let kind = kind.ok_or_else(|| not_supported("this cast of an array"))?;
    let numbers = call("array_to_string", vec![expr, text(",")]);
    let names = call("object_names", vec![text(kind), numbers]);
    Ok(call("string_to_array", vec![names, text("\u{1f}")]))
}

/// The library's whole numbers have 64 bits; those of literals and sums have 32 in PostgreSQL.
pub(super) fn in_its_width(expr: Expr, ty: &Type) -> Expr {
    let is_column = matches!(&expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
    match ty {
        Type::Of(PgType::INT4) if !is_column => cast(expr, engine_type(PgType::INT4)),
        _ => expr,
    }
}

/// Whether the library keeps values of the type as texts, too.
fn engine_is_text(ty: PgType) -> bool {
    matches!(engine_type(ty), DataType::Varchar(_))
}

/// The type that a cast names.
fn named_type(data_type: &DataType) -> Result<PgType, CatalogError> {
    let text = data_type.to_string();
    let found = match text.to_lowercase().strip_prefix("information_schema.") {
        Some("cardinal_number") => Some(PgType::INT4),
        Some("sql_identifier") => Some(PgType::NAME),
        Some("character_data" | "yes_or_no") => Some(PgType::VARCHAR),
        _ => PgType::by_sql_name(&text),
    };
    found.ok_or(CatalogError::NoType(text))
}

/// A type in the library's words.
pub(super) fn engine_type(ty: PgType) -> DataType {
    if let Some(element) = ty.element() {
        return DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(engine_type(element)), None));
    }
    match ty.storage() {
        Storage::Boolean => DataType::Boolean,
        Storage::Int2 => DataType::SmallInt(None),
        Storage::Int4 => DataType::Integer(None),
        Storage::Int8 => DataType::BigInt(None),
        Storage::Float4 => DataType::Float(ExactNumberInfo::None),
        Storage::Float8 => DataType::Double(ExactNumberInfo::None),
        Storage::Timestamp => DataType::Timestamp(None, TimezoneInfo::None),
        _ => match ty.0 {
            17 => DataType::Varbinary(None),
            114 | 3802 => DataType::JSON,
            1082 => DataType::Date,
            1186 => DataType::Interval { fields: None, precision: None },
            1700 => DataType::Decimal(ExactNumberInfo::None),
            2950 => DataType::Uuid,
            _ => DataType::Varchar(None::<CharacterLength>),
        },
    }
}
