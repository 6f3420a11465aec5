//! Cases of PostgreSQL's protocol.

use super::case::{Case, End, Port, Step};
use super::corpus::Corpus;
use super::mutation::damage;
use super::sql;
use crate::Target;
use crate::random::Random;
use crate::wire::{frame, frame_of_length, query, startup, untagged};

/// Names of statements and portals: few, so that messages find them.
const NAMES: &[&str] = &["", "", "s", "t", "st", "cur", "C_1"];
/// OIDs of types, and numbers that are none.
const OIDS: &[u32] = &[
    0,
    16,
    17,
    18,
    19,
    20,
    21,
    23,
    25,
    26,
    114,
    700,
    701,
    1007,
    1015,
    1016,
    1042,
    1043,
    1082,
    1083,
    1114,
    1184,
    1186,
    1700,
    2950,
    705,
    99_999,
    u32::MAX,
];
/// Values of parameters in text form.
const VALUES: &[&str] = &[
    "",
    "0",
    "7",
    "-1",
    "9223372036854775807",
    "1e-2147483648",
    "NaN",
    "t",
    "{1,NULL}",
    "{\"a\"}",
    "{{1},{2",
    "\\x00",
    "2024-01-01",
    "infinity",
    "1 mon -1 day",
    "00000000-0000-0000-0000-000000000000",
    "{\"a\":[1]}",
    "v12",
    "99999999999999999999999999999999999999999999",
];
/// Lines and bytes of COPY.
const COPY_DATA: &[&[u8]] = &[
    b"1\ta\n",
    b"1001,x,\n",
    b"\\.\n",
    b"\\N\t\\N\n",
    b"\"open",
    b"1|2|3\n",
    b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0",
    b"\0\x03\0\0\0\x01p\0\0\0\x04\0\0\0\x01\xff\xff\xff\xff",
    b"\xff\xff",
    b"{\"k\": 1, \"v\": \"x\"}\n",
    b"\n\n\n",
    b"\\x\\777\\b\t\r",
    b"ARROW1\0\0\xff\xff\xff\xff\x10\0\0\0",
    b"PAR1",
];

/// A case before the login: a start packet and messages of a login, damaged.
pub fn before_the_login(random: &mut Random, target: &Target) -> Case {
    let sasl = b"SCRAM-SHA-256\0\0\0\0\x20n,,n=,r=rOprNGfwEbeRWgbNEkqO0000";
    let mut bytes = [startup(target), frame(b'p', sasl), frame(b'p', b"c=biws,r=x,p=AAAA")].concat();
    if random.one_in(6) {
        bytes.splice(0..0, untagged(&80_877_103_u32.to_be_bytes()));
    }
    damage(random, &mut bytes, b"\0\x03\0\0user\0tester\0");
    Case { port: Port::Postgres, steps: in_parts(random, &bytes), end: End::HalfClose, reads: true }
}

/// A case after the login.
pub fn session(random: &mut Random, corpus: &Corpus) -> Case {
    let mut steps = Vec::new();
    let mut bytes = Vec::new();
    for _ in 0..=random.below(20) {
        bytes.extend_from_slice(&message(random, corpus));
        match random.below(40) {
            0 => {
                steps.append(&mut in_parts(random, &std::mem::take(&mut bytes)));
                steps.push(Step::Cancel);
            }
            1 => {
                steps.append(&mut in_parts(random, &std::mem::take(&mut bytes)));
                steps.push(Step::Pause(random.next() % 50));
            }
            _ => {}
        }
    }
    let end = match random.below(8) {
        0 => End::Vanish,
        1 => End::HalfClose,
        _ => End::GoesOn,
    };
    // Damage breaks the framing: then nothing is known but that the connection ends.
    let is_damaged = random.one_in(3);
    if is_damaged {
        let other = message(random, corpus);
        damage(random, &mut bytes, &other);
    }
    steps.append(&mut in_parts(random, &bytes));
    let end = if is_damaged && end == End::GoesOn { End::HalfClose } else { end };
    Case { port: Port::Session, steps, end, reads: end != End::Vanish || random.one_in(2) }
}

/// The bytes in one part or in several.
fn in_parts(random: &mut Random, mut bytes: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    while random.one_in(4) && bytes.len() > 1 {
        let (part, rest) = bytes.split_at(random.index(bytes.len()).max(1));
        steps.push(Step::Send(part.to_vec()));
        bytes = rest;
    }
    steps.push(Step::Send(bytes.to_vec()));
    steps
}

