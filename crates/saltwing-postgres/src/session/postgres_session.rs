//! The state of a session.

use std::collections::HashMap;
use std::sync::Arc;

use saltwing::{Connection, Settings};
use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::{Limits, Phase, Session};
use tokio::sync::watch;

use super::block::Block;
use super::portal::Portal;
use super::statement::Named;
use crate::settings::PostgresSettings;
use crate::wire::Wire;

/// The session of a client after its login.
pub(super) struct PostgresSession {
    pub(super) wire: Wire,
    pub(super) session: Session,
    /// The connection of the session, with the settings that it has now.
    pub(super) connection: Connection,
    /// The settings that RESET ALL gives.
    pub(super) initial_settings: Settings,
    pub(super) limits: Limits,
    pub(super) catalog: Arc<PgCatalog>,
    pub(super) settings: PostgresSettings,
    /// The name of the database, as the client knows it.
    pub(super) database: String,
    pub(super) statements: HashMap<String, Named>,
    pub(super) portals: HashMap<String, Portal>,
    pub(super) block: Block,
    /// After an error of the extended protocol: messages are passed over up to Sync.
    pub(super) skips_to_sync: bool,
    pub(super) phase: watch::Receiver<Phase>,
}
