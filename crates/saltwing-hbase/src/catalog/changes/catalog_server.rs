//! Calls of the catalog's server that change it.

use hbase_client::{CoprocessorCall, Outcome};
use saltwing_access::TableError;
use saltwing_catalog::{CatalogError, ChangeError};
use saltwing_phoenix::{CatalogCall, CatalogReply, DefinitionError, RefusedChange};

use super::super::calls::SERVICE;
use super::super::definitions::Definitions;
use super::refusal::{not_defined, unknown};
use crate::HbaseError;
use crate::cluster::Place;

/// Most tries, if the region with the table's row is looked up again for each.
const TRIES_MAX: usize = 5;

/// Sends a change, and reads the reply.
///
/// # Errors
/// Errors of calls; one with the code `CommitUnknown` if the reply is lost.
pub(super) fn send(
    definitions: &Definitions,
    object: &str,
    call: &CatalogCall,
    read: fn(&[u8]) -> Result<CatalogReply, DefinitionError>,
) -> Result<CatalogReply, ChangeError> {
    for _ in 0..TRIES_MAX {
        match send_once(definitions, object, call, read)? {
            // Nothing was changed. The client looks the region up again as it moves.
            CatalogReply::Refused(RefusedChange::WrongRegion) => {}
            reply => return Ok(reply),
        }
    }
    let error = DefinitionError::WrongRegion { table: object.to_owned() };
    Err(CatalogError::from(TableError::from(HbaseError::from(error))).into())
}

fn send_once(
    definitions: &Definitions,
    object: &str,
    call: &CatalogCall,
    read: fn(&[u8]) -> Result<CatalogReply, DefinitionError>,
) -> Result<CatalogReply, ChangeError> {
    let (catalog, sent) = (definitions.catalog.clone(), call.clone());
    let place = Place::Row(&definitions.catalog, &call.row);
    let outcome = definitions.cluster.call(place, |context| async move {
        let CatalogCall { method, row, request } = sent;
        let call = CoprocessorCall { service: SERVICE, method, request: &request, changes: true };
        Ok(catalog.call_coprocessor(&context, &row, call).await)
    });
    match outcome {
        Ok(Outcome::Done(reply)) => {
            read(&reply).map_err(|error| CatalogError::from(TableError::from(HbaseError::from(error))).into())
        }
        Ok(Outcome::Refused(error)) => Err(CatalogError::from(TableError::from(HbaseError::from(error))).into()),
        Ok(Outcome::Unknown(error)) => Err(unknown(object, &error)),
        // Nothing was sent.
        Err(error @ (TableError::Cancelled | TableError::Timeout { .. })) => Err(CatalogError::from(error).into()),
        Err(error) => Err(unknown(object, &error)),
    }
}

/// The error of a change that the server does not make, if the change itself gives no better one.
pub(super) fn refused(object: &str, refused: RefusedChange) -> ChangeError {
    match refused {
        RefusedChange::Changed | RefusedChange::ColumnExists | RefusedChange::ColumnNotFound => {
            CatalogError::Changed(object.to_owned()).into()
        }
        RefusedChange::NotFound => CatalogError::NoSuchTable { name: object.to_owned(), nearest: None }.into(),
        RefusedChange::Exists => CatalogError::DuplicateTable { name: object.to_owned(), existing: None }.into(),
        RefusedChange::Used => {
            not_defined(object, "Phoenix's catalog refuses it: views or indexes need the table as it is")
        }
        RefusedChange::WrongRegion => not_defined(object, "the region of Phoenix's catalog cannot be found"),
        RefusedChange::Other(code) => {
            not_defined(object, format!("Phoenix's catalog refuses it with code {code} of its MutationCode"))
        }
    }
}
