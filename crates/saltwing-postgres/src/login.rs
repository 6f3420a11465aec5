//! From the first byte of a connection to the session of its user.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth};
use pgwire::error::{ErrorInfo, PgWireError};
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::{GssEncResponse, SslResponse};
use pgwire::messages::startup::{Authentication, NegotiateProtocolVersion};
use saltwing_sessions::{Arrival, Limits, Login, Phase, Protocol, Refusal, Session, Sessions};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::error_fields::refusal_info;
use crate::messages::{error_response, fatal};
use crate::tls::TlsConfig;
use crate::wire::{Frontend, MalformedMessage, StartupPacket, StartupParameters, Transport, Wire, WireFailure};

/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;
/// Requests for encryption before the start; a client asks for TLS and for GSSAPI at most.
const REQUESTS_MAX: usize = 4;
/// The one mechanism.
const SCRAM: &str = "SCRAM-SHA-256";
/// How long a client without a place may take to send the packet that its refusal answers.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(1);

/// A session whose client is logged in, and waits for its parameters.
pub(crate) struct LoggedIn {
    pub(crate) wire: Wire,
    pub(crate) session: Session,
    pub(crate) parameters: StartupParameters,
    /// The minor version of the protocol that both sides speak.
    pub(crate) minor: u16,
}

/// Why a connection has no session.
enum LoginFailure {
    /// The client left, or asked for a cancellation alone.
    Closed,
    /// The client gets this error.
    Refused(Box<ErrorInfo>),
}

impl From<WireFailure> for LoginFailure {
    fn from(failure: WireFailure) -> Self {
        match failure {
            WireFailure::Malformed(malformed) => malformed.into(),
            failure => {
                tracing::debug!(target: "saltwing::postgres", %failure, "no login");
                Self::Closed
            }
        }
    }
}

impl From<MalformedMessage> for LoginFailure {
    fn from(malformed: MalformedMessage) -> Self {
        Self::Refused(fatal(malformed.sqlstate(), malformed.to_string()))
    }
}

impl From<Refusal> for LoginFailure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal_info(&refusal))
    }
}

/// Logs a client in; `None` if there is no session: the client has got the reason.
pub(crate) async fn log_in(
    sessions: &Sessions,
    tls: Option<&TlsConfig>,
    stream: TcpStream,
    peer: SocketAddr,
) -> Option<LoggedIn> {
    let arrival = sessions.arrive(Protocol::Postgres, Some(peer));
    let timeout = if arrival.is_ok() { sessions.limits().login_timeout } else { REFUSED_TIMEOUT };
    let mut phase = sessions.phase();
    let is_admitted = arrival.is_ok();
    let mut wire = tokio::select! {
        biased;
        wire = tokio::time::timeout(timeout, open(tls, stream, sessions.limits())) => wire.ok()??,
        // A client that has sent nothing is not waited for at the end of the process.
        _ = phase.wait_for(|phase| *phase != Phase::Serving), if is_admitted => return None,
    };
    let logged_in = async {
        let start = first_packet(sessions, &mut wire, tls).await;
        let arrival = arrival?;
        let (parameters, minor) = start?;
        let login = authenticate(sessions, &mut wire, &arrival, &parameters).await?;
        Ok((arrival.log_in(login)?, parameters, minor))
    };
    let bounded = async {
        tokio::select! {
            biased;
            logged_in = tokio::time::timeout(timeout, logged_in) => logged_in,
            // Nor is one in the middle of its login.
            _ = phase.wait_for(|phase| *phase != Phase::Serving) => Ok(Err(Refusal::ShuttingDown.into())),
        }
    };
    let failure = match bounded.await {
        Ok(Ok((session, parameters, minor))) => return Some(LoggedIn { wire, session, parameters, minor }),
        Ok(Err(failure)) => failure,
        Err(_) => LoginFailure::Refused(fatal("08006", "the login took too long")),
    };
    if let LoginFailure::Refused(info) = failure
        && wire.put(&error_response(info)).is_ok()
    {
        // A client that does not read its refusal is not waited for.
        let _ = tokio::time::timeout(REFUSED_TIMEOUT, wire.flush()).await;
    }
    wire.close().await;
    None
}

