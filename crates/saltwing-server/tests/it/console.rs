//! The console: its files, its login, and the calls of its page.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use saltwing::Database;
use saltwing_server::{Protocol, Running, Server, ServerOptions};

use crate::client::{Answer, connect, exchange, get, get_with};
use crate::{address, free_ports, started};

/// How long statements may take to end after a cancellation.
const END_MAX: Duration = Duration::from_secs(30);

/// A browser: its server, and its cookie after a login.
struct Browser {
    http: SocketAddr,
    cookie: String,
}

impl Browser {
    fn new(running: &Running) -> Self {
        Self { http: address(running, Protocol::Http), cookie: String::new() }
    }

    /// After a login without a password.
    fn of_owner(running: &Running) -> Self {
        let mut browser = Self::new(running);
        let answer = browser.log_in("{}");
        assert_eq!(answer.status, 200, "{answer:?}");
        browser
    }

    fn call(&self, name: &str, body: &str) -> Answer {
        self.call_with(name, body, &format!("Content-Type: application/json\r\nCookie: {}\r\n", self.cookie))
    }

    fn call_with(&self, name: &str, body: &str, headers: &str) -> Answer {
        let (http, length) = (self.http, body.len());
        let head =
            format!("POST /api/{name} HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\nContent-Length: {length}\r\n");
        exchange(&mut connect(http), &format!("{head}{headers}\r\n{body}"))
    }

    fn log_in(&mut self, body: &str) -> Answer {
        let answer = self.call("login", body);
        if let Some((_, rest)) = answer.head.split_once("set-cookie: ") {
            self.cookie = rest.split(';').next().unwrap().to_owned();
        }
        answer
    }

