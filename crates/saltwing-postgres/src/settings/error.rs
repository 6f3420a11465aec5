//! Why a setting is refused.

use super::custom_limits::{CUSTOM_BYTES_MAX, CUSTOM_SETTINGS_MAX};

/// Why a setting is refused. Each error has a SQLSTATE, and a place in the statement if a part of its text is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingError {
    /// There is no parameter of this name.
    #[error("unrecognized configuration parameter \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name, or the setting of Saltwing for the same purpose.
        help: Option<String>,
        /// The place of the name.
        position: Option<usize>,
    },
    /// The text is no value of the parameter.
    #[error("invalid value for parameter \"{name}\": \"{value}\"; it takes {takes}")]
    InvalidValue {
        /// The parameter.
        name: &'static str,
        /// The text.
        value: String,
        /// The values that there are.
        takes: String,
        /// The place of the value.
        position: Option<usize>,
    },
    /// PostgreSQL has this value, and here it would have no effect.
    #[error("parameter \"{name}\" cannot be \"{value}\": {reason}")]
    NotSupported {
        /// The parameter.
        name: &'static str,
        /// The value.
        value: String,
        /// Why it would have no effect.
        reason: &'static str,
        /// What the client can do.
        help: Option<&'static str>,
        /// The place of the value.
        position: Option<usize>,
    },
    /// The parameter says how the server is, and nobody sets it.
    #[error("parameter \"{name}\" cannot be changed")]
    Fixed {
        /// The parameter.
        name: &'static str,
        /// The place of the name.
        position: Option<usize>,
    },
    /// A name with a dot in it that is no name of a custom setting.
    #[error("invalid configuration parameter name \"{name}\"")]
    InvalidName {
        /// The name.
        name: String,
        /// The place of the name.
        position: Option<usize>,
    },
    /// The custom settings of the session are at their limit.
    #[error("a session has at most {CUSTOM_SETTINGS_MAX} custom settings of {CUSTOM_BYTES_MAX} bytes in all")]
    TooManyCustom {
        /// The place of the name.
        position: Option<usize>,
    },
    /// `READ WRITE` inside of a transaction that began `READ ONLY`.
    #[error("a transaction that is read only cannot become read write")]
    AlreadyReadOnly,
    /// A switch among the startup parameter `options` that is none.
    #[error("invalid command-line argument for the session: {argument}")]
    BadOption {
        /// The switch.
        argument: String,
    },
    /// There is no savepoint of this name.
    #[error("savepoint \"{name}\" does not exist")]
    NoSuchSavepoint {
        /// The name.
        name: String,
    },
}

impl SettingError {
    /// The SQLSTATE, which is PostgreSQL's for the same.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "42704",
            Self::InvalidValue { .. } => "22023",
            Self::NotSupported { .. } => "0A000",
            Self::Fixed { .. } => "55P02",
            Self::InvalidName { .. } => "42602",
            Self::TooManyCustom { .. } => "53400",
            Self::AlreadyReadOnly => "25001",
            Self::BadOption { .. } => "42601",
            Self::NoSuchSavepoint { .. } => "3B001",
        }
    }

    /// What the client can do.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Unknown { help, .. } => help.clone(),
            Self::NotSupported { help, .. } => help.map(str::to_owned),
            Self::InvalidName { .. } => {
                Some("a custom name is words of letters, digits, _ and $ with dots between them".to_owned())
            }
            Self::AlreadyReadOnly => Some("begin it with BEGIN READ WRITE".to_owned()),
            Self::BadOption { .. } => Some("the options are of the form -c name=value, or --name=value".to_owned()),
            Self::InvalidValue { .. }
            | Self::Fixed { .. }
            | Self::TooManyCustom { .. }
            | Self::NoSuchSavepoint { .. } => None,
        }
    }

    /// The place in the statement, in characters from 1.
    pub(crate) fn position(&self) -> Option<usize> {
        match self {
            Self::Unknown { position, .. }
            | Self::InvalidValue { position, .. }
            | Self::NotSupported { position, .. }
            | Self::Fixed { position, .. }
            | Self::InvalidName { position, .. }
            | Self::TooManyCustom { position } => *position,
            Self::AlreadyReadOnly | Self::BadOption { .. } | Self::NoSuchSavepoint { .. } => None,
        }
    }
}

/// A setting was accepted, and the client should know something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingWarning {
    /// SET LOCAL outside of a transaction, which ends at once.
    #[error("SET LOCAL can only be used in transaction blocks")]
    LocalOutsideTransaction,
    /// SET TRANSACTION outside of a transaction.
    #[error("SET TRANSACTION can only be used in transaction blocks")]
    TransactionOutsideTransaction,
    /// The program's name is longer than the limit.
    #[error("application_name is cut to {} bytes", super::value::ApplicationName::BYTES_MAX)]
    NameCut,
    /// The client begins with the zone of its machine, and the session stays in UTC.
    #[error("the time zone \"{zone}\" is not used: values have no time zone, and the session's is UTC")]
    ZoneIgnored {
        /// The zone.
        zone: String,
    },
}

impl SettingWarning {
    /// The SQLSTATE, which is PostgreSQL's for the same.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::LocalOutsideTransaction | Self::TransactionOutsideTransaction => "25P01",
            Self::NameCut => "42622",
            Self::ZoneIgnored { .. } => "01000",
        }
    }
}
