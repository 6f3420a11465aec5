//! SET, SHOW, RESET and DISCARD.

use saltwing::syntax::Lexeme;

use super::error::SessionSyntaxError;
use super::statement::{Discard, SessionStatement};
use super::transaction;
use crate::settings::{NewValue, TextAt, is_library_setting};
use crate::tokens::Tokens;

type Parsed = Result<Option<SessionStatement>, SessionSyntaxError>;

/// The most values of a SET.
const VALUES_MAX: usize = 1000;

/// SHOW of these words is a statement of the library. Longer ones begin with them.
const LIBRARY_SHOWS: [&str; 15] = [
    "ATTACHED",
    "COLUMNS",
    "CREATE",
    "DATABASES",
    "FUNCTIONS",
    "GRANTS",
    "INDEX",
    "INDEXES",
    "SCHEMAS",
    "SEQUENCES",
    "STORAGE",
    "TABLES",
    "TRANSACTIONS",
    "USERS",
    "VIEWS",
];

const NO_ROLES: &str = "there are users and no roles, and a session stays its user's";

/// `SET [SESSION | LOCAL] ..`.
pub(super) fn set(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    if tokens.eat(&["SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"]) {
        return transaction::modes(tokens).map(|modes| Some(SessionStatement::SetCharacteristics(modes)));
    }
    if tokens.at(&["CONSTRAINTS"]) {
        return constraints(tokens);
    }
    // SET SESSION AUTHORIZATION is no SET of a parameter `authorization`.
    let scope = tokens.range();
    let scope_position = tokens.position();
    let is_local = tokens.eat(&["LOCAL"]);
    let is_session = !is_local && !tokens.at(&["SESSION", "AUTHORIZATION"]) && tokens.eat(&["SESSION"]);
    if tokens.eat(&["TRANSACTION"]) {
        return set_transaction(tokens);
    }
    if let Some(statement) = identity(tokens)? {
        return Ok(Some(statement));
    }
    if let Some((name, value)) = special(tokens)? {
        return Ok(Some(SessionStatement::Set { name, value, is_local }));
    }
    let name = setting_name(tokens)?;
    if is_library_setting(&name.text) {
        if is_local {
            return Err(SessionSyntaxError::NotSupported {
                statement: "SET LOCAL of a setting of Saltwing",
                reason: "these settings are no part of a transaction",
                help: Some("SET without LOCAL holds until the next SET of the setting"),
                position: scope_position,
            });
        }
        let scope = scope.filter(|_| is_session);
        return Ok(scope.map(|scope| SessionStatement::OfTheLibrary { sql: blanked(tokens.sql(), scope), tag: "SET" }));
    }
    if !tokens.eat_symbol("=") && !tokens.eat(&["TO"]) {
        return Err(tokens.expected("= or TO").into());
    }
    let value = values(tokens)?;
    Ok(Some(SessionStatement::Set { name, value, is_local }))
}

/// The text with blanks in the place of a word, so that all places stay the same.
fn blanked(sql: &str, word: std::ops::Range<usize>) -> String {
    let is_inside = |at: usize| word.contains(&at);
    sql.char_indices().map(|(at, c)| if is_inside(at) { ' ' } else { c }).collect()
}

fn set_transaction(tokens: &mut Tokens<'_>) -> Parsed {
    if tokens.at(&["SNAPSHOT"]) {
        return Err(SessionSyntaxError::NotSupported {
            statement: "SET TRANSACTION SNAPSHOT",
            reason: "a transaction reads the snapshot of its beginning",
            help: None,
            position: tokens.position(),
        });
    }
    transaction::modes(tokens).map(|modes| Some(SessionStatement::SetTransaction(modes)))
}

/// `SET CONSTRAINTS {ALL | name, ..} {IMMEDIATE | DEFERRED}`.
fn constraints(tokens: &mut Tokens<'_>) -> Parsed {
    let position = tokens.position();
    tokens.skip();
    loop {
        tokens.name("ALL or the name of a constraint")?;
        while tokens.eat_symbol(".") {
            tokens.name("the name of a constraint")?;
        }
        if !tokens.eat_symbol(",") {
            break;
        }
    }
    if tokens.eat(&["IMMEDIATE"]) {
        return Ok(Some(SessionStatement::Nothing { tag: "SET CONSTRAINTS" }));
    }
    tokens.expect(&["DEFERRED"])?;
    Err(SessionSyntaxError::NotSupported {
        statement: "SET CONSTRAINTS DEFERRED",
        reason: "each statement checks its constraints at its end",
        help: None,
        position,
    })
}

