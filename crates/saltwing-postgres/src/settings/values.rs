//! The values that a session keeps.

use saltwing_sessions::Limits;

use super::custom::CustomSettings;
use super::date_style::DateOrder;
use super::search_path::SearchPath;
use super::time_zone::TimeZone;
use super::timeout::Timeout;
use super::transaction_modes::{Characteristics, IsolationLevel};
use super::value::{ApplicationName, ClientEncoding, FloatDigits, MessageLevel};

/// The values that a session keeps, one field for each parameter whose value a client may change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    pub(super) application_name: ApplicationName,
    pub(super) check_function_bodies: bool,
    pub(super) client_encoding: ClientEncoding,
    pub(super) client_min_messages: MessageLevel,
    pub(super) date_order: DateOrder,
    pub(super) default_transaction_deferrable: bool,
    pub(super) default_transaction_isolation: IsolationLevel,
    pub(super) default_transaction_read_only: bool,
    pub(super) extra_float_digits: FloatDigits,
    pub(super) idle_in_transaction_session_timeout: Timeout,
    pub(super) idle_session_timeout: Timeout,
    pub(super) jit: bool,
    pub(super) lock_timeout: Timeout,
    pub(super) row_security: bool,
    pub(super) search_path: SearchPath,
    pub(super) statement_timeout: Timeout,
    pub(super) time_zone: TimeZone,
    pub(super) custom: CustomSettings,
}

impl Values {
    /// The first values of a session.
    pub(super) fn new(limits: &Limits, is_read_only_database: bool) -> Self {
        Self {
            application_name: ApplicationName::default(),
            check_function_bodies: true,
            client_encoding: ClientEncoding::default(),
            client_min_messages: MessageLevel::default(),
            date_order: DateOrder::default(),
            default_transaction_deferrable: false,
            default_transaction_isolation: IsolationLevel::default(),
            default_transaction_read_only: is_read_only_database,
            extra_float_digits: FloatDigits::default(),
            idle_in_transaction_session_timeout: limits.idle_in_transaction_timeout.into(),
            idle_session_timeout: limits.idle_timeout.into(),
            jit: false,
            lock_timeout: Timeout::default(),
            row_security: true,
            search_path: SearchPath::default(),
            statement_timeout: limits.statement_timeout.into(),
            time_zone: TimeZone::default(),
            custom: CustomSettings::default(),
        }
    }

    /// The modes of a transaction that names none.
    pub(super) fn default_characteristics(&self) -> Characteristics {
        Characteristics {
            isolation: self.default_transaction_isolation,
            is_read_only: self.default_transaction_read_only,
            is_deferrable: self.default_transaction_deferrable,
        }
    }
}
