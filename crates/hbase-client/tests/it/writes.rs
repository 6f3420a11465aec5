//! Writes: results in any order, and replies that are lost.

use hbase_client::proto::{
    MultiRequest, MultiResponse, MutateRequest, MutateResponse, NameBytesPair, RegionActionResult, ResultOrException,
    RowResult,
};
use hbase_client::{Action, CallContext, Condition, Get, Increment, Outcome, Put};

use crate::meta_rows::region;
use crate::replies::{Call, Reply, cell};
use crate::scripted::{Scripted, context, run};

fn put(row: &str) -> Put {
    Put::new(row.to_owned()).unwrap().column(b"f", b"q", b"v").unwrap()
}

fn written() -> Reply {
    Reply::of(&MutateResponse { processed: Some(true), ..MutateResponse::default() }, &[])
}

fn exception(class: &str) -> Option<NameBytesPair> {
    Some(NameBytesPair { name: format!("org.apache.hadoop.hbase.{class}"), value: Some("as the test says".into()) })
}

#[test]
fn results_are_matched_by_their_numbers() {
    run(async {
        let answer = |_, _: &Call| {
            let row = |index, key| {
                let result = RowResult { associated_cell_count: Some(1), ..RowResult::default() };
                (ResultOrException { index: Some(index), result: Some(result), ..Default::default() }, cell(key, "q"))
            };
            let (two, of_two) = row(2, "c");
            let (zero, of_zero) = row(0, "a");
            let one = ResultOrException { index: Some(1), result: Some(RowResult::default()), ..Default::default() };
            let results = RegionActionResult { result_or_exception: vec![two, one, zero], ..Default::default() };
            Reply::of(&MultiResponse { region_action_result: vec![results] }, &[of_two, of_zero])
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let actions = vec![Action::from(Get::new("a")), put("b").into(), Get::new("c").into()];
        let outcomes = server.table().multi(&context(), actions).await;
        let keys: Vec<_> = outcomes.into_iter().map(|outcome| outcome.done().unwrap().key().to_vec()).collect();
        assert_eq!(keys, [&b"a"[..], b"", b"c"]);
    });
}

/// Of two regions one is not there, and of three actions of the other one is refused: the others are done, and only the first region's
/// actions are sent again.
#[test]
fn only_what_failed_is_sent_again() {
    run(async {
        let answer = |number, call: &Call| {
            let request: MultiRequest = call.decode();
            let done = |count: u32| {
                let one = |index| ResultOrException { index: Some(index), ..ResultOrException::default() };
                RegionActionResult { result_or_exception: (0..count).map(one).collect(), ..Default::default() }
            };
            let results = match number {
                0 => {
                    let gone = exception("NotServingRegionException");
                    let gone = RegionActionResult { exception: gone, ..RegionActionResult::default() };
                    let mut other = done(3);
                    other.result_or_exception[1].exception = exception("regionserver.NoSuchColumnFamilyException");
                    vec![gone, other]
                }
                _ => vec![done(request.region_action[0].action.len() as u32)],
            };
            Reply::of(&MultiResponse { region_action_result: results }, &[])
        };
        let server = Scripted::start(|_| vec![region("", "m", 1), region("m", "", 2)], answer).await;
        let actions = ["x", "a", "y", "b", "z"].map(|row| Action::from(put(row))).to_vec();
        let outcomes = server.table().multi(&context(), actions).await;
        let done: Vec<_> = outcomes.iter().map(Outcome::is_done).collect();
        assert_eq!(done, [true, true, false, true, true]);
        assert!(matches!(&outcomes[2], Outcome::Refused(error) if error.to_string().contains("NoSuchColumnFamily")));
        let calls = server.calls();
        let again: MultiRequest = calls[1].decode();
        assert_eq!((calls.len(), again.region_action.len()), (2, 1));
        assert_eq!(again.region_action[0].action.len(), 2);
    });
}

#[test]
fn a_put_whose_reply_is_lost_is_unknown_and_is_not_sent_again() {
    run(async {
        let server = Scripted::start(|_| vec![region("", "", 1)], |_, _| Reply::Close).await;
        let table = server.table();
        let outcome = table.mutate(&context(), put("a")).await;
        assert!(outcome.is_unknown(), "{outcome:?}");
        assert_eq!(outcome.error().unwrap().server(), Some(&server.address));
        let outcomes = table.multi(&context(), vec![put("a").into()]).await;
        assert!(outcomes[0].is_unknown());
        let outcome = table.check_and_mutate(&context(), Condition::absent("f", "q"), vec![put("a").into()]).await;
        assert!(outcome.is_unknown());
        assert_eq!(server.calls().len(), 3);
    });
}

#[test]
fn a_put_with_a_time_of_its_own_is_sent_again() {
    run(async {
        let answer = |number, _: &Call| if number % 2 == 0 { Reply::Close } else { written() };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let with_time = Put::new("a").unwrap().column_at(b"f", b"q", 5, b"v").unwrap();
        assert!(server.table().mutate(&context(), with_time).await.is_done());
        // A caller may say that it does no harm.
        assert!(server.table().mutate(&context().repeating_unknown_writes(), put("a")).await.is_done());
        assert_eq!(server.calls().len(), 4);
    });
}

#[test]
fn an_increment_is_sent_again_with_the_same_nonce() {
    run(async {
        let answer = |number, _: &Call| if number == 0 { Reply::Close } else { written() };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let increment = Increment::new("a").unwrap().column(b"f", b"q", 1).unwrap();
        assert!(server.table().increment(&context(), increment).await.is_done());
        let nonces: Vec<_> = server.calls().iter().map(|call| call.decode::<MutateRequest>().mutation.nonce).collect();
        assert_eq!(nonces.len(), 2);
        assert!(nonces[0].is_some() && nonces[0] == nonces[1]);
    });
}

/// Nonces do not move with a region: after a move the outcome is unknown.
#[test]
fn an_increment_is_not_sent_to_another_place() {
    run(async {
        let meta = |look_up| vec![region("", "", 1 + look_up as u64)];
        let server = Scripted::start(meta, |_, _| Reply::Close).await;
        let increment = Increment::new("a").unwrap().column(b"f", b"q", 1).unwrap();
        assert!(server.table().increment(&context(), increment).await.is_unknown());
        assert_eq!(server.calls().len(), 1);
    });
}

#[test]
fn a_refused_write_is_not_unknown() {
    run(async {
        let answer = |_, _: &Call| Reply::exception("regionserver.NoSuchColumnFamilyException", true);
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let outcome = server.table().mutate(&context(), put("a")).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
        assert_eq!(server.calls().len(), 1);
    });
}

/// An exception of a class that nobody knows says nothing of whether the write was made.
#[test]
fn an_unknown_exception_is_an_unknown_outcome() {
    run(async {
        let answer = |_, _: &Call| Reply::exception("SomethingException", false);
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        assert!(server.table().mutate(&context(), put("a")).await.is_unknown());
    });
}

#[test]
fn a_silent_server_ends_a_write_at_its_deadline() {
    run(async {
        let server = Scripted::start(|_| vec![region("", "", 1)], |_, _| Reply::Silence).await;
        let bounds = CallContext::within(std::time::Duration::from_millis(100));
        let outcome = server.table().mutate(&bounds, put("a")).await;
        assert!(outcome.is_unknown());
        assert_eq!(outcome.error().unwrap().server(), Some(&server.address));
    });
}

#[test]
fn a_writer_keeps_the_order_of_a_row_and_tells_of_failures() {
    run(async {
        let answer = |_, call: &Call| {
            let request: MultiRequest = call.decode();
            let results = request.region_action.iter().map(|region| {
                let one = |action: &hbase_client::proto::Action| {
                    let row = action.mutation.as_ref().unwrap().row.clone().unwrap();
                    let exception =
                        (row == "bad").then(|| exception("regionserver.NoSuchColumnFamilyException")).flatten();
                    ResultOrException { index: action.index, exception, ..ResultOrException::default() }
                };
                let results = region.action.iter().map(one).collect();
                RegionActionResult { result_or_exception: results, ..RegionActionResult::default() }
            });
            Reply::of(&MultiResponse { region_action_result: results.collect() }, &[])
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let mut writer = server.table().buffered_writer().batch_rows(3).batches_in_flight(2);
        for row in ["a", "b", "a", "bad", "c", "d", "e"] {
            writer.write(&context(), put(row)).await;
        }
        let written = writer.flush(&context()).await;
        assert_eq!(written.rows, 6);
        let failed: Vec<_> = written.failures.iter().map(|failure| (failure.number, failure.is_unknown)).collect();
        assert_eq!(failed, [(3, false)]);
        for call in server.calls() {
            let request: MultiRequest = call.decode();
            let mut rows: Vec<_> =
                request.region_action[0].action.iter().map(|action| action.mutation.clone().unwrap().row).collect();
            let count = rows.len();
            rows.sort();
            rows.dedup();
            assert_eq!(rows.len(), count, "a row occurs once in a batch");
        }
    });
}
