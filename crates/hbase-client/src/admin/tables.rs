//! Tables.

use bytes::Bytes;

use super::descriptor::{Family, TableDescriptor};
use super::master::Admin;
use super::procedures::Procedure;
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{
    AddColumnRequest, AddColumnResponse, CreateTableRequest, CreateTableResponse, DeleteTableRequest,
    DeleteTableResponse, DisableTableRequest, DisableTableResponse, EnableTableRequest, EnableTableResponse,
    GetTableDescriptorsRequest, GetTableDescriptorsResponse, GetTableNamesRequest, GetTableNamesResponse,
    GetTableStateRequest, GetTableStateResponse, TableStateKind,
};
use crate::table_name::TableName;

impl Admin {
    /// Creates a table, with a region for each interval between the split keys, and waits until it is in service.
    ///
    /// # Errors
    /// [`Error::Server`] if there is such a table; [`Error::Procedure`]; those of calls.
    pub async fn create_table(
        &self,
        context: &CallContext,
        table: &TableDescriptor,
        split_keys: impl IntoIterator<Item = Bytes>,
    ) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let split_keys = split_keys.into_iter().collect();
        let request = CreateTableRequest { table_schema: table.message().clone(), split_keys, nonce_group, nonce };
        let created: CreateTableResponse = self.call(context, "CreateTable", &request).await?;
        self.wait(context, Procedure::new(created.proc_id)?).await
    }

    /// Adds a column family to a table, which stays in service, and waits for it.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such table, or if it has such a family; [`Error::Procedure`]; those of calls.
    pub async fn add_family(&self, context: &CallContext, table: &TableName, family: &Family) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let (table_name, column_families) = (table.message(), family.message().clone());
        let request = AddColumnRequest { table_name, column_families, nonce_group, nonce };
        let added: AddColumnResponse = self.call(context, "AddColumn", &request).await?;
        self.wait(context, Procedure::new(added.proc_id)?).await
    }

    /// Takes a table out of service, and waits for it.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such table, or if it is not enabled; [`Error::Procedure`]; those of calls.
    pub async fn disable_table(&self, context: &CallContext, table: &TableName) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = DisableTableRequest { table_name: table.message(), nonce_group, nonce };
        let disabled: DisableTableResponse = self.call(context, "DisableTable", &request).await?;
        self.wait(context, Procedure::new(disabled.proc_id)?).await
    }

    /// Puts a disabled table into service again, and waits for it.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such table, or if it is not disabled; [`Error::Procedure`]; those of calls.
    pub async fn enable_table(&self, context: &CallContext, table: &TableName) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = EnableTableRequest { table_name: table.message(), nonce_group, nonce };
        let enabled: EnableTableResponse = self.call(context, "EnableTable", &request).await?;
        self.wait(context, Procedure::new(enabled.proc_id)?).await
    }

    /// Deletes a disabled table with all its rows, and waits for it.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such table, or if it is not disabled; [`Error::Procedure`]; those of calls.
    pub async fn delete_table(&self, context: &CallContext, table: &TableName) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = DeleteTableRequest { table_name: table.message(), nonce_group, nonce };
        let deleted: DeleteTableResponse = self.call(context, "DeleteTable", &request).await?;
        self.wait(context, Procedure::new(deleted.proc_id)?).await
    }

    /// The names of all tables, without those of HBase itself.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn table_names(&self, context: &CallContext) -> Result<Vec<TableName>, Error> {
        let request = GetTableNamesRequest { include_sys_tables: Some(false), ..GetTableNamesRequest::default() };
        let names: GetTableNamesResponse = self.call(context, "GetTableNames", &request).await?;
        names.table_names.iter().map(TableName::of_message).collect()
    }

    /// The descriptor of a table; `None` if there is no such table.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn descriptor(&self, context: &CallContext, table: &TableName) -> Result<Option<TableDescriptor>, Error> {
        let request = GetTableDescriptorsRequest {
            table_names: vec![table.message()],
            include_sys_tables: Some(true),
            ..GetTableDescriptorsRequest::default()
        };
        let descriptors: GetTableDescriptorsResponse = self.call(context, "GetTableDescriptors", &request).await?;
        Ok(descriptors.table_schema.into_iter().next().map(TableDescriptor::of_message))
    }

    /// Whether a table is enabled.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such table; those of calls.
    pub async fn is_enabled(&self, context: &CallContext, table: &TableName) -> Result<bool, Error> {
        let request = GetTableStateRequest { table_name: table.message() };
        let state: GetTableStateResponse = self.call(context, "GetTableState", &request).await?;
        Ok(state.table_state.state == TableStateKind::Enabled as i32)
    }
}
