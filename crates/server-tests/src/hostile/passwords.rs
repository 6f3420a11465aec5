//! Guessed passwords, and messages of SCRAM that are wrong.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::net::TcpSocket;
use tokio_postgres::NoTls;

use crate::error::{ensure, equal};
use crate::wire::{Wire, frame, startup};
use crate::{Target, TestError};

/// Connections that guess at once.
const GUESSERS: u8 = 40;
/// The SQLSTATE of a wrong password.
const WRONG_PASSWORD: &str = "28P01";
/// The SQLSTATE of a login whose answer is delayed beyond its time limit, as it is after many failures from an address.
const LOGIN_TOOK_TOO_LONG: &str = "08006";
/// For how long. A guess that waits for its answer is not waited for.
const GUESSING: Duration = Duration::from_secs(10);
/// Logins of each kind whose time is taken.
const TIMED: u8 = 40;

/// Clients guess passwords of a user who is there, and of others, from some addresses. Others log in meanwhile.
pub async fn attack(target: &Target) -> Result<(), TestError> {
    let began = Instant::now();
    let guesser = async |number: u8| {
        let mut guesses = 0_u32;
        while began.elapsed() < GUESSING {
            let user = if number.is_multiple_of(2) { target.user.clone() } else { format!("user {number}") };
            let wrong = Target { user, password: format!("guess {number} {guesses}"), ..target.clone() };
            let state = refusal(&wrong, 2 + number % 4).await?;
            ensure(state == WRONG_PASSWORD || state == LOGIN_TOOK_TOO_LONG, || format!("a guess ended with {state}"))?;
            guesses += 1;
        }
        Ok::<_, TestError>(guesses)
    };
    let guesses = join_all((0..GUESSERS).map(guesser)).await;
    let guesses: u32 = guesses.into_iter().sum::<Result<_, _>>()?;
    ensure(guesses >= u32::from(GUESSERS), || format!("only {guesses} guesses were answered"))
}

/// A wrong password takes as long as a user who is not there: the medians of both differ by less than a half. Each pair of logins comes
/// from an address that has not failed before, so that no answer is delayed.
pub async fn times(target: &Target) -> Result<(), TestError> {
    let known = Target { password: "wrong".to_owned(), ..target.clone() };
    let unknown = Target { user: "nobody at all".to_owned(), ..known.clone() };
    let (mut of_known, mut of_unknown) = (Vec::new(), Vec::new());
    for number in 0..TIMED {
        let mut pair = [(&known, &mut of_known), (&unknown, &mut of_unknown)];
        if number % 2 == 1 {
            pair.reverse();
        }
        for (target, times) in pair {
            let began = Instant::now();
            equal(&refusal(target, 100 + number).await?, &WRONG_PASSWORD.to_owned())?;
            times.push(began.elapsed());
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1000.0
    };
    let (known, unknown) = (median(of_known), median(of_unknown));
    let is_alike = (known - unknown).abs() < 0.5 * known.min(unknown) + 0.5;
    ensure(is_alike, || format!("a wrong password takes {known:.2} ms, and a user who is not there {unknown:.2} ms"))
}

/// The SQLSTATE of a login that must fail, from the loopback address 127.0.0.`place`.
async fn refusal(target: &Target, place: u8) -> Result<String, TestError> {
    let address = target.loopback()?;
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, place)), 0))?;
    let stream = socket.connect(address).await?;
    match target.config().connect_raw(stream, NoTls).await {
        Ok(_) => Err(TestError::Found("a wrong password was taken".to_owned())),
        Err(error) => match error.code() {
            Some(code) => Ok(code.code().to_owned()),
            None => Err(error.into()),
        },
    }
}

/// First messages of SCRAM that are none, and second ones: each is refused, and no session begins.
pub fn wrong_messages_of_scram(target: &Target) -> Result<(), TestError> {
    let first = |mechanism: &str, text: &[u8]| {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
        frame(b'p', &[mechanism.as_bytes(), b"\0", &length, text].concat())
    };
    let begin = first("SCRAM-SHA-256", b"n,,n=,r=rOprNGfwEbeRWgbNEkqO");
    let messages = [
        frame(b'p', b""),
        frame(b'p', b"password\0"),
        frame(b'p', b"SCRAM-SHA-256\0"),
        frame(b'p', b"SCRAM-SHA-256\0\x7f\xff\xff\xffn,,"),
        frame(b'p', b"SCRAM-SHA-256\0\xff\xff\xff\xff"),
        first("SCRAM-SHA-1", b"n,,n=,r=x"),
        first("", b"n,,n=,r=x"),
        first("SCRAM-SHA-256", b""),
        first("SCRAM-SHA-256", b"\xff\xff\xff"),
        first("SCRAM-SHA-256", b"y,,n=,r=x"),
        first("SCRAM-SHA-256", b"p=tls-unique,,n=,r=x"),
        first("SCRAM-SHA-256", b"n,a=admin,n=,r=x"),
        first("SCRAM-SHA-256", b"n,,m=x,n=,r=x"),
        first("SCRAM-SHA-256", b"n,,n=,r="),
        first("SCRAM-SHA-256", &[b"n,,n=,r=".as_slice(), &[b'x'; 9000]].concat()),
        [begin.clone(), frame(b'p', b"")].concat(),
        [begin.clone(), frame(b'p', b"c=biws,r=another,p=AAAA")].concat(),
        [begin.clone(), frame(b'p', b"c=biws,r=rOprNGfwEbeRWgbNEkqO,p=!!!!")].concat(),
        [begin.clone(), begin.clone()].concat(),
        [begin, frame(b'Q', b"SELECT 1\0")].concat(),
    ];
    for (number, message) in messages.iter().enumerate() {
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send(&startup(target))?;
        wire.send_if_open(message)?;
        wire.half_close()?;
        while let Some((tag, body)) = wire.message()? {
            let is_login = tag == b'R' && body == [0; 4];
            ensure(!is_login && tag != b'Z', || format!("message {number} has logged in"))?;
        }
    }
    Ok(())
}
