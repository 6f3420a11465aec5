//! Multi: the order of outcomes, exceptions of regions and of actions, all or nothing.

use hbase_client::proto::{
    Action, Condition, CoprocessorServiceCall, CoprocessorServiceRequest, CoprocessorServiceResponse, Get,
    MultiRequest, MultiResponse, MutationProto, MutationType, RegionAction,
};

use fake_hbase::{Exception, Fault, RegionId};

use crate::basics::{absent, equal};
use crate::wire::{Answer, Wire, bytes, cell, mutation, named, put, row, start, texts};

fn write(index: u32, mutation: MutationProto) -> Action {
    Action { index: Some(index), mutation: Some(mutation), ..Action::default() }
}

fn read(index: u32, get: Get) -> Action {
    Action { index: Some(index), get: Some(get), ..Action::default() }
}

fn on(region: &RegionId, action: Vec<Action>) -> RegionAction {
    RegionAction { region: named(region), action, ..RegionAction::default() }
}

async fn multi(wire: &mut Wire, region_action: Vec<RegionAction>) -> Answer<MultiResponse> {
    wire.call("Multi", &MultiRequest { region_action, nonce_group: Some(1) }, &[]).await.unwrap()
}

fn indexes(answer: &Answer<MultiResponse>) -> Vec<u32> {
    answer.message.region_action_result[0].result_or_exception.iter().map(|is| is.index.unwrap()).collect()
}

#[tokio::test]
async fn gets_are_answered_before_the_puts_beside_them() {
    let (cluster, region, mut wire) = start().await;
    let actions = vec![
        write(0, put("b", &[("q", "new")])),
        write(1, put("a", &[("q", "new")])),
        read(2, row("a")),
        read(3, row("b")),
    ];
    let answer = multi(&mut wire, vec![on(&region, actions)]).await;
    // Outcomes of gets come first, those of puts in the order of their rows.
    assert_eq!(indexes(&answer), [2, 3, 1, 0]);
    assert_eq!(texts(&answer.cells), ["a/q=a"]);
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=new", "b/q=new"]);
}

#[tokio::test]
async fn an_increment_comes_after_the_puts_before_it() {
    let (_cluster, region, mut wire) = start().await;
    let append = mutation(MutationType::Append, "b", &[("q", "2")]);
    let actions = vec![write(0, put("b", &[("q", "1")])), write(1, append), write(2, put("c", &[("q", "")]))];
    let answer = multi(&mut wire, vec![on(&region, actions)]).await;
    assert_eq!((indexes(&answer), texts(&answer.cells)), (vec![0, 1, 2], vec!["b/q=12".into()]));
}

#[tokio::test]
async fn exceptions_are_of_a_region_or_of_an_action() {
    let (cluster, region, mut wire) = start().await;
    let mut wrong = put("b", &[("q", "")]);
    wrong.column_value[0].family = "g".into();
    let gone = RegionId { number: 1, ..region.clone() };
    let actions = vec![
        write(0, put("a", &[("q", "1")])),
        write(1, wrong),
        write(2, put("z", &[("q", "")])),
        write(3, put("c", &[("q", "3")])),
    ];
    let answer = multi(&mut wire, vec![on(&gone, vec![read(0, row("a"))]), on(&region, actions)]).await;
    let [of_gone, of_region] = &answer.message.region_action_result[..] else { panic!("two regions") };
    let name = |exception: &Option<hbase_client::proto::NameBytesPair>| {
        exception.as_ref().map(|pair| pair.name.rsplit('.').next().unwrap().to_owned())
    };
    assert_eq!(name(&of_gone.exception).as_deref(), Some("NotServingRegionException"));
    assert!(of_gone.result_or_exception.is_empty() && of_region.exception.is_none());
    let outcomes: Vec<_> =
        of_region.result_or_exception.iter().map(|is| (is.index.unwrap(), name(&is.exception))).collect();
    let no_family = Some("NoSuchColumnFamilyException".to_owned());
    let outside = Some("FailedSanityCheckException".to_owned());
    assert_eq!(outcomes, [(0, None), (1, no_family), (3, None), (2, outside)]);
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=1", "c/q=3"]);
}

#[tokio::test]
async fn cells_of_a_failed_region_are_passed_over() {
    let (cluster, region, mut wire) = start().await;
    let counted =
        |row: &'static str| MutationProto { associated_cell_count: Some(1), column_value: Vec::new(), ..put(row, &[]) };
    let gone = RegionId { number: 1, ..region.clone() };
    let region_action = vec![on(&gone, vec![write(0, counted("b"))]), on(&region, vec![write(0, counted("c"))])];
    let cells = [cell("b", "q", b"lost"), cell("c", "q", b"kept")];
    let request = MultiRequest { region_action, nonce_group: None };
    wire.call::<MultiResponse>("Multi", &request, &cells).await.unwrap();
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=a", "c/q=kept"]);
}

