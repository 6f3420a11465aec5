//! Shows the result of a statement: rows, counts, notices.

use std::io::{IsTerminal, Write};

use saltwing::arrow::array::RecordBatch;
use saltwing::{ArrowRows, ExecResult, Stats};

use crate::failure::Failure;
use crate::message;
use crate::output::Began;
use crate::render::{Mode, Options, Paint, Plain, Renderer};
use crate::runner::{Audience, Runner};
use crate::screen::Screen;
use crate::statement_kind::StatementKind;
use crate::statement_tables::tables_of;

/// Most rows of a result that a terminal without a pager shows, unless `.maxrows` is set.
const ROWS_SHOWN: u64 = 1000;

impl Runner<'_> {
    pub(crate) fn done(&mut self, result: &ExecResult, kind: StatementKind, began: Began) -> Result<(), Failure> {
        let time = self.out.time_since(began);
        self.notices(&result.notices)?;
        let text = match kind {
            StatementKind::Write(how) => format!("{} {how}", message::count(result.rows_affected, "row", "rows")),
            _ if self.audience == Audience::Batch => return Ok(()),
            _ => "ok".to_owned(),
        };
        // For scripts, the line does not depend on the reads of the statement.
        let stats = if self.audience == Audience::Batch { Stats::default() } else { result.stats };
        writeln!(self.messages, "{}", message::footer(text, self.timing.then_some(time), stats))?;
        Ok(())
    }

    pub(crate) fn rows(
        &mut self,
        rows: ArrowRows,
        kind: StatementKind,
        keys: Vec<String>,
        began: Began,
    ) -> Result<(), Failure> {
        if let Some(pager) = &self.pager
            && let Some(screen) = Screen::of_results()
        {
            self.out.page(pager, screen.lines);
        }
        let shown = self.show(rows, kind, keys, began);
        self.out.end_result()?;
        shown
    }

    fn show(
        &mut self,
        mut rows: ArrowRows,
        kind: StatementKind,
        keys: Vec<String>,
        began: Began,
    ) -> Result<(), Failure> {
        let is_text = self.shows_as_text(&rows, kind);
        let mut renderer = self.renderer(&rows, kind, keys);
        let most = self.rows_shown(kind);
        let mut count = 0;
        // The first batch is read before anything is printed, so that an error before the first row prints no header.
        let first = rows.next_blocking();
        // From here on rows are written, and the progress line would be between them.
        self.progress.finish();
        let mut next = first?;
        let mut is_cut = false;
        renderer.start(&mut self.out)?;
        while let Some(batch) = next {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            let batch = up_to(&batch, most.saturating_sub(count), &mut is_cut);
            count += batch.num_rows() as u64;
            renderer.batch(&batch, &mut self.out)?;
            if self.audience != Audience::Batch {
                self.out.flush()?;
            }
            next = if self.out.is_closed() || is_cut { None } else { rows.next_blocking()? };
        }
        renderer.finish(&mut self.out)?;
        self.out.end_result()?;
        let time = self.out.time_since(began);
        self.notices(rows.notices())?;
        if !is_text && (self.audience != Audience::Batch || self.timing) {
            let rows_shown = message::count(count, "row", "rows") + if is_cut { " shown" } else { "" };
            let footer = message::footer(rows_shown, self.timing.then_some(time), rows.stats());
            writeln!(self.messages, "{}", self.paint().dim(&footer))?;
        }
        if is_cut {
            let text = "there are more rows: .maxrows N shows N of them, .maxrows 0 all";
            writeln!(self.messages, "{}", self.paint().dim(text))?;
        }
        if let Some(token) = rows.next_page() {
            writeln!(self.messages, "next page: AFTER '{token}'")?;
        }
        Ok(())
    }

    fn renderer(&self, rows: &ArrowRows, kind: StatementKind, keys: Vec<String>) -> Box<dyn Renderer> {
        let is_fields = matches!(self.mode, Mode::Csv | Mode::Tsv);
        if self.shows_as_text(rows, kind) {
            Box::new(Plain::new(rows.columns(), "\n"))
        } else if kind == StatementKind::Plan && is_fields && rows.columns().len() == 1 {
            // A plan is for people to read, and csv would put quotes around some of its lines.
            Box::new(Plain::new(rows.columns(), "\n").with_header())
        } else {
            self.mode.renderer(rows.columns(), &self.options_for(kind, keys))
        }
    }

    /// Whether a result is text for people to read: plans and definitions.
    fn shows_as_text(&self, rows: &ArrowRows, kind: StatementKind) -> bool {
        let for_people = matches!(self.mode, Mode::Table | Mode::Box) && self.audience != Audience::Batch;
        for_people && matches!(kind, StatementKind::Text | StatementKind::Plan) && rows.columns().len() == 1
    }

    /// The most rows of a result that are shown. For a statement that writes, all rows are shown.
    pub(crate) fn rows_shown(&self, kind: StatementKind) -> u64 {
        let is_for_people = matches!(self.mode, Mode::Table | Mode::Box | Mode::Line);
        if !is_for_people || self.out.file().is_some() || matches!(kind, StatementKind::Write(_)) {
            return u64::MAX;
        }
        match self.max_rows {
            Some(0) => u64::MAX,
            Some(most) => most,
            None if self.pager.is_none() && self.is_at_terminal() => ROWS_SHOWN,
            None => u64::MAX,
        }
    }

    fn is_at_terminal(&self) -> bool {
        self.audience != Audience::Batch && std::io::stdout().is_terminal()
    }

    /// The names of the key columns of a query's tables, if they decide which columns of a wide result are shown.
    pub(crate) fn key_columns(&self, sql: &str, kind: StatementKind) -> Vec<String> {
        let is_table = matches!(self.mode, Mode::Table | Mode::Box);
        match kind == StatementKind::Other && is_table && self.is_at_terminal() {
            true => tables_of(sql).iter().flat_map(|table| self.catalog.key_columns(&table.name)).collect(),
            false => Vec::new(),
        }
    }

    /// In results of the catalog, NULL is shown as an empty text: no value looks like it.
    fn options_for(&self, kind: StatementKind, keys: Vec<String>) -> Options {
        match (kind, &self.null_text) {
            (StatementKind::Catalog, None) => Options { null_text: String::new(), ..self.options(keys) },
            _ => self.options(keys),
        }
    }

    pub(crate) fn options(&self, keys: Vec<String>) -> Options {
        let (separator, widths) = (self.separator, self.widths.clone());
        match self.audience {
            Audience::Terminal(paint) if self.out.file().is_none() => {
                let width = Screen::of_results().map(|screen| screen.columns);
                let null_text = self.null_text.clone().unwrap_or_else(|| "NULL".into());
                Options { width, widths, null_text, paint, keys, separator }
            }
            _ => {
                let null_text = self.null_text.clone().unwrap_or_default();
                Options { width: None, widths, null_text, paint: Paint::Off, keys, separator }
            }
        }
    }
}

/// The first rows of a batch; sets `is_cut` if there are more.
fn up_to(batch: &RecordBatch, most: u64, is_cut: &mut bool) -> RecordBatch {
    *is_cut = batch.num_rows() as u64 > most;
    match *is_cut {
        true => batch.slice(0, usize::try_from(most).unwrap_or(usize::MAX)),
        false => batch.clone(),
    }
}
