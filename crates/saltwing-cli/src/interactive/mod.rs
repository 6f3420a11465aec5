//! The shell at a terminal.

mod completer;
mod files;
mod grammar;
mod highlighter;
mod history;
mod prompt;
mod user_file;
mod validator;

use std::io::{BufWriter, IsTerminal};
use std::process::Command;
use std::time::Duration;

use reedline::{
    ColumnarMenu, DefaultHinter, EditCommand, Emacs, InputMode, KeyCode, KeyModifiers, MenuBuilder, Reedline,
    ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use saltwing::Database;

use crate::args::Run;
use crate::dot_command::{DotCommand, PAGER};
use crate::failure::{EXIT_ERROR, Failure};
use crate::interrupt::Idle;
use crate::render::Paint;
use crate::runner::{Audience, Flow, Runner};
use crate::script::Script;

pub(crate) use highlighter::SqlColours;
pub(crate) use prompt::{FIRST as PROMPT, NEXT as PROMPT_NEXT};

const MENU: &str = "completion_menu";
const MENU_COLUMNS: u16 = 4;
/// Characters of names besides letters and digits.
const WORD_CHARACTERS: &str = "_$\"";

/// The interval at which the shell checks that its terminal still exists.
const TERMINAL_CHECKED_EVERY: Duration = Duration::from_millis(500);

/// Whether stdin, stdout and stderr are terminals: the line editor draws on them and queries the position of the cursor.
pub(crate) fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// Colours, unless the user or the terminal excludes them.
pub(crate) fn paint() -> Paint {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let able = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    if wanted && able { Paint::On } else { Paint::Off }
}

/// The program for results that are longer than the screen: `$SALTWING_PAGER`, else `$PAGER`, else less if it is installed.
/// An empty variable means no pager.
pub(crate) fn pager() -> Option<String> {
    let Ok(named) = std::env::var("SALTWING_PAGER").or_else(|_| std::env::var("PAGER")) else {
        return is_installed("less").then(|| PAGER.to_owned());
    };
    let is_less = named.split('/').next_back() == Some("less");
    // Without its options, less would wait for a key after a short result, and clear the screen at its end.
    (!named.trim().is_empty()).then(|| if is_less { PAGER.to_owned() } else { named })
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Prints a greeting and runs typed statements; returns the exit code.
pub(crate) fn run(database: Database, run: &Run) -> u8 {
    let out = Box::new(BufWriter::new(std::io::stdout()));
    let audience = Audience::Terminal(paint());
    let mut runner = Runner::new(database, run.clone(), Idle::Stays, audience, out, Box::new(std::io::stderr()));
    runner.pager = pager();
    let code = greet_and_run(&mut runner);
    runner.close(code)
}

fn greet_and_run(runner: &mut Runner<'_>) -> u8 {
    let version = env!("CARGO_PKG_VERSION");
    if runner.say(&format!("saltwing {version} on {}. .help for help, Ctrl-D to leave.", runner.place())).is_err() {
        return EXIT_ERROR;
    }
    if let Some(file) = user_file::CONFIG.path().filter(|path| !runner.run.no_config && path.exists())
        // After a failure, which is printed, the shell still starts.
        && let Ok(Flow::Quit) = runner.file_reported(&file.to_string_lossy())
    {
        return 0;
    }
    let code = type_and_run(runner);
    runner.end().map_or(EXIT_ERROR, |()| code)
}

/// Runs typed statements until the end of input; returns the exit code.
pub(crate) fn type_and_run(runner: &mut Runner<'_>) -> u8 {
    let mut editor = editor(runner);
    leave_without_terminal();
    loop {
        let typed = match editor.read_line(&prompt::ShellPrompt(runner.connection.transaction_state())) {
            Ok(Signal::Success(text)) => text,
            Ok(Signal::CtrlD) => return 0,
            Ok(Signal::HostCommand(_)) => {
                suspend();
                continue;
            }
            Ok(_) => continue,
            Err(error) => {
                eprintln!("error[58030 io]: the terminal cannot be read: {error}");
                return EXIT_ERROR;
            }
        };
        // The history is written after each line, so a killed shell keeps it. If the file cannot be written, there is no
        // history, and no message.
        let _ = editor.sync_history();
        let text = DotCommand::of_bare_word(&typed).unwrap_or(&typed);
        match runner.script(&mut Script::new(text.as_bytes()), None) {
            Ok(Flow::Quit) => return 0,
            // An error is printed and the shell continues, unless its output is closed.
            Err(Failure::Output(_)) => return EXIT_ERROR,
            Ok(Flow::Go) | Err(_) => {}
        }
    }
}

/// Stops the job (this process, and the processes that wait for it), as Ctrl-Z does when no line editor reads the key.
fn suspend() {
    // The equivalent system call needs unsafe code. The system does not stop a job that no command shell can continue.
    drop(Command::new("sh").args(["-c", "kill -TSTP 0"]).status());
}

/// Ends the process when its terminal is gone. The hangup signal may be ignored, as under `nohup`, and then the editor would read
/// the dead terminal forever.
fn leave_without_terminal() {
    let watch = || {
        while std::io::stdin().is_terminal() {
            std::thread::sleep(TERMINAL_CHECKED_EVERY);
        }
        std::process::exit(EXIT_ERROR.into());
    };
    if std::io::stdin().is_terminal() {
        // If the thread cannot be started, the shell still works as long as the terminal exists.
        drop(std::thread::Builder::new().name("saltwing-terminal".into()).spawn(watch));
    }
}

fn editor(runner: &Runner<'_>) -> Reedline {
    let paint = runner.paint();
    let completer = completer::SqlCompleter::new(runner.catalog.clone(), !runner.run.no_file_access);
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(MENU_COLUMNS).with_marker("");
    // The full buffer is needed for columns of a table that is named after the cursor. A blank ends a word, and with it the menu.
    let menu = menu.with_input_mode(InputMode::FullBuffer).with_word_chars(WORD_CHARACTERS);
    let mut keys = default_emacs_keybindings();
    let complete = vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
    if cfg!(unix) {
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), ReedlineEvent::ExecuteHostCommand(String::new()));
    }
    // Terminals send this code for Ctrl-_.
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('7'), ReedlineEvent::Edit(vec![EditCommand::Undo]));
    let editor = Reedline::create()
        .with_ansi_colors(paint == Paint::On)
        .with_highlighter(Box::new(SqlColours { paint }))
        .with_validator(Box::new(validator::StatementEnd))
        .with_completer(Box::new(completer))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .use_bracketed_paste(true);
    let editor = match paint {
        Paint::On => {
            let style = nu_ansi_term::Style::new().dimmed();
            editor.with_hinter(Box::new(DefaultHinter::default().with_style(style)))
        }
        // Without colours, a hint would look like typed text.
        Paint::Off => editor,
    };
    match history::open() {
        Some(history) => editor.with_history(history),
        None => editor,
    }
}