/// `[SESSION] AUTHORIZATION ..`, `ROLE ..`: the one value that asks for the session's user is accepted.
fn identity(tokens: &mut Tokens<'_>) -> Parsed {
    let position = tokens.position();
    let statement = if tokens.eat(&["SESSION", "AUTHORIZATION"]) {
        if tokens.eat(&["DEFAULT"]) {
            return Ok(Some(SessionStatement::Nothing { tag: "SET" }));
        }
        "SET SESSION AUTHORIZATION"
    } else if tokens.at(&["ROLE"]) && tokens.peek(1) != Some((Lexeme::Symbol, "=")) && !tokens.is_word(1, "TO") {
        tokens.skip();
        let is_none = match tokens.eat_string()? {
            Some(role) => role.text.eq_ignore_ascii_case("none"),
            None => tokens.name("NONE")?.text == "none",
        };
        if is_none {
            return Ok(Some(SessionStatement::Nothing { tag: "SET" }));
        }
        "SET ROLE"
    } else {
        return Ok(None);
    };
    let help = Some("connect as the other user");
    Err(SessionSyntaxError::NotSupported { statement, reason: NO_ROLES, help, position })
}

/// The settings that SQL has words for: TIME ZONE, NAMES, SCHEMA, XML OPTION.
fn special(tokens: &mut Tokens<'_>) -> Result<Option<(TextAt, NewValue)>, SessionSyntaxError> {
    let position = Some(tokens.position());
    let named = |name: &str| TextAt { text: name.to_owned(), position };
    if tokens.eat(&["TIME", "ZONE"]) {
        return Ok(Some((named("TimeZone"), zone(tokens)?)));
    }
    let is_assigned = tokens.peek(1) == Some((Lexeme::Symbol, "=")) || tokens.is_word(1, "TO");
    if is_assigned {
        return Ok(None);
    }
    if tokens.eat(&["NAMES"]) {
        let value = if tokens.is_at_end() { NewValue::Default } else { one_value(tokens)? };
        return Ok(Some((named("client_encoding"), value)));
    }
    if tokens.eat(&["SCHEMA"]) {
        return Ok(Some((named("search_path"), one_value(tokens)?)));
    }
    if tokens.eat(&["XML", "OPTION"]) {
        return Ok(Some((named("xmloption"), one_value(tokens)?)));
    }
    Ok(None)
}

/// The value of SET TIME ZONE.
fn zone(tokens: &mut Tokens<'_>) -> Result<NewValue, SessionSyntaxError> {
    if tokens.eat(&["LOCAL"]) {
        return Ok(NewValue::Default);
    }
    if tokens.eat(&["INTERVAL"]) {
        let Some(distance) = tokens.eat_string()? else { return Err(tokens.expected("a string").into()) };
        if tokens.eat(&["HOUR"]) && tokens.eat(&["TO"]) {
            tokens.expect(&["MINUTE"])?;
        }
        return Ok(NewValue::Values(vec![distance]));
    }
    one_value(tokens)
}

/// `DEFAULT`, or a value.
fn one_value(tokens: &mut Tokens<'_>) -> Result<NewValue, SessionSyntaxError> {
    if tokens.eat(&["DEFAULT"]) {
        return Ok(NewValue::Default);
    }
    value(tokens).map(|value| NewValue::Values(vec![value]))
}

/// `DEFAULT`, or values with commas between them.
fn values(tokens: &mut Tokens<'_>) -> Result<NewValue, SessionSyntaxError> {
    if tokens.eat(&["DEFAULT"]) {
        return Ok(NewValue::Default);
    }
    let mut values = vec![value(tokens)?];
    while tokens.eat_symbol(",") {
        if values.len() >= VALUES_MAX {
            let position = tokens.position();
            return Err(SessionSyntaxError::TooMany { limit: VALUES_MAX, counted: "values of a setting", position });
        }
        values.push(value(tokens)?);
    }
    Ok(NewValue::Values(values))
}

