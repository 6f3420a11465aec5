use std::net::{IpAddr, SocketAddr};

use tokio_postgres::{Config, NoTls};

use crate::TestError;

/// What answers at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `saltwing serve`.
    Saltwing,
    /// PostgreSQL, against which the clients' programs are tried.
    Postgres,
}

impl Kind {
    /// The value of `SERVER_KIND`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Saltwing => "saltwing",
            Self::Postgres => "postgres",
        }
    }
}

/// A server as its clients reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name or an address.
    pub host: String,
    /// The port of PostgreSQL's protocol.
    pub port: u16,
    /// Who logs in.
    pub user: String,
    /// With what.
    pub password: String,
    /// Into which database.
    pub database: String,
}

impl Target {
    /// Of a URL `postgresql://user:password@host:port/database`. No part is encoded.
    ///
    /// # Errors
    /// [`TestError::Url`].
    pub fn parse(url: &str) -> Result<Self, TestError> {
        let parts = || {
            let rest = url.strip_prefix("postgresql://").or_else(|| url.strip_prefix("postgres://"))?;
            let (login, place) = rest.rsplit_once('@')?;
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            let (address, database) = place.split_once('/')?;
            let (host, port) = address.rsplit_once(':').unwrap_or((address, "5432"));
            let port = port.parse().ok()?;
            let [host, user, password, database] = [host, user, password, database].map(str::to_owned);
            Some(Self { host, port, user, password, database })
        };
        parts().ok_or_else(|| TestError::Url { url: url.to_owned() })
    }

    /// The URL of this server for this user.
    pub fn url(&self) -> String {
        let Self { host, port, user, password, database } = self;
        format!("postgresql://{user}:{password}@{host}:{port}/{database}")
    }

    /// The address of a server of this machine.
    ///
    /// # Errors
    /// [`TestError::NotLoopback`] of all others.
    pub fn loopback(&self) -> Result<SocketAddr, TestError> {
        let host = if self.host == "localhost" { "127.0.0.1" } else { self.host.as_str() };
        match host.parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => Ok(SocketAddr::new(address, self.port)),
            _ => Err(TestError::NotLoopback { host: self.host.clone() }),
        }
    }

    /// What a client of Rust needs to connect.
    pub fn config(&self) -> Config {
        let mut config = Config::new();
        config.host(&self.host).port(self.port).user(&self.user).password(&self.password).dbname(&self.database);
        config
    }

    /// A connection, whose messages a task of the runtime carries.
    ///
    /// # Errors
    /// Those of the login.
    pub async fn connect(&self) -> Result<tokio_postgres::Client, TestError> {
        let source = |source| TestError::Postgres { doing: "the login", source };
        let (client, connection) = self.config().connect(NoTls).await.map_err(source)?;
        // Its error reaches the client's calls, too.
        tokio::spawn(connection);
        Ok(client)
    }

    /// Asks the server of which kind it is.
    ///
    /// # Errors
    /// Those of the login and of the connection.
    pub async fn kind(&self) -> Result<Kind, TestError> {
        let client = self.connect().await?;
        match client.simple_query("SHOW full_scan").await {
            Ok(_) => Ok(Kind::Saltwing),
            Err(error) if error.as_db_error().is_some() => Ok(Kind::Postgres),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn urls_are_read_and_written() {
        let url = "postgresql://ann:p:w@127.0.0.1:5433/log.db";
        let target = Target::parse(url).unwrap();
        assert_eq!((target.url(), target.password.as_str(), target.port), (url.to_owned(), "p:w", 5433));
        assert_eq!(Target::parse("postgres://a@h/d").unwrap().url(), "postgresql://a:@h:5432/d");
        for wrong in ["", "http://a@h:1/d", "postgresql://h:1/d", "postgresql://a@h:1", "postgresql://a@h:70000/d"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        let is_loopback = |host: &str| Target::parse(&format!("postgresql://a@{host}:1/d")).unwrap().loopback().is_ok();
        assert!(is_loopback("127.0.0.1") && is_loopback("localhost") && is_loopback("127.8.9.1"));
        assert!(!is_loopback("10.0.0.1") && !is_loopback("example.org") && !is_loopback("0.0.0.0"));
    }
}
