//! Random steps of a client, and what disturbs them.

use bytes::Bytes;
use fake_hbase::{Exception, Fault, ScanStop};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Get(u8),
    Put(u8, u8),
    Delete(u8),
    PutIfAbsent(u8, u8),
    PutIfThere(u8, u8),
    Increment(u8, i8),
    Multi(Vec<(u8, Option<u8>)>),
    Scan(ScanStep),
    Disturb(Disturbance),
    Fault(&'static str, Fault),
}

#[derive(Clone, Debug)]
pub(crate) struct ScanStep {
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) reversed: bool,
    pub(crate) limit: Option<u8>,
    pub(crate) rows_per_call: u8,
    /// What happens after the answers of a scan.
    pub(crate) disturbances: Vec<Option<Disturbance>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Disturbance {
    Split(u8),
    /// The daughters come into service later.
    SlowSplit(u8),
    Merge(u8),
    Move(u8),
    /// `hbase:meta` goes on naming the old place.
    MoveUnseen(u8),
    Kill(u8),
    EndLeases,
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let row = 0_u8..40;
    prop_oneof![
        row.clone().prop_map(Disturbance::Split),
        row.clone().prop_map(Disturbance::SlowSplit),
        row.clone().prop_map(Disturbance::Merge),
        row.clone().prop_map(Disturbance::Move),
        row.clone().prop_map(Disturbance::MoveUnseen),
        row.prop_map(Disturbance::Kill),
        Just(Disturbance::EndLeases),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let exception = prop_oneof![
        Just(Exception::new("NotServingRegionException", "fault")),
        Just(Exception::new("RegionTooBusyException", "fault")),
        Just(Exception::new("CallQueueTooBigException", "fault")),
        Just(Exception::new("regionserver.RegionServerStoppedException", "fault")),
        Just(Exception::fatal("exceptions.OutOfOrderScannerNextException", "fault")),
        Just(Exception::fatal("UnknownScannerException", "fault")),
        Just(Exception::fatal("DoNotRetryIOException", "fault")),
        Just(Exception::new("SomethingException", "fault")),
    ];
    prop_oneof![
        exception.prop_map(Fault::Exception),
        Just(Fault::ExceptionAfter(Exception::new("SomethingException", "fault"))),
        Just(Fault::CutBefore),
        Just(Fault::CutAfter),
        (0_usize..40).prop_map(Fault::CutInside),
        (1_usize..20).prop_map(Fault::Pieces),
        Just(Fault::Bytes(Bytes::from_static(b"\0\0\0\x02\xff\xff"))),
        (0_usize..12, any::<bool>())
            .prop_map(|(cells, is_heartbeat)| Fault::ScanStops(ScanStop { cells, is_heartbeat })),
        Just(Fault::ScanMarksPartial),
        Just(Fault::TurnedResults),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let row = 0_u8..40;
    let disturbances = vec(prop::option::weighted(0.3, disturbance()), 0..6);
    let scan = (row.clone(), row.clone(), any::<bool>(), prop::option::weighted(0.3, 1_u8..20), 1_u8..12, disturbances)
        .prop_map(|(from, to, reversed, limit, rows_per_call, disturbances)| {
            let (from, to) = (from.min(to), from.max(to));
            ScanStep { from, to, reversed, limit, rows_per_call, disturbances }
        });
    prop_oneof![
        2 => row.clone().prop_map(Step::Get),
        4 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::Put(row, value)),
        1 => row.clone().prop_map(Step::Delete),
        1 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::PutIfAbsent(row, value)),
        1 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::PutIfThere(row, value)),
        1 => (row.clone(), any::<i8>()).prop_map(|(row, by)| Step::Increment(row, by)),
        3 => vec((row, prop::option::weighted(0.8, any::<u8>())), 1..20).prop_map(Step::Multi),
        5 => scan.prop_map(Step::Scan),
        3 => disturbance().prop_map(Step::Disturb),
        4 => (prop::sample::select(vec!["Get", "Mutate", "Multi", "Scan"]), fault()).prop_map(|(m, f)| Step::Fault(m, f)),
    ]
}
