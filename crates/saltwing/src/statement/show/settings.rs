//! SHOW of settings.

use saltwing_sql::statement::SettingName;

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::settings::{SETTINGS, Setting};
use crate::text_rows::TextRow;

/// `SHOW name`, or SHOW ALL.
pub(crate) struct Settings<'a>(pub(crate) Option<&'a SettingName>);

impl Listing for Settings<'_> {
    fn labels(&self) -> &'static [&'static str] {
        if self.0.is_some() { &["name", "value"] } else { &["name", "value", "description"] }
    }

    fn what(&self) -> String {
        self.0.map_or_else(|| "all settings".into(), |name| format!("the setting {}", name.text))
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let cell = |text: &str| Some(text.to_owned());
        let Some(name) = self.0 else {
            let rows = SETTINGS.iter().map(|it| vec![cell(it.name), Some(session.setting(it)), cell(it.description)]);
            return Ok(rows.collect());
        };
        let setting = Setting::named(&name.text).map_err(|error| error.at(Some(name.span)))?;
        Ok(vec![vec![cell(setting.name), Some(session.setting(setting))]])
    }
}
