//! Filters.

use bytes::Bytes;
use hbase_client::proto::{
    BinaryComparator, ByteArrayComparable, Comparator, Filter, FilterList, FirstKeyOnlyFilter, KeyOnlyFilter,
    MultiRowRangeFilter, PageFilter, PrefixFilter, RowRange, Scan, SingleColumnValueFilter,
};
use prost::Message;

use crate::wire::{Wire, bytes, class, column, next, texts, with_table};

fn filter(class: &str, message: &impl Message) -> Filter {
    let name = format!("org.apache.hadoop.hbase.filter.{class}");
    Filter { name, serialized_filter: Some(message.encode_to_vec().into()) }
}

fn prefix(prefix: &'static str) -> Filter {
    filter("PrefixFilter", &PrefixFilter { prefix: bytes(prefix) })
}

fn page(page_size: i64) -> Filter {
    filter("PageFilter", &PageFilter { page_size })
}

fn ranges(ranges: &[(&'static str, &'static str)]) -> Filter {
    let range = |(start, stop): &(&'static str, &'static str)| RowRange {
        start_row: bytes(start),
        start_row_inclusive: Some(true),
        stop_row: bytes(stop),
        stop_row_inclusive: Some(false),
    };
    filter("MultiRowRangeFilter", &MultiRowRangeFilter { row_range_list: ranges.iter().map(range).collect() })
}

fn list(operator: i32, filters: Vec<Filter>) -> Filter {
    filter("FilterList", &FilterList { operator, filters })
}

/// Rows whose `q` is greater.
fn greater(value: &'static str) -> Filter {
    let comparable = ByteArrayComparable { value: bytes(value) };
    let comparator = Comparator {
        name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
        serialized_comparator: Some(BinaryComparator { comparable }.encode_to_vec().into()),
    };
    let message = SingleColumnValueFilter {
        column_family: bytes("f"),
        column_qualifier: bytes("q"),
        compare_op: 5,
        comparator,
        filter_if_missing: Some(true),
        latest_version_only: Some(true),
    };
    filter("SingleColumnValueFilter", &message)
}

fn of(filter: Filter) -> Scan {
    Scan { filter: Some(filter), ..Scan::default() }
}

#[tokio::test]
async fn each_filter_lets_its_rows_through() {
    let cluster = with_table(&["a", "ab", "b", "c"]);
    cluster.put("t", b"a", ("f", "r"), b"x").unwrap();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let key_only = |len_as_val| filter("KeyOnlyFilter", &KeyOnlyFilter { len_as_val });
    let first_key_only = || filter("FirstKeyOnlyFilter", &FirstKeyOnlyFilter {});
    for (filter, expected, more) in [
        (prefix("a"), "a/q=a a/r=x ab/q=ab", (true, false)),
        (prefix("x"), "", (true, false)),
        (page(2), "a/q=a a/r=x ab/q=ab", (true, false)),
        (key_only(false), "a/q= a/r= ab/q= b/q= c/q=", (true, false)),
        (first_key_only(), "a/q=a ab/q=ab b/q=b c/q=c", (true, false)),
        (ranges(&[("ab", "b"), ("c", "d")]), "ab/q=ab c/q=c", (true, false)),
        // The filter is done and gave nothing: the whole scan is over.
        (ranges(&[("0", "1")]), "", (false, false)),
        (greater("ab"), "b/q=b c/q=c", (true, false)),
        (list(1, vec![prefix("a"), first_key_only(), key_only(false)]), "a/q= ab/q=", (true, false)),
        (list(2, vec![prefix("ab"), greater("b")]), "ab/q=ab c/q=c", (true, false)),
        // A page counts what comes through the filters before it.
        (list(1, vec![greater("a"), page(2)]), "ab/q=ab b/q=b", (true, false)),
        // A row of which no cell came through counts nowhere.
        (list(1, vec![page(2), greater("a")]), "ab/q=ab b/q=b", (true, false)),
    ] {
        let answer = wire.open(&region, of(filter.clone()), 10).await.unwrap();
        assert_eq!(texts(&answer.cells).join(" "), expected, "{filter:?}");
        let said = (answer.message.more_results.unwrap(), answer.message.more_results_in_region.unwrap());
        assert_eq!(said, more, "{filter:?}");
    }
    let lengths = wire.open(&region, of(key_only(true)), 1).await.unwrap();
    assert_eq!(lengths.cells[0].value(), [0, 0, 0, 1]);
}

#[tokio::test]
async fn a_page_is_of_each_region() {
    let cluster = with_table(&["a", "b", "y", "z"]);
    for row in [&b""[..], b"m"] {
        let region = cluster.region_of("t", row).unwrap();
        let mut wire = Wire::of_row(&cluster, "t", row).await;
        assert_eq!(wire.open(&region, of(page(1)), 10).await.unwrap().cells.len(), 1);
    }
}

#[tokio::test]
async fn a_page_before_another_filter_counts_its_rows() {
    let cluster = with_table(&["a", "b"]);
    cluster.put("t", b"a", ("f", "p"), b"").unwrap();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let answer = wire.open(&region, of(list(1, vec![page(1), greater("a")])), 10).await.unwrap();
    assert_eq!((answer.cells.len(), answer.message.more_results), (0, Some(false)));
}

#[tokio::test]
async fn filters_of_rows_give_no_parts() {
    let cluster = with_table(&["a", "b"]);
    cluster.put("t", b"a", ("f", "r"), b"x").unwrap();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let scan = Scan { max_result_size: Some(1), ..of(greater("")) };
    let opened = wire.open(&region, scan, 10).await.unwrap();
    assert_eq!((opened.cells.len(), opened.message.partial_flag_per_result), (2, vec![false]));
    assert_eq!(wire.scan(next(opened.message.scanner_id, 0, 10)).await.unwrap().cells.len(), 1);
}

#[tokio::test]
async fn a_column_that_is_not_read_is_missing() {
    let cluster = with_table(&["a"]);
    cluster.put("t", b"a", ("f", "r"), b"x").unwrap();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let scan = Scan { column: vec![column("f", "r")], ..of(greater("")) };
    assert_eq!(wire.open(&region, scan, 10).await.unwrap().cells, []);
}

#[tokio::test]
async fn other_filters_are_not_found() {
    let cluster = with_table(&["a"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    for name in ["org.apache.hadoop.hbase.filter.FooFilter", "com.example.Filter"] {
        let filter = Filter { name: name.into(), serialized_filter: Some(Bytes::new()) };
        let exception = wire.open(&region, of(filter), 10).await.map(|_| ()).unwrap_err();
        assert_eq!((class(&exception), exception.do_not_retry), ("DoNotRetryIOException", Some(true)));
        assert!(exception.stack_trace.unwrap().contains("ClassNotFoundException"));
    }
}
