//! Connections that break the protocol, vanish, do not read, flood the server, or guess passwords.
//!
//! During each attack another client goes on: it runs statements on a connection of before, and logs in anew. Its answers may be slower; none may
//! fail or be late. After the attack the server must run, and no session of the attack may be left.
//!
//! All attacks go to an address of this machine, and each is bounded in number and time.

mod bodies;
mod floods;
mod frames;
mod passwords;
mod time_limits;
mod vanishing;
mod witness;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use self::time_limits::{LOGIN_TIMEOUT, SEND_TIMEOUT};
use crate::{Report, ServerProcess, Target, TestError};

use witness::Witness;

/// How long an attack may take.
const ATTACK_MAX: Duration = Duration::from_secs(120);
/// How soon after an attack its sessions must be gone.
const SESSIONS_END_MAX: Duration = Duration::from_secs(3);

/// Connections that our own server must take in a minute.
const CONNECTIONS: usize = 10_000;
/// A server that starts a process for each takes fewer.
const CONNECTIONS_OF_OTHERS: usize = 1_000;

/// Who is attacked.
struct Victim {
    target: Target,
    /// `None`: somebody else's server, such as PostgreSQL.
    process: Option<ServerProcess>,
}

/// An attack, which blocks its thread.
type Attack = fn(&Target) -> Result<(), TestError>;

/// An attack that looks at the server's process.
type Look = fn(&ServerProcess) -> Result<(), TestError>;

/// Attacks a server that this program starts.
///
/// # Errors
/// It cannot be started.
pub fn run(binary: &Path, runtime: &Runtime) -> Result<Report, TestError> {
    let seconds = |time: Duration| format!("{}s", time.as_secs());
    let (login, send) = (seconds(LOGIN_TIMEOUT), seconds(SEND_TIMEOUT));
    let process = ServerProcess::start(binary, &["--login-timeout", &login, "--send-timeout", &send])?;
    let mut victim = Victim { target: process.target().clone(), process: Some(process) };
    let mut report = Report::default();
    runtime.block_on(async {
        attack_all(&mut victim, &mut report).await;
        let of_our_own: [(&str, Look); 4] = [
            ("memory_of_idle_clients", vanishing::memory_of_idle_clients),
            ("memory_of_slow_readers", vanishing::memory_of_slow_readers),
            ("stalled_readers_end", vanishing::stalled_readers_end),
            ("http_garbage", http_garbage),
        ];
        for (name, attack) in of_our_own {
            let Some(process) = &victim.process else { continue };
            report.check(name, ATTACK_MAX, async { tokio::task::block_in_place(|| attack(process)) }).await;
        }
        attacked(&mut victim, &mut report, "connections_without_a_login_end", vanishing::without_a_login_they_end)
            .await;
        report.check("tear_down", ATTACK_MAX, floods::tear_down(&victim.target)).await;
    });
    Ok(report)
}

/// Attacks a server that runs on this machine.
///
/// # Errors
/// [`TestError::NotLoopback`].
pub fn run_against(target: &Target, runtime: &Runtime) -> Result<Report, TestError> {
    target.loopback()?;
    let mut victim = Victim { target: target.clone(), process: None };
    let mut report = Report::default();
    runtime.block_on(async {
        attack_all(&mut victim, &mut report).await;
        report.check("tear_down", ATTACK_MAX, floods::tear_down(target)).await;
    });
    Ok(report)
}

async fn attack_all(victim: &mut Victim, report: &mut Report) {
    report.check("set_up", ATTACK_MAX, floods::set_up(&victim.target)).await;
    let attacks: [(&str, Attack); 16] = [
        ("garbage_before_the_login", frames::garbage_before_the_login),
        ("startup_cut_off", frames::startup_cut_off),
        ("lengths_before_the_login", frames::lengths_before_the_login),
        ("versions", frames::versions),
        ("requests_for_encryption", frames::requests_for_encryption),
        ("wrong_cancellations", frames::wrong_cancellations),
        ("statements_before_the_login", frames::statements_before_the_login),
        ("wrong_messages_of_scram", passwords::wrong_messages_of_scram),
        ("lengths_after_the_login", frames::lengths_after_the_login),
        ("garbage_after_the_login", frames::garbage_after_the_login),
        ("messages_cut_off", frames::messages_cut_off),
        ("wrong_bodies", bodies::wrong_bodies),
        ("wrong_bodies_in_copy", bodies::wrong_bodies_in_copy),
        ("half_open_connections", vanishing::half_open),
        ("vanished_clients", vanishing::vanished),
        ("slow_readers", vanishing::slow_readers),
    ];
    for (name, attack) in attacks {
        attacked(victim, report, name, attack).await;
    }
    let target = victim.target.clone();
    let connections = if victim.process.is_some() { CONNECTIONS } else { CONNECTIONS_OF_OTHERS };
    watched(victim, report, "many_connections", floods::many_connections(&target, connections)).await;
    watched(victim, report, "password_attack", passwords::attack(&target)).await;
    watched(victim, report, "password_times", passwords::times(&target)).await;
}

/// Makes an attack in a thread of its own.
async fn attacked(victim: &mut Victim, report: &mut Report, name: &str, attack: Attack) {
    let target = victim.target.clone();
    let attack = async {
        let done = tokio::task::spawn_blocking(move || attack(&target)).await;
        done.unwrap_or_else(|error| Err(TestError::Found(error.to_string())))
    };
    watched(victim, report, name, attack).await;
}

/// Makes an attack while another client goes on, and looks at what is left of it.
async fn watched(
    victim: &mut Victim,
    report: &mut Report,
    name: &str,
    attack: impl Future<Output = Result<(), TestError>>,
) {
    let check = async {
        let witness = Witness::start(&victim.target).await?;
        let done = attack.await;
        let seen = witness.stop().await;
        if let Some(process) = &mut victim.process {
            if !process.is_running()? {
                let log = process.log();
                process.start_again()?;
                victim.target = process.target().clone();
                return Err(TestError::Found(format!("the server has ended: {log}")));
            }
            tokio::task::block_in_place(|| process.wait_for_sessions(0, SESSIONS_END_MAX))?;
        }
        done.and(seen)
    };
    report.check(name, ATTACK_MAX, check).await;
}

/// Bytes that are no HTTP go to the other ports.
fn http_garbage(process: &ServerProcess) -> Result<(), TestError> {
    let addresses: [SocketAddr; 2] = [process.avatica(), process.console()];
    for address in addresses {
        frames::garbage(address)?;
    }
    process.sessions().map(drop)
}
