//! `saltwing demo`: a tour on a generated table.
//!
//! Every statement really runs, and uses only one table, so that the tour is the
//! same with and without the relational engine. All output goes to stdout, in order.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::mem::take;
use std::path::Path;

use reedline::Highlighter;

use crate::args::Run;
use crate::batch::exit_code;
use crate::failure::{EXIT_ERROR, Failure};
use crate::interactive::{self, PROMPT, PROMPT_NEXT, SqlColours};
use crate::interrupt::Idle;
use crate::message::grouped;
use crate::mobile_log::{self, COLUMNS, CREATE_TABLE, ID, MobileLog, PHONE_NO, START_TIME};
use crate::render::Paint;
use crate::runner::{Audience, Flow, Runner};
use crate::script::Script;

/// A log that is loaded within a second, and of which a day fits the screen.
const LOG: MobileLog = MobileLog { phones: 120, days: 4, sessions_a_day: 8 };
const PHONE: &str = "18601134210";
const DAY: u64 = 24;

/// Runs the tour, then a shell if stdin is a terminal; returns the exit code.
pub(crate) fn run() -> u8 {
    match tempfile::Builder::new().prefix("saltwing-demo-").tempdir() {
        Ok(directory) => in_directory(directory.path()),
        Err(error) => {
            eprintln!("error[58030 io]: there is no temporary directory: {error}");
            EXIT_ERROR
        }
    }
}

fn in_directory(directory: &Path) -> u8 {
    let run = Run::default().with_database(directory.join("db"));
    let database = match run.open() {
        Ok(database) => database,
        Err(error) => {
            eprintln!("{}", error.render(""));
            return EXIT_ERROR;
        }
    };
    let has_shell = interactive::is_terminal();
    let idle = if has_shell { Idle::Stays } else { Idle::Ends };
    let paint = if io::stdout().is_terminal() { interactive::paint() } else { Paint::Off };
    let out = || Box::new(io::stdout());
    let runner = Runner::new(database, run, idle, Audience::Terminal(paint), out(), out());
    let mut tour = Tour { runner, paint };
    match tour.tell(directory, has_shell) {
        Ok(()) if has_shell => {
            tour.runner.pager = interactive::pager();
            interactive::type_and_run(&mut tour.runner)
        }
        done => exit_code(done.map(|()| Flow::Go)),
    }
}

struct Tour<'a> {
    runner: Runner<'a>,
    paint: Paint,
}

impl Tour<'_> {
    fn tell(&mut self, directory: &Path, has_shell: bool) -> Result<(), Failure> {
        let rows = grouped(LOG.row_count());
        self.text("Saltwing is SQL over sorted keys. This is a tour of it, in two minutes.")?;
        self.title("1. Rows are sorted by their key")?;
        self.text(&format!(
            "A log of mobile data sessions, {rows} of them, made up. Their key begins with\n\
             three hex digits of the phone's MD5, which spread the phones; the table computes\n\
             them. Then come the phone and the time: a phone's sessions lie side by side."
        ))?;
        self.show(&format!("{CREATE_TABLE};"))?;
        let file = directory.join("sessions.csv");
        write_sessions(&file).map_err(|error| Failure::Input(file.display().to_string(), error))?;
        let name = file.display().to_string().replace('\'', "''");
        self.show(&format!("COPY mobile_log FROM '{name}'\nWITH (FORMAT csv, HEADER);"))?;

        self.title("2. One key is one read")?;
        let (time, id) = some_session();
        self.show(&format!(
            "SELECT site_name_id, acce_url, flow FROM mobile_log\n\
             WHERE phone_no = '{PHONE}' AND start_time = '{time}'\n\
             AND id = '{id}';"
        ))?;

        self.title("3. A phone's day is a range of keys")?;
        let (from, to) = mobile_log::day_range(DAY);
        self.text(&format!("Phone {PHONE} on {from}. Nobody has to write the hash."))?;
        self.show(&format!(
            "SELECT start_time, site_name_id, up_flow, down_flow FROM mobile_log\n\
             WHERE phone_no = '{PHONE}'\n\
             AND start_time >= '{from}' AND start_time < '{to}';"
        ))?;
        self.text(&format!(
            "The line below the table says what it cost: {} keys were read, of {rows}.",
            LOG.sessions_a_day
        ))?;

        self.title("4. No accidental full scan")?;
        self.text(
            "site_name_id is not in the key. Nothing bounds what this would read, so it is\n\
             refused before it reads: with few rows as with billions.",
        )?;
        self.show_refusal("SELECT start_time, flow FROM mobile_log\nWHERE site_name_id = 'video';")?;
        self.text("The fix is a condition on the key. The others filter the rows that it leaves.")?;
        let fixed = format!(
            "SELECT start_time, site_name_id, flow FROM mobile_log\n\
             WHERE site_name_id = 'video' AND phone_no = '{PHONE}';"
        );
        self.show(&fixed)?;

        self.title("5. Ask first")?;
        self.text("EXPLAIN shows the keys that a statement would read, and runs nothing.")?;
        self.show(&format!("EXPLAIN {fixed}"))?;
        self.farewell(has_shell)
    }

    fn title(&mut self, text: &str) -> Result<(), Failure> {
        self.runner.say(&format!("{}\n", self.paint.bold(text)))
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.runner.say(&format!("{text}\n"))
    }

    /// Prints a statement as if the user had typed it, and its result.
    fn show(&mut self, sql: &str) -> Result<(), Failure> {
        let coloured = SqlColours { paint: self.paint }.highlight(sql, 0);
        let coloured = if self.paint == Paint::On { coloured.render_simple() } else { sql.to_owned() };
        for (i, line) in coloured.lines().enumerate() {
            let prompt = self.paint.help(if i == 0 { PROMPT } else { PROMPT_NEXT });
            self.runner.say(&format!("{prompt}{line}"))?;
        }
        let done = self.runner.script(&mut Script::new(sql.as_bytes()), None);
        self.runner.say("")?;
        done.map(|_| ())
    }

    /// Shows a statement that is refused, with its message.
    fn show_refusal(&mut self, sql: &str) -> Result<(), Failure> {
        match self.show(sql) {
            Err(Failure::Reported) => Ok(()),
            done => done,
        }
    }

    fn farewell(&mut self, has_shell: bool) -> Result<(), Failure> {
        match has_shell {
            true => self.text(
                "Now it is yours: try `\\d mobile_log`, or a query of your own. Tab completes,\n\
                 .help helps, Ctrl-D leaves; the database goes then. `saltwing DIR` keeps one.",
            ),
            false => self.runner.say("At a terminal, a shell on this database opens here. `saltwing DIR` keeps one."),
        }
    }
}

/// The time and the id of a session of the phone's day.
fn some_session() -> (String, String) {
    let (from, to) = mobile_log::day_range(DAY);
    LOG.sessions()
        .find(|session| session[PHONE_NO] == PHONE && session[START_TIME] >= from && session[START_TIME] < to)
        .map(|mut session| (take(&mut session[START_TIME]), take(&mut session[ID])))
        .unwrap_or_default()
}

/// Writes the log as CSV: no text needs quotes, and an empty field is NULL.
fn write_sessions(path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "{}", COLUMNS.join(","))?;
    for session in LOG.sessions() {
        writeln!(out, "{}", session.join(","))?;
    }
    out.flush()
}
