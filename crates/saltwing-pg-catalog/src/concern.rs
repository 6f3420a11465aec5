//! Which texts are queries for the catalog.
//!
//! A text is looked at in three steps, and most texts end at the first or the second one: its first word is that of a query; one of its words
//! calls for the catalog; as a tree, it names relations, functions or types of the catalog.

use std::ops::ControlFlow;

use saltwing::syntax::{Lexeme, lexemes};
use sqlparser::ast::{Expr, FunctionArguments, ObjectName, Query, SetExpr, Statement, TableFactor, Visit, Visitor};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};

use crate::pg_type::PgType;
use crate::relations::{INFORMATION_SCHEMA_NAME, PG_CATALOG_NAME, relation_named};
use crate::translation::{is_catalog_function, is_session_function};

/// Queries and brackets inside each other that a text may have.
const DEPTH_MAX: usize = 100;

/// The relations of `information_schema` that only the library has.
const OWN_RELATIONS: [&str; 3] = ["indexes", "users", "grants"];
/// Those that both have, with other columns.
const SHARED_RELATIONS: [&str; 5] = ["schemata", "tables", "columns", "views", "sequences"];

/// What a text has to do with the catalog.
#[derive(Debug, PartialEq)]
pub(crate) enum Concern {
    /// Nothing.
    None,
    /// It is a query over the catalog.
    Catalog {
        query: Box<Query>,
        /// Whether the library has all relations that it reads, in a form of its own.
        is_known_to_library: bool,
    },
    /// It is a query over other tables, with functions of the session.
    SessionFunctions(Box<Query>),
    /// It names the catalog and is no query: why.
    Broken(String),
}

/// What a text has to do with the catalog.
pub(crate) fn concern(sql: &str) -> Concern {
    if !begins_as_query(sql) || !calls_for_catalog(sql) {
        return Concern::None;
    }
    let parsed = Parser::new(&PostgreSqlDialect {}).with_recursion_limit(DEPTH_MAX).try_with_sql(sql);
    let statements = parsed.and_then(|mut parser| parser.parse_statements());
    let query = match statements {
        Ok(statements) => match <[Statement; 1]>::try_from(statements) {
            Ok([Statement::Query(query)]) => query,
            _ => return Concern::None,
        },
        Err(error) if names_catalog(sql) => return Concern::Broken(error_text(&error)),
        // Words of the library that PostgreSQL does not have.
        Err(_) => return Concern::None,
    };
    let mut names = Names::default();
    let _ = query.visit(&mut names);
    match names {
        Names { is_of_library: true, .. } => Concern::None,
        Names { reads_catalog: false, calls_session: true, reads_other: true, .. } => Concern::SessionFunctions(query),
        Names { reads_catalog: false, calls_catalog: false, .. } => Concern::None,
        Names { reads_catalog, reads_foreign, calls_catalog, .. } => {
            Concern::Catalog { query, is_known_to_library: reads_catalog && !reads_foreign && !calls_catalog }
        }
    }
}

/// Whether a query asks for numbers of rows or bytes.
pub(crate) fn names_sizes(sql: &str) -> bool {
    let is_size = |word: &str| {
        let word = word.to_ascii_lowercase();
        word.ends_with("_size") || word.starts_with("pg_stat") || matches!(word.as_str(), "reltuples" | "relpages")
    };
    words(sql).any(is_size)
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    let is_name = |kind: Lexeme| matches!(kind, Lexeme::Word | Lexeme::QuotedName);
    let words = lexemes(sql).filter(move |(kind, _)| is_name(*kind));
    words.filter_map(|(_, place)| sql.get(place)).map(|word| word.trim_matches('"'))
}