/// A string, a word, or a number with or without a sign.
fn value(tokens: &mut Tokens<'_>) -> Result<TextAt, SessionSyntaxError> {
    const EXPECTED: &str = "a string, a word or a number";
    if let Some(text) = tokens.eat_string()? {
        return Ok(text);
    }
    let position = Some(tokens.position());
    let is_negative = tokens.eat_symbol("-");
    let is_signed = is_negative || tokens.eat_symbol("+");
    match tokens.eat_number() {
        Some(number) => Ok(TextAt { text: format!("{}{number}", if is_negative { "-" } else { "" }), position }),
        None if is_signed => Err(tokens.expected("a number").into()),
        None => Ok(tokens.name(EXPECTED)?),
    }
}

/// `SHOW name`, `SHOW ALL`.
pub(super) fn show(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    if let Some(name) = special_name(tokens) {
        return Ok(Some(SessionStatement::Show(name)));
    }
    if tokens.eat(&["ALL"]) {
        return Ok(Some(SessionStatement::ShowAll));
    }
    if !is_name(tokens) || LIBRARY_SHOWS.iter().any(|word| tokens.is_word(0, word)) {
        return Ok(None);
    }
    let name = setting_name(tokens)?;
    // The library may have more forms of SHOW, of several words.
    let is_ours = !is_library_setting(&name.text) && tokens.is_at_end();
    Ok(is_ours.then_some(SessionStatement::Show(name)))
}

/// `RESET name`, `RESET ALL`.
pub(super) fn reset(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    if tokens.eat(&["ROLE"]) {
        return Ok(Some(SessionStatement::Nothing { tag: "RESET" }));
    }
    if tokens.eat(&["SESSION", "AUTHORIZATION"]) {
        return Ok(Some(SessionStatement::Nothing { tag: "RESET" }));
    }
    if let Some(name) = special_name(tokens) {
        return Ok(Some(SessionStatement::Reset(name)));
    }
    if tokens.eat(&["ALL"]) {
        return Ok(Some(SessionStatement::ResetAll));
    }
    let name = setting_name(tokens)?;
    Ok(Some(match is_library_setting(&name.text) {
        true => SessionStatement::OfTheLibrary { sql: format!("SET {} = DEFAULT", name.text), tag: "RESET" },
        false => SessionStatement::Reset(name),
    }))
}

/// `DISCARD ..`.
pub(super) fn discard(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    let kinds = [
        ("ALL", Discard::All),
        ("PLANS", Discard::Plans),
        ("SEQUENCES", Discard::Sequences),
        ("TEMP", Discard::Temporary),
        ("TEMPORARY", Discard::Temporary),
    ];
    match kinds.into_iter().find(|(word, _)| tokens.eat(&[word])) {
        Some((_, discard)) => Ok(Some(SessionStatement::Discard(discard))),
        None => Err(tokens.expected("ALL, PLANS, SEQUENCES or TEMP").into()),
    }
}

/// The parameters that SQL has several words for.
fn special_name(tokens: &mut Tokens<'_>) -> Option<TextAt> {
    let position = Some(tokens.position());
    let names: [(&[&str], &str); 3] = [
        (&["TIME", "ZONE"], "TimeZone"),
        (&["TRANSACTION", "ISOLATION", "LEVEL"], "transaction_isolation"),
        (&["SESSION", "AUTHORIZATION"], "session_authorization"),
    ];
    let found = names.into_iter().find(|(words, _)| tokens.eat(words));
    found.map(|(_, name)| TextAt { text: name.to_owned(), position })
}

fn is_name(tokens: &mut Tokens<'_>) -> bool {
    matches!(tokens.peek(0), Some((Lexeme::Word | Lexeme::QuotedName, _)))
}

/// A name, or several with dots between them.
fn setting_name(tokens: &mut Tokens<'_>) -> Result<TextAt, SessionSyntaxError> {
    let mut name = tokens.name("a parameter")?;
    while tokens.eat_symbol(".") {
        let part = tokens.name("a parameter")?;
        name.text.push('.');
        name.text.push_str(&part.text);
    }
    Ok(name)
}
