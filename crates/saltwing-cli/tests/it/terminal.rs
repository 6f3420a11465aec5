//! The shell at a terminal: a pseudo-terminal types, and reads the screen.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::*;

/// How long a text may take to come.
const PATIENCE: Duration = Duration::from_secs(60);
/// A program asks where the cursor is, and the answer.
const ASKS: &[u8] = b"\x1b[6n";
const ANSWER: &[u8] = b"\x1b[1;1R";

struct Terminal {
    home: Directory,
    typed: Arc<Mutex<Box<dyn Write + Send>>>,
    shown: Arc<Mutex<Vec<u8>>>,
    /// Bytes of `shown` that a test has seen.
    seen: usize,
    child: Box<dyn Child + Send + Sync>,
    /// Whether what comes next on the screen is the last that is read.
    closes: Arc<AtomicBool>,
    reader: std::thread::JoinHandle<()>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn open(args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::open_in(Directory::new(), args, variables)
    }

    fn open_in(home: Directory, args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::run(home, &[&[env!("CARGO_BIN_EXE_saltwing")], args].concat(), variables)
    }

    /// A shell that a program starts.
    fn run(home: Directory, program: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 24, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program[0]);
        command.args(&program[1..]);
        command.env_clear();
        let home_path = home.path("");
        let all = [("HOME", home_path.as_str()), ("TERM", "xterm"), ("NO_COLOR", "1"), ("PATH", env!("PATH"))];
        all.iter().chain(variables).for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let typed = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, answers, all) = (pair.master.try_clone_reader().unwrap(), typed.clone(), shown.clone());
        let closes = Arc::new(AtomicBool::new(false));
        let is_last = closes.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = screen.read(&mut bytes) {
                if count == 0 || is_last.load(SeqCst) {
                    return;
                }
                let part = &bytes[..count];
                all.lock().unwrap().extend_from_slice(part);
                for _ in part.windows(ASKS.len()).filter(|window| *window == ASKS) {
                    // A shell that has ended wants no answer.
                    let _ = answers.lock().unwrap().write_all(ANSWER);
                }
            }
        });
        let mut terminal = Self { home, typed, shown, seen: 0, child, closes, reader, _master: pair.master };
        terminal.waits_for("for help, Ctrl-D to leave");
        terminal.waits_for("> ");
        terminal
    }

    fn types(&self, keys: &str) {
        self.typed.lock().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line, and waits for a text after it.
    fn runs(&mut self, line: &str, shows: &str) {
        self.types(&format!("{line}\r"));
        self.waits_for(shows);
    }

    /// Waits for a text that was not seen yet.
    #[track_caller]
    fn waits_for(&mut self, text: &str) {
        let began = Instant::now();
        loop {
            let shown = self.shown.lock().unwrap().clone();
            let new = String::from_utf8_lossy(&shown[self.seen..]).into_owned();
            if let Some(place) = new.find(text) {
                self.seen += place + text.len();
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{text:?} does not come; there is\n{new:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end; its exit code.
    fn ends(mut self) -> u32 {
        self.child.wait().unwrap().exit_code()
    }
}

#[test]
fn statements_run_and_the_shell_is_left() {
    let mut terminal = Terminal::open(&[], &[]);
    terminal.runs(&TABLE.replace('\n', " "), "3 rows written");
    terminal.runs("SELECT v FROM t", "");
    terminal.runs(" WHERE k = 1;", "│ a │");
    terminal.waits_for("1 row");
    terminal.runs("SELECT nope FROM t WHERE k = 1;", "no_such_column");
    // A line that is given up runs nothing.
    // What is typed ahead of it goes with the line.
    terminal.types("SELECT 99");
    terminal.waits_for("SELECT 99");
    terminal.types("\x03");
    terminal.waits_for("> ");
    terminal.runs("\\x", "> ");
    terminal.runs("SELECT k, v FROM t WHERE k = 1;", "v = a");
    terminal.types("\x04");
    assert_eq!(terminal.ends(), 0);
}

/// The signal of a closed terminal is ignored here, as below `nohup`.
#[test]
fn a_shell_whose_terminal_is_gone_ends() {
    let script = format!("trap '' HUP; exec {}", env!("CARGO_BIN_EXE_saltwing"));
    let terminal = Terminal::run(Directory::new(), &["/bin/sh", "-c", &script], &[]);
    terminal.closes.store(true, SeqCst);
    terminal.types("x");
    let Terminal { mut child, typed, reader, _master, home: _home, .. } = terminal;
    reader.join().unwrap();
    drop((typed, _master));
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the shell goes on");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn tab_completes_names() {
    let mut terminal = Terminal::open(&[], &[]);
    terminal.runs("CREATE TABLE elephants (trunk INTEGER PRIMARY KEY);", "ok");
    terminal.types("SELECT trunk FROM eleph\t");
    terminal.waits_for("elephants");
    terminal.runs(" WHERE trunk = 1;", "0 rows");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn long_results_go_through_the_pager() {
    let home = Directory::new();
    let paged = home.path("paged");
    let mut terminal = Terminal::open_in(home, &[], &[("SALTWING_PAGER", &format!("cat > {paged}"))]);
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 5);", "5 rows");
    assert!(!Path::new(&paged).exists());
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 500);", "500 rows");
    assert!(std::fs::read_to_string(&paged).unwrap().contains("│   499 │"));
    // The shell paints the old prompt again while a line is typed. Before the next prompt it asks the terminal for the cursor's place.
    terminal.runs(".pager off", "\u{1b}[6n");
    terminal.waits_for("> ");
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 500);", "│   499 │");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

/// The time below a result is the statement's, not that of its reader.
#[test]
fn the_time_of_a_reader_is_not_that_of_the_statement() {
    let pager = ("SALTWING_PAGER", "cat > /dev/null; sleep 2");
    let mut terminal = Terminal::open(&[], &[pager]);
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 500);", "500 rows, ");
    terminal.waits_for(" ");
    let shown = String::from_utf8_lossy(&terminal.shown.lock().unwrap()[terminal.seen..]).into_owned();
    assert!(shown.starts_with("ms") || shown.starts_with("us"), "{shown:?}");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

/// A directory with these programs alone, and some that shells need.
fn programs(home: &Directory, names: &[(&str, &str)]) -> String {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir(home.path("bin")).unwrap();
    for (name, text) in names {
        let file = home.file(&format!("bin/{name}"), text);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::os::unix::fs::symlink("/bin/sh", home.path("bin/sh")).unwrap();
    std::os::unix::fs::symlink("/bin/cat", home.path("bin/cat")).unwrap();
    home.path("bin")
}

#[test]
fn less_is_the_pager_where_it_is_installed() {
    let home = Directory::new();
    let paged = home.path("paged");
    let path = programs(&home, &[("less", &format!("#!/bin/sh\necho \"$@\" > '{paged}'\ncat >> '{paged}'\n"))]);
    let mut terminal = Terminal::open_in(home, &[], &[("PATH", &path)]);
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 5000);", "5,000 rows, ");
    let text = std::fs::read_to_string(&paged).unwrap();
    assert!(text.starts_with("-FRSX\n") && text.contains("│  4999 │"), "{text}");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn without_a_pager_a_terminal_shows_the_first_rows() {
    let home = Directory::new();
    let path = programs(&home, &[]);
    let mut terminal = Terminal::open_in(home, &[], &[("PATH", &path)]);
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 5000);", "│  1000 │");
    terminal.waits_for("1,000 rows shown, ");
    terminal.waits_for("there are more rows: .maxrows N");
    terminal.runs(".maxrows 0", "> ");
    terminal.runs("SELECT value FROM GENERATE_SERIES(1, 5000);", "│  5000 │");
    terminal.waits_for("5,000 rows, ");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

/// 100 columns: the key and the numbers stay, and the output names what is left out.
#[test]
fn wide_rows_keep_their_key() {
    let mut terminal = Terminal::open(&[], &[]);
    let columns: Vec<String> = (0..12).map(|i| format!("number_{i} BIGINT")).collect();
    let make =
        format!("CREATE TABLE w ({}, at TIMESTAMP, origin VARCHAR, PRIMARY KEY (origin, at));", columns.join(", "));
    terminal.runs(&make, "ok");
    terminal.runs(
        "UPSERT INTO w (origin, at, number_0) VALUES ('JFK', '2013-01-01 01:02:03.123456', 10000000000);",
        "1 row",
    );
    terminal.runs("SELECT * FROM w WHERE origin = 'JFK';", "│ 10000000000 │");
    terminal.waits_for("│ 2013-01-01 01:02:03.123456 │ JFK    │");
    terminal.waits_for("left out: number_");
    terminal.waits_for("columns are shown; .mode line shows all");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn tab_completes_columns_before_from() {
    let mut terminal = Terminal::open(&[], &[]);
    terminal.runs("CREATE TABLE elephants (proboscis INTEGER PRIMARY KEY);", "ok");
    terminal.types("SELECT probo\t");
    terminal.waits_for("proboscis");
    terminal.runs(" FROM elephants WHERE proboscis = 1;", "0 rows");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

/// Ctrl-Z stops the job, and what was typed is there when it goes on.
#[test]
fn ctrl_z_stops_the_shell_until_it_is_continued() {
    let script = format!("set -m; '{}'; echo stopped; fg; echo ended $?", env!("CARGO_BIN_EXE_saltwing"));
    let mut terminal = Terminal::run(Directory::new(), &["/bin/sh", "-c", &script], &[]);
    terminal.types("SELECT 40 + ");
    terminal.waits_for("SELECT 40 + ");
    terminal.types("\x1a");
    terminal.waits_for("stopped");
    terminal.waits_for("> ");
    terminal.runs("2;", "│     42 │");
    terminal.runs(".quit", "ended 0");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_statement_is_edited_and_run() {
    let home = Directory::new();
    let editor = home.file("editor", "sed -i s/40/42/ \"$1\"\n");
    let mut terminal = Terminal::open_in(home, &[], &[("EDITOR", &format!("sh {editor}"))]);
    terminal.runs("SELECT 40 + 1;", "│     41 │");
    terminal.runs("\\e", "│     43 │");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_shell_begins_with_its_configuration() {
    let home = Directory::new();
    std::fs::create_dir_all(home.path(".config/saltwing")).unwrap();
    home.file(".config/saltwing/config", ".mode line\nSET rows_max = 123;\nSELEC 1;\n");
    let mut terminal = Terminal::open_in(home, &[], &[]);
    terminal.runs("SELECT 5 AS five;", "five = 5");
    terminal.runs("SHOW rows_max;", "123");
    let shown = String::from_utf8_lossy(&terminal.shown.lock().unwrap()).into_owned();
    assert!(shown.contains("config:3:1"), "{shown:?}");
    terminal.runs(".quit", "");
    let home = std::mem::replace(&mut terminal.home, Directory::new());
    assert_eq!(terminal.ends(), 0);
    let mut terminal = Terminal::open_in(home, &["--no-config"], &[]);
    terminal.runs("SELECT 5 AS five;", "│    5 │");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn heat_has_colours_at_a_terminal() {
    let mut terminal = Terminal::open(&["--no-config"], &[("NO_COLOR", "")]);
    terminal.runs("CREATE TABLE h (k BIGINT PRIMARY KEY); UPSERT INTO h VALUES (1), (2);", "2 rows written");
    terminal.runs(".heat h 30 writes", "\u{1b}[48;5;228m");
    terminal.waits_for("now");
    terminal.types(".quit\r");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_watch_ends_with_ctrl_c() {
    let mut terminal = Terminal::open(&[], &[]);
    terminal.runs("SELECT 6 * 7 AS answer;", "│     42 │");
    terminal.runs("\\watch 0.05", " UTC, every 0.05 s");
    terminal.waits_for("│     42 │");
    terminal.waits_for("│     42 │");
    terminal.types("\x03");
    terminal.runs("SELECT 1 AS one;", "│   1 │");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}
