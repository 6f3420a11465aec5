//! What exceptions ask of the client, by their classes.

/// What an exception asks of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The region is not there: look it up again.
    LookUpAgain,
    /// The server is busy or not ready: wait, then ask the same place.
    Wait,
    /// The server stops or is not yet up: connect and look up again.
    Reconnect,
    /// The scanner is gone: open one after the last complete row.
    OpenScannerAgain,
    /// The exception has no known class, and does not forbid another try.
    TryAgain,
    /// Another try fails, too.
    Final,
}

/// The classes that decide, without their packages. A class of this list decides before the flag `do_not_retry`: servers set it
/// on exceptions that another look-up or another scanner cures.
pub(super) const REACTIONS: &[(&str, Reaction)] = &[
    ("NotServingRegionException", Reaction::LookUpAgain),
    ("RegionMovedException", Reaction::LookUpAgain),
    ("WrongRegionException", Reaction::LookUpAgain),
    ("RegionOfflineException", Reaction::LookUpAgain),
    ("RegionServerStoppedException", Reaction::Reconnect),
    ("RegionServerAbortedException", Reaction::Reconnect),
    ("ServerNotRunningYetException", Reaction::Reconnect),
    ("ServerNotRunningException", Reaction::Reconnect),
    ("StoppedRpcClientException", Reaction::Reconnect),
    ("MasterNotRunningException", Reaction::Reconnect),
    ("NotActiveMasterException", Reaction::Reconnect),
    ("CallQueueTooBigException", Reaction::Wait),
    ("CallDroppedException", Reaction::Wait),
    ("RegionOpeningException", Reaction::Wait),
    ("RegionTooBusyException", Reaction::Wait),
    ("PleaseHoldException", Reaction::Wait),
    ("MasterNotInitializedException", Reaction::Wait),
    ("RpcThrottlingException", Reaction::Wait),
    ("UnknownScannerException", Reaction::OpenScannerAgain),
    ("OutOfOrderScannerNextException", Reaction::OpenScannerAgain),
    ("ScannerResetException", Reaction::OpenScannerAgain),
    ("LeaseException", Reaction::OpenScannerAgain),
    ("NoSuchColumnFamilyException", Reaction::Final),
    ("TableNotFoundException", Reaction::Final),
    ("TableNotEnabledException", Reaction::Final),
    ("TableNotDisabledException", Reaction::Final),
    ("TableExistsException", Reaction::Final),
    ("AccessDeniedException", Reaction::Final),
    ("FailedSanityCheckException", Reaction::Final),
    ("DoNotRetryIOException", Reaction::Final),
    ("UnknownRegionException", Reaction::Final),
];

/// The classes that a server throws before it changes anything, beside those of [`REACTIONS`] that ask for another place or time.
pub(super) const NOT_APPLIED: &[&str] = &[
    "NoSuchColumnFamilyException",
    "TableNotFoundException",
    "TableNotEnabledException",
    "AccessDeniedException",
    "FailedSanityCheckException",
];
