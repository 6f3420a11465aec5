use super::*;
use crate::table::{IndexState, KeyColumn, SortOrder};
use crate::value::Timestamp;
use crate::{ColumnRef, Decimal, ObjectId, TableId, Value, key_form};

/// A table (id BIGINT, k VARCHAR, columns of these types: v0, v1 and so on); its key is (k DESC, id), salted.
fn table(types: &[SqlType]) -> TableDef {
    let column = |name: String, ty, slot: Option<usize>| ColumnDef {
        name,
        ty,
        nullable: slot.is_some(),
        default: None,
        family: slot.map(|_| 0),
        slot: slot.unwrap_or_default() as u16,
        hidden: false,
        comment: None,
        absent: None,
    };
    let keys = [column("id".into(), SqlType::BigInt, None), column("k".into(), SqlType::Varchar(None), None)];
    let values = types.iter().enumerate().map(|(slot, ty)| column(format!("v{slot}"), *ty, Some(slot)));
    let key = |column, name: &str, ty, order| KeyColumn {
        source: KeySource::Column(column),
        name: name.into(),
        ty,
        order,
        nullable: false,
    };
    TableDef {
        id: TableId(100),
        object_id: ObjectId::NEW,
        name: TableName { schema: Some("s".into()), name: "t".into() },
        columns: keys.into_iter().chain(values).collect(),
        key: KeySchema {
            columns: vec![
                key(1, "k", SqlType::Varchar(None), SortOrder::Desc),
                key(0, "id", SqlType::BigInt, SortOrder::Asc),
            ],
            salt: Some(Salt { buckets: 4, by: None }),
        },
        key_name: None,
        families: vec![None],
        ttl_s: Some(60),
        options: Vec::new(),
        history: TableHistory::default(),
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

fn column(def: &TableDef, index: usize) -> Expr {
    let of_table = &def.columns[index];
    let (name, ty, nullable) = (of_table.name.clone(), of_table.ty, of_table.nullable);
    Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
}

/// An index of these columns.
fn index(def: &TableDef, columns: &[(usize, SortOrder)], include: &[usize]) -> IndexDef {
    let part = |&(index, order)| IndexPart { expr: column(def, index), text: def.columns[index].name.clone(), order };
    IndexDef {
        id: TableId(101),
        object_id: ObjectId::NEW,
        name: "i".into(),
        parts: columns.iter().map(part).collect(),
        include: include.to_vec(),
        predicate: None,
        local: false,
        unique: false,
        salt: None,
        state: IndexState::Ready,
        rebuild: None,
    }
}

/// The key of entries: source, name, type, order, whether NULL has a form.
fn shown(key: &KeySchema) -> Vec<String> {
    let one = |part: &KeyColumn| {
        let source = match &part.source {
            KeySource::Column(column) => format!("column {column}"),
            KeySource::Computed(expr) => format!("computed {expr}"),
            KeySource::Indexed(expr) => format!("indexed {expr}"),
        };
        let null = if part.nullable { "" } else { " not null" };
        format!("{source}: {} {} {:?}{null}", part.name, part.ty, part.order)
    };
    key.columns.iter().map(one).collect()
}

/// Phoenix's `IndexUtil.getIndexColumnDataType`: what NULL has no form in becomes DECIMAL, and CHAR and BINARY vary in length.
#[test]
fn value_columns_are_indexed_in_a_type_with_a_form_of_null() {
    use SqlType::*;
    for ty in [
        TinyInt,
        SmallInt,
        Integer,
        BigInt,
        UnsignedTinyInt,
        UnsignedSmallInt,
        UnsignedInt,
        UnsignedLong,
        Float,
        Double,
        UnsignedFloat,
        UnsignedDouble,
        Boolean,
        Date,
        Time,
        Timestamp,
        UnsignedDate,
        UnsignedTime,
        UnsignedTimestamp,
        Decimal(Some((9, 2))),
        Decimal(None),
    ] {
        let kept = if matches!(ty, Decimal(_)) { ty } else { Decimal(None) };
        assert_eq!(key_form::index_type(ty), kept, "{ty}");
    }
    for (ty, kept) in [
        (Char(3), Varchar(None)),
        (Varchar(Some(4)), Varchar(Some(4))),
        (Varchar(None), Varchar(None)),
        (Binary(2), Varbinary),
        (Varbinary, Varbinary),
        (VarbinaryEncoded, VarbinaryEncoded),
    ] {
        assert_eq!(key_form::index_type(ty), kept, "{ty}");
    }
}

#[test]
fn the_key_of_entries_is_the_parts_and_the_rest_of_the_key() {
    let def = table(&[SqlType::Integer, SqlType::Varchar(None), SqlType::Char(2)]);
    let of = |index: &IndexDef| entries_def(&def, index);
    let (asc, desc) = (SortOrder::Asc, SortOrder::Desc);
    let by_value = index(&def, &[(2, desc), (4, asc)], &[3]);
    let entries = of(&by_value);
    assert_eq!(
        shown(&entries.key),
        [
            "indexed v0: v0 DECIMAL Desc",
            "indexed v2: v2 VARCHAR Asc",
            "column 1: k VARCHAR Desc not null",
            "column 0: id BIGINT Asc not null",
        ]
    );
    let names = |def: &TableDef| def.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&entries), ["id", "k", "v0", "v1", "v2"]);
    // Statements are planned over the columns of the table.
    assert!(shown(&by_value.key(&def)).contains(&"column 2: v0 DECIMAL Desc".to_owned()));
    // A column of the key has the type that it has there, and the order of the part.
    let entries = of(&index(&def, &[(3, asc), (1, asc)], &[]));
    assert_eq!(
        shown(&entries.key),
        ["indexed v1: v1 VARCHAR Asc", "column 1: k VARCHAR Asc not null", "column 0: id BIGINT Asc not null"]
    );
    assert_eq!(names(&entries), ["id", "k", "v1"]);
    // The same columns in another order.
    let entries = of(&index(&def, &[(0, desc), (1, desc)], &[]));
    assert_eq!(shown(&entries.key), ["column 0: id BIGINT Desc not null", "column 1: k VARCHAR Desc not null"]);
}

