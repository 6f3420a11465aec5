//! Metadata.

use super::{Client, Failure, Server, rows, shown};
use crate::messages::*;

async fn with_objects() -> (Server, Client) {
    let server = Server::new();
    server.owner(
        "SET dialect = 'phoenix';
         CREATE SCHEMA app;
         CREATE TABLE log (host VARCHAR NOT NULL, ts DATE NOT NULL, up UNSIGNED_LONG, f.note CHAR(5), CONSTRAINT pk PRIMARY KEY (host, ts DESC));
         CREATE TABLE app.item (id INTEGER PRIMARY KEY, price DECIMAL(10, 2) DEFAULT 1, tags VARCHAR ARRAY);
         CREATE INDEX by_up ON log (up DESC, f.note);
         CREATE UNIQUE INDEX by_note ON log (f.note);
         CREATE VIEW ups AS SELECT host, up FROM log;
         CREATE SEQUENCE app.ids",
    );
    let client = server.connect("a").await;
    (server, client)
}

async fn tables(client: &Client, schema: Option<&str>, name: &str, types: Option<&[&str]>) -> ResultSetResponse {
    let request = TablesRequest {
        catalog: String::new(),
        schema_pattern: schema.unwrap_or_default().to_owned(),
        table_name_pattern: name.to_owned(),
        type_list: types.unwrap_or_default().iter().map(|ty| (*ty).to_owned()).collect(),
        has_type_list: types.is_some(),
        connection_id: client.id.clone(),
        has_catalog: false,
        has_schema_pattern: schema.is_some(),
        has_table_name_pattern: false,
    };
    client.call("Tables", &request, "ResultSet").await.unwrap()
}

const NAMES: [&str; 3] = ["TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"];

#[tokio::test]
async fn tables_by_kind_and_pattern() {
    let (_server, client) = with_objects().await;
    let all = tables(&client, None, "", None).await;
    let own: Vec<String> =
        shown(&all, &NAMES).into_iter().filter(|row| !row.starts_with("information_schema")).collect();
    let expected =
        ["- BY_NOTE INDEX", "- BY_UP INDEX", "APP IDS SEQUENCE", "- LOG TABLE", "APP ITEM TABLE", "- UPS VIEW"];
    assert_eq!(own, expected);
    assert!(shown(&all, &NAMES).contains(&"information_schema tables SYSTEM TABLE".to_owned()));
    assert_eq!(
        shown(&tables(&client, Some(""), "", Some(&["TABLE", "VIEW"])).await, &NAMES),
        ["- LOG TABLE", "- UPS VIEW"]
    );
    assert_eq!(shown(&tables(&client, Some("app"), "it_m", None).await, &NAMES), ["APP ITEM TABLE"]);
    assert!(shown(&tables(&client, None, "", Some(&[])).await, &NAMES).is_empty());
    let view = tables(&client, None, "ups", None).await;
    assert!(shown(&view, &["VIEW_STATEMENT"])[0].contains("SELECT"));
    assert!(view.own_statement && view.first_frame.unwrap().done);
}

#[tokio::test]
async fn columns_with_their_types() {
    let (_server, client) = with_objects().await;
    let request = ColumnsRequest {
        table_name_pattern: "LOG".to_owned(),
        connection_id: client.id.clone(),
        ..ColumnsRequest::default()
    };
    let result: ResultSetResponse = client.call("Columns", &request, "ResultSet").await.unwrap();
    let labels = [
        "COLUMN_NAME",
        "DATA_TYPE",
        "TYPE_ID",
        "TYPE_NAME",
        "COLUMN_SIZE",
        "NULLABLE",
        "ORDINAL_POSITION",
        "COLUMN_FAMILY",
        "KEY_SEQ",
    ];
    let expected = [
        "HOST 12 12 VARCHAR - 0 1 - 1",
        "TS 91 91 DATE - 0 2 - 2",
        "UP -5 10 UNSIGNED_LONG 19 1 3 - -",
        "NOTE 1 1 CHAR 5 1 4 F -",
    ];
    assert_eq!(shown(&result, &labels), expected);
    let (schema_pattern, column_name_pattern) = ("APP".to_owned(), "%r%".to_owned());
    let request = ColumnsRequest { schema_pattern, column_name_pattern, table_name_pattern: String::new(), ..request };
    let result: ResultSetResponse = client.call("Columns", &request, "ResultSet").await.unwrap();
    assert_eq!(shown(&result, &["COLUMN_NAME", "DECIMAL_DIGITS", "COLUMN_DEF"]), ["PRICE 2 1"]);
}

async fn sync(
    client: &Client,
    operation: MetaDataOperation,
    arguments: &[Option<&str>],
) -> Result<Option<Frame>, Failure> {
    let argument = |text: &Option<&str>| MetaDataOperationArgument {
        string_value: text.unwrap_or_default().to_owned(),
        r#type: if text.is_some() { ArgumentType::String } else { ArgumentType::Null }.into(),
        ..MetaDataOperationArgument::default()
    };
    let state = QueryState {
        r#type: StateType::Metadata.into(),
        op: operation.into(),
        args: arguments.iter().map(argument).collect(),
        has_args: true,
        has_op: true,
        ..QueryState::default()
    };
    let id = client.statement().await.unwrap();
    let request =
        SyncResultsRequest { connection_id: client.id.clone(), statement_id: id, state: Some(state), offset: 0 };
    let response: SyncResultsResponse = client.call("SyncResults", &request, "SyncResults").await?;
    if !response.more_results {
        return Ok(None);
    }
    Ok(client.fetch(id, 0, 2000).await.unwrap().frame)
}

