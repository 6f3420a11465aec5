//! The lines that a server prints once it listens.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::Target;

/// Where a server listens.
#[derive(Debug, PartialEq, Eq)]
pub struct Addresses {
    /// For PostgreSQL's clients.
    pub postgres: Target,
    /// For Phoenix's thin clients.
    pub avatica: SocketAddr,
    /// For browsers, health and metrics.
    pub http: SocketAddr,
}

/// The addresses that the lines of a server name for this user; otherwise the lines. A thread reads what comes later, so that the server's output never waits.
pub fn addresses(
    stdout: impl Read + Send + 'static,
    login: (&str, &str),
    time_max: Duration,
) -> Result<Addresses, String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        // A receiver that is gone has what it wanted.
        BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
    });
    let (mut text, mut postgres, mut avatica, mut http) = (String::new(), None, None, None);
    let end = Instant::now() + time_max;
    loop {
        if let (Some(postgres), Some(avatica), Some(http)) = (&postgres, avatica, http) {
            return Ok(Addresses { postgres: Target::clone(postgres), avatica, http });
        }
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                postgres = postgres.or_else(|| postgres_of(&line, login));
                avatica = avatica.or_else(|| address_of("avatica", &line));
                http = http.or_else(|| address_of("console", &line));
                text.push_str(&line);
                text.push('\n');
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Err(text),
        }
    }
}

/// Of a line with `psql "host=.. port=.. dbname=.. user=.."`.
fn postgres_of(line: &str, (user, password): (&str, &str)) -> Option<Target> {
    let (_, command) = line.split_once("psql \"")?;
    let value = |name: &str| {
        let (_, rest) = command.split_once(&format!("{name}="))?;
        rest.split([' ', '"']).next().map(str::to_owned)
    };
    let (host, port, database) = (value("host")?, value("port")?.parse().ok()?, value("dbname")?);
    Some(Target { host, port, user: user.to_owned(), password: password.to_owned(), database })
}

/// Of a line of this protocol, whose second word is the address.
fn address_of(protocol: &str, line: &str) -> Option<SocketAddr> {
    let mut words = line.split_whitespace();
    if words.next() == Some(protocol) { words.next()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::addresses;

    #[test]
    fn addresses_are_read_of_the_lines() {
        let lines = "postgres  127.0.0.1:40001  psql \"host=127.0.0.1 port=40001 dbname=database user=tester\"\n\
            avatica   127.0.0.1:40002  phoenixdb.connect('http://127.0.0.1:40002/', autocommit=True)\n\
            console   127.0.0.1:40003  http://127.0.0.1:40003/\n";
        let found = addresses(lines.as_bytes(), ("ann", "of ann"), Duration::from_secs(5)).unwrap();
        assert_eq!(found.postgres.url(), "postgresql://ann:of ann@127.0.0.1:40001/database");
        assert_eq!((found.avatica.port(), found.http.port()), (40002, 40003));
        let locked = addresses("error: locked\n".as_bytes(), ("ann", ""), Duration::from_secs(5));
        assert_eq!(locked, Err("error: locked\n".to_owned()));
    }
}
