//! Settings of the startup message: parameters, and the switches of the parameter `options`.

use super::catalog::is_library_setting;
use super::error::{SettingError, SettingWarning};
use super::session::PostgresSettings;
use super::text_at::shortened;

/// The settings of a startup message that the session has to act on itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Startup {
    /// Settings of the library with their values, in order: the session runs SET for each.
    pub(crate) of_the_library: Vec<(String, String)>,
    /// Warnings for the client, after the login.
    pub(crate) warnings: Vec<SettingWarning>,
}

/// Parameters of the startup message that are no settings.
const NO_SETTINGS: [&str; 4] = ["user", "database", "replication", "options"];

impl PostgresSettings {
    /// Takes the parameters of the startup message. They are the values that RESET gives.
    ///
    /// pgjdbc sends the time zone of its machine. A zone other than UTC is not used there, so that these clients can connect:
    /// they get a warning, and go by the TimeZone that the server reports.
    ///
    /// # Errors
    /// As [`PostgresSettings::set_text`], and [`SettingError::BadOption`]. The session must not begin then.
    pub(crate) fn start(&mut self, parameters: &[(String, String)]) -> Result<Startup, SettingError> {
        let mut startup = Startup::default();
        // A parameter of its own comes before a switch for the same.
        if let Some((_, options)) = parameters.iter().find(|(name, _)| name == "options") {
            for (name, value) in switches(options)? {
                self.start_with(&name, &value, &mut startup)?;
            }
        }
        for (name, value) in parameters {
            if NO_SETTINGS.contains(&name.as_str()) || name.starts_with("_pq_.") {
                continue;
            }
            match self.start_with(name, value, &mut startup) {
                Err(SettingError::NotSupported { name: "TimeZone", .. }) => {
                    startup.warnings.push(SettingWarning::ZoneIgnored { zone: shortened(value) });
                }
                result => result?,
            }
        }
        self.keep_as_defaults();
        Ok(startup)
    }

    fn start_with(&mut self, name: &str, value: &str, startup: &mut Startup) -> Result<(), SettingError> {
        if is_library_setting(name) {
            startup.of_the_library.push((name.to_owned(), value.to_owned()));
        } else {
            startup.warnings.extend(self.set_text(name, value, false)?);
        }
        Ok(())
    }
}

/// The settings of `-c name=value`, `-cname=value` and `--name=value`, separated by blanks. A backslash keeps the character after
/// it, and a hyphen in a name is an underscore.
fn switches(options: &str) -> Result<Vec<(String, String)>, SettingError> {
    let mut settings = Vec::new();
    let mut arguments = arguments(options).into_iter();
    while let Some(argument) = arguments.next() {
        let bad = || SettingError::BadOption { argument: shortened(&argument) };
        let setting = match argument.strip_prefix("-c") {
            Some("") => arguments.next().ok_or_else(bad)?,
            Some(setting) => setting.to_owned(),
            None => argument.strip_prefix("--").ok_or_else(bad)?.to_owned(),
        };
        let (name, value) = setting.split_once('=').ok_or_else(bad)?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn arguments(options: &str) -> Vec<String> {
    let (mut arguments, mut argument) = (Vec::new(), None::<String>);
    let mut chars = options.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_ascii_whitespace() => arguments.extend(argument.take()),
            // A backslash at the end is itself.
            '\\' => argument.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            c => argument.get_or_insert_default().push(c),
        }
    }
    arguments.extend(argument);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_switches() {
        let pairs = |options| {
            let settings = switches(options).unwrap();
            settings.into_iter().map(|(name, value)| format!("{name}:{value}")).collect::<Vec<_>>()
        };
        assert_eq!(pairs("-c a=1 -cb=2  --c-d=3"), ["a:1", "b:2", "c_d:3"]);
        assert_eq!(pairs(r"-c search_path=$user,\ public --x=a\\b"), ["search_path:$user, public", r"x:a\b"]);
        assert_eq!(pairs("  "), [""; 0]);
        assert_eq!(pairs(r"--a=\"), [r"a:\"]);
        for options in ["-c", "-c a", "-x", "a=1", "--a", "-d 5"] {
            assert!(matches!(switches(options), Err(SettingError::BadOption { .. })), "{options}");
        }
    }
}
