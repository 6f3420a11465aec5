//! The servers of a cluster to which there are connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::server::Server;
use crate::address::Address;
use crate::frame::{CELL_CODEC, FRAME_BYTES_MAX};
use crate::proto::{ConnectionHeader, UserInformation, VersionInfo};

/// How connections are made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The user in whose name the client asks. The server believes it: this client has SIMPLE authentication alone.
    pub user: String,
    /// The most bytes of a response.
    pub frame_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
        Self { user: user.unwrap_or_else(|| "hbase".to_owned()), frame_bytes_max: FRAME_BYTES_MAX }
    }
}

/// A service of servers: each has connections of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Client,
    Master,
    ClientMeta,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "ClientService",
            Self::Master => "MasterService",
            Self::ClientMeta => "ClientMetaService",
        }
    }
}

/// The servers of a cluster to which there are connections.
pub(crate) struct Servers {
    settings: Settings,
    servers: Mutex<HashMap<(Address, Service), Arc<Server>>>,
}

impl Servers {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, servers: Mutex::default() }
    }

    /// The region servers of which the client has asked something.
    pub(crate) fn region_servers(&self) -> Vec<Address> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let of_regions = servers.keys().filter(|(_, service)| *service == Service::Client);
        of_regions.map(|(address, _)| address.clone()).collect()
    }

    /// A service of a server. Nothing is connected before its first call.
    pub(crate) fn server(&self, address: &Address, service: Service) -> Arc<Server> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let header = header(&self.settings.user, service);
            Arc::new(Server::new(address.clone(), header, self.settings.frame_bytes_max))
        };
        Arc::clone(servers.entry((address.clone(), service)).or_insert_with(new))
    }
}

fn header(user: &str, service: Service) -> ConnectionHeader {
    ConnectionHeader {
        user_info: Some(UserInformation { effective_user: user.to_owned(), real_user: None }),
        service_name: Some(service.name().to_owned()),
        cell_block_codec_class: Some(CELL_CODEC.to_owned()),
        // Servers act on the version: this client does what one of 2.6 does.
        version_info: Some(VersionInfo {
            version: "2.6.1".to_owned(),
            version_major: Some(2),
            version_minor: Some(6),
            ..VersionInfo::default()
        }),
        ..ConnectionHeader::default()
    }
}