fn texts(frame: &Frame, places: &[usize]) -> Vec<String> {
    let text = |value: &saltwing::Value| {
        saltwing::text::format(value, saltwing::SqlType::Null).unwrap_or_else(|| "-".to_owned())
    };
    rows(frame).iter().map(|row| places.iter().map(|place| text(&row[*place])).collect::<Vec<_>>().join(" ")).collect()
}

#[tokio::test]
async fn primary_keys_in_their_order() {
    let (_server, client) = with_objects().await;
    let keys = sync(&client, MetaDataOperation::PrimaryKeys, &[None, None, Some("LOG")]).await.unwrap().unwrap();
    assert_eq!(texts(&keys, &[2, 3, 4, 6, 7, 8]), ["LOG HOST 1 A 12 VARCHAR", "LOG TS 2 D 91 DATE"]);
    assert_eq!(keys.rows[0].value.len(), 12);
    let item =
        sync(&client, MetaDataOperation::PrimaryKeys, &[None, Some("app"), Some("item")]).await.unwrap().unwrap();
    assert_eq!(texts(&item, &[1, 3]), ["APP ID"]);
    assert_eq!(sync(&client, MetaDataOperation::PrimaryKeys, &[None, None, Some("UPS")]).await.unwrap(), None);
    let missing = sync(&client, MetaDataOperation::PrimaryKeys, &[None, None, Some("ITEM")]).await.unwrap_err();
    assert_eq!((missing.code, missing.state.as_str()), (1012, "42M03"));
}

#[tokio::test]
async fn indexes_with_their_columns() {
    let (_server, client) = with_objects().await;
    let indexes = sync(&client, MetaDataOperation::IndexInfo, &[None, None, Some("log")]).await.unwrap().unwrap();
    let expected = ["false BY_NOTE 1 NOTE A 1", "true BY_UP 1 UP D 10", "true BY_UP 2 NOTE A 1"];
    assert_eq!(texts(&indexes, &[3, 5, 7, 8, 9, 15]), expected);
    assert_eq!(indexes.rows[0].value.len(), 19);
    assert_eq!(sync(&client, MetaDataOperation::IndexInfo, &[None, None, Some("NOSUCH")]).await.unwrap(), None);
}

#[tokio::test]
async fn other_calls_are_refused() {
    let (_server, client) = with_objects().await;
    assert_eq!(sync(&client, MetaDataOperation::Attributes, &[]).await.unwrap_err().state, "0A000");
    for operation in
        [MetaDataOperation::Schemas, MetaDataOperation::Tables, MetaDataOperation::Columns, MetaDataOperation::TypeInfo]
    {
        assert!(!sync(&client, operation, &[]).await.unwrap().unwrap().rows.is_empty(), "{operation:?}");
    }
}

#[tokio::test]
async fn schemas_and_kinds_of_tables() {
    let (_server, client) = with_objects().await;
    let request = SchemasRequest { connection_id: client.id.clone(), ..SchemasRequest::default() };
    let schemas: ResultSetResponse = client.call("Schemas", &request, "ResultSet").await.unwrap();
    assert_eq!(shown(&schemas, &["TABLE_SCHEM"]), ["-", "APP", "information_schema"]);
    let request = SchemasRequest { schema_pattern: "AP%".to_owned(), ..request };
    let schemas: ResultSetResponse = client.call("Schemas", &request, "ResultSet").await.unwrap();
    assert_eq!(shown(&schemas, &["TABLE_SCHEM"]), ["APP"]);
    let kinds: ResultSetResponse = client.call("TableTypes", &client.about(), "ResultSet").await.unwrap();
    assert!(shown(&kinds, &["TABLE_TYPE"]).contains(&"TABLE".to_owned()));
    let catalogs: ResultSetResponse = client.call("Catalogs", &client.about(), "ResultSet").await.unwrap();
    assert!(shown(&catalogs, &["TABLE_CAT"]).is_empty());
    let types: ResultSetResponse = client.call("TypeInfo", &client.about(), "ResultSet").await.unwrap();
    assert!(shown(&types, &["TYPE_NAME", "DATA_TYPE"]).contains(&"UNSIGNED_LONG -5".to_owned()));
}

#[tokio::test]
async fn a_user_sees_its_own_objects() {
    let (server, _owner) = with_objects().await;
    server.owner("CREATE USER ann PASSWORD 'of ann'; GRANT SELECT ON app.item TO ann");
    let ann = server.client("b", Some(("ann", "of ann")));
    ann.open().await.unwrap();
    let names: Vec<String> =
        shown(&tables(&ann, None, "", Some(&["TABLE", "VIEW", "INDEX", "SEQUENCE"])).await, &NAMES);
    assert_eq!(names, ["APP ITEM TABLE"]);
    let hidden = sync(&ann, MetaDataOperation::PrimaryKeys, &[None, None, Some("LOG")]).await.unwrap_err();
    assert_eq!(hidden.code, 1012);
}

#[tokio::test]
async fn properties_name_phoenix_s_driver() {
    let (_server, client) = with_objects().await;
    let response: DatabasePropertyResponse =
        client.call("DatabaseProperty", &client.about(), "DatabaseProperty").await.unwrap();
    let value = |name: &str| {
        let element = response.props.iter().find(|element| element.key.as_ref().unwrap().name == name).unwrap();
        element.value.clone().unwrap()
    };
    assert_eq!(value("GET_DRIVER_NAME").string_value, "PhoenixEmbeddedDriver");
    assert_eq!(value("GET_DRIVER_MAJOR_VERSION").number_value, 5);
}
