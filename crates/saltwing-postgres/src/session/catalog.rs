//! Queries of clients for the catalog of PostgreSQL.

use std::collections::HashMap;
use std::time::SystemTime;

use saltwing::Value;
use saltwing::syntax::properties;
use saltwing_pg_catalog::{CatalogError, CatalogQuery, NamedCursor, NamedStatement, SessionFacts, SettingText};
use saltwing_sessions::Login;

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::extended::parameters_of;
use super::failures::setting_error;
use super::portal::Portal;
use super::postgres_session::PostgresSession;
use super::row_stream::{ColumnForm, ColumnForms, supervise_read};
use super::run::{Outcome, Source};
use super::statement::{Named, Parameter, Prepared, PreparedKind};
use super::statement_text::StatementText;
use crate::messages::{complete, error};
use crate::values::parameter_type;

impl PostgresSession {
    /// Prepares a query for the catalog, on a connection to the catalog's relations.
    pub(super) async fn prepare_catalog(
        &mut self,
        statement: &StatementText,
        types: &[u32],
    ) -> Result<Prepared, Failure> {
        self.apply_statement_timeout();
        let connection = self.connection.clone();
        let (user, process) = (self.session.login().name().to_owned(), self.session.id());
        let is_owner = matches!(self.session.login(), Login::Owner { .. });
        let stated = Prepared::stated_types(types)?;
        let Self { wire, session, catalog, settings, database, statements, portals, .. } = self;
        let (statements, cursors) = (named_statements(statements), named_cursors(portals));
        let running = session.begin(statement.text.clone());
        let prepare = async {
            let setting = |name: &str| settings.text(name);
            let facts = SessionFacts {
                connection: &connection,
                user: &user,
                is_owner,
                database,
                process,
                server_version: crate::settings::SERVER_VERSION,
                setting: &setting,
                statements: &statements,
                cursors: &cursors,
            };
            let query = catalog.translate(&statement.text, &facts).await.map_err(|failed| catalog_failure(&failed))?;
            let prepared = query.connection.prepare_typed(&query.sql, &stated).await.map_err(|failed| {
                // The text is not the client's: its places mean nothing there.
                tracing::warn!(target: "saltwing::pg_catalog", sql = &*statement.text, translated = query.sql, %failed, "a catalog query failed");
                Failure::from(crate::error_fields::error_info(&failed, None))
            })?;
            Ok::<_, Failure>((query, prepared))
        };
        let (query, prepared) = supervise_read(wire, &running, prepare).await??;
        let parameters = catalog_parameters(&query, &prepared, types);
        let columns = catalog_columns(&query, &prepared);
        let properties =
            properties(&query.sql, saltwing::Dialect::Saltwing).map_err(|failed| statement.failed(&failed))?;
        let kind = PreparedKind::Library { properties, statement: prepared, columns, catalog: Some(Box::new(query)) };
        Ok(Prepared { statement: statement.clone(), kind, parameters })
    }

    /// Runs a query for the catalog that the simple protocol has brought.
    pub(super) async fn run_catalog(&mut self, statement: &StatementText) -> Result<(), Failure> {
        let prepared = self.prepare_catalog(statement, &[]).await?;
        let columns = self.columns_of(&prepared)?;
        match self.run_translated(&prepared, Vec::new()).await? {
            Outcome::Rows(open) => self.send_result(open, columns, AnswerForm::SIMPLE).await,
            Outcome::Done { tag, .. } => Ok(self.wire.put(&complete(tag))?),
        }
    }

    /// Runs a query for the catalog that was prepared before, over the present definitions and with the present values of the session.
    pub(super) async fn start_catalog(
        &mut self,
        prepared: &Prepared,
        query: &CatalogQuery,
        values: Vec<Value>,
    ) -> Result<Outcome, Failure> {
        if query.depends_on_session {
            let types: Vec<u32> = prepared.parameters.iter().map(|parameter| parameter.oid).collect();
            let anew = self.prepare_catalog(&prepared.statement, &types).await?;
            return self.run_translated(&anew, values).await;
        }
        let running = self.session.begin(prepared.statement.text.clone());
        let connection = self.connection.clone();
        let refreshed = supervise_read(&mut self.wire, &running, query.refresh(&connection)).await?;
        refreshed.map_err(|failed| catalog_failure(&failed))?;
        self.run_translated(prepared, values).await
    }

