//! The parameters of one session: SET, RESET and SHOW.

use std::sync::Arc;

use saltwing::Dialect;
use saltwing_sessions::Limits;

use super::catalog::{PARAMETERS, advice, help_for, parameter_named};
use super::custom::CustomSettings;
use super::error::{SettingError, SettingWarning};
use super::open_transaction::OpenTransaction;
use super::parameter::{Parameter, SessionFacts, Source};
use super::text_at::{TextAt, shortened};
use super::transaction_modes::{Characteristics, TransactionModes};
use super::value::{ApplicationName, Refusal, Value};
use super::values::Values;

/// The values of a SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewValue {
    /// `DEFAULT`: the value that the session began with.
    Default,
    /// At least one.
    Values(Vec<TextAt>),
}

/// A parameter as SHOW gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownParameter {
    /// Its name, which is also the name of the column of `SHOW name`.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
    /// Its meaning.
    pub(crate) description: &'static str,
}

/// The parameters of a session with PostgreSQL's names.
///
/// Two sets of values: those that hold now, and those that hold after the transaction if it commits. SET changes both, and SET
/// LOCAL the first alone. The open transaction keeps the values of its beginning, which ROLLBACK gives back.
pub(crate) struct PostgresSettings {
    pub(super) facts: SessionFacts,
    /// The values that hold now.
    pub(super) current: Arc<Values>,
    /// The values that hold after COMMIT.
    pub(super) lasting: Arc<Values>,
    /// The values that RESET gives.
    defaults: Arc<Values>,
    /// The open transaction.
    pub(super) transaction: Option<OpenTransaction>,
    /// The values that the client knows, of the parameters that are reported, in their order.
    known: Vec<String>,
    /// Whether a value may have changed since `known`.
    pub(super) may_differ: bool,
}

impl PostgresSettings {
    /// The parameters of a new session.
    pub(crate) fn new(facts: SessionFacts, limits: &Limits) -> Self {
        let values = Arc::new(Values::new(limits, facts.is_read_only_database));
        Self {
            facts,
            current: values.clone(),
            lasting: values.clone(),
            defaults: values,
            transaction: None,
            known: Vec::new(),
            may_differ: true,
        }
    }

    /// `SET name = values`. Outside of a transaction a local value ends at once, so it is not even set.
    ///
    /// # Errors
    /// Any [`SettingError`] about a name or a value; then nothing has changed.
    pub(crate) fn set(
        &mut self,
        name: &TextAt,
        value: &NewValue,
        is_local: bool,
    ) -> Result<Option<SettingWarning>, SettingError> {
        let NewValue::Values(values) = value else { return self.reset(name, is_local) };
        let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
        let position = values.first().and_then(|value| value.position);
        let shown = || TextAt { text: texts.join(", "), position };
        let Some(parameter) = parameter_named(&name.text) else {
            return self.set_custom(name, &shown().text, is_local);
        };
        self.assign(parameter, name.position, is_local, &shown(), |value| value.assign(&texts))
    }

    /// Sets a parameter from one text, as `set_config` does: the text of a list has all of its elements.
    ///
    /// # Errors
    /// As [`PostgresSettings::set`].
    pub(crate) fn set_text(
        &mut self,
        name: &str,
        text: &str,
        is_local: bool,
    ) -> Result<Option<SettingWarning>, SettingError> {
        let Some(parameter) = parameter_named(name) else { return self.set_custom(&name.into(), text, is_local) };
        self.assign(parameter, None, is_local, &text.into(), |value| value.read(text))
    }

    /// `RESET name`, and `SET name = DEFAULT`: the value that the session began with.
    ///
    /// # Errors
    /// [`SettingError::Unknown`], [`SettingError::Fixed`], [`SettingError::AlreadyReadOnly`].
    pub(crate) fn reset(&mut self, name: &TextAt, is_local: bool) -> Result<Option<SettingWarning>, SettingError> {
        let defaults = self.defaults.clone();
        let Some(parameter) = parameter_named(&name.text) else {
            if !CustomSettings::is_meant(&name.text) {
                return Err(unknown(name));
            }
            return self.change(is_local, |values| {
                values.custom.reset(&name.text, &defaults.custom);
                Ok(())
            });
        };
        match parameter.source {
            Source::Fixed(_) => Err(fixed(parameter, name.position)),
            Source::Single(_) => Ok(None),
            Source::Mode(mode) => self.set_transaction(mode.of(self.current.default_characteristics())),
            Source::Kept { get, .. } => {
                let text = get(&defaults).show();
                self.assign(parameter, name.position, is_local, &text.as_str().into(), |value| value.read(&text))
            }
        }
    }

