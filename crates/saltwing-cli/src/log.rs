//! The log of `--log`: on stderr, a line an event, and a line a span when it ends.

use std::fmt::{self, Debug};
use std::io;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FmtSpan, FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// An object of JSON, for programs.
    Json,
}

/// Logs what `filter` lets through, from now on.
pub(crate) fn start(filter: Targets, format: Format) {
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_span_events(FmtSpan::CLOSE);
    let registry = tracing_subscriber::registry();
    // Fails if the process already has a log, which then stays.
    let _ = match format {
        Format::Text => registry.with(lines.with_filter(filter)).try_init(),
        Format::Json => registry.with(lines.event_format(JsonLines).with_filter(filter)).try_init(),
    };
}

/// An event as an object: `timestamp`, `level`, `target`, the event's own fields, and `spans`, the outermost first.
struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let metadata = event.metadata();
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), timestamp.into());
        line.insert("level".to_owned(), metadata.level().as_str().into());
        line.insert("target".to_owned(), metadata.target().into());
        let spans: Vec<Value> = context
            .event_scope()
            .into_iter()
            .flat_map(|scope| scope.from_root())
            .map(|span| {
                let extensions = span.extensions();
                let fields = extensions.get::<FormattedFields<N>>().map_or("", |fields| fields.fields.as_str());
                serde_json::json!({ "name": span.name(), "fields": fields })
            })
            .collect();
        if !spans.is_empty() {
            line.insert("spans".to_owned(), spans.into());
        }
        event.record(&mut Fields(&mut line));
        writeln!(out, "{}", Value::Object(line))
    }
}

/// Puts the fields of an event into an object. A field with a name that the line has already is left out.
struct Fields<'a>(&'a mut Map<String, Value>);

impl Fields<'_> {
    fn insert(&mut self, field: &Field, value: Value) {
        self.0.entry(field.name()).or_insert(value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.insert(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value.into());
    }
}
