//! Moves, splits and merges of regions, and faults of processes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hbase_client::{Admin, CallContext, Client, Place, Region, Table};

use crate::processes::{ProcessCounts, ProcessFault, Processes};
use crate::{AnyError, Options, model};

#[derive(Default)]
struct Done {
    moves: u64,
    splits: u64,
    merges: u64,
    refused: u64,
}

/// The faults of processes that are to come, in a random order.
fn process_faults(options: &Options, random: &mut fastrand::Rng) -> Vec<ProcessFault> {
    if options.cluster.is_none() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (fault, count) in [
        (ProcessFault::Kill, options.kills),
        (ProcessFault::Pause, options.pauses),
        (ProcessFault::PauseThenKill, options.pauses / 4),
        (ProcessFault::MasterDeath, options.master_deaths),
    ] {
        faults.extend((0..count).map(|_| fault));
    }
    random.shuffle(&mut faults);
    faults
}

/// Disturbs until there were enough moves and all faults of processes; what was done.
pub(crate) async fn disturb(
    client: Client,
    table: Table,
    options: Options,
    is_over: Arc<AtomicBool>,
) -> Result<String, AnyError> {
    let admin = client.admin();
    let mut random = fastrand::Rng::with_seed(options.seed);
    let (mut done, mut counts) = (Done::default(), ProcessCounts::default());
    let processes = Processes { command: options.cluster.clone().unwrap_or_default() };
    let mut faults = process_faults(&options, &mut random);
    let faults_all = faults.len() as u64;
    // The last disturbance leaves time for what it breaks.
    while (done.moves < options.moves || !faults.is_empty()) && !is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(random.u64(300..1_500))).await;
        let context = CallContext::within(Duration::from_secs(60));
        let Ok(regions) = table.regions(&context).await else { continue };
        // Faults of processes are spread over the moves.
        let faults_done = faults_all - faults.len() as u64;
        if done.moves * faults_all >= faults_done * options.moves
            && let Some(fault) = faults.pop()
        {
            println!("{fault:?} after {} moves, {} are left", done.moves, faults.len());
            processes.disturb(fault, &mut random, &mut counts).await?;
            continue;
        }
        let result = match random.u8(0..10) {
            0..6 => move_one(&admin, &context, &regions, &mut random).await.map(|moved| done.moves += u64::from(moved)),
            6..8 if regions.len() < 24 => split(&admin, &context, &table, &regions, &options, &mut random)
                .await
                .map(|split| done.splits += u64::from(split)),
            _ => merge(&admin, &context, &regions, &mut random).await.map(|merged| done.merges += u64::from(merged)),
        };
        done.refused += u64::from(result.is_err());
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let Done { moves, splits, merges, refused } = done;
    let ProcessCounts { kills, pauses, master_deaths } = counts;
    Ok(format!(
        "{moves} moves, {splits} splits, {merges} merges, {kills} kills, {pauses} pauses, {master_deaths} deaths of the master; \
         {refused} disturbances were refused"
    ))
}

async fn move_one(
    admin: &Admin,
    context: &CallContext,
    regions: &[Region],
    random: &mut fastrand::Rng,
) -> Result<bool, AnyError> {
    let region = &regions[random.usize(..regions.len())];
    let places: BTreeSet<(String, u64)> = regions
        .iter()
        .map(Region::place)
        .filter(|place| place.start_code != 0 && place.server != *region.server())
        .map(|place| (place.server.to_string(), place.start_code))
        .collect();
    let to = match places.first() {
        Some((server, start_code)) => {
            Some(Place { server: server.parse()?, start_code: *start_code, open_sequence: 0 })
        }
        None => None,
    };
    admin.move_region(context, region, to.as_ref()).await?;
    Ok(true)
}

async fn split(
    admin: &Admin,
    context: &CallContext,
    table: &Table,
    regions: &[Region],
    options: &Options,
    random: &mut fastrand::Rng,
) -> Result<bool, AnyError> {
    let key = model::key(random.u64(..options.workers), random.u64(..model::ROWS));
    let region = regions.iter().find(|region| region.contains(&key) && *region.start() != key);
    let Some(region) = region else { return Ok(false) };
    let procedure = admin.split_region(context, table.name(), region, &key).await?;
    admin.wait(context, procedure).await?;
    Ok(true)
}

async fn merge(
    admin: &Admin,
    context: &CallContext,
    regions: &[Region],
    random: &mut fastrand::Rng,
) -> Result<bool, AnyError> {
    if regions.len() < 4 {
        return Ok(false);
    }
    let at = random.usize(..regions.len() - 1);
    let procedure = admin.merge_regions(context, &regions[at..at + 2]).await?;
    admin.wait(context, procedure).await?;
    Ok(true)
}