/// The connection, encrypted if the client begins with TLS.
async fn open(tls: Option<&TlsConfig>, stream: TcpStream, limits: &Limits) -> Option<Wire> {
    let mut first = [0];
    let is_tls = matches!(stream.peek(&mut first).await, Ok(1)) && first == [TLS_HANDSHAKE];
    let transport = Transport::new(stream);
    let transport = match tls.filter(|_| is_tls) {
        Some(tls) => encrypted(tls, transport).await?,
        None => transport,
    };
    Some(Wire::new(transport, limits.message_bytes_max, limits.send_timeout))
}

async fn encrypted(tls: &TlsConfig, transport: Transport) -> Option<Transport> {
    let Transport::Plain(stream) = transport else { return None };
    let config = tls.current.borrow().clone();
    match TlsAcceptor::from(config).accept(stream).await {
        Ok(stream) => Some(Transport::Tls(Box::new(stream))),
        Err(error) => {
            tracing::info!(target: "saltwing::postgres", %error, "a TLS handshake failed");
            None
        }
    }
}

/// The packet that begins the session, after requests for encryption, and the minor version of the protocol.
async fn first_packet(
    sessions: &Sessions,
    wire: &mut Wire,
    tls: Option<&TlsConfig>,
) -> Result<(StartupParameters, u16), LoginFailure> {
    for _ in 0..REQUESTS_MAX {
        match wire.startup_packet().await? {
            StartupPacket::Tls => match tls.filter(|_| !wire.is_encrypted()) {
                Some(tls) => {
                    wire.put(&Message::SslResponse(SslResponse::Accept))?;
                    wire.flush().await?;
                    wire.encrypt(|transport| encrypted(tls, transport)).await?;
                }
                None => {
                    wire.put(&Message::SslResponse(SslResponse::Refuse))?;
                    wire.flush().await?;
                }
            },
            StartupPacket::Gss => {
                wire.put(&Message::GssEncResponse(GssEncResponse::Refuse))?;
                wire.flush().await?;
            }
            StartupPacket::Cancel { process, secret } => {
                sessions.cancel_with_secret(process, &secret);
                return Err(LoginFailure::Closed);
            }
            StartupPacket::Start(parameters) => {
                if tls.is_some_and(|tls| tls.is_required) && !wire.is_encrypted() {
                    let text = "the server takes encrypted connections alone: connect with sslmode=require";
                    return Err(LoginFailure::Refused(fatal("28000", text)));
                }
                let minor = negotiate(wire, &parameters)?;
                return Ok((parameters, minor));
            }
        }
    }
    Err(MalformedMessage::TooMuch.into())
}

/// The minor version of the protocol: 0 or 2. A client that asks for another one, or for extensions, gets NegotiateProtocolVersion.
fn negotiate(wire: &mut Wire, parameters: &StartupParameters) -> Result<u16, LoginFailure> {
    let minor = if parameters.minor >= 2 { 2 } else { 0 };
    let options: Vec<String> =
        parameters.values.iter().map(|(name, _)| name).filter(|name| name.starts_with("_pq_.")).cloned().collect();
    if minor != parameters.minor || !options.is_empty() {
        let version = (3 << 16) | i32::from(minor);
        wire.put(&Message::NegotiateProtocolVersion(NegotiateProtocolVersion::new(version, options)))?;
    }
    Ok(minor)
}

/// The user that the client proves to be. A database without users takes every name.
async fn authenticate(
    sessions: &Sessions,
    wire: &mut Wire,
    arrival: &Arrival,
    parameters: &StartupParameters,
) -> Result<Login, LoginFailure> {
    let user = parameters.get("user").filter(|user| !user.is_empty());
    let no_user = || LoginFailure::Refused(fatal("28000", "no PostgreSQL user name specified in startup packet"));
    let user = user.ok_or_else(no_user)?.to_owned();
    if parameters.get("replication").is_some_and(|value| !matches!(value, "false" | "off" | "no" | "0")) {
        return Err(LoginFailure::Refused(fatal("0A000", "replication connections are not supported")));
    }
    if !sessions.has_users().map_err(Refusal::from)? {
        return Ok(Login::Owner { name: user });
    }
    match scram(sessions, wire, &user).await? {
        true => Ok(Login::User(user)),
        false => {
            tokio::time::sleep(arrival.note_wrong_password(&user)).await;
            Err(Refusal::WrongPassword { user }.into())
        }
    }
}

