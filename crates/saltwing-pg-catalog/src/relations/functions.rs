//! `pg_proc`: the functions of the library, those that convert types to texts and back, and those of the catalog itself.

use super::cells::{Cell, row};
use super::object_text::{function_arguments, quoted};
use super::relation::Entry;
use crate::CatalogError;
use crate::definitions::{Definitions, Function, OWNER, PG_CATALOG};
use crate::pg_type::{BUILT_IN, PgType, format_type};

/// The language of built-in functions.
pub(super) const INTERNAL_LANGUAGE: u32 = 12;

/// The number of the function that reads arrays, by which clients know types of arrays.
const ARRAY_IN: u32 = 750;
const ARRAY_OUT: u32 = 751;
const ARRAY_RECV: u32 = 2400;
const ARRAY_SEND: u32 = 2401;
/// The functions that convert types: four numbers for each type, from here on.
const CONVERSIONS: u32 = 10_000;
const CSTRING: u32 = 2275;
const INTERNAL: u32 = 2281;
const BYTEA: u32 = 17;
const ANY_ARRAY: u32 = 2277;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::table(
        "pg_proc",
        1255,
        "oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, prorows float4, provariadic oid, \
         prosupport regproc, prokind char, prosecdef bool, proleakproof bool, proisstrict bool, proretset bool, provolatile char, \
         proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oidvector, proallargtypes _oid, \
         proargmodes _char, proargnames _text, proargdefaults pg_node_tree, protrftypes _oid, prosrc text, probin text, \
         prosqlbody pg_node_tree, proconfig _text, proacl _aclitem",
        |definitions| {
            let conversions = conversions().into_iter().map(|(oid, name, from, to)| Function {
                oid,
                name,
                kind: 'f',
                arguments: vec![(String::new(), from)],
                result: to,
                volatility: 'i',
                description: String::new(),
            });
            let own = definitions.functions.iter().cloned();
            own.chain(conversions).map(|function| function_row(&function)).collect()
        },
    ),
    Entry::information(
        "routines",
        "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, \
         routine_name name, routine_type varchar, data_type varchar, type_udt_name name, routine_body varchar, \
         routine_definition varchar, external_language varchar, is_deterministic varchar",
        |definitions| Ok(definitions.functions.iter().map(|function| routine_row(definitions, function)).collect()),
    ),
];

fn function_row(function: &Function) -> Result<Vec<Cell>, CatalogError> {
    let types: Vec<i64> = function.arguments.iter().map(|(_, ty)| i64::from(*ty)).collect();
    let names: Vec<Option<String>> = function.arguments.iter().map(|(name, _)| Some(name.clone())).collect();
    let has_names = function.arguments.iter().any(|(name, _)| !name.is_empty());
    let count = i16::try_from(types.len())
        .map_err(|_| CatalogError::bug(format!("{} has too many arguments", function.name)))?;
    Ok(row![
        function.oid,
        &function.name,
        PG_CATALOG,
        OWNER,
        INTERNAL_LANGUAGE,
        Cell::Float(1.0),
        Cell::Float(0.0),
        0,
        0,
        function.kind,
        false,
        false,
        false,
        false,
        function.volatility,
        's',
        count,
        0,
        function.result,
        types,
        Cell::Null,
        Cell::Null,
        has_names.then_some(names),
        Cell::Null,
        Cell::Null,
        &function.name,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null
    ])
}

fn routine_row(definitions: &Definitions, function: &Function) -> Vec<Cell> {
    let specific = format!("{}_{}", function.name, function.oid);
    let type_name = PgType(function.result).entry().map(|entry| entry.name);
    let is_deterministic = if function.volatility == 'i' { "YES" } else { "NO" };
    row![
        &definitions.database,
        "pg_catalog",
        specific,
        &definitions.database,
        "pg_catalog",
        &function.name,
        "FUNCTION",
        format_type(function.result.into(), None),
        type_name,
        "EXTERNAL",
        Cell::Null,
        "INTERNAL",
        is_deterministic
    ]
}

/// What a function converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// A text to a value.
    In,
    /// A value to its text.
    Out,
    /// Bytes to a value.
    Receive,
    /// A value to bytes.
    Send,
}

impl Conversion {
    const ALL: [Self; 4] = [Self::In, Self::Out, Self::Receive, Self::Send];

    /// The end of the name of a function, and the types of its argument and result.
    fn form(self, ty: u32) -> (&'static str, u32, u32) {
        match self {
            Self::In => ("in", CSTRING, ty),
            Self::Out => ("out", ty, CSTRING),
            Self::Receive => ("recv", INTERNAL, ty),
            Self::Send => ("send", ty, BYTEA),
        }
    }

    /// The number of the function for a type.
    pub(super) fn oid(self, ty: u32) -> Option<u32> {
        let place = BUILT_IN.iter().position(|entry| entry.oid == ty);
        let kind = Self::ALL.iter().position(|kind| *kind == self)?;
        match place {
            Some(place) => {
                u32::try_from(place.checked_mul(Self::ALL.len())?.checked_add(kind)?).ok()?.checked_add(CONVERSIONS)
            }
            None => [ARRAY_IN, ARRAY_OUT, ARRAY_RECV, ARRAY_SEND].get(kind).copied(),
        }
    }
}

/// Numbers, names, arguments and results of these functions.
fn conversions() -> Vec<(u32, String, u32, u32)> {
    let arrays = ("array_".to_owned(), ANY_ARRAY);
    let types = BUILT_IN.iter().map(|entry| (entry.function_stem(), entry.oid));
    let functions = std::iter::once(arrays).chain(types).flat_map(|(stem, ty)| {
        Conversion::ALL.into_iter().filter_map(move |kind| {
            let (end, from, to) = kind.form(ty);
            // The type of all arrays has functions of other numbers than types of its own would have.
            let of = if ty == ANY_ARRAY && stem == "array_" { 0 } else { ty };
            Some((kind.oid(of)?, format!("{stem}{end}"), from, to))
        })
    });
    functions.collect()
}

/// Names of functions by number, and their arguments.
pub(crate) fn function_names(definitions: &Definitions) -> Vec<(u32, String, String, u32)> {
    let conversions =
        conversions().into_iter().map(|(oid, name, from, to)| (oid, quoted(&name), format_type(from.into(), None), to));
    let own = definitions.functions.iter().map(|it| (it.oid, quoted(&it.name), function_arguments(it), it.result));
    own.chain(conversions).collect()
}
