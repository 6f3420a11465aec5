//! Attributes of aggregating scans as Phoenix's planner makes them, and results in the form of its region servers.

use proptest::prelude::*;
use saltwing_phoenix::AggregateFunction::{Count, Max, Min, Sum};
use saltwing_phoenix::{
    Aggregate, AggregateFunction, AggregateScan, CellCodec, GroupKey, Grouping, PhoenixError, QualifierScheme,
    RowFormat, ScanExpression, StorageScheme, ValueColumn,
};
use saltwing_types::text::{hex, unhex};
use saltwing_types::{ErrorCode, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

use crate::hostile::{byte, changes, mutate};
use crate::types::{SCALARS, value};

/// A table with these key columns (type, descending, nullable) and value columns (family, type), numbered from 11.
fn table(key: &[(T, bool, bool)], columns: &[(&str, T)]) -> RowFormat {
    let key = key.iter().map(|(ty, is_desc, nullable)| KeyColumn {
        source: KeySource::Column(0),
        name: "K".into(),
        ty: *ty,
        order: if *is_desc { SortOrder::Desc } else { SortOrder::Asc },
        nullable: *nullable,
    });
    let qualifiers = QualifierScheme::TwoBytes;
    let columns = columns.iter().zip(11..).map(|((family, ty), number)| ValueColumn {
        name: format!("C{number}"),
        family: (*family).into(),
        qualifier: qualifiers.encode(number).unwrap(),
        ty: *ty,
        nullable: true,
        has_default: false,
    });
    RowFormat {
        key: KeySchema { columns: key.collect(), salt: None },
        columns: columns.collect(),
        storage: StorageScheme::CellPerColumn,
        qualifiers,
        empty_family: "0".into(),
        store_nulls: false,
        immutable: false,
    }
}

/// The table of most golden scans.
fn wide() -> RowFormat {
    let key = [(T::Varchar(None), false, false), (T::Integer, true, false), (T::Varchar(None), true, false)];
    let types = [
        T::BigInt,
        T::Integer,
        T::SmallInt,
        T::TinyInt,
        T::UnsignedInt,
        T::Char(5),
        T::Varchar(Some(9)),
        T::Decimal(Some((10, 2))),
        T::Decimal(None),
        T::Double,
        T::Float,
        T::Date,
        T::Timestamp,
        T::Boolean,
    ];
    let mut columns: Vec<_> = types.iter().map(|ty| ("0", *ty)).collect();
    columns.push(("F", T::Integer));
    table(&key, &columns)
}

fn of(format: &RowFormat, function: AggregateFunction, column: usize) -> Aggregate {
    Aggregate::of(function, ScanExpression::value_column(format, column).unwrap()).unwrap()
}

fn aggregates(list: Vec<Aggregate>) -> String {
    let attributes = AggregateScan::new(list, Grouping::None).unwrap().attributes();
    assert_eq!((attributes[1].name, attributes[1].value.as_slice()), ("_UngroupedAgg", &[1][..]));
    assert_eq!(attributes[0].name, "_Aggs");
    hex(&attributes[0].value)
}

#[test]
fn scans_of_phoenix() {
    let wide = wide();
    assert_eq!(aggregates(vec![Aggregate::count_rows()]), "010118010305800000010603");
    assert_eq!(aggregates(vec![of(&wide, Count, 1)]), "01011801021902013002800c");
    let all =
        vec![of(&wide, Sum, 1), of(&wide, Min, 1), of(&wide, Max, 1), of(&wide, Count, 1), Aggregate::count_rows()];
    let phoenix = "0205\
                   18010305800000010603\
                   1801021902013002800c\
                   1901021902013002800c1a01021902013002800c1b01021902013002800c";
    // Phoenix sorts COUNT(*) before COUNT(column).
    let ours = aggregates(vec![all[4].clone(), all[3].clone(), all[0].clone(), all[1].clone(), all[2].clone()]);
    assert_eq!(ours, phoenix);
    assert_eq!(aggregates(all).len(), phoenix.len());
}

/// What Phoenix makes of SUM(CAST(column AS DECIMAL)).
#[test]
fn sums_of_64_bits_are_those_of_decimals() {
    let plain = table(&[(T::Varchar(None), false, false)], &[("0", T::BigInt), ("0", T::UnsignedLong)]);
    assert_eq!(aggregates(vec![of(&plain, Sum, 0)]), "0001190113021102013002800bf702ff");
    assert_eq!(aggregates(vec![of(&plain, Sum, 1)]), "0001190113027902013002800cf702ff");
    assert_eq!(of(&plain, Sum, 0).result_type(), T::Decimal(None));
    let wrapping = |column| Aggregate::wrapping_sum(ScanExpression::value_column(&plain, column).unwrap());
    assert_eq!(aggregates(vec![wrapping(0).unwrap()]), "00011901021102013002800b");
    assert_eq!(wrapping(0).unwrap().result_type(), T::BigInt);
    assert!(wrapping(1).is_err());
    let keyed = table(&[(T::Varchar(None), false, false), (T::BigInt, false, false)], &[]);
    let key = Aggregate::of(Sum, ScanExpression::key_column(&keyed, 1).unwrap()).unwrap();
    assert_eq!(aggregates(vec![key]), "000119011301100205fff702ff");
    let mut packed = table(&[(T::Varchar(None), false, false)], &[("0", T::BigInt)]);
    packed.storage = StorageScheme::CellPerFamily;
    assert_eq!(aggregates(vec![of(&packed, Sum, 0)]), "00011901138f901102013001310bfe02f702ff");
}

/// `(a VARCHAR NOT NULL, b INTEGER NOT NULL, c VARCHAR, lac INTEGER, ci INTEGER, n BIGINT, t VARCHAR(9), key (a, b, c))`
fn grouped() -> RowFormat {
    let key = [(T::Varchar(None), false, false), (T::Integer, false, false), (T::Varchar(None), false, true)];
    table(&key, &[("0", T::Integer), ("0", T::Integer), ("0", T::BigInt), ("0", T::Varchar(Some(9)))])
}

/// Columns by which Phoenix groups: a number is a value column, `k` and a number a key column.
fn group_key(format: &RowFormat, columns: &[&str]) -> Result<GroupKey, PhoenixError> {
    let column = |column: &&str| match column.strip_prefix('k') {
        Some(place) => ScanExpression::key_column(format, place.parse().unwrap()),
        None => ScanExpression::value_column(format, column.parse().unwrap()),
    };
    GroupKey::new(columns.iter().map(column).collect::<Result<_, _>>()?)
}

#[test]
fn keys_of_groups_of_phoenix() {
    let format = grouped();
    let expressions = |columns: &[&str]| {
        let grouping = Grouping::Unordered(group_key(&format, columns).unwrap().expressions());
        let attributes = AggregateScan::new(vec![Aggregate::count_rows()], grouping).unwrap().attributes();
        hex(&attributes[1].value)
    };
    assert_eq!(expressions(&["0", "1"]), "13021902013002800bf702ff021902013002800c");
    assert_eq!(expressions(&["k1", "k0"]), "01180205ff01000202");
    // One that may hold zeros comes last, wherever it is asked for.
    assert_eq!(expressions(&["k2", "0"]), "13021902013002800bf702ff01010208ff04");
    let read = |columns: &[&str], key: &str| group_key(&format, columns).unwrap().read(&unhex(key).unwrap());
    assert_eq!(read(&["0"], "80000007"), Ok(vec![V::Int(7)]));
    assert_eq!(read(&["0"], ""), Ok(vec![V::Null]));
    // 5, then 7: the first one is a DECIMAL, which ends before a zero.
    assert_eq!(read(&["0", "1"], "c1060080000007"), Ok(vec![V::Int(5), V::Int(7)]));
    assert_eq!(read(&["0", "1"], "00"), Ok(vec![V::Null, V::Null]));
    assert_eq!(read(&["3", "k0"], "6100620063"), Ok(vec![V::text("b\0c"), V::text("a")]));
    assert_eq!(read(&["k1", "k0"], "8000000161"), Ok(vec![V::Int(1), V::text("a")]));
    for (columns, key) in
        [(&["0", "1"][..], "c106"), (&["0"], "8000"), (&["k1", "k0"], "80"), (&["0", "1"], "c20202330000")]
    {
        assert!(matches!(read(columns, key), Err(PhoenixError::CorruptAggregates { .. })), "{key}");
    }
}

#[test]
fn groups_that_cannot_be_told_from_each_other_are_refused() {
    let format = grouped();
    let refused = |columns: &[&str]| group_key(&format, columns).unwrap_err().to_string();
    assert_eq!(refused(&[]), "the region servers do not compute groups without columns");
    // Two texts that may hold zeros.
    assert_eq!(refused(&["k2", "3"]), "the region servers do not compute a column of type VARCHAR");
    let two = table(&[(T::Integer, false, false)], &[("0", T::Varchar(Some(9))), ("0", T::Varchar(Some(9)))]);
    assert!(group_key(&two, &["0"]).is_ok());
    assert!(group_key(&two, &["0", "1"]).is_err());
    let long = table(&[(T::Integer, false, true)], &[("0", T::Varchar(None)), ("0", T::Varchar(Some(20_000)))]);
    for columns in [&["0"][..], &["1"], &["k0"]] {
        assert_eq!(group_key(&long, columns).is_ok(), columns == ["k0"], "{columns:?}");
    }
    assert!(group_key(&wide(), &["k1"]).is_err());
}

#[test]
fn every_type_is_written_as_phoenix_does() {
    let phoenix = "1b01020d050201300280101901028f8102013002800f1a01028f8102013002800f1a0102190201460280191a01022102013002\
                   800d1b01022902013002800e1b0102310201300280151a01023902013002801419010239020130028014190102310201300280\
                   151b0102490201300280171a0102590201300280161a01028fa90201300280181a010205090201300280111a010247020a0201\
                   3002801219010247020a02013002801219010241020130028013";
    let wide = wide();
    for (function, column) in [
        (Max, 5),
        (Sum, 4),
        (Min, 4),
        (Min, 14),
        (Min, 2),
        (Max, 3),
        (Max, 10),
        (Min, 9),
        (Sum, 9),
        (Sum, 10),
        (Max, 12),
        (Min, 11),
        (Min, 13),
        (Min, 6),
        (Min, 7),
        (Sum, 7),
    ] {
        let ours = aggregates(vec![of(&wide, function, column)]);
        let piece = ours.strip_prefix("0001").unwrap();
        assert!(phoenix.contains(piece), "{function:?} of {}: {piece}", wide.columns[column].ty);
    }
}

#[test]
fn packed_cells_and_names() {
    let packed = |scheme: QualifierScheme, family: &str, ty, nullable| {
        let mut format = table(&[(T::Varchar(None), false, false)], &[(family, T::Integer), (family, ty)]);
        format.storage = StorageScheme::CellPerFamily;
        format.qualifiers = scheme;
        for (column, number) in format.columns.iter_mut().zip(11..) {
            column.qualifier = scheme.encode(number).unwrap();
        }
        format.columns[0].nullable = nullable;
        format
    };
    let format = packed(QualifierScheme::TwoBytes, "0", T::Char(3), false);
    let both = vec![of(&format, Sum, 0), of(&format, Min, 1)];
    assert_eq!(aggregates(both), "000219018f901802013001310bfe021a018f900d0302013001310cfe02");
    let format = packed(QualifierScheme::OneByte, "0", T::Decimal(Some((10, 2))), true);
    let both = vec![of(&format, Sum, 0), of(&format, Min, 1)];
    assert_eq!(aggregates(both), "000219018f901902013001310bff021a018f9047020a02013001310cff02");
    let format = packed(QualifierScheme::FourBytes, "F", T::Varchar(None), true);
    let both = vec![of(&format, Sum, 0), of(&format, Min, 1)];
    assert_eq!(aggregates(both), "000219018f901902014601310bfc021a018f900102014601310cfc02");
    let mut format = table(&[(T::Varchar(None), false, false)], &[("0", T::Integer)]);
    format.qualifiers = QualifierScheme::Names;
    format.columns[0].qualifier = b"V".to_vec();
    assert_eq!(aggregates(vec![of(&format, Sum, 0)]), "0001190102190201300156");
}

#[test]
fn groups_of_phoenix() {
    let wide = wide();
    let group = |grouping| {
        let attributes = AggregateScan::new(vec![Aggregate::count_rows()], grouping).unwrap().attributes();
        (attributes[1].name, hex(&attributes[1].value))
    };
    let value = |column| ScanExpression::value_column(&wide, column).unwrap();
    let key = |column| ScanExpression::key_column(&wide, column).unwrap();
    let unordered = "_UnorderedGroupByExpressions";
    assert_eq!(group(Grouping::Unordered(vec![value(1)])), (unordered, "021902013002800c".into()));
    let two = Grouping::Unordered(vec![value(6), value(1)]);
    assert_eq!(group(two), (unordered, "020509020130028011021902013002800c".into()));
    assert_eq!(group(Grouping::Unordered(vec![key(1)])), (unordered, "01180105ff".into()));
    assert_eq!(group(Grouping::Unordered(vec![key(2)])), (unordered, "01000108ff04".into()));
    let ordered = "_OrderedGroupByExpressions";
    assert_eq!(group(Grouping::Ordered(vec![key(0)])), (ordered, "01000202".into()));
    assert_eq!(group(Grouping::Ordered(vec![key(0), key(1)])), (ordered, "0100020201180105ff".into()));
    let mut salted = table(&[(T::Varchar(None), false, false), (T::Integer, false, false)], &[]);
    salted.key.salt = Some(Salt { buckets: 4, by: None });
    let salted = ScanExpression::key_column(&salted, 0).unwrap();
    assert_eq!(group(Grouping::Ordered(vec![salted])), (ordered, "0100020601".into()));
}

/// The way to a key column: widths are added up, separators are counted.
#[test]
fn key_columns_of_phoenix() {
    let minima = |format: &RowFormat, column: usize| {
        let key = ScanExpression::key_column(format, column).unwrap();
        let attributes = aggregates(vec![Aggregate::of(Min, key).unwrap()]);
        attributes.strip_prefix("00011a01").unwrap().to_owned()
    };
    let (text, bigint) = (T::Varchar(None), T::BigInt);
    let key = [
        (text, false, false),
        (text, false, false),
        (T::Integer, false, false),
        (T::Char(3), false, false),
        (text, false, true),
        (bigint, false, false),
    ];
    let mut salted = table(&key, &[]);
    salted.key.salt = Some(Salt { buckets: 4, by: None });
    let expected =
        ["0100020601", "0100020a01ff", "0118020901fe", "010c03020d01fe04", "0101020e01fe07", "0110021101fe07ff"];
    assert_eq!((0..6).map(|column| minima(&salted, column)).collect::<Vec<_>>(), expected);
    let plain =
        table(&[(bigint, false, false), (T::Integer, false, false), (text, false, true), (text, false, true)], &[]);
    let expected = ["01100201", "0118020508", "010102060c", "010102080cff"];
    assert_eq!((0..4).map(|column| minima(&plain, column)).collect::<Vec<_>>(), expected);
    let key = ScanExpression::key_column(&wide(), 1).unwrap();
    let error = Aggregate::of(Min, key).unwrap_err().to_string();
    assert_eq!(error, "the region servers do not compute MIN of INTEGER in a descending key");
}

#[test]
fn what_the_servers_compute_otherwise_is_refused() {
    let wide = wide();
    let refused = |function, column: usize| {
        let error = Aggregate::of(function, ScanExpression::value_column(&wide, column).unwrap()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotSupported);
        error.to_string()
    };
    assert_eq!(refused(Sum, 8), "the region servers do not compute SUM of DECIMAL");
    assert_eq!(refused(Sum, 6), "the region servers do not compute SUM of VARCHAR(9)");
    let json = table(&[(T::Integer, false, false)], &[("0", T::Json), ("0", T::array(T::Integer).unwrap())]);
    for column in 0..3 {
        assert!(ScanExpression::value_column(&json, column).is_err());
    }
    let mut defaulted = wide.clone();
    defaulted.columns[1].has_default = true;
    let error = ScanExpression::value_column(&defaulted, 1).unwrap_err().to_string();
    assert_eq!(error, "the region servers do not compute column C12, which has a DEFAULT");
    assert!(AggregateScan::new(vec![], Grouping::None).is_err());
    assert!(AggregateScan::new(vec![Aggregate::count_rows()], Grouping::Unordered(vec![])).is_err());
}

#[test]
fn results_of_a_region_server() {
    let wide = wide();
    let scan = AggregateScan::new(vec![of(&wide, Sum, 1), Aggregate::count_rows()], Grouping::None).unwrap();
    let read = |bytes: &str| scan.read(&unhex(bytes).unwrap());
    // The count comes first there.
    assert_eq!(read("800000000001e848800000017551ee220001"), Ok(vec![V::Int(6_263_270_946), V::Int(125_000)]));
    assert_eq!(read("80000000000000000000"), Ok(vec![V::Null, V::Int(0)]));
    for bad in ["", "8000000000000000", "80000000000000000001", "800000000000000000000000"] {
        assert!(matches!(read(bad), Err(PhoenixError::CorruptAggregates { .. })), "{bad}");
    }
    let count = AggregateScan::new(vec![Aggregate::count_rows()], Grouping::None).unwrap();
    assert_eq!(count.read(&unhex("8000000000000007").unwrap()), Ok(vec![V::Int(7)]));
}

/// Bytes that Phoenix's own classes made of such results.
#[test]
fn results_of_phoenix() {
    let types = [T::Integer, T::Varchar(None), T::Char(5), T::Decimal(None), T::Double, T::Boolean];
    let format = table(&[(T::Integer, false, false)], &types.map(|ty| ("0", ty)));
    let list = [Aggregate::count_rows()].into_iter().chain((0..types.len()).map(|column| of(&format, Min, column)));
    let scan = AggregateScan::new(list.collect(), Grouping::None).unwrap();
    let values =
        [V::Int(5), V::text("abc"), V::text("ab"), V::Decimal("1.5".parse().unwrap()), V::Double(2.25), V::Bool(true)];
    for (bytes, present) in [
        ("80000000000000078000000503616263616220202003c10233c00200000000000101003f", [true; 6]),
        ("80000000000000070361626303c1023301002a", [false, true, false, true, false, true]),
        ("80000000000000070000", [false; 6]),
    ] {
        let shown = values.iter().zip(present).map(|(value, present)| if present { value.clone() } else { V::Null });
        let expected: Vec<_> = [V::Int(7)].into_iter().chain(shown).collect();
        assert_eq!(scan.read(&unhex(bytes).unwrap()), Ok(expected));
    }
    let many = |count: usize, bytes: &str| {
        let format = table(&[(T::Integer, false, false)], &vec![("0", T::Integer); count]);
        let list = (0..count).map(|column| of(&format, Min, column)).collect();
        let values = AggregateScan::new(list, Grouping::None).unwrap().read(&unhex(bytes).unwrap()).unwrap();
        values.into_iter().enumerate().filter(|(_, value)| !value.is_null()).collect::<Vec<_>>()
    };
    let third = vec![(2, V::Int(2))];
    assert_eq!(many(16, "800000020004"), third);
    assert_eq!(many(17, "8000000200000000000000040001"), third);
    assert_eq!(many(70, "8000000200000000000000040001"), third);
    for count in [16, 17, 70] {
        assert_eq!(many(count, "0000"), []);
    }
    let words = "800000008000000380000006800000098000000c8000000f8000001280000015800000188000001b8000001e800000218000002480\
                 0000278000002a8000002d800000308000003380000036800000398000003c8000003f800000428000004592492492492492490000\
                 0000000000240002";
    assert_eq!(many(70, words), (0..70).step_by(3).map(|place| (place, V::Int(place as i64))).collect::<Vec<_>>());
}

/// Results as a region server writes them: counts, then the others that are there, then their bits.
fn written(results: &[(T, Option<V>)], counts: &[i64]) -> Vec<u8> {
    let mut out: Vec<u8> = counts.iter().flat_map(|count| (count ^ i64::MIN).to_be_bytes()).collect();
    let mut words = vec![0u64; results.len().div_ceil(64)];
    let mut used = 0;
    for (place, (ty, value)) in results.iter().enumerate() {
        let Some(value) = value else { continue };
        let mut stored = Vec::new();
        CellCodec::new(*ty).unwrap().encode(value, &mut stored).unwrap();
        if ty.fixed_key_bytes().is_none() {
            out.push(u8::try_from(stored.len()).unwrap());
        }
        out.extend(stored);
        words[place / 64] |= 1 << (place % 64);
        used = place / 64 + 1;
    }
    match results.len() {
        0 => {}
        1..=16 => out.extend((words[0] as u16).to_be_bytes()),
        _ => {
            out.extend(words.iter().take(used).flat_map(|word| word.to_be_bytes()));
            out.extend((used as u16).to_be_bytes());
        }
    }
    out
}

/// A scan with minima of random columns and two counts, and its results.
fn results() -> impl Strategy<Value = (AggregateScan, Vec<V>, Vec<u8>)> {
    // VARBINARY_ENCODED came after Phoenix 5.2.
    let types: Vec<T> = SCALARS.into_iter().filter(|ty| *ty != T::VarbinaryEncoded).collect();
    let result = prop::sample::select(types).prop_flat_map(|ty| (Just(ty), prop::option::of(value(ty))));
    (prop_oneof![0usize..17, 17..90usize], 0i64..1 << 40).prop_flat_map(move |(count, rows)| {
        prop::collection::vec(result.clone(), count).prop_map(move |results| {
            let columns: Vec<_> = results.iter().map(|(ty, _)| ("0", *ty)).collect();
            let format = table(&[(T::Integer, false, false)], &columns);
            let minima = (0..results.len()).map(|column| of(&format, Min, column));
            let list = [Aggregate::count_rows()].into_iter().chain(minima).chain([Aggregate::count_rows()]);
            let scan = AggregateScan::new(list.collect(), Grouping::None).unwrap();
            let values = results.iter().map(|(_, value)| value.clone().unwrap_or(V::Null));
            let values = [V::Int(rows)].into_iter().chain(values).chain([V::Int(rows + 1)]).collect();
            (scan, values, written(&results, &[rows, rows + 1]))
        })
    })
}

proptest! {
    #[test]
    fn results_read_back((scan, values, stored) in results(), changes in changes()) {
        prop_assert_eq!(scan.read(&stored), Ok(values));
        let mut damaged = stored;
        mutate(&mut damaged, &changes);
        if let Err(error) = scan.read(&damaged) {
            prop_assert_eq!(error.code(), ErrorCode::Corrupt);
        }
    }

    /// Law 1 of [`GroupKey`].
    #[test]
    fn random_keys_of_groups(
        key in prop::collection::vec(byte(), 0..20),
        columns in prop::sample::subsequence(vec!["k0", "k1", "0", "1", "2"], 1..5),
    ) {
        if let Ok(values) = group_key(&grouped(), &columns).unwrap().read(&key) {
            prop_assert_eq!(values.len(), columns.len());
        }
    }

    #[test]
    fn random_results((scan, _, _) in results(), stored in prop::collection::vec(byte(), 0..40)) {
        let _ = scan.read(&stored);
    }
}
