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

    /// Types a line, and waits for a text behind it.
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
fn a_watch_ends_with_ctrl_c() {
    let mut terminal = Terminal::open(&[], &[]);
    terminal.runs("SELECT 6 * 7 AS answer;", "│     42 │");
    terminal.runs("\\watch 0.05", "│     42 │");
    terminal.waits_for("│     42 │");
    terminal.types("\x03");
    terminal.runs("SELECT 1 AS one;", "│   1 │");
    terminal.runs(".quit", "");
    assert_eq!(terminal.ends(), 0);
}
