//! COPY in the library's own formats.

use super::{copy_in, copy_out, error_field};
use crate::raw::{Raw, first_state, kinds, tags};
use crate::{Server, rows};

#[tokio::test(flavor = "multi_thread")]
async fn the_formats_of_the_library_go_both_ways() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one'), (2, NULL)");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    for (options, is_binary) in
        [("FORMAT json", 0_u8), ("FORMAT arrow_stream", 1), ("FORMAT arrow", 1), ("FORMAT json, COMPRESSION gzip", 1)]
    {
        let (bytes, messages) = copy_out(&mut raw, &format!("COPY t TO STDOUT ({options})")).await;
        assert_eq!(
            (kinds(&messages).replace('d', "").as_str(), tags(&messages)),
            ("HcCZ", vec!["COPY 2".to_owned()]),
            "{options}"
        );
        assert_eq!(messages[0].1, [is_binary, 0, 0], "{options}");
        server.run("DELETE /*+ FULL_SCAN */ FROM t");
        let parts: Vec<&[u8]> = bytes.chunks(50).collect();
        let messages = copy_in(&mut raw, &format!("COPY t FROM STDIN WITH ({options})"), &parts).await;
        assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("GCZ", vec!["COPY 2".to_owned()]), "{options}");
        assert_eq!(rows(&client, "SELECT k, v FROM t WHERE k > 0 ORDER BY k").await, ["1,one", "2,-"], "{options}");
    }
    let (bytes, _) = copy_out(&mut raw, "COPY (SELECT v FROM t WHERE k = 1) TO STDOUT (FORMAT json)").await;
    assert_eq!(bytes, b"{\"v\":\"one\"}\n");
    let messages = copy_in(&mut raw, "COPY t FROM STDIN WITH (FORMAT csv, ON_ERROR skip)", &[b"7,seven\nx,y\n"]).await;
    assert_eq!(tags(&messages), ["COPY 1"]);
    assert!(kinds(&messages).contains('N'), "a notice tells of the line: {messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_errors_end_the_stream() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let mut raw = Raw::log_in(&server).await;
    for sql in ["COPY missing FROM STDIN (FORMAT json)", "COPY missing TO STDOUT (FORMAT json)"] {
        let (_, messages) = copy_out(&mut raw, sql).await;
        assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("EZ", "42P01"), "{sql}");
    }
    let messages = copy_in(&mut raw, "COPY t FROM STDIN WITH (FORMAT json)", &[b"{\"k\": 1}\n{\"k\": \"x\"}\n"]).await;
    assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("GEZ", "22P02"));
    assert!(error_field(&messages, 'M').contains("line 2"), "{messages:?}");
    raw.send(&[(b'Q', b"COPY t FROM STDIN WITH (FORMAT json)\0"), (b'd', b"{\"k\": 1}\n"), (b'f', b"no more\0")]).await;
    let messages = raw.until('Z').await;
    assert_eq!(
        (first_state(&messages).as_str(), &*error_field(&messages, 'M')),
        ("57014", "COPY from stdin failed: no more")
    );
    assert_eq!(rows(&server.client().await, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    // Rows of a large stream come while it is read.
    let lines: Vec<u8> =
        (0..50_000).flat_map(|k| format!("{{\"k\": {k}, \"v\": \"the text of row {k}\"}}\n").into_bytes()).collect();
    let messages =
        copy_in(&mut raw, "COPY t FROM STDIN WITH (FORMAT json)", &lines.chunks(10_000).collect::<Vec<_>>()).await;
    assert_eq!(tags(&messages), ["COPY 50000"]);
    assert_eq!(
        copy_out(&mut raw, "COPY t TO STDOUT (FORMAT json)").await.0.iter().filter(|byte| **byte == b'\n').count(),
        50_000
    );
}
