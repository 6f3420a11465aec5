//! Faults of the cluster's processes: region servers that die or stop for a while, and a master that dies.

use std::process::Command;
use std::time::Duration;

use crate::AnyError;

/// The region servers that the cluster's command knows by these names.
const REGION_SERVERS: [&str; 2] = ["rs1", "rs2"];
/// A stopped server is continued after 1 to 10 seconds: long before its lease in ZooKeeper ends, and before the attempt of a write does.
const PAUSE_MS: std::ops::Range<u64> = 1_000..10_000;

/// A fault of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessFault {
    /// A region server dies at once, and starts again.
    Kill,
    /// A region server takes connections and calls, but does nothing for a while.
    Pause,
    /// A region server does nothing for a while, then dies with the calls that it has got.
    PauseThenKill,
    /// The master dies, and starts again after a while.
    MasterDeath,
}

/// What happened to processes.
#[derive(Default)]
pub(crate) struct ProcessCounts {
    pub(crate) kills: u64,
    pub(crate) pauses: u64,
    pub(crate) master_deaths: u64,
}

/// The processes of a cluster.
pub(crate) struct Processes {
    /// The command that starts and kills them, see the program's documentation.
    pub(crate) command: String,
}

impl Processes {
    /// Makes a fault, and puts right what it broke; ends when another fault may come.
    pub(crate) async fn disturb(
        &self,
        fault: ProcessFault,
        random: &mut fastrand::Rng,
        counts: &mut ProcessCounts,
    ) -> Result<(), AnyError> {
        let server = REGION_SERVERS[random.usize(..REGION_SERVERS.len())];
        let pause = Duration::from_millis(random.u64(PAUSE_MS));
        match fault {
            ProcessFault::Kill => self.kill(server).await?,
            ProcessFault::Pause => {
                self.signal(server, "-STOP").await?;
                tokio::time::sleep(pause).await;
                self.signal(server, "-CONT").await?;
            }
            ProcessFault::PauseThenKill => {
                self.signal(server, "-STOP").await?;
                tokio::time::sleep(pause).await;
                self.kill(server).await?;
            }
            ProcessFault::MasterDeath => {
                self.run(&["kill", "master"]).await?;
                tokio::time::sleep(pause).await;
                self.run(&["master"]).await?;
                // The next fault must find a master.
                tokio::time::sleep(Duration::from_secs(15)).await;
            }
        }
        counts.kills += u64::from(matches!(fault, ProcessFault::Kill | ProcessFault::PauseThenKill));
        counts.pauses += u64::from(matches!(fault, ProcessFault::Pause | ProcessFault::PauseThenKill));
        counts.master_deaths += u64::from(fault == ProcessFault::MasterDeath);
        Ok(())
    }

    /// Kills a region server, and starts it again.
    async fn kill(&self, server: &str) -> Result<(), AnyError> {
        self.run(&["kill", server]).await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        self.run(&["rs", server]).await?;
        // The other one must not be killed before the regions are in service again.
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(())
    }

    /// Sends a signal to a process, whose id the command's status names.
    async fn signal(&self, name: &str, signal: &str) -> Result<(), AnyError> {
        let mut status = Command::new(&self.command);
        status.arg("status");
        let output = tokio::task::spawn_blocking(move || status.output()).await??;
        let lines = String::from_utf8(output.stdout)?;
        let of_name = |line: &str| {
            let (is, rest) = line.split_once(' ')?;
            (is == name).then(|| rest.split(' ').next().map(str::to_owned))?
        };
        let id = lines.lines().find_map(of_name).ok_or_else(|| format!("the status has no {name}: {lines}"))?;
        finish(Command::new("kill").args([signal, &id])).await
    }

    async fn run(&self, arguments: &[&str]) -> Result<(), AnyError> {
        finish(Command::new(&self.command).args(arguments)).await
    }
}

/// Runs a command that must succeed.
async fn finish(command: &mut Command) -> Result<(), AnyError> {
    let text = format!("{command:?}");
    let mut child = command.spawn()?;
    let status = tokio::task::spawn_blocking(move || child.wait()).await??;
    if status.success() { Ok(()) } else { Err(format!("{text}: {status}").into()) }
}
