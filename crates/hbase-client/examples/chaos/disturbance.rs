//! Moves, splits and merges of regions, and servers that die.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hbase_client::{Admin, CallContext, Client, Place, Region, Table};

use crate::{AnyError, Options, model};

#[derive(Default)]
struct Done {
    moves: u64,
    splits: u64,
    merges: u64,
    kills: u64,
    refused: u64,
}

/// Disturbs until there were enough moves and kills; what was done.
pub(crate) async fn disturb(
    client: Client,
    table: Table,
    options: Options,
    is_over: Arc<AtomicBool>,
) -> Result<String, AnyError> {
    let admin = client.admin();
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut done = Done::default();
    let kills = if options.cluster.is_some() { options.kills } else { 0 };
    // The last disturbance leaves time for what it breaks.
    while (done.moves < options.moves || done.kills < kills) && !is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(random.u64(300..1_500))).await;
        let context = CallContext::within(Duration::from_secs(60));
        let Ok(regions) = table.regions(&context).await else { continue };
        // Kills are spread over the moves.
        let kill_is_due = done.kills < kills && done.moves * kills >= done.kills * options.moves;
        if kill_is_due && let Some(cluster) = &options.cluster {
            kill(cluster, &mut random).await?;
            done.kills += 1;
            println!("killed a server: {} of {kills}, {} moves", done.kills, done.moves);
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
    let Done { moves, splits, merges, kills, refused } = done;
    Ok(format!("{moves} moves, {splits} splits, {merges} merges, {kills} kills; {refused} disturbances were refused"))
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

/// Kills one of the servers `rs1` and `rs2`, and starts it again.
async fn kill(cluster: &str, random: &mut fastrand::Rng) -> Result<(), AnyError> {
    let server = if random.bool() { "rs1" } else { "rs2" };
    run(cluster, &["kill", server]).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    run(cluster, &["rs", server]).await?;
    // The other one must not be killed before the regions are in service again.
    tokio::time::sleep(Duration::from_secs(20)).await;
    Ok(())
}

async fn run(cluster: &str, arguments: &[&str]) -> Result<(), AnyError> {
    let mut command = std::process::Command::new(cluster);
    command.args(arguments);
    let status = tokio::task::spawn_blocking(move || command.status()).await??;
    if status.success() { Ok(()) } else { Err(format!("{cluster} {arguments:?}: {status}").into()) }
}
