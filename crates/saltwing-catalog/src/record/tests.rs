use saltwing_types::table::{CheckDef, DefaultDef, DefaultKind, DroppedColumn, IdentityDef, TableHistory, TableOption};
use saltwing_types::value::Timestamp;
use saltwing_types::{
    ArithOp, ColumnDef, ColumnRef, CompareOp, Expr, IndexDef, IndexPart, IndexPredicate, IndexState, KeyColumn,
    KeySchema, KeySource, ObjectId, Rebuild, Salt, SortOrder, SqlType, TableDef, TableId, TableName, Value, typing,
};

use super::*;

/// Every type, with a constant DEFAULT for it.
fn types_and_defaults() -> Vec<(SqlType, Option<Value>)> {
    let text = || Some(Value::text("it's"));
    let instant = Timestamp { ms: -1, nanos: 999_999 };
    vec![
        (SqlType::TinyInt, Some(Value::Int(-128))),
        (SqlType::SmallInt, None),
        (SqlType::Integer, None),
        (SqlType::BigInt, Some(Value::Int(i64::MIN))),
        (SqlType::UnsignedTinyInt, None),
        (SqlType::UnsignedSmallInt, None),
        (SqlType::UnsignedInt, None),
        (SqlType::UnsignedLong, None),
        (SqlType::Float, Some(Value::Float(0.1))),
        (SqlType::Double, Some(Value::Double(-1e300))),
        (SqlType::UnsignedFloat, None),
        (SqlType::UnsignedDouble, None),
        (SqlType::Decimal(None), Some(Value::Decimal("-1234567890123456789012345678.25".parse().unwrap()))),
        (SqlType::Decimal(Some((10, 2))), Some(Value::Null)),
        (SqlType::Boolean, Some(Value::Bool(true))),
        (SqlType::Date, Some(Value::Date(-1))),
        (SqlType::Time, None),
        (SqlType::Timestamp, Some(Value::Timestamp(instant))),
        (SqlType::UnsignedDate, None),
        (SqlType::UnsignedTime, None),
        (SqlType::UnsignedTimestamp, None),
        (SqlType::Char(5), text()),
        (SqlType::Varchar(None), text()),
        (SqlType::Varchar(Some(9)), None),
        (SqlType::Binary(3), Some(Value::Bytes(vec![0, 128, 255]))),
        (SqlType::Varbinary, None),
        (SqlType::VarbinaryEncoded, None),
    ]
}

/// The key `(SUBSTR(MD5(phone), 1, 3), CAST(-n % 16 AS TINYINT), DATE_TRUNC('day', at), phone, n DESC, at)`.
fn key() -> Vec<KeyColumn> {
    let column =
        |index, name: &str, ty| Expr::Column(ColumnRef { index, name: name.into(), ty, nullable: false, span: None });
    let int = |n| Expr::Literal(Value::Int(n), SqlType::BigInt);
    let md5 = typing::call_named("MD5", vec![column(0, "phone", SqlType::Varchar(None))]).unwrap();
    let prefix = typing::call_named("SUBSTR", vec![md5, int(1), int(3)]).unwrap();
    let negated = typing::negate(column(1, "n", SqlType::BigInt)).unwrap();
    let rest = typing::cast(typing::arith(ArithOp::Rem, negated, int(16)).unwrap(), SqlType::TinyInt).unwrap();
    let day = typing::call_named("DATE_TRUNC", vec![typing::string("day"), column(2, "at", SqlType::Date)]).unwrap();
    let part = |source, name: &str, ty, order| KeyColumn { source, name: name.into(), ty, order, nullable: false };
    let asc = SortOrder::Asc;
    vec![
        part(KeySource::Computed(prefix), "SUBSTR(MD5(phone), 1, 3)", SqlType::Char(3), asc),
        part(KeySource::Computed(rest), "CAST(-n % 16 AS TINYINT)", SqlType::TinyInt, asc),
        part(KeySource::Computed(day), "DATE_TRUNC('day', at)", SqlType::Date, SortOrder::Desc),
        KeyColumn { nullable: true, ..part(KeySource::Column(0), "phone", SqlType::Varchar(None), asc) },
        part(KeySource::Column(1), "n", SqlType::BigInt, SortOrder::Desc),
        part(KeySource::Column(2), "at", SqlType::Date, asc),
    ]
}

