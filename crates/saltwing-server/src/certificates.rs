//! The certificate and its key: read at the start, and again on SIGHUP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ServerError;

/// The names of the protocols that clients may ask for within TLS (ALPN). A client that names none is served as well.
const POSTGRES: &[u8] = b"postgresql";
const HTTP: &[u8] = b"http/1.1";

/// The certificate in use. Connections take the configuration that is current when they begin; those that are open keep theirs.
pub(crate) struct Certificates {
    certificate: PathBuf,
    key: PathBuf,
    postgres: watch::Sender<Arc<ServerConfig>>,
    http: watch::Sender<Arc<ServerConfig>>,
}

impl Certificates {
    /// Reads both files.
    ///
    /// # Errors
    /// [`ServerError::TlsFile`], [`ServerError::TlsContent`]: a file cannot be read, has no certificate or key, or they do not belong together.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, ServerError> {
        let [postgres, http] = configurations(certificate, key)?.map(watch::Sender::new);
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), postgres, http })
    }

    /// Reads the files again. What is wrong with them is logged, and the earlier certificate stays in use.
    pub(crate) fn reload(&self) {
        match configurations(&self.certificate, &self.key) {
            Ok([postgres, http]) => {
                self.postgres.send_replace(postgres);
                self.http.send_replace(http);
                metrics::counter!("saltwing_server_certificate_reloads_total", "outcome" => "ok").increment(1);
                tracing::info!(target: "saltwing::server", certificate = %self.certificate.display(), "the certificate was read again");
            }
            Err(error) => {
                metrics::counter!("saltwing_server_certificate_reloads_total", "outcome" => "error").increment(1);
                let cause = std::error::Error::source(&error).map(tracing::field::display);
                tracing::error!(target: "saltwing::server", %error, cause, "the certificate was not read again, and the earlier one stays in use");
            }
        }
    }

    pub(crate) fn postgres(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.postgres.subscribe()
    }

    pub(crate) fn http(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.http.subscribe()
    }
}

/// The configurations for PostgreSQL's protocol and for HTTP.
fn configurations(certificate: &Path, key: &Path) -> Result<[Arc<ServerConfig>; 2], ServerError> {
    let content = |path: &Path, reason: String| ServerError::TlsContent { path: path.to_owned(), reason };
    let bytes =
        |path: &Path| std::fs::read(path).map_err(|source| ServerError::TlsFile { path: path.to_owned(), source });
    let chain: Result<Vec<CertificateDer<'static>>, PemError> =
        CertificateDer::pem_slice_iter(&bytes(certificate)?).collect();
    let chain = chain.map_err(|error| content(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(content(certificate, "there is no certificate in PEM form".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?).map_err(|error| match error {
        PemError::NoItemsFound => content(key, "there is no private key in PEM form, or it is encrypted".to_owned()),
        error => content(key, error.to_string()),
    })?;
    warn_of_readers(key);
    let builder =
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider())).with_safe_default_protocol_versions();
    let configuration = builder.and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private));
    let configuration =
        configuration.map_err(|error| content(certificate, format!("with the key {}: {error}", key.display())))?;
    Ok([POSTGRES, HTTP].map(|protocol| {
        let mut configuration = configuration.clone();
        configuration.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(configuration)
    }))
}

/// Warns if users other than the file's owner and group can read the key.
#[cfg(unix)]
fn warn_of_readers(key: &Path) {
    use std::os::unix::fs::PermissionsExt;

    match std::fs::metadata(key) {
        Ok(metadata) if metadata.permissions().mode() & 0o007 != 0 => {
            let mode = format!("{:03o}", metadata.permissions().mode() & 0o777);
            tracing::warn!(target: "saltwing::server", key = %key.display(), mode, "every user of this machine can use the private key: chmod 600");
        }
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(target: "saltwing::server", key = %key.display(), %error, "the permissions of the private key are unknown")
        }
    }
}

/// Permissions of other systems are not looked at.
#[cfg(not(unix))]
fn warn_of_readers(_key: &Path) {}
