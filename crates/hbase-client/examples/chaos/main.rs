//! Random operations against a model in memory, on a real cluster, while regions split, merge and move, and servers die or stop.
//!
//! ```text
//! chaos HOST:PORT [--operations 10000] [--workers 8] [--moves 50] [--kills 10] [--pauses 8] [--master-deaths 2] [--seed 1]
//!       [--cluster COMMAND]
//! ```
//!
//! The address is that of the master. Without COMMAND, chaos disturbs no process. With it, chaos runs `COMMAND kill NAME`, `COMMAND rs NAME` and
//! `COMMAND master` to start them again, and `COMMAND status`, whose lines begin with NAME and the process id; the names are `rs1`,
//! `rs2` and `master`. One pause in four ends with the death of the server.
//!
//! Every worker has rows of its own, which lie in one range of keys, so that it knows what each read must give. An outcome that is unknown
//! is settled by a read. The program fails if a read gives anything else than the model.

mod counts;
mod disturbance;
mod model;
mod processes;
mod scans;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hbase_client::{CallContext, Client, Family, Registry, TableDescriptor};

pub(crate) type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What the command line says.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) master: String,
    pub(crate) operations: u64,
    pub(crate) workers: u64,
    pub(crate) moves: u64,
    pub(crate) kills: u64,
    pub(crate) pauses: u64,
    pub(crate) master_deaths: u64,
    pub(crate) seed: u64,
    pub(crate) cluster: Option<String>,
}

fn options() -> Result<Options, AnyError> {
    let mut arguments = std::env::args().skip(1);
    let master = arguments.next().ok_or("chaos HOST:PORT ..")?;
    let mut options = Options {
        master,
        operations: 10_000,
        workers: 8,
        moves: 50,
        kills: 10,
        pauses: 8,
        master_deaths: 2,
        seed: 1,
        cluster: None,
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--operations" => options.operations = value.parse()?,
            "--workers" => options.workers = value.parse()?,
            "--moves" => options.moves = value.parse()?,
            "--kills" => options.kills = value.parse()?,
            "--pauses" => options.pauses = value.parse()?,
            "--master-deaths" => options.master_deaths = value.parse()?,
            "--seed" => options.seed = value.parse()?,
            "--cluster" => options.cluster = Some(value),
            _ => return Err(format!("{name} is no option").into()),
        }
    }
    Ok(options)
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let options = options()?;
    let client = Client::new(Registry::servers([options.master.as_str()])?);
    let (admin, table) = (client.admin(), client.table_named("chaos")?);
    let context = CallContext::within(Duration::from_secs(120));
    if admin.descriptor(&context, table.name()).await?.is_some() {
        if admin.is_enabled(&context, table.name()).await? {
            admin.disable_table(&context, table.name()).await?;
        }
        admin.delete_table(&context, table.name()).await?;
    }
    admin.set_balancer(&context, false).await?;
    let split_keys = (1..options.workers).map(|worker| model::prefix(worker).into());
    admin.create_table(&context, &TableDescriptor::new(table.name(), [Family::new("f")]), split_keys).await?;

    let begun = Instant::now();
    let is_over = Arc::new(AtomicBool::new(false));
    let disturbance =
        tokio::spawn(disturbance::disturb(client.clone(), table.clone(), options.clone(), Arc::clone(&is_over)));
    let workers: Vec<_> = (0..options.workers)
        .map(|number| tokio::spawn(worker::work(table.clone(), number, options.clone(), Arc::clone(&is_over))))
        .collect();
    // The workers go on until they have done their operations and the disturbances are over.
    let disturbed = disturbance.await??;
    is_over.store(true, Ordering::Relaxed);
    let mut sums = counts::Counts::default();
    for worker in workers {
        sums.add(&worker.await??);
    }
    println!("{disturbed}\n{sums}\nall as the model says, after {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