/// A definition with every feature.
fn everything() -> TableDef {
    let default = |(ty, value): &(SqlType, Option<Value>)| {
        let expr = Expr::Literal(value.clone()?, *ty);
        Some(DefaultDef { text: "as written".into(), expr, kind: DefaultKind::Constant })
    };
    let key_column = |(name, ty): (&str, SqlType)| ColumnDef {
        name: name.into(),
        ty,
        nullable: false,
        default: None,
        family: None,
        slot: 0,
        hidden: name == "at",
        comment: None,
        absent: None,
    };
    let keys = [("phone", SqlType::Varchar(None)), ("n", SqlType::BigInt), ("at", SqlType::Date)];
    let mut columns: Vec<ColumnDef> = keys.map(key_column).into();
    columns.extend(types_and_defaults().iter().enumerate().map(|(slot, it)| ColumnDef {
        name: format!("Col {slot}"),
        ty: it.0,
        nullable: slot % 2 == 0,
        default: default(it),
        family: Some(slot % 2),
        slot: slot as u16 / 2,
        hidden: false,
        comment: None,
        absent: None,
    }));
    columns[4].default = Some(DefaultDef { text: "now()".into(), expr: Expr::NULL, kind: DefaultKind::NewRow });
    let option = |name: &str, value, honoured| TableOption { name: name.into(), value, honoured };
    TableDef {
        id: TableId(4_000_000_000),
        object_id: ObjectId(4_000_000_000),
        name: TableName { schema: Some("App".into()), name: "Every \"thing\" é".into() },
        columns,
        key: KeySchema { columns: key(), salt: Some(Salt { buckets: 256, by: Some(4) }) },
        key_name: Some("pk".into()),
        families: vec![None, Some("f".into())],
        ttl_s: Some(u64::MAX),
        options: vec![
            option("BLOCK_ROWS", Value::Int(100), true),
            option("IMMUTABLE_ROWS", Value::Bool(true), false),
            option("SPLIT ON", Value::text("('a', 'b')"), false),
        ],
        history: TableHistory {
            version: 7,
            versions_since: 0,
            dropped: vec![DroppedColumn { family: 1, slot: 13, ty: SqlType::Decimal(Some((38, 0))) }],
        },
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

fn stored(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(file);
    std::fs::read_to_string(path).unwrap().trim_end().to_owned()
}

/// Databases hold these bytes. A change of the record needs a new version, and a reader that still accepts this one.
#[test]
fn a_record_is_these_bytes() {
    let (def, text) = (everything(), stored("record_2.json"));
    assert_eq!(write(&def).unwrap(), text);
    assert_eq!(read("t", &text).unwrap(), def);
}

/// Records of version 1 have no object numbers: the number of a table is the id of its rows, that of an index the id of its entries.
#[test]
fn records_of_version_1_are_read() {
    assert_eq!(read("t", &stored("record_1.json")).unwrap(), everything());
    let mut def = everything();
    def.indexes = indexes(&def);
    let text = write(&def).unwrap().replace(r#""object_id":4000000000,"#, "").replace(r#""object_id":102,"#, "");
    def.indexes[0].object_id = ObjectId(101);
    assert_eq!(read("t", &text).unwrap(), def);
}

/// After TRUNCATE and a rebuild, the object numbers differ from the ids of rows and entries.
#[test]
fn numbers_of_objects_are_in_the_record() {
    let mut def = everything();
    def.indexes = indexes(&def);
    (def.id, def.indexes[0].id) = (TableId(900), TableId(901));
    assert_eq!(read("t", &write(&def).unwrap()).unwrap(), def);
}

/// Earlier releases do not know these fields, and refuse a definition that has them.
#[test]
fn comments_and_checks_are_in_the_record() {
    let mut def = everything();
    def.checks = vec![CheckDef { name: "c".into(), text: "n > 0".into() }];
    let text = write(&def).unwrap();
    assert!(text.ends_with(r#","checks":[{"name":"c","text":"n > 0"}]}"#) && !text.contains("comment"), "{text}");
    assert_eq!(read("t", &text).unwrap(), def);
    def.checks.clear();
    assert!(!write(&def).unwrap().contains("checks"));
    (def.comment, def.columns[1].comment) = (Some("of the table".into()), Some("of 'n'".into()));
    let text = write(&def).unwrap();
    assert!(text.contains(r#""hidden":false,"comment":"of 'n'"}"#), "{text}");
    assert!(text.ends_with(r#","comment":"of the table"}"#), "{text}");
    assert_eq!(read("t", &text).unwrap(), def);
}

/// Earlier releases do not know these fields, and refuse a definition that has them.
#[test]
fn columns_that_fill_themselves_are_in_the_record() {
    let mut def = everything();
    def.columns[4].default = Some(DefaultDef { text: "n + 1".into(), expr: Expr::NULL, kind: DefaultKind::Generated });
    let text = write(&def).unwrap();
    assert!(text.contains(r#""text":"n + 1""#) && text.contains(r#""computed":false,"generated":true}"#), "{text}");
    assert_eq!(read("t", &text).unwrap(), def);
    let sequence = TableName { schema: Some("App".into()), name: "s".into() };
    let kind = DefaultKind::Identity(IdentityDef { always: true, sequence });
    def.columns[4].default = Some(DefaultDef { text: "NEXT VALUE FOR App.s".into(), expr: Expr::NULL, kind });
    let text = write(&def).unwrap();
    let identity = r#""computed":true,"identity":{"always":true,"sequence":{"schema":"App","name":"s"}}}"#;
    assert!(text.contains(identity), "{text}");
    assert_eq!(read("t", &text).unwrap(), def);
}

/// Two indexes of [`everything`], which use every feature.
fn indexes(def: &TableDef) -> Vec<IndexDef> {
    let column = |index: usize| {
        let ColumnDef { name, ty, nullable, .. } = def.columns[index].clone();
        Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
    };
    let upper = typing::call_named("UPPER", vec![column(0)]).unwrap();
    let part = |expr, text: &str, order| IndexPart { expr, text: text.into(), order };
    vec![
        IndexDef {
            id: TableId(101),
            object_id: ObjectId(102),
            name: "by n".into(),
            parts: vec![part(column(1), "n", SortOrder::Desc), part(upper, "UPPER(phone)", SortOrder::Asc)],
            include: vec![4, 2],
            predicate: None,
            local: false,
            unique: false,
            salt: Some(Salt { buckets: 4, by: None }),
            state: IndexState::Ready,
            rebuild: None,
        },
        IndexDef {
            id: TableId(4_000_000_001),
            object_id: ObjectId(4_000_000_001),
            name: "u".into(),
            parts: vec![part(column(5), "Col 2", SortOrder::Asc)],
            include: Vec::new(),
            predicate: None,
            local: false,
            unique: true,
            salt: None,
            state: IndexState::Building,
            rebuild: None,
        },
    ]
}

/// The predicate of a partial index may be any condition.
#[test]
fn every_condition_is_in_the_record() {
    let mut def = everything();
    let [number, text] = [1, 5].map(|index| {
        let ColumnDef { name, ty, nullable, .. } = def.columns[index].clone();
        Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
    });
    let boxed = |expr: &Expr| Box::new(expr.clone());
    let literal = |number: i64| Expr::Literal(Value::Int(number), SqlType::BigInt);
    let operators = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"];
    let compared = [
        CompareOp::Eq,
        CompareOp::NotEq,
        CompareOp::Lt,
        CompareOp::LtEq,
        CompareOp::Gt,
        CompareOp::GtEq,
        CompareOp::Distinct,
        CompareOp::NotDistinct,
    ]
    .map(|op| Expr::Compare(op, boxed(&number), Box::new(literal(1))));
    let row = vec![number.clone(), text.clone()];
    let others = [
        Expr::RowCompare(CompareOp::Lt, row.clone(), row.clone()),
        Expr::Or(vec![Expr::IsNull(boxed(&text)), Expr::Not(Box::new(Expr::IsTruth(boxed(&compared[0]), None)))]),
        Expr::InList(boxed(&number), vec![literal(1), literal(2)]),
        Expr::RowInList(row.clone(), vec![row]),
        Expr::Like { text: boxed(&text), pattern: boxed(&text), escape: Some('!'), ignore_case: true },
        Expr::Compare(
            CompareOp::Eq,
            Box::new(Expr::Case {
                whens: vec![(compared[0].clone(), literal(1))],
                otherwise: Some(Box::new(literal(2))),
                ty: SqlType::BigInt,
            }),
            Box::new(literal(1)),
        ),
    ];
    let expr = Expr::And(compared.into_iter().chain(others).collect());
    let mut index = indexes(&def).remove(0);
    (index.predicate, index.local) = (Some(IndexPredicate { expr, text: "a condition".into() }), true);
    def.indexes = vec![index];
    let record = write(&def).unwrap();
    for operator in operators {
        assert!(record.contains(&format!(r#"{{"compare":["{operator}","#)), "{operator} in {record}");
    }
    assert!(record.contains(r#""text":"a condition"},"local":true"#), "{record}");
    assert_eq!(read("t", &record).unwrap(), def);
}

/// Earlier releases do not know this field, and refuse a definition that has it.
#[test]
fn indexes_are_in_the_record() {
    let mut def = everything();
    assert!(!write(&def).unwrap().contains("indexes"));
    def.indexes = indexes(&def);
    let text = write(&def).unwrap();
    let (_, written) = text.split_once(r#","indexes":"#).unwrap();
    let second = r#"{"id":4000000001,"object_id":4000000001,"name":"u","parts":[{"column":5,"text":"Col 2","order":"asc"}],"include":[],"unique":true,"salt":null,"state":"building"}]}"#;
    assert!(written.ends_with(second), "{written}");
    let first = r#"[{"id":101,"object_id":102,"name":"by n","parts":[{"column":1,"text":"n","order":"desc"},{"expr":"#;
    assert!(written.starts_with(first), "{written}");
    assert_eq!(read("t", &text).unwrap(), def);
    // The record of an index that is not unique has no such field.
    def.indexes.pop();
    assert!(!write(&def).unwrap().contains("unique"));
    for state in [IndexState::Building, IndexState::Ready, IndexState::Disabled] {
        for rebuild in [None, Some(None), Some(Some(7))] {
            let rebuild = rebuild.map(|ttl_s| Rebuild { id: TableId(9), ttl_s });
            (def.indexes[0].state, def.indexes[0].rebuild) = (state, rebuild);
            let text = write(&def).unwrap();
            assert_eq!(text.contains("rebuild"), rebuild.is_some());
            assert_eq!(read("t", &text).unwrap(), def);
        }
    }
}

#[test]
fn an_index_that_cannot_be_read_is_an_error() {
    let mut def = everything();
    def.indexes = indexes(&def);
    let text = write(&def).unwrap();
    let (table, indexes) = text.split_once(r#","indexes":"#).unwrap();
    for (from, to, why) in [
        (r#""state":"ready""#, r#""state":"stale""#, "unknown variant `stale`"),
        (r#","state":"ready""#, "", "missing field `state`"),
        (r#""unique":true"#, r#""unique":1"#, "invalid type"),
        (r#""unique":true"#, r#""sorted":true"#, "unknown field `sorted`"),
        (r#""column":1"#, r#""column":99"#, "index by n has no column"),
        (r#"{"column":1,"#, "{", "index part n is neither a column nor an expression"),
        (r#""UPPER""#, r#""UPPEST""#, "there is no function UPPEST"),
        (r#""id":101"#, r#""id":-1"#, "invalid value"),
    ] {
        assert!(indexes.contains(from), "{from} in {indexes}");
        let error = read("t", &format!(r#"{table},"indexes":{}"#, indexes.replacen(from, to, 1))).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(error.code().as_str(), "corrupt");
    }
}

/// Earlier releases do not know this field, and refuse a definition that has it.
#[test]
fn a_table_says_since_when_it_keeps_versions() {
    let mut def = everything();
    assert!(!write(&def).unwrap().contains("versions_since"));
    def.history.versions_since = 3;
    let text = write(&def).unwrap();
    assert!(text.contains("\"versions_since\":3"), "{text}");
    assert_eq!(read("t", &text).unwrap(), def);
}

#[test]
fn definitions_of_format_4_are_read() {
    assert_eq!(read("t", &stored("format_4.json")).unwrap(), everything());
}

/// Equality of expressions ignores the names of columns, so their texts are compared as well.
#[test]
fn names_of_columns_come_from_the_table() {
    for file in ["record_2.json", "record_1.json", "format_4.json"] {
        let def = read("t", &stored(file)).unwrap();
        let parts: Vec<_> =
            def.key.columns.iter().filter_map(|key| Some((key.computed()?.to_string(), &key.name))).collect();
        assert_eq!(parts.len(), 3);
        for (text, name) in parts {
            assert_eq!(text, *name);
        }
    }
}

#[test]
fn numbers_that_json_lacks_are_kept() {
    for (value, ty) in [
        (Value::Double(f64::NAN), SqlType::Double),
        (Value::Double(f64::NEG_INFINITY), SqlType::Double),
        (Value::Float(f32::MAX), SqlType::Float),
    ] {
        let mut def = everything();
        def.columns[5].ty = ty;
        let expr = Expr::Literal(value, ty);
        def.columns[5].default = Some(DefaultDef { text: "x".into(), expr, kind: DefaultKind::Constant });
        assert_eq!(read("t", &write(&def).unwrap()).unwrap(), def);
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_table() {
    let text = stored("record_2.json");
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read("app.t", &text.replacen(from, to, 1)).unwrap_err()
    };
    let cases = [
        (r#""MD5""#, r#""MD6""#, "there is no function MD6"),
        (r#""TINYINT""#, r#""HUGEINT""#, "HUGEINT"),
        (r#""DECIMAL(38,0)""#, r#""DECIMAL(39,0)""#, "DECIMAL(39,0)"),
        (r#""DECIMAL(38,0)""#, r#""DECIMAL(5,6)""#, "DECIMAL(5,6)"),
        (r#""arith":["%""#, r#""arith":["^""#, "unknown variant `^`"),
        (r#"{"column":0}"#, r#"{"column":99}"#, "an expression names column 99"),
        (r#""column":0,"name""#, r#""name""#, "key column phone is neither a column nor an expression"),
        (r#""double":"-1e300""#, r#""double":"one""#, "'one' is no number"),
        (r#""ttl_s""#, r#""codec":1,"ttl_s""#, "unknown field `codec`"),
        (r#""id":"#, r#""id":-"#, "invalid value"),
    ];
    for (from, to, why) in cases {
        let error = changed(from, to);
        let message = error.to_string();
        assert!(message.starts_with("the definition of table app.t cannot be read: "), "{message}");
        assert!(message.contains(why), "{message}");
        assert_eq!(error.code().as_str(), "corrupt");
    }
    // A newer record, with and without a field that this version does not know.
    for newer in [r#""record_version":4"#, r#""record_version":4,"new":[]"#] {
        let error = changed(r#""record_version":2"#, newer);
        let message = "the definition of table app.t has record version 4, and this version reads up to 3";
        assert_eq!((error.to_string().as_str(), error.code().as_str()), (message, "not_supported"));
        assert!(error.help().is_some());
    }
}

#[test]
fn the_value_of_older_rows_needs_a_newer_record() {
    let mut def = everything();
    assert!(write(&def).unwrap().starts_with(r#"{"record_version":2,"#));
    for value in [Value::Null, Value::Int(7)] {
        def.columns[4].absent = Some(value);
        let text = write(&def).unwrap();
        assert!(text.starts_with(r#"{"record_version":3,"#), "{text}");
        assert_eq!(read("app.t", &text).unwrap(), def);
    }
}

#[test]
fn an_expression_that_keys_cannot_have_is_not_stored() {
    let mut def = everything();
    let Some(default) = &mut def.columns[3].default else { panic!("no DEFAULT") };
    default.expr = Expr::Param(0, None);
    assert!(write(&def).unwrap_err().to_string().contains("it has no form for"));
}
