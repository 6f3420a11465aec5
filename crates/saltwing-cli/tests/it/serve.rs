//! `saltwing serve` as a process: its lines, its signals, its exit codes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::{Directory, command, expect, run};

/// A test that waits longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(60);
const FREE_PORTS: [&str; 6] = ["--pg-port", "0", "--avatica-port", "0", "--http-port", "0"];

/// A server that runs, and its output so far. It is killed if the test fails.
struct Process {
    child: Child,
    /// The lines of the listeners: protocol, address, and the command that connects.
    lines: Vec<String>,
    log: Receiver<String>,
}

impl Process {
    /// Starts `saltwing serve` on free ports, and waits until it listens.
    fn start(args: &[&str]) -> Self {
        Self::of(command(&[&["serve"][..], args, &FREE_PORTS].concat()))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, log) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let lines: Vec<String> = stdout.lines().take(3).map(Result::unwrap).collect();
        let process = Self { child, lines, log };
        assert_eq!(process.lines.len(), 3, "{:?}", process.log.iter().collect::<Vec<_>>());
        process
    }

    fn address(&self, protocol: &str) -> String {
        let line = self.lines.iter().find(|line| line.starts_with(protocol)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    }

    fn connect(&self, protocol: &str) -> TcpStream {
        let stream = TcpStream::connect(self.address(protocol)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut stream = self.connect("console");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits for a line of the log.
    fn log_line(&self, part: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => before.push(line),
                Err(error) => panic!("{error}: no {part} in {before:#?}"),
            }
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end; the exit code.
    fn end(mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                None => panic!("it does not end: {:#?}", self.log.try_iter().collect::<Vec<_>>()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _: std::io::Result<()> = self.child.kill();
        let _: std::io::Result<std::process::ExitStatus> = self.child.wait();
    }
}

/// The command's output, which must end by itself.
fn refused(args: &[&str]) -> (String, Option<i32>) {
    let output = run(&[&["serve"][..], args].concat());
    assert_eq!(output.out, "");
    (output.err, output.code)
}

#[test]
fn it_prints_how_to_connect_and_ends_in_good_order() {
    let dir = Directory::new();
    for signal in ["TERM", "INT"] {
        let process = Process::start(&[&dir.path("log.db")]);
        let [postgres, avatica, http] = ["postgres", "avatica", "console"].map(|protocol| process.address(protocol));
        let port = postgres.rsplit(':').next().unwrap();
        assert!(
            process.lines[0].ends_with(&format!("psql \"host=127.0.0.1 port={port} dbname=log.db user=owner\"")),
            "{:?}",
            process.lines
        );
        assert!(
            process.lines[1].ends_with(&format!("phoenixdb.connect('http://{avatica}/', autocommit=True)")),
            "{:?}",
            process.lines
        );
        assert!(process.lines[2].ends_with(&format!("http://{http}/")), "{:?}", process.lines);
        assert!(process.get("/readyz").ends_with("\r\n\r\nready\n"));
        process.signal(signal);
        process.log_line(&format!("signal=\"SIG{signal}\""));
        process.log_line("the database is closed");
        assert_eq!(process.end(), Some(0));
    }
    assert!(Path::new(&dir.path("log.db")).is_dir());
}

/// A request whose body does not come keeps the server for a second, in which the second signal comes.
#[test]
fn a_second_signal_ends_it_at_once() {
    for (first, second, code) in [("INT", "INT", 130), ("TERM", "TERM", 143), ("TERM", "INT", 130)] {
        let process = Process::start(&[":memory:", "--grace", "1h"]);
        let mut half = process.connect("avatica");
        half.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            .unwrap();
        // The request has come in: the server wants its body.
        half.read_exact(&mut [0; 12]).unwrap();
        process.signal(first);
        process.log_line("a second signal ends it at once");
        process.signal(second);
        process.log_line("a second signal ends the process");
        assert_eq!(process.end(), Some(code));
    }
}

#[test]
fn rows_survive_a_process_that_was_killed() {
    let dir = Directory::new();
    let path = dir.path("db");
    expect(&run(&[&path, "-c", crate::TABLE]), "", "3 rows written\n", 0);
    let process = Process::start(&[&path]);
    let (error, code) = refused(&[&path, "--http-port", "0"]);
    assert!(error.contains("error[55P03 locked]") && code == Some(1), "{error}");
    process.signal("KILL");
    assert_eq!(process.end(), None);
    let process = Process::start(&[&path]);
    process.signal("TERM");
    assert_eq!(process.end(), Some(0));
    assert_eq!(run(&[&path, "-c", "SELECT COUNT(*) AS n FROM t WHERE k > 0"]).out, "n\n3\n");
}

#[test]
fn outside_loopback_it_refuses_what_others_could_use() {
    let dir = Directory::new();
    let path = dir.path("db");
    let (error, code) = refused(&[&path, "--listen", "0.0.0.0"]);
    assert!(error.contains("three ways out") && error.contains("--tls-cert") && code == Some(2), "{error}");
    assert!(!Path::new(&path).exists(), "a database was made for nothing");
    let (error, code) = refused(&[&path, "--listen", "0.0.0.0", "--insecure"]);
    assert!(error.contains("three ways out") && error.contains("CREATE USER") && code == Some(2), "{error}");
    assert_eq!(run(&[&path, "-c", "CREATE USER ann PASSWORD 'correct horse'"]).code, Some(0));
    let process = Process::start(&[&path, "--listen", "0.0.0.0", "--insecure"]);
    assert!(
        process.lines[0].contains("0.0.0.0:")
            && process.lines[0].contains("host=127.0.0.1 ")
            && process.lines[0].ends_with("user=ann\"")
    );
    assert!(process.lines[1].contains("avatica_user='ann'"), "{:?}", process.lines);
}

#[test]
fn wrong_options_exit_with_two() {
    let dir = Directory::new();
    let file = dir.file("server.toml", "http-port = 0\npg-prot = 1\n");
    let cases: [(&[&str], &str); 9] = [
        (&[], "<DB>"),
        (&["db", "--pg-prot", "1"], "did you mean --pg-port?"),
        (&["db", "--pg-port", "70000"], "a port from 0 to 65535"),
        (&["db", "--log-format", "xml"], "--log-format"),
        (&["db", "--store", "memory"], "--store memory takes no directory"),
        (&[":memory:", "--files", "/no/such/directory"], "there is no such directory"),
        (&[":memory:", "--config", "/no/such/file"], "/no/such/file"),
        (&[":memory:", "--config", &file], "server.toml, line 2: there is no option pg-prot; did you mean pg-port?"),
        (&[":memory:", "--tls-cert", "a.pem"], "--tls-cert and --tls-key belong together"),
    ];
    for (args, part) in cases {
        let (error, code) = refused(args);
        assert!(error.contains(part) && code == Some(2), "{args:?}: {error}");
    }
}

/// The file has the options of the database and of the log, too.
#[test]
fn options_come_from_a_file_and_the_command_line_wins() {
    let dir = Directory::new();
    let text = "pg-port = 1\navatica-port = 0\nhttp-port = 0\nlog-format = 'json'\nlog = 'error'\nreadonly = true\nfull-scan = 'allow'\n";
    let file = dir.file("server.toml", text);
    let path = dir.path("db");
    expect(&run(&[&path, "-c", crate::TABLE]), "", "3 rows written\n", 0);
    let process = Process::of(command(&["serve", "--config", &file, &path, "--pg-port=0", "--log=info"]));
    let line: serde_json::Value = serde_json::from_str(&process.log_line("listening")).unwrap();
    assert_eq!((line["target"].as_str(), line["level"].as_str()), (Some("saltwing::server"), Some("INFO")));
    assert_eq!(
        (line["protocol"].as_str(), line["address"].as_str()),
        (Some("postgres"), Some(process.address("postgres").as_str()))
    );
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z') && line["tls"] == false, "{line}");
    // Another reader is let in, which a server that writes would refuse.
    assert_eq!(run(&[&path, "--readonly", "-c", "SELECT k FROM t WHERE k = 1"]).out, "k\n1\n");
    process.signal("TERM");
    assert_eq!(process.end(), Some(0));
}

#[test]
fn a_certificate_is_read_again_on_sighup() {
    let dir = Directory::new();
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../saltwing-server/tests/certificates");
    let copy = |from: &str, to: &str| std::fs::copy(certificates.join(from), dir.path(to)).unwrap();
    copy("first.crt", "server.crt");
    copy("first.key", "server.key");
    let mode =
        |mode: &str| assert!(Command::new("chmod").args([mode, &dir.path("server.key")]).status().unwrap().success());
    mode("644");
    let process =
        Process::start(&[":memory:", "--tls-cert", &dir.path("server.crt"), "--tls-key", &dir.path("server.key")]);
    process.log_line("every user of this machine can use the private key");
    assert!(
        process.lines[0].ends_with(" sslmode=require\"") && process.lines[1].contains("https://"),
        "{:?}",
        process.lines
    );
    mode("600");
    copy("second.crt", "server.crt");
    process.signal("HUP");
    process.log_line("the earlier one stays in use");
    copy("second.key", "server.key");
    mode("600");
    process.signal("HUP");
    process.log_line("the certificate was read again");
    process.signal("TERM");
    assert_eq!(process.end(), Some(0));
}

/// The process has too few open files for its clients: it accepts again as soon as some are closed.
#[test]
fn it_outlives_having_no_file_left() {
    let mut shell = Command::new("sh");
    let saltwing = env!("CARGO_BIN_EXE_saltwing");
    shell.args(["-c", "ulimit -n 64; exec \"$0\" serve :memory: --pg-port 0 --avatica-port 0 --http-port 0", saltwing]);
    let process = Process::of(shell);
    let clients: Vec<TcpStream> = (0..80).map(|_| process.connect("console")).collect();
    process.log_line("no connection can be accepted");
    drop(clients);
    assert!(process.get("/healthz").starts_with("HTTP/1.1 200 "));
    assert!(process.get("/metrics").contains("saltwing_server_accept_errors_total{protocol=\"console\"}"));
}

/// The page of the server has every option, those of the database and of the log among them.
#[test]
fn the_page_has_every_option() {
    let help = run(&["serve", "--help"]);
    assert_eq!(help.code, Some(0));
    let page = include_str!("../../../../docs/server.md");
    let words = help.out.lines().filter_map(|line| line.trim_start().strip_prefix("--")?.split_whitespace().next());
    let options: Vec<&str> = words.map(|word| word.trim_end_matches(',')).collect();
    assert!(options.len() > 25, "{}", help.out);
    for option in options {
        assert!(page.contains(&format!("| `--{option}")), "--{option} is not in docs/server.md");
    }
}