/// A message, or some that belong together.
fn message(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    match random.below(30) {
        0..=5 => query(&sql::statement(random, corpus)),
        6 => query(&(0..=random.below(4)).map(|_| sql::statement(random, corpus)).collect::<Vec<_>>().join("; ")),
        7..=10 => parse(random, corpus),
        11..=13 => bind(random),
        14 | 15 => named(random, b'D'),
        16 => named(random, b'C'),
        17 | 18 => execute(random),
        19 => frame(b'S', b""),
        20 => frame(b'H', b""),
        21..=23 => pipeline(random, corpus),
        24 | 25 => copy(random, corpus),
        26 => frame(b'f', b"the client gives up\0"),
        27 => frame(random.next() as u8, &random.bytes(30)),
        28 if random.one_in(20) => frame(b'd', &random.bytes(100_000)),
        28 if random.one_in(10) => frame_of_length(b'Q', random.next() as u32, b"SELECT 1\0"),
        28 => frame(b'c', b""),
        _ => [parse(random, corpus), bind(random), execute(random), frame(b'S', b"")].concat(),
    }
}

/// A statement from Parse to Sync under one name.
fn pipeline(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    [
        parse(random, corpus),
        named(random, b'D'),
        bind(random),
        named(random, b'D'),
        execute(random),
        execute(random),
        frame(b'S', b""),
    ]
    .concat()
}

fn copy(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut bytes = query(&format!(
        "COPY {} FROM STDIN{}",
        random.text_of(&["fuzz_a (k, v)", "fuzz_b", "made_1"]),
        random.text_of(&["", " (FORMAT csv)", " (FORMAT binary)"])
    ));
    for _ in 0..random.below(5) {
        let mut data = random.one_of(COPY_DATA).copied().unwrap_or_default().to_vec();
        if random.one_in(2) {
            let more = random.one_of(COPY_DATA).copied().unwrap_or_default();
            damage(random, &mut data, more);
        }
        bytes.extend_from_slice(&frame(b'd', &data));
    }
    if random.one_in(5) {
        bytes.extend_from_slice(&message(random, corpus));
    }
    let end = if random.one_in(3) { frame(b'f', b"x\0") } else { frame(b'c', b"") };
    [bytes, end].concat()
}

fn parse(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut body = [random.text_of(NAMES).as_bytes(), b"\0", sql::statement(random, corpus).as_bytes(), b"\0"].concat();
    let count = random.below(4);
    body.extend_from_slice(&(count as u16).to_be_bytes());
    (0..count).for_each(|_| body.extend_from_slice(&random.one_of(OIDS).copied().unwrap_or_default().to_be_bytes()));
    frame(b'P', &body)
}

fn formats(random: &mut Random, body: &mut Vec<u8>) {
    let count = random.below(4).max(0);
    body.extend_from_slice(&(count as u16).to_be_bytes());
    (0..count).for_each(|_| body.extend_from_slice(&(random.below(2) as u16).to_be_bytes()));
}

fn bind(random: &mut Random) -> Vec<u8> {
    let mut body = [random.text_of(NAMES).as_bytes(), b"\0", random.text_of(NAMES).as_bytes(), b"\0"].concat();
    formats(random, &mut body);
    let count = random.below(4);
    body.extend_from_slice(&(count as u16).to_be_bytes());
    for _ in 0..count {
        let value = match random.below(4) {
            0 => {
                body.extend_from_slice(&(-1_i32).to_be_bytes());
                continue;
            }
            1 => random.bytes(24),
            2 => random.next().to_be_bytes().get(..1 << random.below(4)).unwrap_or_default().to_vec(),
            _ => random.text_of(VALUES).as_bytes().to_vec(),
        };
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(&value);
    }
    formats(random, &mut body);
    frame(b'B', &body)
}

fn named(random: &mut Random, tag: u8) -> Vec<u8> {
    let kind = if random.one_in(2) { b"S" } else { b"P" };
    frame(tag, &[kind.as_slice(), random.text_of(NAMES).as_bytes(), b"\0"].concat())
}

fn execute(random: &mut Random) -> Vec<u8> {
    let rows = random.one_of(&[0_u32, 0, 1, 7, 1000, u32::MAX]).copied().unwrap_or_default();
    frame(b'E', &[random.text_of(NAMES).as_bytes(), b"\0", &rows.to_be_bytes()].concat())
}
