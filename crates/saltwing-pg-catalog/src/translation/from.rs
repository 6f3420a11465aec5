//! FROM: relations of the catalog, queries, joins, and functions that give rows.

use sqlparser::ast::{
    FunctionArg, FunctionArgExpr, Ident, JoinConstraint, JoinOperator, ObjectName, Query, TableAlias, TableFactor,
    TableWithJoins,
};

use super::build::{alias, alias_column, folded, folded_all, name, table_factor};
use super::queries::{Place, rename};
use super::scope::{Output, Scope, Source, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::relations::{INFORMATION_SCHEMA_NAME, PG_CATALOG_NAME, Relation, relation_named};

impl Translator<'_> {
    pub(super) fn table_with_joins(
        &mut self,
        table: &mut TableWithJoins,
        sources: &mut Vec<Source>,
        merged: &mut Vec<String>,
        outer: Scope<'_>,
    ) -> Result<(), CatalogError> {
        let first = sources.len();
        self.factor(&mut table.relation, sources, merged, outer)?;
        for join in &mut table.joins {
            let joined = sources.len();
            self.factor(&mut join.relation, sources, merged, outer)?;
            use JoinOperator as J;
            let constraint = match &mut join.join_operator {
                J::Join(it)
                | J::Inner(it)
                | J::Left(it)
                | J::LeftOuter(it)
                | J::Right(it)
                | J::RightOuter(it)
                | J::FullOuter(it)
                | J::CrossJoin(it) => it,
                _ => return Err(not_supported("joins of other databases")),
            };
            match constraint {
                JoinConstraint::On(condition) => {
                    let scope =
                        Scope { sources: sources.get(first..).unwrap_or_default(), merged, outer: Some(&outer) };
                    self.expr(condition, scope)?;
                }
                JoinConstraint::Using(columns) => {
                    for column in columns {
                        let ident = column.0.last().and_then(|part| part.as_ident()).cloned();
                        let wanted = folded(&ident.ok_or_else(|| not_supported("USING of what is no name"))?);
                        *column = ObjectName::from(vec![name(&wanted)]);
                        merged.push(wanted);
                    }
                }
                JoinConstraint::Natural => {
                    let (left, right) = sources.split_at(joined);
                    let is_left = |output: &&Output| {
                        let columns = left.iter().skip(first).flat_map(|source| &source.columns);
                        columns.into_iter().any(|column| column.name == output.name)
                    };
                    merged.extend(
                        right.iter().flat_map(|source| &source.columns).filter(is_left).map(|it| it.name.clone()),
                    );
                }
                JoinConstraint::None => {}
            }
        }
        Ok(())
    }

    fn factor(
        &mut self,
        factor: &mut TableFactor,
        sources: &mut Vec<Source>,
        merged: &mut Vec<String>,
        outer: Scope<'_>,
    ) -> Result<(), CatalogError> {
        match factor {
            TableFactor::Table { name: path, alias: given, args, with_ordinality, .. } => {
                let (path, given) = (path.clone(), given.take());
                match args.take() {
                    Some(args) => {
                        let scope = Scope { sources, merged, outer: Some(&outer) };
                        let call = RowsCall { path, args: args.args, given, with_ordinality: *with_ordinality };
                        let (new, source) = self.rows_of_call(call, scope)?;
                        *factor = new;
                        sources.push(source);
                    }
                    None => sources.push(self.named_relation(factor, &path, given)?),
                }
            }
            TableFactor::Function { name: path, args, with_ordinality, alias: given, .. } => {
                let scope = Scope { sources, merged, outer: Some(&outer) };
                let (path, args, given) = (path.clone(), std::mem::take(args), given.take());
                let (new, source) =
                    self.rows_of_call(RowsCall { path, args, given, with_ordinality: *with_ordinality }, scope)?;
                *factor = new;
                sources.push(source);
            }
            TableFactor::UNNEST { alias: given, array_exprs, with_ordinality, with_offset: false, .. } => {
                let scope = Scope { sources, merged, outer: Some(&outer) };
                let args = std::mem::take(array_exprs);
                let args = args.into_iter().map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))).collect();
                let path = ObjectName::from(vec![Ident::new("unnest")]);
                let call = RowsCall { path, args, given: given.take(), with_ordinality: *with_ordinality };
                let (new, source) = self.rows_of_call(call, scope)?;
                *factor = new;
                sources.push(source);
            }
            TableFactor::Derived { lateral, subquery, alias: given, .. } => {
                let scope = Scope { sources, merged, outer: Some(&outer) };
                let scope = if *lateral { scope } else { outer };
                let mut columns = self.query(subquery, scope, Place::Inside)?;
                let alias_name = self.apply_alias(given, &mut columns, None)?;
                sources.push(Source { alias: alias_name, columns, relation: None, is_hidden: false });
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.table_with_joins(table_with_joins, sources, merged, outer)?;
            }
            _ => return Err(not_supported("what stands in FROM")),
        }
        Ok(())
    }

    /// Gives a factor its alias in quotes, and its columns the names that the alias has for them.
    fn apply_alias(
        &mut self,
        given: &mut Option<TableAlias>,
        columns: &mut [Output],
        otherwise: Option<&str>,
    ) -> Result<String, CatalogError> {
        let (text, names) = match given.take() {
            Some(given) => {
                let names: Vec<Ident> = given.columns.into_iter().map(|column| column.name).collect();
                (folded(&given.name), folded_all(&names))
            }
            None => (otherwise.map_or_else(|| self.made_up_name(), str::to_owned), Vec::new()),
        };
        rename(columns, &names)?;
        let mut quoted = alias(&text);
        if !names.is_empty() {
            quoted.columns = columns.iter().map(|column| alias_column(&column.physical)).collect();
        }
        *given = Some(quoted);
        Ok(text)
    }

    /// A relation by its name: a query of WITH, or one of the catalog.
    fn named_relation(
        &mut self,
        factor: &mut TableFactor,
        path: &ObjectName,
        mut given: Option<TableAlias>,
    ) -> Result<Source, CatalogError> {
        let names: Vec<String> = path.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
        let (own_name, mut columns, number, source) = match names.as_slice() {
            [own] => match self.ctes.iter().rev().find(|(cte, _)| cte == own) {
                Some((cte, columns)) => (cte.clone(), columns.clone(), None, FactorOf::Table(cte.clone())),
                None => self.catalog_relation(PG_CATALOG_NAME, own)?,
            },
            [schema, own] => self.catalog_relation(schema, own)?,
            // The name of the database may stand before it.
            [database, schema, own] if *database == self.session.database => self.catalog_relation(schema, own)?,
            _ => return Err(CatalogError::NoRelation(path.to_string())),
        };
        let alias_name = self.apply_alias(&mut given, &mut columns, Some(&own_name))?;
        *factor = match source {
            FactorOf::Table(table) => table_factor(&table, given),
            FactorOf::Query(query) => {
                TableFactor::Derived { lateral: false, subquery: query, alias: given, sample: None }
            }
        };
        Ok(Source { alias: alias_name, columns, relation: number, is_hidden: false })
    }

    fn catalog_relation(
        &mut self,
        schema: &str,
        own: &str,
    ) -> Result<(String, Vec<Output>, Option<u32>, FactorOf), CatalogError> {
        if let Some((columns, query)) = self.session_relation(schema, own)? {
            return Ok((own.to_owned(), columns, None, FactorOf::Query(Box::new(query))));
        }
        let found =
            relation_named(schema, own).filter(|_| schema == PG_CATALOG_NAME || schema == INFORMATION_SCHEMA_NAME);
        let found: &Relation = found.ok_or_else(|| match schema {
            PG_CATALOG_NAME | INFORMATION_SCHEMA_NAME
                if own.starts_with("pg_") || schema == INFORMATION_SCHEMA_NAME =>
            {
                CatalogError::NoRelation(format!("{schema}.{own}"))
            }
            PG_CATALOG_NAME => CatalogError::OtherTable(own.to_owned()),
            _ => CatalogError::OtherTable(format!("{schema}.{own}")),
        })?;
        Ok((own.to_owned(), outputs_of(found), Some(found.oid), FactorOf::Table(found.table_name())))
    }
}

/// What stands for a relation.
enum FactorOf {
    Table(String),
    Query(Box<Query>),
}

/// A call in FROM.
pub(super) struct RowsCall {
    pub(super) path: ObjectName,
    pub(super) args: Vec<FunctionArg>,
    pub(super) given: Option<TableAlias>,
    pub(super) with_ordinality: bool,
}

/// The columns of a relation.
pub(super) fn outputs_of(relation: &Relation) -> Vec<Output> {
    relation.attributes.iter().map(|column| Output::new(column.name, Type::Of(column.ty))).collect()
}