    /// The last answer about a run, which has its results.
    fn run(&self, sql: &str) -> String {
        let sql = sql.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let mut answer = self.call("run", &format!("{{\"sql\":\"{sql}\",\"rows\":2}}"));
        let began = Instant::now();
        while answer.status == 200 && !answer.body.contains("\"results\"") {
            assert!(began.elapsed() < END_MAX, "{answer:?}");
            answer = self.call("poll", &format!("{{\"run\":{}}}", number(&answer.body, "run")));
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

/// The number of a field of an object.
fn number(body: &str, field: &str) -> u64 {
    let (_, rest) = body.split_once(&format!("\"{field}\":")).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "{part} is missing in {text}");
}

/// A server whose database has a table of some rows, with these statements run besides.
fn with_log(options: ServerOptions, statements: &str) -> Running {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection
        .execute_batch(
            "CREATE TABLE log (host VARCHAR NOT NULL, ts BIGINT NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (host, ts)); \
             UPSERT INTO log VALUES ('a', 1, 9223372036854775807), ('a', 2, NULL), ('b', 1, 7)",
        )
        .unwrap();
    let many: Vec<String> = (0..500).map(|k| format!("({k})")).collect();
    let many = format!("CREATE TABLE many (k BIGINT PRIMARY KEY); UPSERT INTO many VALUES {}", many.join(", "));
    connection.execute_batch(&many).unwrap();
    connection.execute_batch(statements).unwrap();
    Server::start(database, options).unwrap()
}

/// A query over `many` that runs until it is cancelled.
const ENDLESS: &str = "SELECT count(*) FROM many a, many b, many c, many d WHERE a.k >= 0 AND b.k >= 0 AND c.k >= 0 AND d.k >= 0 AND a.k + b.k + c.k + d.k < 0";

#[test]
fn the_page_is_served_with_a_strict_policy() {
    let running = started(free_ports());
    let http = address(&running, Protocol::Http);
    let page = get(http, "/");
    assert_eq!(page.status, 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-cache",
        "content-type: text/html; charset=utf-8",
    ] {
        contains(&page.head, header);
    }
    let (_, tag) = page.head.split_once("etag: ").unwrap();
    let tag = tag.lines().next().unwrap();
    let known = get_with(http, "/", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    assert_eq!(get(http, "/page/app.js").status, 200);
    assert_eq!(get(http, "/page/..%2findex.html").status, 404);
    assert_eq!(get(http, "/api/session").status, 405);
}

#[test]
fn rows_come_in_pages_with_exact_values() {
    let running = with_log(free_ports(), "");
    let browser = Browser::of_owner(&running);
    let body = browser.run("SELECT up, ts FROM log WHERE host >= 'a'");
    contains(&body, "[\"9223372036854775807\",\"1\"],[null,\"2\"]");
    contains(&body, "\"more\":true");
    let run = number(&body, "run");
    let more = browser.call("more", &format!("{{\"run\":{run}}}"));
    contains(&more.body, "\"rows\":[[\"7\",\"1\"]]");
    contains(&more.body, "\"more\":false");
    assert_eq!(browser.call("more", &format!("{{\"run\":{run}}}")).status, 410);
    assert_eq!(browser.call("poll", &format!("{{\"run\":{}}}", run + 1)).status, 410);
    let several =
        browser.run("UPSERT INTO log VALUES ('c', 1, 1); SELECT up FROM log WHERE host = 'c'; SELECT nothing");
    contains(&several, "\"rows_affected\":1");
    contains(&several, "\"sqlstate\":\"42703\"");
}

#[test]
fn errors_have_places_and_refusals_have_fixes() {
    let running = with_log(free_ports(), "");
    let browser = Browser::of_owner(&running);
    contains(&browser.run("SELECT 1;\nSELECT host, wrong FROM log WHERE host = 'a'"), "\"place\":[23,28]");
    let refusal = browser.run("SELECT * FROM log WHERE up = 7");
    contains(&refusal, "\"code\":\"full_scan_refused\"");
    contains(&refusal, "\"run\":\"CREATE INDEX log_up ON log (up)\"");
    contains(&refusal, "\"replace\":\"SELECT /*+ FULL_SCAN */ * FROM log WHERE up = 7\"");
    contains(&refusal, "\"run\":\"ALTER TABLE log SET FULL_SCAN = 'allow'\"");
    contains(&browser.run("CREATE INDEX log_up ON log (up)"), "\"rows_affected\"");
    contains(&browser.run("SELECT ts FROM log WHERE up = 7"), "\"rows\":[[\"1\"]]");
}

#[test]
fn plans_have_ranges_and_the_ends_of_the_keys() {
    let running = with_log(free_ports(), "");
    let browser = Browser::of_owner(&running);
    let plan = browser.call("plan", "{\"sql\":\"SELECT * FROM log WHERE host = 'a'\"}").body;
    contains(&plan, "\"ranges\":[[\"6100\",\"6101\"]]");
    contains(&plan, "{\"key\":\"61008000000000000001\",\"values\":[\"a\",\"1\"]},{\"key\":\"62008000000000000001\"");
    contains(&browser.call("plan", "{\"sql\":\"SELECT wrong\"}").body, "\"error\"");
}

#[test]
fn heat_and_refusals_are_calls() {
    let running = with_log(free_ports(), "CREATE INDEX \"By Up\" ON log (up)");
    let browser = Browser::of_owner(&running);
    browser.run("SELECT up FROM log WHERE host = 'a' AND ts = 1");
    let heat = browser.call("heat", "{\"relation\":\"log\",\"spans\":8,\"slots\":10,\"seconds\":60}");
    assert_eq!(heat.status, 200, "{heat:?}");
    contains(&heat.body, "\"key_columns\":[\"host\",\"ts\"]");
    contains(&browser.call("tables", "{}").body, r#""relation":"log.\"By Up\"""#);
    let of_index = browser.call("heat", r#"{"relation":"log.\"By Up\""}"#);
    assert_eq!(of_index.status, 200, "{of_index:?}");
    assert_eq!(browser.call("heat", "{\"relation\":\"nothing\"}").status, 422);
    browser.run("SELECT ts FROM many WHERE k + 1 = 7; SELECT host FROM log WHERE ts = 7");
    browser.run("SELECT host FROM log WHERE ts = 8");
    let refusals = browser.call("refusals", "{}").body;
    for part in ["\"tables\":[\"log\"]", "SELECT host FROM log WHERE ts = ?", "CREATE INDEX log_ts ON log (ts)"] {
        contains(&refusals, part);
    }
}

#[test]
fn tables_have_keys_indexes_and_storage() {
    let running = with_log(
        free_ports(),
        "CREATE INDEX by_up ON log (up); CREATE VIEW busy AS SELECT host FROM log WHERE host = 'a'",
    );
    let browser = Browser::of_owner(&running);
    let list = browser.call("tables", "{}").body;
    contains(&list, "\"table_name\":\"log\"");
    contains(&list, "\"index_name\":\"by_up\"");
    contains(&list, "\"delta_rows\":\"3\"");
    assert!(!list.contains("information_schema"), "{list}");
    let table = browser.call("table", "{\"schema\":null,\"name\":\"log\",\"type\":\"BASE TABLE\"}").body;
    for part in ["CONSTRAINT pk PRIMARY KEY (host, ts)", "CREATE INDEX by_up ON log (up)", "\"key\":\"1\""] {
        contains(&table, part);
    }
    let view = browser.call("table", "{\"schema\":null,\"name\":\"busy\",\"type\":\"VIEW\"}");
    assert_eq!(view.status, 200, "{view:?}");
    assert_eq!(browser.call("table", "{\"schema\":null,\"name\":\"x\\\"; DROP TABLE log\"}").status, 422);
}

#[test]
fn a_running_statement_shows_its_progress_and_is_cancelled() {
    let running = with_log(free_ports(), "");
    let browser = Browser::of_owner(&running);
    let begun = browser.call("run", &format!("{{\"sql\":\"{ENDLESS}\"}}")).body;
    contains(&begun, "\"elapsed_ms\"");
    contains(&begun, "\"rows_scanned\"");
    assert_eq!(browser.call("run", "{\"sql\":\"SELECT 1\"}").status, 409);
    let sessions = browser.call("sessions", "{}").body;
    for part in ["\"protocol\":\"console\"", "\"is_running\":true", "\"user\":\"owner\"", "\"is_own\":true"] {
        contains(&sessions, part);
    }
    let run = number(&begun, "run");
    assert_eq!(browser.call("cancel", &format!("{{\"run\":{run}}}")).status, 200);
    contains(&ended(&browser, run), "\"sqlstate\":\"57014\"");
    contains(&browser.call("statements", "{}").body, "\"sqlstate\":\"57014\"");
    contains(&browser.run("SELECT 1 + 1 AS two"), "\"rows\":[[\"2\"]]");
}

/// What a poll says after the end of a run.
fn ended(browser: &Browser, run: u64) -> String {
    let began = Instant::now();
    loop {
        let body = browser.call("poll", &format!("{{\"run\":{run}}}")).body;
        if body.contains("\"results\"") {
            return body;
        }
        assert!(began.elapsed() < END_MAX, "{body}");
    }
}

#[test]
fn sessions_are_cancelled_by_those_who_see_them() {
    let users = "CREATE USER ann PASSWORD 'correct horse'; CREATE USER bob PASSWORD 'battery staple'; GRANT SELECT ON log TO ann; GRANT SELECT ON many TO ann";
    let running = with_log(free_ports(), users);
    let mut ann = Browser::new(&running);
    assert_eq!(ann.log_in("{\"user\":\"ann\",\"password\":\"correct horse\"}").status, 200);
    let mut bob = Browser::new(&running);
    assert_eq!(bob.log_in("{\"user\":\"bob\",\"password\":\"battery staple\"}").status, 200);
    let run = number(&ann.call("run", &format!("{{\"sql\":\"{ENDLESS}\"}}")).body, "run");
    let of_ann = ann.call("sessions", "{}").body;
    let id = number(&of_ann, "id");
    let of_bob = bob.call("sessions", "{}").body;
    assert!(of_ann.contains("\"user\":\"ann\"") && !of_ann.contains("bob"), "{of_ann}");
    assert!(of_bob.contains("\"user\":\"bob\"") && !of_bob.contains("ann"), "{of_bob}");
    assert_eq!(bob.call("cancel-session", &format!("{{\"session\":{id}}}")).status, 404);
    assert_eq!(ann.call("cancel-session", &format!("{{\"session\":{id}}}")).status, 200);
    contains(&ended(&ann, run), "57014");
    assert!(!bob.call("statements", "{}").body.contains("FROM many a"));
    contains(&ann.call("statements", "{}").body, "FROM many a");
    contains(&bob.run("SELECT * FROM log WHERE host = 'a'"), "\"sqlstate\":\"42501\"");
    contains(&bob.run("COPY log FROM '/etc/passwd'"), "\"sqlstate\":\"42501\"");
}

#[test]
fn users_log_in_and_out() {
    let running = with_log(free_ports(), "CREATE USER ann PASSWORD 'correct horse'");
    let mut browser = Browser::new(&running);
    let asked = browser.call("session", "{}");
    contains(&asked.body, "\"has_users\":true");
    contains(&asked.body, "\"user\":null");
    assert!(!asked.body.contains("\"version\":\""), "{asked:?}");
    for call in [
        "tables",
        "run",
        "poll",
        "more",
        "cancel",
        "plan",
        "sessions",
        "statements",
        "cancel-session",
        "heat",
        "refusals",
    ] {
        assert_eq!(browser.call(call, "{}").status, 401, "{call}");
    }
    assert_eq!(browser.log_in("{}").status, 401);
    let wrong = browser.log_in("{\"user\":\"ann\",\"password\":\"wrong\"}");
    assert!(wrong.status == 401 && wrong.body.contains("28P01"), "{wrong:?}");
    let nobody = browser.log_in("{\"user\":\"nobody\",\"password\":\"wrong\"}");
    assert_eq!(wrong.body.replace("ann", "nobody"), nobody.body);
    let answer = browser.log_in("{\"user\":\"ann\",\"password\":\"correct horse\"}");
    contains(&answer.head, "; path=/; httponly; samesite=strict");
    assert!(!answer.head.contains("secure"), "{answer:?}");
    contains(&browser.call("session", "{}").body, "\"user\":\"ann\"");
    assert_eq!(browser.call("logout", "{}").status, 200);
    assert_eq!(browser.call("tables", "{}").status, 401);
}

#[test]
fn pages_of_others_and_forms_are_refused() {
    let running = started(free_ports());
    let browser = Browser::of_owner(&running);
    let cookie = format!("Cookie: {}\r\n", browser.cookie);
    let json = "Content-Type: application/json\r\n";
    let status = |headers: &str| browser.call_with("tables", "{}", &format!("{cookie}{headers}")).status;
    assert_eq!(status(json), 200);
    assert_eq!(status(&format!("{json}Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", browser.http)), 200);
    assert_eq!(status(&format!("{json}Origin: http://example.org\r\n")), 403);
    assert_eq!(status(&format!("{json}Origin: null\r\n")), 403);
    assert_eq!(status(&format!("{json}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n")), 403);
    assert_eq!(status("Content-Type: text/plain\r\n"), 415);
    assert_eq!(status("Content-Type: application/x-www-form-urlencoded\r\n"), 415);
    let stranger = Browser { http: browser.http, cookie: "0".repeat(64) };
    assert_eq!(stranger.call("tables", "{}").status, 401);
}

#[test]
fn hostile_bodies_are_refused() {
    let running = started(free_ports());
    let browser = Browser::of_owner(&running);
    for (body, status) in [
        ("", 400),
        ("[]", 400),
        ("{\"sql\":1}", 400),
        ("{\"sql\":\"SELECT 1\",\"rows\":0}", 400),
        ("{\"sql\":\"SELECT 1\",\"rows\":1e9}", 400),
        ("{\"sql\":\"SELECT 1\",\"rows\":-1}", 400),
        ("{\"sql\":\"\\ud800\"}", 400),
    ] {
        assert_eq!(browser.call("run", body).status, status, "{body}");
    }
    assert_eq!(browser.call("run", &format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).status, 400);
    assert_eq!(browser.call("run", &format!("{{\"sql\":\"{}\"}}", "x".repeat(1 << 20))).status, 413);
    assert_eq!(browser.call("nothing", "{}").status, 404);
    assert_eq!(browser.call("heat", "{\"relation\":\"log\",\"slots\":100000}").status, 400);
    contains(&browser.run(&"SELECT 1;".repeat(101)), "\"sqlstate\":\"54000\"");
    contains(&browser.run(""), "\"results\":[]");
}

#[test]
fn logins_and_connections_are_limited() {
    let mut options = free_ports();
    options.limits.max_connections = 2;
    let running = started(options);
    let first = Browser::of_owner(&running);
    let _second = Browser::of_owner(&running);
    let refused = Browser::new(&running).log_in("{}");
    assert!(refused.status == 503 && refused.body.contains("53300"), "{refused:?}");
    assert_eq!(get(first.http, "/").status, 200);
    assert_eq!(first.call("logout", "{}").status, 200);
    Browser::of_owner(&running);
}

#[test]
fn a_result_is_bounded_in_bytes() {
    let running = with_log(free_ports(), "");
    let browser = Browser::of_owner(&running);
    let run = browser.call("run", "{\"sql\":\"SELECT REPEAT('x', 100000) FROM many WHERE k >= 0\",\"rows\":5000}").body;
    let body = if run.contains("\"results\"") { run } else { ended(&browser, number(&run, "run")) };
    assert!(body.len() < 5 << 20, "{}", body.len());
    contains(&body, "\"more\":true");
    assert!(number(&body, "cut_values") > 0);
}

/// Nobody asks for the statement any more, so it is cancelled.
#[test]
fn a_browser_that_is_gone_stops_its_statement() {
    let running = with_log(free_ports(), "");
    let gone = Browser::of_owner(&running);
    let other = Browser::of_owner(&running);
    gone.call("run", &format!("{{\"sql\":\"{ENDLESS}\"}}"));
    let began = Instant::now();
    while other.call("sessions", "{}").body.contains("\"is_running\":true") {
        assert!(began.elapsed() < END_MAX, "it still runs");
        std::thread::sleep(Duration::from_millis(200));
    }
    contains(&other.call("statements", "{}").body, "57014");
}

#[test]
fn the_end_of_the_server_ends_logins() {
    let mut options = free_ports();
    options.limits.grace = "1s".parse().unwrap();
    let running = with_log(options, "");
    let browser = Browser::of_owner(&running);
    browser.call("run", &format!("{{\"sql\":\"{ENDLESS}\"}}"));
    running.stop();
    running.wait().unwrap();
}
