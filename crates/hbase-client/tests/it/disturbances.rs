//! What disturbs the cluster of a model.

use std::sync::Arc;
use std::time::Duration;

use crate::steps::Disturbance;
use crate::world::{TABLE, World};

impl World {
    /// Disturbs the cluster. What it can't do now is left out.
    pub(crate) fn disturb(&self, disturbance: Disturbance) {
        let cluster = &self.cluster;
        match disturbance {
            Disturbance::Split(row) => drop(cluster.split(TABLE, &self.key(row))),
            Disturbance::SlowSplit(row) => {
                if let Ok([_, one, other]) = cluster.begin_split(TABLE, &self.key(row)) {
                    let cluster = Arc::clone(cluster);
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        cluster.finish_split(&[one, other]).unwrap();
                    });
                }
            }
            Disturbance::Merge(row) => drop(cluster.merge(TABLE, &self.key(row))),
            Disturbance::Move(row) => {
                for server in cluster.servers() {
                    if cluster.server_of(TABLE, &self.key(row)) != Ok(server) {
                        drop(cluster.move_region(TABLE, &self.key(row), server));
                        return;
                    }
                }
            }
            Disturbance::MoveUnseen(row) => {
                for server in cluster.servers() {
                    if cluster.server_of(TABLE, &self.key(row)) != Ok(server) {
                        drop(cluster.move_unseen(TABLE, &self.key(row), server));
                        return;
                    }
                }
            }
            Disturbance::Kill(number) => {
                let servers = cluster.servers();
                cluster.kill(servers[usize::from(number) % servers.len()]).unwrap();
                cluster.start_server().unwrap();
                cluster.recover().unwrap();
                // What was not seen of moves to the dead server is seen now.
                cluster.catch_up().unwrap();
            }
            Disturbance::EndLeases => cluster.end_leases(),
        }
    }
}