    /// `RESET ALL`, a part of `DISCARD ALL`. The modes of an open transaction stay, and so do the settings of the library, which
    /// the session resets by itself.
    pub(crate) fn reset_all(&mut self) {
        (self.current, self.lasting) = (self.defaults.clone(), self.defaults.clone());
        self.may_differ = true;
    }

    /// `SHOW name`.
    ///
    /// # Errors
    /// [`SettingError::Unknown`].
    pub(crate) fn show(&self, name: &TextAt) -> Result<ShownParameter, SettingError> {
        if let Some(parameter) = parameter_named(&name.text) {
            return Ok(self.shown(parameter));
        }
        let custom = self.current.custom.get(&name.text).ok_or_else(|| unknown(name))?;
        Ok(ShownParameter { name: name.text.clone(), value: custom.to_owned(), description: "" })
    }

    /// `SHOW ALL`: the parameters, and the custom settings, by name. Settings of the library are not among them.
    pub(crate) fn show_all(&self) -> Vec<ShownParameter> {
        let custom = self.current.custom.iter().map(|(name, text)| ShownParameter {
            name: name.to_owned(),
            value: text.to_owned(),
            description: "",
        });
        let mut all: Vec<ShownParameter> =
            PARAMETERS.iter().map(|parameter| self.shown(parameter)).chain(custom).collect();
        all.sort_by_cached_key(|shown| shown.name.to_lowercase());
        all
    }