/// Whether the client proves the user's password, by SCRAM-SHA-256. A name that is no user goes through the same steps.
async fn scram(sessions: &Sessions, wire: &mut Wire, user: &str) -> Result<bool, LoginFailure> {
    wire.put(&Message::Authentication(Authentication::SASL(vec![SCRAM.to_owned()])))?;
    let (mechanism, first) = initial_response(&password(wire).await?)?;
    if mechanism != SCRAM {
        let text = format!("client selected an invalid SASL authentication mechanism: the server has {SCRAM}");
        return Err(LoginFailure::Refused(fatal("08P01", text)));
    }
    let verifier = sessions.database().scram_verifier(user).map_err(Refusal::from)?;
    let secret = ScramSecret::Verifier {
        salt: verifier.salt,
        iterations: usize::try_from(verifier.iterations).unwrap_or(usize::MAX),
        stored_key: verifier.stored_key.to_vec(),
        server_key: verifier.server_key.to_vec(),
    };
    let (challenge, exchange) = ScramServerAuth::new()
        .on_client_first_message_with_secret(&first, secret)
        .map_err(|error| scram_failure(&error))?;
    wire.put(&Message::Authentication(Authentication::SASLContinue(challenge.into())))?;
    let proof = password(wire).await?;
    match exchange.on_client_final_message(&proof) {
        Ok(last) => {
            wire.put(&Message::Authentication(Authentication::SASLFinal(last.into())))?;
            Ok(true)
        }
        Err(PgWireError::InvalidPassword(_)) => Ok(false),
        Err(error) => Err(scram_failure(&error)),
    }
}

fn scram_failure(error: &PgWireError) -> LoginFailure {
    LoginFailure::Refused(fatal("08P01", format!("malformed SCRAM message: {error}")))
}

/// Sends what the server has, and reads an answer of the login.
async fn password(wire: &mut Wire) -> Result<Bytes, LoginFailure> {
    wire.flush().await?;
    match wire.message().await? {
        (_, Ok(Frontend::Password(body))) => Ok(body),
        (_, Ok(Frontend::Terminate)) => Err(LoginFailure::Closed),
        (_, Ok(_)) => Err(LoginFailure::Refused(fatal("08P01", "expected SASL response"))),
        (_, Err(malformed)) => Err(malformed.into()),
    }
}

/// The mechanism and the first message of a client, in its first answer.
fn initial_response(body: &Bytes) -> Result<(String, Bytes), MalformedMessage> {
    let end = body.iter().position(|byte| *byte == 0).ok_or(MalformedMessage::Truncated)?;
    let name = std::str::from_utf8(body.get(..end).unwrap_or_default()).map_err(|_| MalformedMessage::NotUtf8)?;
    let field =
        body.get(end + 1..end + 5).and_then(|field| field.try_into().ok()).ok_or(MalformedMessage::Truncated)?;
    let rest = body.slice(end + 5..);
    match usize::try_from(i32::from_be_bytes(field)) {
        Ok(length) if length == rest.len() => Ok((name.to_owned(), rest)),
        Ok(_) => Err(MalformedMessage::Truncated),
        Err(_) => Ok((name.to_owned(), Bytes::new())),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::initial_response;

    #[test]
    fn the_first_answer_has_a_mechanism_and_a_message() {
        let body = Bytes::from_static(b"SCRAM-SHA-256\0\0\0\0\x03n,,");
        assert_eq!(initial_response(&body), Ok(("SCRAM-SHA-256".to_owned(), Bytes::from_static(b"n,,"))));
        let without = Bytes::from_static(b"SCRAM-SHA-256\0\xff\xff\xff\xff");
        assert_eq!(initial_response(&without), Ok(("SCRAM-SHA-256".to_owned(), Bytes::new())));
        assert!(initial_response(&Bytes::from_static(b"SCRAM-SHA-256\0\0\0\0\x04n,,")).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(body in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = initial_response(&Bytes::from(body));
        }
    }
}
