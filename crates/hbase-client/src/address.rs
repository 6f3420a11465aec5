//! Addresses of servers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::proto::ServerName;

/// The host and the port of a server. A clone is cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// A name or an IP address.
    pub host: Arc<str>,
    /// The port of its RPC service.
    pub port: u16,
}

impl Address {
    /// The address of a host and a port.
    pub fn new(host: impl Into<Arc<str>>, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// The address in a server's name; `None` if its port is not one.
    pub fn of_server(server: &ServerName) -> Option<Self> {
        let port = u16::try_from(server.port.unwrap_or(0)).ok().filter(|port| *port != 0)?;
        (!server.host_name.is_empty()).then(|| Self::new(server.host_name.as_str(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not HOST:PORT")]
pub struct AddressError {
    /// The text.
    pub text: String,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError { text: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
        if host.is_empty() { Err(wrong()) } else { Ok(Self::new(host, port)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_addresses_or_errors() {
        assert_eq!("host:16020".parse(), Ok(Address::new("host", 16020)));
        assert_eq!("[::1]:1".parse(), Ok(Address::new("::1", 1)));
        for text in ["", "host", "host:", ":1", "host:0", "host:70000"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