    async fn run_translated(&mut self, prepared: &Prepared, values: Vec<Value>) -> Result<Outcome, Failure> {
        let PreparedKind::Library { properties, statement: query, catalog: Some(catalog), .. } = &prepared.kind else {
            debug_assert!(false, "a query for the catalog was translated");
            return Err(error("XX000", "a query for the catalog was not translated").into());
        };
        let changes: Vec<(Option<String>, Option<String>, bool)> = catalog
            .changes
            .iter()
            .map(|change| (setting_text(&change.name, &values), setting_text(&change.value, &values), change.is_local))
            .collect();
        let outcome = self.run(&prepared.statement, *properties, Source::Catalog(query, values)).await?;
        for (name, value, is_local) in changes {
            let name = name.ok_or_else(|| error("22004", "set_config has no name of a setting"))?;
            let changed = match &value {
                Some(value) => self.settings.set_text(&name, value, is_local),
                None => self.settings.reset(&name.as_str().into(), is_local),
            };
            let warning = changed.map_err(|failed| setting_error(&failed))?;
            self.put_warning(warning.as_ref())?;
        }
        Ok(outcome)
    }
}

/// The prepared statements that have names.
fn named_statements(statements: &HashMap<String, Named>) -> Vec<NamedStatement<'_>> {
    let mut facts = Vec::new();
    for (name, named) in statements.iter().filter(|(name, _)| !name.is_empty()) {
        facts.push(NamedStatement {
            name,
            text: named.text.trim(),
            prepared_ms: unix_ms(named.prepared_at),
            parameter_types: named.prepared.parameters.iter().map(|parameter| parameter.oid).collect(),
            is_from_sql: named.is_from_sql,
        });
    }
    facts
}

/// The portals that have names.
fn named_cursors(portals: &HashMap<String, Portal>) -> Vec<NamedCursor<'_>> {
    let mut facts = Vec::new();
    for (name, portal) in portals.iter().filter(|(name, _)| !name.is_empty()) {
        let (text, opened_ms, is_binary) = (portal.text.trim(), unix_ms(portal.opened_at), portal.is_binary());
        facts.push(NamedCursor { name, text, opened_ms, is_binary });
    }
    facts
}

/// Milliseconds since 1970.
fn unix_ms(at: SystemTime) -> i64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A text of a change of a setting; `None` is NULL.
fn setting_text(text: &SettingText, values: &[Value]) -> Option<String> {
    match text {
        SettingText::Text(text) => Some(text.clone()),
        SettingText::Parameter(number) => {
            let value = values.get(number.checked_sub(1)?)?;
            value.as_text().map(str::to_owned)
        }
        SettingText::Null => None,
    }
}

fn catalog_failure(failed: &CatalogError) -> Failure {
    error(failed.sqlstate(), failed.to_string()).into()
}

/// The parameters of a query, of the types to which the query casts them.
fn catalog_parameters(query: &CatalogQuery, prepared: &saltwing::Statement, stated: &[u32]) -> Vec<Parameter> {
    let mut parameters = parameters_of(prepared, stated);
    for (number, oid) in &query.parameters {
        let place = number.wrapping_sub(1);
        let is_stated = stated.get(place).is_some_and(|oid| *oid != 0);
        if let (Some(parameter), false) = (parameters.get_mut(place), is_stated)
            && parameter_type(*oid).is_ok()
        {
            parameter.oid = *oid;
        }
    }
    parameters
}

/// The columns of a query under the labels and types that the client expects.
fn catalog_columns(query: &CatalogQuery, prepared: &saltwing::Statement) -> Option<ColumnForms> {
    let columns = prepared.description().columns.as_deref()?;
    let mut forms = ColumnForm::of_columns(columns);
    for (form, (label, oid)) in forms.iter_mut().zip(&query.columns) {
        form.label.clone_from(label);
        form.oid = oid.unwrap_or(form.oid);
    }
    Some(forms.into())
}