    /// The text of a parameter or of a custom setting, for `current_setting`.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.show(&name.into()).ok().map(|shown| shown.value)
    }

    /// The library's setting `dialect` has changed.
    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.may_differ |= self.facts.dialect != dialect;
        self.facts.dialect = dialect;
    }

    /// The reports for the client: all parameters that are reported at first, and after a statement those that have another value
    /// than the client knows.
    pub(crate) fn take_reports(&mut self) -> Vec<(&'static str, String)> {
        if !std::mem::take(&mut self.may_differ) {
            return Vec::new();
        }
        let reported = PARAMETERS.iter().filter(|parameter| parameter.is_reported);
        let values: Vec<(&'static str, String)> =
            reported.map(|parameter| (parameter.name, self.shown(parameter).value)).collect();
        let texts = values.iter().map(|(_, value)| value.clone()).collect();
        let known = std::mem::replace(&mut self.known, texts);
        let is_known = |index: usize, value: &String| known.get(index) == Some(value);
        let changed = values.into_iter().enumerate().filter(|(index, (_, value))| !is_known(*index, value));
        changed.map(|(_, report)| report).collect()
    }

    /// The values of the startup message are those that RESET gives.
    pub(super) fn keep_as_defaults(&mut self) {
        self.defaults = self.lasting.clone();
    }

    fn shown(&self, parameter: &Parameter) -> ShownParameter {
        let value = match parameter.source {
            Source::Fixed(value) => value(&self.facts),
            Source::Single(single) => (single.value)(&self.facts).to_owned(),
            Source::Kept { get, .. } => get(&self.current).show(),
            Source::Mode(mode) => mode.show(self.characteristics()),
        };
        ShownParameter { name: parameter.name.to_owned(), value, description: parameter.description }
    }

    /// Gives a parameter the value that `take` reads; `text` is for errors.
    fn assign(
        &mut self,
        parameter: &'static Parameter,
        name_position: Option<usize>,
        is_local: bool,
        text: &TextAt,
        take: impl Fn(&mut dyn Value) -> Result<(), Refusal>,
    ) -> Result<Option<SettingWarning>, SettingError> {
        let refused = |refusal| refused(parameter, text, refusal);
        match parameter.source {
            Source::Fixed(_) => Err(fixed(parameter, name_position)),
            Source::Single(single) => {
                single.check(&text.text, &self.facts).map_err(refused)?;
                Ok(None)
            }
            Source::Mode(mode) => self.set_transaction(mode.read(&text.text).map_err(refused)?),
            Source::Kept { get_mut, .. } => {
                let warning = self.change(is_local, |values| take(get_mut(values)).map_err(refused))?;
                let is_cut = parameter.name == "application_name" && ApplicationName::is_cut(&text.text);
                Ok(warning.or(is_cut.then_some(SettingWarning::NameCut)))
            }
        }
    }

    fn set_custom(
        &mut self,
        name: &TextAt,
        text: &str,
        is_local: bool,
    ) -> Result<Option<SettingWarning>, SettingError> {
        if !CustomSettings::is_meant(&name.text) {
            return Err(unknown(name));
        }
        self.change(is_local, |values| values.custom.set(name, text.to_owned()))
    }

    /// Changes the values that hold now, and unless the change is local those that hold after the transaction.
    fn change(
        &mut self,
        is_local: bool,
        change: impl Fn(&mut Values) -> Result<(), SettingError>,
    ) -> Result<Option<SettingWarning>, SettingError> {
        // The change goes to a copy: an error leaves everything as it was, also outside of a transaction.
        let mut current = Values::clone(&self.current);
        change(&mut current)?;
        if is_local && self.transaction.is_none() {
            return Ok(Some(SettingWarning::LocalOutsideTransaction));
        }
        if !is_local {
            // Both are one outside of a transaction, and in one that has had no SET LOCAL.
            if Arc::ptr_eq(&self.current, &self.lasting) {
                self.current = Arc::new(current);
                self.lasting = self.current.clone();
                self.may_differ = true;
                return Ok(None);
            }
            change(Arc::make_mut(&mut self.lasting))?;
        }
        self.current = Arc::new(current);
        self.may_differ = true;
        Ok(None)
    }

    /// `SET TRANSACTION modes`, of the open transaction.
    ///
    /// # Errors
    /// [`SettingError::AlreadyReadOnly`].
    pub(crate) fn set_transaction(&mut self, modes: TransactionModes) -> Result<Option<SettingWarning>, SettingError> {
        let Some(transaction) = &mut self.transaction else {
            return Ok(Some(SettingWarning::TransactionOutsideTransaction));
        };
        // The library has opened it for reading alone.
        if transaction.modes.is_read_only && modes.is_read_only == Some(false) {
            return Err(SettingError::AlreadyReadOnly);
        }
        transaction.modes = transaction.modes.with(modes);
        Ok(None)
    }

    /// The modes of the open transaction; outside of one those of a statement.
    pub(super) fn characteristics(&self) -> Characteristics {
        self.transaction
            .as_ref()
            .map_or_else(|| self.current.default_characteristics(), |transaction| transaction.modes)
    }

    /// `SET SESSION CHARACTERISTICS AS TRANSACTION modes`: the modes of later transactions that name none.
    ///
    /// # Errors
    /// None that the modes could cause.
    pub(crate) fn set_characteristics(&mut self, modes: TransactionModes) -> Result<(), SettingError> {
        let changed = self.change(false, |values| {
            let all = values.default_characteristics().with(modes);
            values.default_transaction_isolation = all.isolation;
            values.default_transaction_read_only = all.is_read_only;
            values.default_transaction_deferrable = all.is_deferrable;
            Ok(())
        });
        changed.map(drop)
    }
}

fn unknown(name: &TextAt) -> SettingError {
    SettingError::Unknown { name: shortened(&name.text), help: advice(&name.text), position: name.position }
}

fn fixed(parameter: &Parameter, position: Option<usize>) -> SettingError {
    SettingError::Fixed { name: parameter.name, position }
}

fn refused(parameter: &Parameter, text: &TextAt, refusal: Refusal) -> SettingError {
    let (name, value, position) = (parameter.name, shortened(&text.text), text.position);
    match refusal {
        Refusal::Takes(takes) => SettingError::InvalidValue { name, value, takes, position },
        Refusal::NotSupported(reason) => {
            SettingError::NotSupported { name, value, reason, help: help_for(parameter), position }
        }
    }
}