#[tokio::test]
async fn several_mutations_of_a_row_have_one_condition() {
    let (cluster, region, mut wire) = start().await;
    let conditional = |condition: Condition, value: &'static str| RegionAction {
        atomic: Some(true),
        condition: Some(condition),
        ..on(&region, vec![write(5, put("a", &[("q", value)])), write(6, put("a", &[("p", value)]))])
    };
    for (condition, value, processed) in
        [(absent("a"), "1", false), (equal("a", "a"), "2", true), (equal("a", "a"), "3", false)]
    {
        let answer = multi(&mut wire, vec![conditional(condition, value)]).await;
        assert_eq!(answer.message.region_action_result[0].processed, Some(processed));
        // Such outcomes are numbered by their place.
        assert_eq!(indexes(&answer), [0, 1]);
    }
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/p=2", "a/q=2"]);
    // One wrong mutation refuses all of them.
    let mut wrong = put("a", &[("q", "4")]);
    wrong.column_value[0].family = "g".into();
    let all =
        RegionAction { atomic: Some(true), ..on(&region, vec![write(0, put("a", &[("q", "4")])), write(1, wrong)]) };
    let answer = multi(&mut wire, vec![all]).await;
    assert!(answer.message.region_action_result[0].exception.is_some());
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/p=2", "a/q=2"]);
}

#[tokio::test]
async fn increments_at_once_lie_in_the_first_outcome() {
    let (_cluster, region, mut wire) = start().await;
    let append = || write(9, mutation(MutationType::Append, "b", &[("q", "x")]));
    let all =
        RegionAction { atomic: Some(true), ..on(&region, vec![write(7, put("b", &[("p", "1")])), append(), append()]) };
    let answer = multi(&mut wire, vec![all]).await;
    let outcomes = &answer.message.region_action_result[0].result_or_exception;
    let cells = &outcomes[0].result.as_ref().unwrap().cell;
    assert_eq!((indexes(&answer), answer.cells.len(), cells.len()), (vec![0, 1, 2], 0, 2));
}

#[tokio::test]
async fn a_cell_that_is_too_large_refuses_the_puts_beside_it() {
    let (cluster, region, mut wire) = start().await;
    let mut large = put("b", &[("q", "")]);
    large.column_value[0].qualifier_value[0].value = Some(vec![0; 10 << 20].into());
    let answer = multi(&mut wire, vec![on(&region, vec![write(0, large), write(1, put("c", &[("q", "")]))])]).await;
    let outcomes = &answer.message.region_action_result[0].result_or_exception;
    assert!(outcomes.iter().all(|outcome| outcome.exception.is_some()));
    assert_eq!(cluster.cells("t").unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_too_large_leaves_actions_out() {
    let (cluster, region, mut wire) = start().await;
    cluster.set_scan_bytes_max(1);
    let actions = vec![read(0, row("a")), read(1, row("a")), write(2, put("b", &[("q", "")]))];
    let answer = multi(&mut wire, vec![on(&region, actions)]).await;
    let outcomes = &answer.message.region_action_result[0].result_or_exception;
    let names = outcomes.iter().map(|outcome| outcome.exception.as_ref().map(|pair| pair.name.as_str()));
    let too_large = Some("org.apache.hadoop.hbase.MultiActionResultTooLarge");
    assert_eq!(names.collect::<Vec<_>>(), [None, too_large, too_large]);
    assert_eq!(cluster.cells("t").unwrap().len(), 1);
}

#[tokio::test]
async fn a_test_chooses_what_fails() {
    let (cluster, region, mut wire) = start().await;
    let puts = || on(&region, vec![write(0, put("b", &[("q", "")])), write(1, put("c", &[("q", "")]))]);
    cluster.on_next("Multi", Fault::Action("b".into(), Exception::region_too_busy()));
    cluster.on_next("Multi", Fault::RegionOfRow("b".into(), Exception::region_moved("h", 1, 2, 3)));
    cluster.on_next("Multi", Fault::TurnedResults);
    let answer = multi(&mut wire, vec![puts()]).await;
    let failed = &answer.message.region_action_result[0].result_or_exception[0];
    assert_eq!((failed.index, failed.exception.is_some()), (Some(0), true));
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=a", "c/q="]);
    let answer = multi(&mut wire, vec![puts()]).await;
    let exception = answer.message.region_action_result[0].exception.clone().unwrap();
    // Only the text has the new place.
    assert!(String::from_utf8_lossy(&exception.value.unwrap()).contains("hostname=h port=1 startCode=2."));
    assert_eq!(indexes(&multi(&mut wire, vec![puts()]).await), [1, 0]);
}

#[tokio::test]
async fn coprocessors_are_the_tests() {
    let (cluster, region, mut wire) = start().await;
    let call = CoprocessorServiceCall {
        row: "a".into(),
        service_name: "S".into(),
        method_name: "m".into(),
        request: "in".into(),
    };
    let request = CoprocessorServiceRequest { region: named(&region), call: call.clone() };
    let missing = wire.call::<CoprocessorServiceResponse>("ExecService", &request, &[]).await.map(|_| ());
    assert_eq!(crate::wire::class(&missing.unwrap_err()), "UnknownProtocolException");
    cluster.set_coprocessor(|region, call| Ok([region.table.as_bytes(), &call.request[..]].concat().into()));
    let answer = wire.call::<CoprocessorServiceResponse>("ExecService", &request, &[]).await.unwrap();
    assert_eq!(answer.message.value.value, bytes("tin"));
    let action = Action { index: Some(0), service_call: Some(call), ..Action::default() };
    let answer = multi(&mut wire, vec![on(&region, vec![action])]).await;
    let result = answer.message.region_action_result[0].result_or_exception[0].service_result.clone();
    assert_eq!(result.unwrap().value.unwrap().value, bytes("tin"));
}
