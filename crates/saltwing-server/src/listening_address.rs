//! The addresses that a server listens on, each with the command that connects.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use saltwing_sessions::Protocol;

/// An address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListeningAddress {
    /// The protocol of its clients.
    pub protocol: Protocol,
    /// The address, with the port that the system chose if the option was 0.
    pub address: SocketAddr,
    /// Whether clients must use TLS.
    pub is_tls: bool,
}

impl ListeningAddress {
    /// The protocol, the address, and a command or URL with which a client of this machine connects. `database` is a name for the database, `user` one of its
    /// users; `None` for a database without users.
    pub fn line(&self, database: &str, user: Option<&str>) -> String {
        let protocol = self.protocol.as_str();
        format!("{protocol:<8}  {:<21}  {}", self.address.to_string(), self.command(database, user))
    }

    fn command(&self, database: &str, user: Option<&str>) -> String {
        let reached = SocketAddr::new(reached(self.address.ip()), self.address.port());
        let scheme = if self.is_tls { "https" } else { "http" };
        match self.protocol {
            Protocol::Postgres => {
                let (host, port) = (reached.ip(), reached.port());
                let (database, user) = (connection_value(database), connection_value(user.unwrap_or("owner")));
                let mode = if self.is_tls { " sslmode=require" } else { "" };
                format!("psql \"host={host} port={port} dbname={database} user={user}{mode}\"")
            }
            Protocol::Avatica => {
                let login = user.map(|user| {
                    format!(", authentication='BASIC', avatica_user={}, avatica_password='..'", python_text(user))
                });
                format!("phoenixdb.connect('{scheme}://{reached}/', autocommit=True{})", login.unwrap_or_default())
            }
            Protocol::Http => format!("{scheme}://{reached}/"),
        }
    }
}

/// An address of a listener as a client of the same machine reaches it: one for all addresses is reached by loopback.
fn reached(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}

/// A value of libpq's connection string, inside the double quotes of a command shell.
fn connection_value(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            // The shell takes one backslash of each pair.
            '\'' => quoted.push_str("\\\\'"),
            '\\' => quoted.push_str("\\\\\\\\"),
            '"' | '$' | '`' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

fn python_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use saltwing_sessions::Protocol;

    use super::ListeningAddress;

    fn line(protocol: Protocol, address: &str, is_tls: bool, database: &str, user: Option<&str>) -> String {
        ListeningAddress { protocol, address: address.parse().unwrap(), is_tls }.line(database, user)
    }

    #[test]
    fn lines_have_the_command_that_connects() {
        let postgres = |address, is_tls, database, user| line(Protocol::Postgres, address, is_tls, database, user);
        assert_eq!(
            postgres("127.0.0.1:5433", false, "log.db", None),
            "postgres  127.0.0.1:5433         psql \"host=127.0.0.1 port=5433 dbname=log.db user=owner\""
        );
        assert_eq!(
            postgres("[::]:1", true, "my log", Some("o'n\\e$")),
            r#"postgres  [::]:1                 psql "host=::1 port=1 dbname='my log' user='o\\'n\\\\e\$' sslmode=require""#
        );
        assert_eq!(
            line(Protocol::Avatica, "0.0.0.0:8765", false, "d", None),
            "avatica   0.0.0.0:8765           phoenixdb.connect('http://127.0.0.1:8765/', autocommit=True)"
        );
        assert!(
            line(Protocol::Avatica, "[::1]:2", true, "d", Some("ann"))
                .contains("('https://[::1]:2/', autocommit=True, authentication='BASIC', avatica_user='ann', ")
        );
        assert!(line(Protocol::Http, "10.0.0.1:3", false, "d", None).ends_with("http://10.0.0.1:3/"));
    }
}
