//! The bodies of calls: objects of JSON.

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use serde_json::{Map, Value, json};

use crate::error::ConsoleError;
use crate::headers;

/// The object of a call.
pub(crate) struct Body(Map<String, Value>);

impl Body {
    /// Reads a body. A form of another page cannot send this type without a question of the browser first.
    ///
    /// # Errors
    /// [`ConsoleError::NotJson`], [`ConsoleError::BadBody`].
    pub(crate) fn read(head: &Parts, bytes: &[u8]) -> Result<Self, ConsoleError> {
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(ConsoleError::NotJson);
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(ConsoleError::BadBody { reason: "it is no object".to_owned() }),
            Err(error) => Err(ConsoleError::BadBody { reason: error.to_string() }),
        }
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, ConsoleError> {
        self.optional_text(name)?.ok_or_else(|| missing(name, "a text"))
    }

    /// A text that may be absent or null.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, ConsoleError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(missing(name, "a text")),
        }
    }

    /// A number from 0 on that must be there.
    pub(crate) fn number(&self, name: &str) -> Result<u64, ConsoleError> {
        self.0.get(name).and_then(Value::as_u64).ok_or_else(|| missing(name, "a number"))
    }

    /// A number within bounds; the default if it is absent.
    pub(crate) fn bounded(&self, name: &str, default: u64, (least, most): (u64, u64)) -> Result<u64, ConsoleError> {
        match self.0.get(name) {
            None => Ok(default),
            Some(value) => {
                let number = value.as_u64().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| missing(name, &format!("a number from {least} to {most}")))
            }
        }
    }
}

fn missing(name: &str, expected: &str) -> ConsoleError {
    ConsoleError::BadBody { reason: format!("{name} is {expected}") }
}

/// The answer to a call.
pub(crate) fn answer(result: Result<Value, ConsoleError>) -> Response<Bytes> {
    let (status, value) = match result {
        Ok(value) => (http::StatusCode::OK, value),
        Err(error) => {
            let help: Vec<String> = error.help().iter().flat_map(|help| help.lines()).map(str::to_owned).collect();
            let value = json!({ "text": error.to_string(), "sqlstate": error.sqlstate(), "help": help });
            (error.status(), json!({ "error": value }))
        }
    };
    headers::with_body(status, "application/json", Bytes::from(value.to_string()))
}
