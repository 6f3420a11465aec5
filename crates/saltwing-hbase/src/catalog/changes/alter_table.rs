//! ALTER TABLE: columns are added and dropped. Rows are not touched: an added column has no cells, and those of a dropped one are read by nobody.

use std::sync::Arc;

use hbase_client::TableName as PhysicalName;
use saltwing_catalog::{Applied, CatalogError, ChangeError};
use saltwing_phoenix::{
    CatalogReply, QualifierScheme, TableDefinition, TableKind, TableReply, added_columns, dropped_columns,
    numbered_columns,
};
use saltwing_types::TableDef;

use super::super::definitions::Definitions;
use super::catalog_server::{refused, send};
use super::hbase_tables::add_families;
use super::new_definition::new_column;
use super::refusal::not_defined;
use super::table_difference::{TableDifference, table_difference};
use crate::cluster::Place;

/// What to use where the rows would have to be changed.
const WITH_PHOENIX: &str = "ALTER TABLE with Phoenix, which changes the rows, too";

impl Definitions {
    /// Changes a table.
    pub(in super::super) fn alter_table(&self, old: &Arc<TableDef>, new: &TableDef) -> Result<Applied, ChangeError> {
        let object = old.name.to_string();
        let difference = table_difference(old, new).map_err(|reason| not_defined(&object, reason))?;
        let Some(known) = self.definition_now(&old.name)? else {
            return Err(CatalogError::NoSuchTable { name: object, nearest: None }.into());
        };
        if known.kind != TableKind::Table {
            return Err(not_defined(&object, "views are changed with Phoenix: ALTER VIEW there"));
        }
        let newest = self.known.note(&old.name, TableReply::Table(Box::new(known.clone())));
        let is_known = |table: &Arc<saltwing_access::Table>| {
            (table.def().id, table.def().history.version) == (old.id, old.history.version)
        };
        if !newest.is_some_and(|table| table.is_ok_and(|table| is_known(&table))) {
            return Err(CatalogError::Changed(object).into());
        }
        let call = match difference {
            TableDifference::Added(first) => self.added(&known, new, first),
            TableDifference::Dropped(places) => dropped(&known, &places).map_err(|reason| not_defined(&object, reason)),
        }?;
        let reply = send(self, &object, &call, CatalogReply::to_change)?;
        self.forget(&old.name);
        match reply {
            CatalogReply::Made { .. } => Ok(Applied::default()),
            CatalogReply::Refused(reason) => Err(refused(&object, reason)),
        }
    }

    /// The call that adds columns, after the HBase table has their families.
    fn added(
        &self,
        known: &TableDefinition,
        new: &TableDef,
        first: usize,
    ) -> Result<saltwing_phoenix::CatalogCall, ChangeError> {
        let object = known.full_name();
        let wrong = |reason: String| not_defined(&object, reason);
        let mut next = known.clone();
        for place in first..new.columns.len() {
            next.columns.push(new_column(new, place, known).map_err(wrong)?);
        }
        numbered_columns(&mut next).map_err(|error| wrong(error.to_string()))?;
        if known.empty_family() != next.empty_family() {
            return Err(wrong(format!("the first column of a family that rows have no cell in: {WITH_PHOENIX}")));
        }
        let made = added_columns(known, &next).map_err(|error| wrong(error.to_string()))?;
        let families: Vec<String> =
            next.columns.iter().skip(first).filter_map(|column| column.family.clone()).collect();
        let is_new = |family: &String| !known.columns.iter().any(|column| column.family.as_ref() == Some(family));
        let families: Vec<String> = families.into_iter().filter(is_new).collect();
        if !families.is_empty() {
            let physical: PhysicalName =
                known.physical_name.parse().map_err(|error: hbase_client::Error| wrong(error.to_string()))?;
            let (cluster, place) = (self.cluster.clone(), Place::Table(&self.catalog));
            let added = self
                .cluster
                .call(place, |context| async move { add_families(&cluster, &physical, &families, &context).await });
            added.map_err(CatalogError::from)?;
        }
        Ok(made.call)
    }
}

/// The call that drops columns.
///
/// # Errors
/// A sentence, if Phoenix would change rows or indexes, too.
fn dropped(known: &TableDefinition, places: &[usize]) -> Result<saltwing_phoenix::CatalogCall, String> {
    if known.qualifiers == QualifierScheme::Names {
        return Err(format!("a later column of the same name would have the cells of the dropped one: {WITH_PHOENIX}"));
    }
    if let Some(index) = known.indexes.first() {
        return Err(format!("index {} may have the column: {WITH_PHOENIX}", index.name));
    }
    let mut next = known.clone();
    let mut place = 0..;
    next.columns.retain(|_| place.next().is_none_or(|place| !places.contains(&place)));
    if known.empty_family() != next.empty_family() {
        return Err(format!("each row has a cell in the family of the column: {WITH_PHOENIX}"));
    }
    dropped_columns(known, places).map(|made| made.call).map_err(|error| error.to_string())
}
