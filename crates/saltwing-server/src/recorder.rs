//! The recorder of the process's metrics, and their text for Prometheus.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use saltwing_sessions::Sessions;

/// How often values of histograms are put into their buckets; until then each takes memory.
pub(crate) const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// The upper ends of the buckets of times, in seconds: a point read takes some microseconds more than none.
const SECONDS: [f64; 15] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 300.0];

/// The recorder, which a process has once.
static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// The recorder of this process; it is installed at the first call. `None` if the program has installed one of its own before.
pub(crate) fn recorder() -> Option<&'static PrometheusHandle> {
    RECORDER.get_or_init(installed).as_ref()
}

fn installed() -> Option<PrometheusHandle> {
    match builder().and_then(PrometheusBuilder::install_recorder) {
        Ok(handle) => {
            describe();
            Some(handle)
        }
        Err(error) => {
            tracing::warn!(target: "saltwing::server", %error, "the program has its own recorder of metrics: /metrics is empty");
            None
        }
    }
}

/// Times have buckets, which can be added over servers; without them they would be quantiles.
fn builder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
}

/// The text of all metrics, with those of the database as they are now. It takes some milliseconds: not for the threads of the runtime.
pub(crate) fn text(recorder: &PrometheusHandle, sessions: &Sessions) -> String {
    // Scrapes at the same time would walk over the recent rows at the same time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    metrics::gauge!("saltwing_server_connections").set(sessions.connections() as f64);
    if let Err(error) = sessions.database().record_metrics() {
        tracing::warn!(target: "saltwing::server", %error, "the database's metrics are missing");
    }
    recorder.render()
}

/// The metrics of the server and of its sessions. Those of the database describe themselves.
fn describe() {
    describe_gauge!("saltwing_server_connections", "Open connections to sessions, those before the login among them");
    describe_gauge!("saltwing_server_sessions", "Sessions after their login");
    describe_counter!("saltwing_server_connections_total", "Connections that asked for a session");
    describe_counter!("saltwing_server_connections_refused_total", "Connections refused because there were too many");
    describe_counter!("saltwing_server_failed_logins_total", "Logins with a wrong password");
    describe_counter!("saltwing_server_statements_total", "Statements that ended");
    describe_histogram!(
        "saltwing_server_statement_seconds",
        Unit::Seconds,
        "The time of statements from their text to their last row"
    );
    describe_counter!("saltwing_server_accept_errors_total", "Errors for which no connection could be accepted");
    describe_counter!(
        "saltwing_server_http_refused_total",
        "Connections of HTTP refused because the port had as many as it takes"
    );
    describe_counter!("saltwing_server_tls_failures_total", "Connections of HTTP without a handshake of TLS");
    describe_counter!("saltwing_server_certificate_reloads_total", "Times that the certificate was read again");
}

#[cfg(test)]
mod tests {
    use super::{builder, describe};

    #[test]
    fn times_have_buckets_and_metrics_have_texts() {
        let recorder = builder().unwrap().build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            describe();
            metrics::histogram!("saltwing_server_statement_seconds", "protocol" => "postgres").record(0.003);
            metrics::counter!("saltwing_server_failed_logins_total", "protocol" => "avatica").increment(2);
        });
        handle.run_upkeep();
        let text = handle.render();
        for line in [
            "# TYPE saltwing_server_statement_seconds histogram",
            "saltwing_server_statement_seconds_bucket{protocol=\"postgres\",le=\"0.0025\"} 0",
            "saltwing_server_statement_seconds_bucket{protocol=\"postgres\",le=\"0.005\"} 1",
            "saltwing_server_statement_seconds_bucket{protocol=\"postgres\",le=\"+Inf\"} 1",
            "# HELP saltwing_server_failed_logins_total Logins with a wrong password",
            "saltwing_server_failed_logins_total{protocol=\"avatica\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
    }
}
