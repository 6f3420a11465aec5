//! The relations that a query reads, and their columns with their types in PostgreSQL.

use sqlparser::ast::{Expr, Ident};

use super::build::{self, column, folded};
use crate::CatalogError;
use crate::pg_type::PgType;

/// The type of an expression in PostgreSQL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// A type of the catalog.
    Of(PgType),
    /// A text, NULL or a parameter, whose type its place says.
    Open,
    /// That of the library's value.
    Natural,
    /// A row of named fields. Its expression is a tuple.
    Record(Vec<(String, Type)>),
}

impl Type {
    pub(super) fn pg(&self) -> Option<PgType> {
        match self {
            Self::Of(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The kind of objects whose numbers the values are.
    pub(super) fn object_kind(&self) -> Option<&'static str> {
        self.pg().and_then(PgType::object_kind)
    }

    /// The type of elements; natural of anything that is no known type of arrays.
    pub(super) fn element(&self) -> Self {
        self.pg().and_then(PgType::element).map_or(Self::Natural, Self::Of)
    }

    /// The type of arrays of it. Texts without a type are texts there.
    pub(super) fn array(&self) -> Self {
        match self {
            Self::Open => Self::Of(PgType::TEXT_ARRAY),
            _ => self.pg().and_then(PgType::array).map_or(Self::Natural, Self::Of),
        }
    }

    /// The type of a value that is of this type or of another one, as CASE has it: a whole number gives way to a wider one.
    pub(super) fn or(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Open, _) | (Self::Of(PgType::INT2 | PgType::INT4), Self::Natural) => other,
            (Self::Of(PgType::INT2), Self::Of(ty)) if ty.is_number() => other,
            (Self::Of(PgType::INT4), Self::Of(ty)) if ty.is_number() && *ty != PgType::INT2 => other,
            _ => self,
        }
    }

    /// The type of a sum, a product and the like.
    pub(super) fn arithmetic(self, other: Self) -> Self {
        match (self, other) {
            (Self::Of(PgType::INT2 | PgType::INT4), Self::Of(PgType::INT2 | PgType::INT4)) => Self::Of(PgType::INT4),
            _ => Self::Natural,
        }
    }

    /// Whether elements are counted from 0, as those of vectors are.
    pub(super) fn counts_from_zero(&self) -> bool {
        matches!(self.pg(), Some(PgType::INT2VECTOR | PgType::OIDVECTOR))
    }
}

/// A column of the rows of a query.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// As clients and outer queries name it.
    pub(super) name: String,
    /// As the translated query names it. A row of fields has a column for each, `name.field`.
    pub(super) physical: String,
    pub(super) ty: Type,
}

impl Output {
    pub(super) fn new(name: &str, ty: Type) -> Self {
        Self { name: name.to_owned(), physical: name.to_owned(), ty }
    }
}

/// A relation in FROM.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) alias: String,
    pub(super) columns: Vec<Output>,
    /// The number of the relation of the catalog, for `tableoid`.
    pub(super) relation: Option<u32>,
    /// Whether `*` leaves it out: the query does not name it.
    pub(super) is_hidden: bool,
}

/// The relations that an expression may name, and those of the queries around.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope<'s> {
    pub(super) sources: &'s [Source],
    /// Columns that USING and NATURAL make one of two.
    pub(super) merged: &'s [String],
    pub(super) outer: Option<&'s Scope<'s>>,
}

impl Scope<'_> {
    /// The column that a name means, and its type; `None` if there is none.
    ///
    /// # Errors
    /// More than a schema, a relation and a column.
    pub(super) fn resolve(&self, names: &[Ident]) -> Result<Option<(Expr, Type)>, CatalogError> {
        let (relation, name) = match names {
            [name] => (None, folded(name)),
            // The schema: relations are known by their aliases.
            [relation, name] | [_, relation, name] => (Some(folded(relation)), folded(name)),
            _ => return Err(CatalogError::NotSupported("names of four parts".into())),
        };
        let mut scope = Some(self);
        while let Some(here) = scope {
            if let Some(found) = here.find(relation.as_deref(), &name) {
                return Ok(Some(found));
            }
            scope = here.outer;
        }
        Ok(None)
    }

    fn find(&self, relation: Option<&str>, name: &str) -> Option<(Expr, Type)> {
        let named = |source: &&Source| relation.is_none_or(|relation| source.alias == relation) && !source.is_hidden;
        for source in self.sources.iter().filter(named) {
            if let Some(output) = source.columns.iter().find(|output| output.name == name) {
                let is_merged = relation.is_none() && self.merged.iter().any(|merged| merged == name);
                let expr = if is_merged { Expr::Identifier(build::name(name)) } else { source.expr(output) };
                return Some((expr, output.ty.clone()));
            }
            if let Some(system) = source.system_column(name) {
                return Some(system);
            }
        }
        None
    }

    /// All columns that `*` means.
    pub(super) fn star(&self) -> Vec<(String, Expr, Type)> {
        let mut columns = Vec::new();
        let shown = || self.sources.iter().filter(|source| !source.is_hidden);
        for merged in self.merged {
            columns.extend(self.find(None, merged).map(|(expr, ty)| (merged.clone(), expr, ty)));
        }
        for source in shown() {
            let others = source.columns.iter().filter(|output| !self.merged.contains(&output.name));
            columns.extend(others.map(|output| (output.name.clone(), source.expr(output), output.ty.clone())));
        }
        columns
    }
}

impl Source {
    /// A column of it as an expression: a tuple of its fields if it is a row of such.
    pub(super) fn expr(&self, output: &Output) -> Expr {
        match &output.ty {
            Type::Record(fields) => {
                let field = |(field, _): &(String, Type)| column(&self.alias, &format!("{}.{field}", output.physical));
                Expr::Tuple(fields.iter().map(field).collect())
            }
            _ => column(&self.alias, &output.physical),
        }
    }

    /// A column that each relation of PostgreSQL has beside its own.
    fn system_column(&self, name: &str) -> Option<(Expr, Type)> {
        let relation = self.relation?;
        match name {
            "tableoid" => Some((build::int(relation.into()), Type::Of(PgType::OID))),
            // The numbers of transactions that wrote a row; of all rows the same one.
            "xmin" | "xmax" | "cmin" | "cmax" => Some((build::int(i64::from(name == "xmin")), Type::Of(PgType::XID))),
            _ => None,
        }
    }
}