fn begins_as_query(sql: &str) -> bool {
    let first = lexemes(sql).find(|(kind, place)| {
        let is_bracket = sql.get(place.clone()) == Some("(");
        !matches!(kind, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint) && !is_bracket
    });
    let first = first.and_then(|(_, place)| sql.get(place)).unwrap_or_default();
    ["select", "with", "values"].iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Whether a word of the text calls for the catalog. Some such texts have nothing to do with it.
fn calls_for_catalog(sql: &str) -> bool {
    words(sql).any(|word| {
        let lower = word.to_ascii_lowercase();
        let lower = lower.as_str();
        lower.starts_with("pg_")
            || lower == INFORMATION_SCHEMA_NAME
            || is_catalog_function(lower)
            || is_session_function(lower)
            || (lower.starts_with("reg") && PgType::by_catalog_name(lower).is_some_and(PgType::is_object))
    })
}

/// Whether a text names the catalog beyond doubt.
fn names_catalog(sql: &str) -> bool {
    words(sql).any(|word| {
        let lower = word.to_ascii_lowercase();
        lower == PG_CATALOG_NAME || relation_named(PG_CATALOG_NAME, &lower).is_some()
    })
}

fn error_text(error: &ParserError) -> String {
    match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.clone(),
        ParserError::RecursionLimitExceeded => "the query is too deep".to_owned(),
    }
}

/// What a query names.
#[derive(Debug, Default)]
struct Names {
    /// Names of queries of WITH.
    ctes: Vec<String>,
    reads_catalog: bool,
    /// Relations of the catalog that the library does not have.
    reads_foreign: bool,
    reads_other: bool,
    calls_catalog: bool,
    calls_session: bool,
    is_of_library: bool,
}

fn folded(name: &ObjectName) -> Vec<String> {
    let idents = name.0.iter().filter_map(|part| part.as_ident());
    idents
        .map(|ident| if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() })
        .collect()
}

impl Names {
    fn read(&mut self, name: &ObjectName) {
        let path = folded(name);
        let (schema, own) = match path.as_slice() {
            [own] if self.ctes.contains(own) => return,
            [own] => (None, own.as_str()),
            [.., schema, own] => (Some(schema.as_str()), own.as_str()),
            [] => return,
        };
        let is_catalog = match schema {
            Some(PG_CATALOG_NAME) => {
                self.reads_foreign = true;
                true
            }
            Some(INFORMATION_SCHEMA_NAME) => {
                self.is_of_library |= OWN_RELATIONS.contains(&own);
                self.reads_foreign |= !SHARED_RELATIONS.contains(&own);
                true
            }
            Some(_) => false,
            None => {
                self.reads_foreign = true;
                relation_named(PG_CATALOG_NAME, own).is_some()
            }
        };
        self.reads_catalog |= is_catalog;
        self.reads_other |= !is_catalog;
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            let names = with.cte_tables.iter().map(|cte| match cte.alias.name.quote_style {
                Some(_) => cte.alias.name.value.clone(),
                None => cte.alias.name.value.to_lowercase(),
            });
            self.ctes.extend(names);
        }
        if let SetExpr::Table(_) = &*query.body {
            self.reads_other = true;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, args: None, .. } => self.read(name),
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => self.call(name),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => {
                self.call(&function.name);
                if matches!(function.args, FunctionArguments::None) {
                    self.calls_session |= folded(&function.name).last().is_some_and(|name| is_session_function(name));
                }
            }
            Expr::Cast { data_type, .. } => {
                let ty = PgType::by_sql_name(&data_type.to_string());
                self.calls_catalog |= ty.is_some_and(|ty| ty.is_object() || matches!(ty, PgType::OID | PgType::NAME));
            }
            // `current_schema` and `current_role` are names to the parser.
            Expr::Identifier(name) if name.quote_style.is_none() => {
                let name = name.value.to_lowercase();
                self.calls_session |= matches!(name.as_str(), "current_schema" | "current_role");
                self.calls_catalog |= matches!(name.as_str(), "current_schema" | "current_role");
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Names {
    fn call(&mut self, name: &ObjectName) {
        let path = folded(name);
        let (schema, own) = match path.as_slice() {
            [own] => (None, own.as_str()),
            [.., schema, own] => (Some(schema.as_str()), own.as_str()),
            [] => return,
        };
        let is_session = is_session_function(own);
        self.calls_session |= is_session;
        self.calls_catalog |= is_session || is_catalog_function(own) || schema == Some(PG_CATALOG_NAME);
    }
}
