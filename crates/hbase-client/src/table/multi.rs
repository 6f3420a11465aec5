//! Many actions: grouped by servers and regions, matched by their numbers, and grouped again if they failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::actions::Action;
use super::multi_call::call;
use super::row_calls::repeat;
use super::waiting::{Answered, ByRegion, Waiting};
use crate::address::Address;
use crate::cluster::{Attempts, Cluster, Repeat};
use crate::context::CallContext;
use crate::error::Error;
use crate::locator::Side;
use crate::outcome::Outcome;
use crate::region::Region;
use crate::retries::Retries;
use crate::row::Row;
use crate::server_error::Reaction;
use crate::table_name::TableName;

/// The most bytes of a request, beside its last action.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// Makes actions until each has an outcome; the outcomes are in the order of the actions.
pub(super) async fn multi(
    cluster: &Arc<Cluster>,
    table: &TableName,
    context: &CallContext,
    actions: Vec<Action>,
) -> Vec<Outcome<Row>> {
    let mut outcomes: Vec<Option<Outcome<Row>>> = vec![None; actions.len()];
    let mut waiting = Vec::with_capacity(actions.len());
    for (place, action) in actions.into_iter().enumerate() {
        let (refused, repeat) = match &action {
            Action::Get(get) => (get.check().err(), Repeat::Read),
            Action::Mutate(mutation) => (mutation.check().err(), repeat(mutation)),
        };
        match refused {
            Some(error) => outcomes[place] = Some(Outcome::Refused(error)),
            None => waiting.push(Waiting::new(place, action, Attempts::new(repeat, context))),
        }
    }
    cluster.locator.warm(context, table).await;
    let mut retries = Retries::new(context);
    while !waiting.is_empty() {
        let groups = grouped(cluster, table, context, &mut outcomes, std::mem::take(&mut waiting)).await;
        let mut failure = None;
        let mut failed = Vec::new();
        for answered in call_all(cluster, context, groups).await {
            for (action, region, answer) in answered {
                match settle(cluster, table, action, &region, answer) {
                    Settled::Ended(place, outcome) => outcomes[place] = Some(outcome),
                    Settled::Failed(action, error) => {
                        failure.get_or_insert(error.clone());
                        failed.push((*action, error));
                    }
                }
            }
        }
        waiting = match failure {
            Some(failure) => wait(cluster, table, context, &mut retries, &mut outcomes, failed, failure).await,
            None => Vec::new(),
        };
    }
    let missing = || Outcome::Unknown(Error::Task { reason: "an action has no outcome".to_owned() });
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

/// Waits before the actions that failed are tried again. If there is no other try, they end with their own failures.
async fn wait(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    retries: &mut Retries<'_>,
    outcomes: &mut [Option<Outcome<Row>>],
    failed: Vec<(Waiting, Error)>,
    failure: Error,
) -> Vec<Waiting> {
    let is_elsewhere = failure.reaction() == Reaction::LookUpAgain;
    let mut end = retries.wait(failure).await.err();
    if end.is_none() && is_elsewhere && retries.failures().is_multiple_of(4) {
        end = cluster.locator.check_enabled(context, table).await.err();
    }
    let Some(end) = end else { return failed.into_iter().map(|(action, _)| action).collect() };
    for (action, error) in failed {
        let own = match &end {
            Error::Deadline { tries, .. } => Error::Deadline { tries: *tries, last: Box::new(error) },
            Error::RetriesUsedUp { tries, .. } => Error::RetriesUsedUp { tries: *tries, last: Box::new(error) },
            other => other.clone(),
        };
        outcomes[action.place] = Some(action.attempts.end(own));
    }
    Vec::new()
}

/// What an answer means for its action.
enum Settled {
    /// The action, by its place, has an outcome.
    Ended(usize, Outcome<Row>),
    /// The action may be tried again.
    Failed(Box<Waiting>, Error),
}

/// The outcome of an action, or the action again if it may be tried again.
fn settle(
    cluster: &Cluster,
    table: &TableName,
    mut action: Waiting,
    region: &Region,
    answer: Result<Row, Error>,
) -> Settled {
    let error = match answer {
        Ok(row) => return Settled::Ended(action.place, Outcome::Done(row)),
        Err(error) => error.of_table(table),
    };
    cluster.note(table, region, &error);
    if action.attempts.may_follow(&error, region) {
        return Settled::Failed(Box::new(action), error);
    }
    let outcome = action.attempts.end(error);
    Settled::Ended(action.place, outcome)
}

/// The actions by servers, in requests of bounded size. Actions without a region get their outcomes.
async fn grouped(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    outcomes: &mut [Option<Outcome<Row>>],
    waiting: Vec<Waiting>,
) -> Vec<(Address, ByRegion)> {
    let mut open: BTreeMap<Address, (usize, ByRegion)> = BTreeMap::new();
    let mut full = Vec::new();
    for action in waiting {
        let region = match cluster.locator.locate(context, table, action.action.row(), Side::At).await {
            Ok(region) if action.attempts.may_go_to(&region) => region,
            Ok(region) => {
                outcomes[action.place] = Some(action.attempts.end(action.attempts.lost(&region)));
                continue;
            }
            Err(error) => {
                outcomes[action.place] = Some(action.attempts.end(error));
                continue;
            }
        };
        let server = region.server().clone();
        let (request_bytes, regions) = open.entry(server.clone()).or_default();
        *request_bytes += action.action.request_bytes();
        let is_full = *request_bytes >= REQUEST_BYTES_MAX;
        let (_, actions) = regions.entry(region.name().clone()).or_insert_with(|| (region, Vec::new()));
        actions.push(action);
        if is_full && let Some((_, regions)) = open.remove(&server) {
            full.push((server, regions));
        }
    }
    full.extend(open.into_iter().map(|(server, (_, regions))| (server, regions)));
    full
}

/// Makes all requests at the same time.
async fn call_all(
    cluster: &Arc<Cluster>,
    context: &CallContext,
    mut groups: Vec<(Address, ByRegion)>,
) -> Vec<Vec<Answered>> {
    // A single request needs no task.
    if groups.len() == 1
        && let Some((_, regions)) = groups.pop()
    {
        return vec![call(cluster, context, regions).await];
    }
    let mut calls = JoinSet::new();
    let mut kept = Vec::new();
    for (_, regions) in groups {
        let (cluster, context) = (Arc::clone(cluster), context.clone());
        let copy: Vec<(Waiting, Region)> = regions
            .values()
            .flat_map(|(region, actions)| actions.iter().map(|action| (action.clone(), region.clone())))
            .collect();
        let id = calls.spawn(async move { call(&cluster, &context, regions).await }).id();
        kept.push((id, copy));
    }
    let mut all = Vec::new();
    while let Some(ended) = calls.join_next_with_id().await {
        match ended {
            Ok((_, answered)) => all.push(answered),
            Err(error) => {
                // A task that panicked may have sent its request.
                let id = error.id();
                let reason = error.to_string();
                let lost = kept.iter().filter(|(kept, _)| *kept == id).flat_map(|(_, copy)| copy.clone());
                let answer = |(action, region)| (action, region, Err(Error::Task { reason: reason.clone() }));
                all.push(lost.map(answer).collect());
            }
        }
    }
    all
}