#[test]
fn an_expression_is_a_part() {
    let def = table(&[SqlType::Varchar(None), SqlType::Integer]);
    let upper = crate::typing::call_named("UPPER", vec![column(&def, 2)]).unwrap();
    let mut by_upper = index(&def, &[], &[3]);
    by_upper.parts = vec![IndexPart { expr: upper, text: "UPPER(v0)".into(), order: SortOrder::Asc }];
    let entries = entries_def(&def, &by_upper);
    assert_eq!(
        shown(&entries.key),
        [
            "indexed UPPER(v0): UPPER(v0) VARCHAR Asc",
            "column 1: k VARCHAR Desc not null",
            "column 0: id BIGINT Asc not null"
        ]
    );
    // Its columns are in the entry, by which the part is computed.
    let KeySource::Indexed(expr) = &entries.key.columns[0].source else { panic!("no expression") };
    let names: Vec<&str> = expr.columns().iter().map(|column| entries.columns[*column].name.as_str()).collect();
    assert_eq!(names, ["v0"]);
}

#[test]
fn what_entries_take_from_table_and_index() {
    let mut def = table(&[SqlType::Integer, SqlType::Varchar(None)]);
    def.history.version = 9;
    let mut salted = index(&def, &[(3, SortOrder::Asc)], &[2]);
    salted.salt = Some(Salt { buckets: 7, by: None });
    let entries = entries_def(&def, &salted);
    assert_eq!((entries.id, entries.name.to_string()), (TableId(101), "s.i".to_owned()));
    assert_eq!((entries.ttl_s, entries.history.version), (Some(60), 9));
    assert_eq!(entries.key.salt, salted.salt);
    // Places of values are those of the entry, without gaps.
    let slots: Vec<_> = entries.columns.iter().map(|column| (column.family, column.slot)).collect();
    assert_eq!(slots, [(None, 0), (None, 0), (Some(0), 0), (Some(0), 1)]);
    assert_eq!(salted.columns(&def), [0, 1, 2, 3]);
}

#[test]
fn values_have_a_form_or_an_error() {
    let form = |value, ty| key_form::key_form_of_entry(&value, ty, key_form::index_type(ty)).map_err(|_| ());
    let decimal = |text: &str| Ok(Value::Decimal(text.parse::<Decimal>().unwrap()));
    assert_eq!(form(Value::Int(-129), SqlType::Integer), decimal("-129"));
    assert_eq!(form(Value::Int(i64::MIN), SqlType::BigInt), decimal("-9223372036854775808"));
    assert_eq!(form(Value::Bool(true), SqlType::Boolean), decimal("1"));
    assert_eq!(form(Value::Date(-1), SqlType::Date), decimal("-1"));
    let at = Timestamp { ms: 1, nanos: 999_999 };
    assert_eq!(form(Value::Timestamp(at), SqlType::Timestamp), decimal("1.999999"));
    assert_eq!(form(Value::Double(-0.5), SqlType::Double), decimal("-0.5"));
    assert_eq!(form(Value::Double(f64::NAN), SqlType::Double), Err(()));
    assert_eq!(form(Value::Float(f32::INFINITY), SqlType::Float), Err(()));
    // Padding is part of the form, and nothing at all is NULL.
    assert_eq!(form(Value::text("a"), SqlType::Char(3)), Ok(Value::text("a  ")));
    for (value, ty) in [
        (Value::text(""), SqlType::Varchar(None)),
        (Value::Bytes(Vec::new()), SqlType::Varbinary),
        (Value::Null, SqlType::Integer),
        (Value::Null, SqlType::Char(3)),
    ] {
        assert_eq!(form(value, ty), Ok(Value::Null));
    }
}
