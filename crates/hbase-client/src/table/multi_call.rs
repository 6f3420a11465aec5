//! One request of a multi.

use std::collections::HashMap;

use bytes::Bytes;

use super::waiting::{Answered, ByRegion, Waiting};
use crate::cluster::Cluster;
use crate::connection::{Answer, Server};
use crate::context::CallContext;
use crate::error::Error;
use crate::frame::{CellBlock, cell_block};
use crate::proto::{MultiRequest, MultiResponse, NameBytesPair, RegionAction, RegionActionResult};
use crate::region::Region;
use crate::row::{Row, row_of};
use crate::server_error::ServerError;

/// The answers to the actions of one region, by their numbers; or why there are none.
type RegionAnswers = Result<HashMap<u32, Result<Row, Error>>, Error>;

/// Sends one request for regions of one server; every action comes back with its answer.
pub(super) async fn call(cluster: &Cluster, context: &CallContext, regions: ByRegion) -> Vec<Answered> {
    let regions: Vec<(Region, Vec<Waiting>)> = regions.into_values().collect();
    let Some((first, _)) = regions.first() else { return Vec::new() };
    let server = cluster.server_of(first);
    let until = context.attempt_until();
    let (request, cells) = request(cluster, &regions);
    let answer = server.call::<MultiResponse>("Multi", &request, cells, until).await;
    let mut answers = match answer.and_then(|answer| read(&server, answer, regions.len())) {
        Ok(answers) => answers.into_iter(),
        Err(error) => vec![Err(error); regions.len()].into_iter(),
    };
    let mut answered = Vec::new();
    for (region, actions) in regions {
        let missing = || server.wrong("Multi", "an action has no result");
        let mut of_region = answers.next().unwrap_or_else(|| Err(missing()));
        for (index, action) in (0..).zip(actions) {
            // Results come in any order: the number of the action tells which one it is.
            let answer = match &mut of_region {
                Ok(results) => results.remove(&index).unwrap_or_else(|| Err(missing())),
                Err(error) => Err(error.clone()),
            };
            answered.push((action, region.clone(), answer));
        }
    }
    answered
}

fn request(cluster: &Cluster, regions: &[(Region, Vec<Waiting>)]) -> (MultiRequest, Bytes) {
    let of_region = |(region, actions): &(Region, Vec<Waiting>)| RegionAction {
        region: region.specifier(),
        atomic: Some(false),
        action: (0..).zip(actions).map(|(index, waiting)| waiting.action.message(index, waiting.nonce)).collect(),
        condition: None,
    };
    let region_action = regions.iter().map(of_region).collect();
    let cells: Vec<_> = regions.iter().flat_map(|(_, actions)| actions).flat_map(Waiting::cells).collect();
    (MultiRequest { region_action, nonce_group: Some(cluster.nonce_group) }, cell_block(cells))
}

/// The answers in the order of the regions. The cells of results lie in the block in the order of the results.
fn read(server: &Server, answer: Answer<MultiResponse>, regions: usize) -> Result<Vec<RegionAnswers>, Error> {
    if answer.message.region_action_result.len() != regions {
        return Err(server.wrong("Multi", "it has another number of regions than the request"));
    }
    let mut block = CellBlock::new(answer.cells);
    let results = answer.message.region_action_result.into_iter();
    results.map(|result| read_region(server, result, &mut block)).collect()
}

/// The outer error is of the whole answer, the inner one of the region.
fn read_region(server: &Server, result: RegionActionResult, block: &mut CellBlock) -> Result<RegionAnswers, Error> {
    let failed = |pair: &NameBytesPair| Error::Server(ServerError::of_action(server.address(), "Multi", pair));
    if let Some(exception) = &result.exception {
        return Ok(Err(failed(exception)));
    }
    let mut answers = HashMap::with_capacity(result.result_or_exception.len());
    for result in result.result_or_exception {
        let index = result.index.ok_or_else(|| server.wrong("Multi", "a result has no number"))?;
        let answer = match (&result.exception, &result.result) {
            (Some(exception), _) => Err(failed(exception)),
            (None, Some(row)) => Ok(row_of(row, block).map_err(|error| server.damaged("Multi", error))?),
            (None, None) => Ok(Row::default()),
        };
        answers.insert(index, answer);
    }
    Ok(Ok(answers))
}
