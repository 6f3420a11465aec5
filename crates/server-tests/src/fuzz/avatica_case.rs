//! Cases of Phoenix's protocol.

use super::case::{Case, End, Port, Step};
use super::corpus::Corpus;
use super::http_framing::{Request, last_request, odd_request, request};
use super::mutation::damage;
use super::protobuf::{bytes, double, nested, number, signed};
use super::sql;
use crate::random::Random;

/// Requests whose message has the connection's id alone, or one number besides.
const SHORT: &[&str] = &[
    "CloseConnectionRequest",
    "CreateStatementRequest",
    "CloseStatementRequest",
    "CommitRequest",
    "RollbackRequest",
    "CatalogsRequest",
    "TableTypesRequest",
    "TypeInfoRequest",
    "DatabasePropertyRequest",
    "NothingRequest",
];
/// Ids of connections: few, so that requests find them.
const IDS: &[&str] = &["a", "b", "c", "d", ""];
const NUMBERS: &[u64] = &[0, 1, 2, 3, 100, 0x7fff_ffff, 0xffff_ffff, u64::MAX, 1 << 63];
/// The deepest array in an array.
const DEPTH_MAX: i64 = 3000;

/// A case: some requests on one connection of HTTP.
pub fn case(random: &mut Random, corpus: &Corpus, has_users: bool) -> Case {
    let mut all = Vec::new();
    // Most cases open what they use.
    let mut bodies = vec![message("OpenConnectionRequest", &open(random))];
    for _ in 0..=random.below(12) {
        bodies.push(body(random, corpus));
    }
    for mut body in bodies {
        if random.one_in(8) {
            damage(random, &mut body, b"\x0a\x01a\x12\x03");
        }
        let right = Request {
            path: "/",
            headers: "Content-Type: application/x-google-protobuf\r\n",
            has_password: has_users,
            body: &body,
        };
        let one = if random.one_in(15) { odd_request(random, &right) } else { request(random, &right) };
        all.extend_from_slice(&one);
    }
    all.extend_from_slice(&last_request());
    if random.one_in(10) {
        damage(random, &mut all, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\x0a\x02ab");
    }
    let end = if random.one_in(8) { End::Vanish } else { End::HalfClose };
    Case { port: Port::Avatica, steps: vec![Step::Send(all)], end, reads: end == End::HalfClose || random.one_in(2) }
}

/// Closes the connections that cases open.
pub fn closing(random: &mut Random, has_users: bool) -> Vec<u8> {
    let close = |random: &mut Random, id: &&str| {
        let body = message("CloseConnectionRequest", &bytes(1, id.as_bytes()));
        request(random, &Request { path: "/", headers: "", has_password: has_users, body: &body })
    };
    IDS.iter().map(|id| close(random, id)).collect::<Vec<_>>().concat()
}

/// A body: the name of a request, and its bytes.
pub fn message(name: &str, inner: &[u8]) -> Vec<u8> {
    [bytes(1, format!("org.apache.calcite.avatica.proto.Requests${name}").as_bytes()), bytes(2, inner)].concat()
}

fn id(random: &mut Random, tag: u32) -> Vec<u8> {
    bytes(tag, random.text_of(IDS).as_bytes())
}

fn any_number(random: &mut Random, tag: u32) -> Vec<u8> {
    let value = random.one_of(NUMBERS).copied().unwrap_or_default();
    number(tag, value)
}

fn text(random: &mut Random, corpus: &Corpus, tag: u32) -> Vec<u8> {
    bytes(tag, sql::statement(random, corpus).as_bytes())
}

fn open(random: &mut Random) -> Vec<u8> {
    let property = [bytes(1, b"user"), bytes(2, b"tester")].concat();
    [id(random, 1), if random.one_in(3) { bytes(2, &property) } else { Vec::new() }].concat()
}

fn body(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let handle = |random: &mut Random, corpus: &Corpus| {
        let signature = bytes(3, &text(random, corpus, 2));
        [id(random, 1), any_number(random, 2), if random.one_in(2) { signature } else { Vec::new() }].concat()
    };
    match random.below(16) {
        0..=4 => {
            let inner = [
                id(random, 1),
                text(random, corpus, 2),
                any_number(random, 3),
                any_number(random, 4),
                any_number(random, 5),
                any_number(random, 6),
            ];
            message("PrepareAndExecuteRequest", &inner.concat())
        }
        5 => message("PrepareRequest", &[id(random, 1), text(random, corpus, 2), any_number(random, 4)].concat()),
        6 | 7 => {
            let values: Vec<u8> = (0..random.below(4)).flat_map(|_| bytes(2, &value(random))).collect();
            message(
                "ExecuteRequest",
                &[bytes(1, &handle(random, corpus)), values, any_number(random, 4), any_number(random, 5)].concat(),
            )
        }
        8 => message(
            "FetchRequest",
            &[id(random, 1), any_number(random, 2), any_number(random, 3), any_number(random, 5)].concat(),
        ),
        9 => {
            let argument = [bytes(1, b"%"), signed(3, random.next() as i64), number(6, random.next() % 7)].concat();
            let state = [
                number(1, random.next() % 3),
                text(random, corpus, 2),
                number(3, random.next() % 30),
                bytes(4, &argument),
            ]
            .concat();
            message(
                "SyncResultsRequest",
                &[id(random, 1), any_number(random, 2), bytes(3, &state), any_number(random, 4)].concat(),
            )
        }
        10 => {
            let texts: Vec<u8> = (0..random.below(4)).flat_map(|_| text(random, corpus, 3)).collect();
            message("PrepareAndExecuteBatchRequest", &[id(random, 1), any_number(random, 2), texts].concat())
        }
        11 => {
            let updates: Vec<u8> = (0..random.below(20)).flat_map(|_| bytes(3, &bytes(1, &value(random)))).collect();
            message("ExecuteBatchRequest", &[id(random, 1), any_number(random, 2), updates].concat())
        }
        12 => {
            let properties: Vec<u8> = (1..9).flat_map(|tag| any_number(random, tag)).collect();
            message("ConnectionSyncRequest", &[id(random, 1), bytes(2, &properties)].concat())
        }
        13 => {
            let name = random.text_of(&["SchemasRequest", "TablesRequest", "ColumnsRequest"]);
            let pattern = random.text_of(&["%", "", "fuzz\\_%", "%_%_%_%_%_%_%_%_", "\\"]);
            let inner: Vec<u8> = (1..8)
                .flat_map(|tag| if random.one_in(2) { bytes(tag, pattern.as_bytes()) } else { id(random, tag) })
                .collect();
            message(name, &inner)
        }
        14 => message("OpenConnectionRequest", &open(random)),
        _ => message(random.text_of(SHORT), &[id(random, 1), any_number(random, 2)].concat()),
    }
}

/// A typed value.
fn value(random: &mut Random) -> Vec<u8> {
    if random.one_in(30) {
        return nested(8, &number(1, 13), random.index(usize::try_from(DEPTH_MAX).unwrap_or_default()));
    }
    let field = match random.below(6) {
        0 => bytes(3, random.text_of(&["", "x", "1e-2147483648", "99999999999999999999", "2024-13-45"]).as_bytes()),
        1 => signed(4, *random.one_of(&[0, 1, -1, i64::MAX, i64::MIN, 1 << 40]).unwrap_or(&0)),
        2 => bytes(5, &random.bytes(40)),
        3 => double(6, *random.one_of(&[0.0, f64::NAN, f64::INFINITY, -0.0, 1e300]).unwrap_or(&0.0)),
        4 => bytes(8, &[number(1, random.next() % 30), signed(4, 7)].concat()),
        _ => number(7, 1),
    };
    [number(1, random.next() % 31), field, number(9, random.next() % 31)].concat()
}
