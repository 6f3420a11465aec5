//! Messages against the bytes that Avatica's own definitions give for them.

use std::collections::HashMap;
use std::fmt::Debug;

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message;

use super::{Body, Request, Response, beginning};
use crate::error::AvaticaError;
use crate::messages::*;

fn decode(body: Bytes) -> Result<Request, AvaticaError> {
    Body::decode(body)?.request()
}

fn unhex(text: &str) -> Bytes {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect::<Vec<u8>>().into()
}

fn check<M: Message + Default + PartialEq + Debug>(message: M, hex: &str) {
    assert_eq!(M::decode(unhex(hex)).unwrap(), message);
    assert_eq!(Bytes::from(message.encode_to_vec()), unhex(hex), "{message:?}");
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn typed(rep: Rep) -> TypedValue {
    TypedValue { r#type: rep.into(), ..TypedValue::default() }
}

fn long(number_value: i64) -> TypedValue {
    TypedValue { number_value, ..typed(Rep::Long) }
}

#[test]
fn requests_about_connections() {
    let info = HashMap::from([(text("user"), text("ann"))]);
    check(OpenConnectionRequest { connection_id: text("c"), info }, "0a0163120b0a04757365721203616e6e");
    check(ConnectionRequest { connection_id: text("c") }, "0a0163");
    let properties = ConnectionProperties {
        is_dirty: true,
        auto_commit: true,
        read_only: true,
        transaction_isolation: 4,
        catalog: text("k"),
        schema: text("s"),
        has_auto_commit: true,
        has_read_only: true,
    };
    let sync = ConnectionSyncRequest { connection_id: text("c"), conn_props: Some(properties) };
    check(sync, "0a0163121208011001180120042a016b32017338014001");
    check(StatementRequest { connection_id: text("c"), statement_id: 7 }, "0a01631007");
}

#[test]
fn requests_to_run_statements() {
    let prepare = PrepareRequest { connection_id: text("c"), sql: text("S"), max_row_count: 3, max_rows_total: -1 };
    check(prepare, "0a0163120153180320ffffffffffffffffff01");
    let execute = PrepareAndExecuteRequest {
        connection_id: text("c"),
        sql: text("S"),
        max_row_count: 3,
        statement_id: 7,
        max_rows_total: 9,
        first_frame_max_size: -1,
    };
    check(execute, "0a016312015318032007280930ffffffffffffffffff01");
    let signature = KnownSignature { sql: text("S") };
    let values = vec![
        long(-2),
        TypedValue { string_value: text("x"), ..typed(Rep::String) },
        TypedValue { null: true, ..typed(Rep::Null) },
    ];
    let execute = ExecuteRequest {
        statement_handle: Some(KnownStatement { connection_id: text("c"), id: 7, signature: Some(signature) }),
        parameter_values: values,
        deprecated_first_frame_max_size: 5,
        has_parameter_values: true,
        first_frame_max_size: 2000,
    };
    check(execute, "0a0a0a016310071a031201531204080d2003120508151a01781204081838011805200128d00f");
}

#[test]
fn requests_for_rows() {
    let fetch = FetchRequest {
        connection_id: text("c"),
        statement_id: 7,
        offset: 100,
        fetch_max_row_count: 4,
        frame_max_size: 50,
    };
    check(fetch, "0a01631007186420042832");
    let argument = MetaDataOperationArgument::default();
    let args = vec![
        MetaDataOperationArgument { r#type: ArgumentType::Null.into(), ..argument.clone() },
        MetaDataOperationArgument { string_value: text("T"), ..argument },
        MetaDataOperationArgument {
            string_value: String::new(),
            bool_value: true,
            int_value: -3,
            string_array_values: vec![text("a")],
            int_array_values: vec![-1, 2],
            r#type: ArgumentType::RepeatedString.into(),
        },
    ];
    let state = QueryState {
        r#type: StateType::Metadata.into(),
        sql: text("S"),
        op: MetaDataOperation::PrimaryKeys.into(),
        args,
        has_args: true,
        has_sql: true,
        has_op: true,
    };
    let sync = SyncResultsRequest { connection_id: text("c"), statement_id: 7, state: Some(state), offset: 3 };
    check(sync, "0a016310071a250801120153180c2202300522030a0154220d100118052201612a02010430032801300138012003");
}

#[test]
fn requests_to_run_batches() {
    let commands = vec![text("A"), text("B")];
    let batch = PrepareAndExecuteBatchRequest { connection_id: text("c"), statement_id: 7, sql_commands: commands };
    check(batch, "0a016310071a01411a0142");
    let first = UpdateBatch {
        parameter_values: vec![
            TypedValue { bool_value: true, ..typed(Rep::Boolean) },
            TypedValue { double_value: 1.5, ..typed(Rep::Double) },
            TypedValue { bytes_value: Bytes::from_static(b"\x00\xff"), ..typed(Rep::ByteString) },
        ],
    };
    let array = TypedValue {
        component_type: Rep::Long.into(),
        array_value: vec![long(1)],
        implicitly_null: true,
        ..typed(Rep::Array)
    };
    let second = UpdateBatch { parameter_values: vec![array] };
    let batch = ExecuteBatchRequest { connection_id: text("c"), statement_id: 7, updates: vec![first, second] };
    let hex = "0a016310071a1b0a04080810010a0b080f31000000000000f83f0a0608142a0200ff1a0e0a0c081b4204080d2002480d5001";
    check(batch, hex);
}

#[test]
fn requests_for_metadata() {
    let schemas = SchemasRequest {
        catalog: text("k"),
        schema_pattern: text("s"),
        connection_id: text("c"),
        has_catalog: true,
        has_schema_pattern: true,
    };
    check(schemas, "0a016b1201731a016320012801");
    let tables = TablesRequest {
        catalog: text("k"),
        schema_pattern: text("s"),
        table_name_pattern: text("t"),
        type_list: vec![text("TABLE")],
        has_type_list: true,
        connection_id: text("c"),
        has_catalog: true,
        has_schema_pattern: true,
        has_table_name_pattern: true,
    };
    check(tables, "0a016b1201731a017422055441424c4530013a0163400148015001");
    let columns = ColumnsRequest {
        catalog: text("k"),
        schema_pattern: text("s"),
        table_name_pattern: text("t"),
        column_name_pattern: text("n"),
        connection_id: text("c"),
        has_catalog: true,
        has_schema_pattern: true,
        has_table_name_pattern: true,
        has_column_name_pattern: true,
    };
    check(columns, "0a016b1201731a017422016e2a01633001380140014801");
}

fn signature() -> Signature {
    let component = AvaticaType { id: 4, name: text("I"), rep: Rep::Integer.into(), ..AvaticaType::default() };
    let ty = AvaticaType {
        id: 4_294_967_291,
        name: text("BIGINT"),
        rep: Rep::PrimitiveLong.into(),
        columns: Vec::new(),
        component: Some(Box::new(component)),
    };
    let column = ColumnMetaData {
        ordinal: 1,
        auto_increment: true,
        case_sensitive: true,
        searchable: true,
        currency: true,
        nullable: 2,
        signed: true,
        display_size: 20,
        label: text("L"),
        column_name: text("N"),
        schema_name: text("S"),
        precision: 19,
        scale: 2,
        table_name: text("T"),
        catalog_name: text("K"),
        read_only: true,
        writable: true,
        definitely_writable: true,
        column_class_name: text("J"),
        r#type: Some(ty),
    };
    let parameter = AvaticaParameter {
        signed: true,
        precision: 1,
        scale: 2,
        parameter_type: 9,
        type_name: text("U"),
        class_name: text("C"),
        name: text("P"),
    };
    Signature {
        columns: vec![column],
        sql: text("Q"),
        parameters: vec![parameter],
        cursor_factory: Some(CursorFactory {
            style: Style::List.into(),
            class_name: text("X"),
            field_names: vec![text("f")],
        }),
        statement_type: StatementType::Upsert.into(),
    }
}

fn frame() -> Frame {
    let scalar = ColumnValue { scalar_value: Some(long(-1)), ..ColumnValue::default() };
    let element = TypedValue { number_value: 5, ..typed(Rep::Integer) };
    let array = ColumnValue { array_value: vec![element], has_array_value: true, scalar_value: None };
    Frame { offset: 3, done: true, rows: vec![Row { value: vec![scalar, array] }] }
}

#[test]
fn responses_with_rows() {
    let result = ResultSetResponse {
        connection_id: text("c"),
        statement_id: 7,
        own_statement: true,
        signature: Some(signature()),
        first_frame: Some(frame()),
        update_count: u64::MAX,
    };
    let hex = "0a01631007180122700a4c080110011801200128013002380140144a014c52014e5a0153601368027201547a014b8001018801019001019a01014a\
               a2011908fbffffff0f1206424947494e5418052a070804120149180c1201511a1108011001180220092a01553201433a0150220808041201581a0166\
               28042a18080310011a120a062204080d20010a081204080c200a180130ffffffffffffffffff01";
    check(result, hex);
    let count = ResultSetResponse { update_count: 2, ..ResultSetResponse::default() };
    check(ExecuteResponse { results: vec![count], missing_statement: true }, "0a0230021001");
    let fetched = FetchResponse { frame: Some(frame()), missing_statement: true, missing_results: true };
    check(fetched, "0a18080310011a120a062204080d20010a081204080c200a180110011801");
}

#[test]
fn responses_about_statements() {
    let statement = StatementHandle { connection_id: text("c"), id: 7, signature: Some(signature()) };
    let hex = "0a770a016310071a700a4c080110011801200128013002380140144a014c52014e5a0153601368027201547a014b8001018801019001019a01014a\
               a2011908fbffffff0f1206424947494e5418052a070804120149180c1201511a1108011001180220092a01553201433a0150220808041201581a0166\
               2804";
    check(PrepareResponse { statement: Some(statement) }, hex);
    check(CreateStatementResponse { connection_id: text("c"), statement_id: 7 }, "0a01631007");
    check(SyncResultsResponse { missing_statement: true, more_results: true }, "08011001");
    let counts = vec![1, 300];
    let batch = ExecuteBatchResponse {
        connection_id: text("c"),
        statement_id: 7,
        update_counts: counts,
        missing_statement: true,
    };
    check(batch, "0a016310071a0301ac022001");
}

#[test]
fn responses_about_connections() {
    let properties =
        ConnectionProperties { auto_commit: true, has_auto_commit: true, ..ConnectionProperties::default() };
    check(ConnectionSyncResponse { conn_props: Some(properties) }, "0a0410013801");
    let element = DatabasePropertyElement {
        key: Some(DatabaseProperty { name: text("N"), functions: vec![text("f")] }),
        value: Some(TypedValue { string_value: text("v"), ..typed(Rep::String) }),
    };
    check(DatabasePropertyResponse { props: vec![element] }, "0a0f0a060a014e120166120508151a0176");
    let error = ErrorResponse {
        exceptions: vec![text("e")],
        error_message: text("m"),
        severity: Severity::Error.into(),
        error_code: 1012,
        sql_state: text("42M03"),
        has_exceptions: true,
    };
    check(error, "0a016512016d180220f4072a0534324d30333801");
}

#[test]
fn bodies_name_their_messages() {
    let body = "0a376f72672e6170616368652e63616c636974652e617661746963612e70726f746f2e526571756573747324436f6d6d69745265717565737412030a0163";
    let request = decode(unhex(body)).unwrap();
    assert_eq!(request, Request::Commit(ConnectionRequest { connection_id: text("c") }));
    assert_eq!(Body::decode(unhex(body)).unwrap().connection_id().unwrap(), "c");
    let reply = "0a396f72672e6170616368652e63616c636974652e617661746963612e70726f746f2e526573706f6e73657324436f6d6d6974526573706f6e7365";
    assert_eq!(Response::Commit.encode(), unhex(reply));
}

#[test]
fn each_request_tells_its_connection() {
    fn check(name: &str, message: impl Message) {
        let body = WireMessage { name: text(name), wrapped_message: message.encode_to_vec().into() };
        assert_eq!(Body::decode(body.encode_to_vec().into()).unwrap().connection_id().unwrap(), "c", "{name}");
    }
    let id = || text("c");
    let handle = KnownStatement { connection_id: id(), id: 1, signature: None };
    check("ExecuteRequest", ExecuteRequest { statement_handle: Some(handle), ..Default::default() });
    check("FetchRequest", FetchRequest { connection_id: id(), statement_id: 1, ..Default::default() });
    check("SchemasRequest", SchemasRequest { connection_id: id(), catalog: text("k"), ..Default::default() });
    check("TablesRequest", TablesRequest { connection_id: id(), catalog: text("k"), ..Default::default() });
    check("ColumnsRequest", ColumnsRequest { connection_id: id(), catalog: text("k"), ..Default::default() });
}

#[test]
fn other_bodies_are_refused() {
    assert!(matches!(decode(Bytes::from_static(b"{\"request\":1}")), Err(AvaticaError::Json)));
    assert!(matches!(decode(Bytes::from_static(b"\xff")), Err(AvaticaError::BadMessage(_))));
    let unknown = WireMessage { name: "x".repeat(500), wrapped_message: Bytes::new() };
    match decode(unknown.encode_to_vec().into()) {
        Err(AvaticaError::NoSuchRequest { name }) => assert_eq!(name.len(), 100),
        other => panic!("{other:?}"),
    }
    assert_eq!(beginning("aé", 2), "a");
}

#[test]
fn arrays_in_arrays_have_a_limit() {
    let mut value = long(1);
    for _ in 0..1000 {
        value = TypedValue { array_value: vec![value], ..typed(Rep::Array) };
    }
    let request = ExecuteRequest { parameter_values: vec![value], ..ExecuteRequest::default() };
    let wrapped_message = request.encode_to_vec().into();
    let body = WireMessage { name: text("ExecuteRequest"), wrapped_message };
    assert!(matches!(decode(body.encode_to_vec().into()), Err(AvaticaError::BadMessage(_))));
}

const NAMES: [&str; 6] = [
    "OpenConnectionRequest",
    "ExecuteRequest",
    "ExecuteBatchRequest",
    "SyncResultsRequest",
    "ConnectionSyncRequest",
    "TablesRequest",
];

proptest! {
    /// Whatever the bytes are, decoding gives a request or an error.
    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(bytes.into());
    }

    /// The same for the bytes of each message.
    #[test]
    fn any_message_is_decoded_or_refused(name in proptest::sample::select(&NAMES), bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let body = WireMessage { name: name.to_owned(), wrapped_message: bytes.into() };
        let _ = decode(body.encode_to_vec().into());
    }
}
