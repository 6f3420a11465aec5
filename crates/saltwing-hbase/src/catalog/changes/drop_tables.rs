//! DROP TABLE and DROP VIEW: the catalog's rows first, then the HBase tables that are of no use any more.

use hbase_client::TableName as PhysicalName;
use saltwing_access::TableError;
use saltwing_catalog::{Applied, CatalogError, CatalogReader, ChangeError, Dependents, DropList};
use saltwing_phoenix::{CatalogReply, RefusedChange, TableDefinition, TableKind, TableReply, dropped_table};
use saltwing_types::TableName;

use super::super::calls::{LOG_TARGET, get_table};
use super::super::definitions::Definitions;
use super::catalog_server::{refused, send};
use super::folded_name::name_of;
use super::left_tables::LeftTables;
use super::refusal::not_defined;
use crate::cluster::Place;

impl Definitions {
    /// Drops one table or view.
    pub(in super::super) fn drop_tables(
        &self,
        list: &DropList<'_>,
        reader: &dyn CatalogReader,
        left: &LeftTables,
    ) -> Result<Applied, ChangeError> {
        let [(schema, name)] = list.names else {
            return Err(not_defined(
                "a list of tables",
                "a cluster drops one table a statement: write a DROP for each",
            ));
        };
        let table = match reader.resolve(*schema, name) {
            Err(error) if list.if_exists && error.is_missing() => return Ok(Applied::default()),
            Err(error) => return Err(ChangeError { error, place: Some(0) }),
            Ok(table) => table,
        };
        let known = &table.def().name;
        let Some(definition) = self.definition_now(known)? else {
            self.forget(known);
            return match list.if_exists {
                true => Ok(Applied::default()),
                false => Err(CatalogError::NoSuchTable { name: known.to_string(), nearest: None }.into()),
            };
        };
        let mut to_delete = self.drop_one(&definition, list.dependents == Dependents::Drop)?;
        match definition.kind {
            // Its rows are those of its table.
            TableKind::View(_) => to_delete.clear(),
            _ => to_delete.push(indexes_of_views(&definition.physical_name)),
        }
        let mut applied = Applied::default();
        for name in &to_delete {
            let Ok(physical) = name.parse::<PhysicalName>() else { continue };
            left.add(physical.clone());
            if let Err(error) = left.finish_of(self, &physical) {
                tracing::warn!(target: LOG_TARGET, table = %physical, %error, "the HBase table of a dropped table stays");
                applied.left = vec![0];
            }
        }
        Ok(applied)
    }

    fn drop_one(&self, definition: &TableDefinition, cascade: bool) -> Result<Vec<String>, ChangeError> {
        let object = definition.full_name();
        if definition.kind == TableKind::System {
            return Err(not_defined(&object, "it is a table of Phoenix itself"));
        }
        let call = dropped_table(definition, cascade).map_err(|error| not_defined(&object, error.to_string()))?;
        let reply = send(self, &object, &call, CatalogReply::to_change)?;
        self.forget(&name_of(definition));
        match reply {
            CatalogReply::Made { to_delete } => Ok(to_delete),
            CatalogReply::Refused(RefusedChange::Used) => {
                Err(CatalogError::from(TableError::from(crate::HbaseError::UsedByViews { table: object })).into())
            }
            CatalogReply::Refused(reason) => Err(refused(&object, reason)),
        }
    }

    /// The definition of a table as the server has it now; `None` if there is none.
    pub(super) fn definition_now(&self, name: &TableName) -> Result<Option<TableDefinition>, ChangeError> {
        let (catalog, of_call) = (self.catalog.clone(), name.clone());
        let reply = self.cluster.call(Place::Table(&self.catalog), |context| async move {
            get_table(&catalog, &of_call, 0, &context).await
        });
        match reply.map_err(CatalogError::from)? {
            TableReply::Table(definition) => Ok(Some(*definition)),
            TableReply::Unchanged | TableReply::NotFound => Ok(None),
        }
    }
}

/// The HBase table that has the indexes of all views over a table. Most tables have none.
fn indexes_of_views(physical_name: &str) -> String {
    match physical_name.split_once(':') {
        Some((namespace, name)) => format!("{namespace}:_IDX_{name}"),
        None => format!("_IDX_{physical_name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_of_views_have_a_table_beside_that_of_the_rows() {
        for (table, indexes) in [("T", "_IDX_T"), ("S.T", "_IDX_S.T"), ("S:T", "S:_IDX_T")] {
            assert_eq!(indexes_of_views(table), indexes);
        }
    }
}
