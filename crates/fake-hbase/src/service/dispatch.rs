//! Requests by service and method.

use bytes::Bytes;
use hbase_client::frame::CellBlock;
use hbase_client::proto::{
    CoprocessorServiceRequest, GetRequest, MultiRequest, MutateRequest, RegionSpecifier, ScanRequest,
};
use prost::Message;

use super::outcomes::row_of;
use super::reply::{CellForm, Reply};
use super::{exec, get, master, multi, mutate, registry, scan};
use crate::call::{Call, ScanStep};
use crate::exception::Exception;
use crate::fault::Fault;
use crate::name::RegionId;
use crate::server_id::ServerId;
use crate::state::State;

/// A request.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Get(GetRequest),
    Mutate(MutateRequest),
    Multi(MultiRequest),
    Scan(ScanRequest),
    Exec(CoprocessorServiceRequest),
    /// A method of `ClientMetaService`, which has no parameter.
    Registry(String),
    /// A method of `MasterService`, with its message.
    Master(String, Bytes),
}

fn decode<M: Message + Default>(message: Bytes) -> Result<M, Exception> {
    M::decode(message).map_err(|error| Exception::do_not_retry(format!("InvalidProtocolBufferException: {error}")))
}

impl Request {
    /// The request of a message.
    ///
    /// # Errors
    /// `UnsupportedOperationException` for other services and methods.
    pub(crate) fn decode(service: &str, method: &str, message: Bytes) -> Result<Self, Exception> {
        Ok(match (service, method) {
            ("ClientService", "Get") => Self::Get(decode(message)?),
            ("ClientService", "Mutate") => Self::Mutate(decode(message)?),
            ("ClientService", "Multi") => Self::Multi(decode(message)?),
            ("ClientService", "Scan") => Self::Scan(decode(message)?),
            ("ClientService", "ExecService") => Self::Exec(decode(message)?),
            ("ClientMetaService", _) => Self::Registry(method.to_owned()),
            ("MasterService", _) => Self::Master(method.to_owned(), message),
            _ => {
                let text = format!("{service}.{method}");
                return Err(Exception::fatal("exceptions.UnknownProtocolException", text));
            }
        })
    }

    fn specifiers(&self) -> Vec<&RegionSpecifier> {
        match self {
            Self::Get(request) => vec![&request.region],
            Self::Mutate(request) => vec![&request.region],
            Self::Multi(request) => request.region_action.iter().map(|actions| &actions.region).collect(),
            Self::Scan(request) => request.region.iter().collect(),
            Self::Exec(request) => vec![&request.region],
            Self::Registry(_) | Self::Master(..) => Vec::new(),
        }
    }

    fn rows(&self) -> Vec<Bytes> {
        match self {
            Self::Get(request) => vec![request.get.row.clone()],
            Self::Mutate(request) => request.mutation.row.iter().cloned().collect(),
            Self::Multi(request) => {
                request.region_action.iter().flat_map(|actions| actions.action.iter().map(row_of)).collect()
            }
            Self::Exec(request) => vec![request.call.row.clone()],
            Self::Scan(_) | Self::Registry(_) | Self::Master(..) => Vec::new(),
        }
    }

    fn scan_step(&self) -> Option<ScanStep> {
        let Self::Scan(request) = self else { return None };
        Some(match (request.scanner_id, request.renew, request.close_scanner) {
            (None, ..) => ScanStep::Open,
            (_, Some(true), _) => ScanStep::Renew,
            (_, _, Some(true)) if request.number_of_rows.unwrap_or(0) == 0 => ScanStep::Close,
            _ => ScanStep::Next,
        })
    }

    /// What tests see of it.
    pub(crate) fn describe(&self, state: &State, server: Option<ServerId>, service: &str, method: &str) -> Call {
        let named = self.specifiers().into_iter().filter_map(|specifier| state.find_region(specifier));
        let mut regions: Vec<RegionId> = named.map(|region| region.id.clone()).collect();
        if let (Self::Scan(ScanRequest { scanner_id: Some(id), .. }), Some(server)) = (self, server) {
            let scanner = state.servers.get(server.0).and_then(|server| server.scanners.get(id));
            let region = scanner.and_then(|scanner| state.regions.get(&scanner.region));
            regions.extend(region.map(|region| region.id.clone()));
        }
        let (service, method) = (service.to_owned(), method.to_owned());
        Call { server, service, method, regions, rows: self.rows(), scan: self.scan_step() }
    }

    fn takes(&self, fault: &Fault) -> bool {
        match fault {
            Fault::ScanStops(_) | Fault::ScanMarksPartial => matches!(self, Self::Scan(_)),
            Fault::Action(..) | Fault::RegionOfRow(..) | Fault::TurnedResults => matches!(self, Self::Multi(_)),
            _ => true,
        }
    }

    /// Carries it out. Of faults those take part that change what is done; the others are the listener's.
    pub(crate) fn answer(
        self,
        state: &mut State,
        server: Option<ServerId>,
        cells: Bytes,
        fault: Option<&Fault>,
        form: CellForm,
    ) -> Result<Reply, Exception> {
        if let Some(fault) = fault.filter(|fault| !self.takes(fault)) {
            return Err(Exception::do_not_retry(format!("the test's fault {fault:?} does not fit this call")));
        }
        let region_server = || server.ok_or_else(|| Exception::do_not_retry("the master has no ClientService"));
        let block = CellBlock::new(cells);
        match self {
            Self::Registry(method) => registry_answer(state, &method),
            // Region servers do not have this service.
            Self::Master(method, _) if server.is_some() => {
                Err(Exception::fatal("exceptions.UnknownProtocolException", format!("MasterService.{method}")))
            }
            Self::Master(method, message) => master::answer(state, &method, message),
            Self::Get(request) => get::get(state, region_server()?, request, form),
            Self::Mutate(request) => mutate::mutate(state, region_server()?, &request, block, form),
            Self::Multi(request) => multi::multi(state, region_server()?, &request, block, fault, form),
            Self::Scan(request) => scan::scan(state, region_server()?, &request, fault, form),
            Self::Exec(request) => exec::exec(state, region_server()?, &request),
        }
    }
}

fn registry_answer(state: &State, method: &str) -> Result<Reply, Exception> {
    match method {
        "GetClusterId" => Ok(registry::cluster_id()),
        "GetActiveMaster" => Ok(registry::active_master(state)),
        "GetMetaRegionLocations" => registry::meta_locations(state),
        "GetBootstrapNodes" => Ok(registry::bootstrap_nodes(state)),
        _ => Err(Exception::fatal("exceptions.UnknownProtocolException", format!("ClientMetaService.{method}"))),
    }
}
