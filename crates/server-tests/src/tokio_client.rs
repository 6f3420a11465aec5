//! The client of Rust: types in binary form, portals, pipelined statements, COPY, cancel, errors, notices.

use std::fmt::Debug;
use std::pin::pin;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::future::try_join_all;
use futures::{SinkExt, StreamExt, TryStreamExt};
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::error::ErrorPosition;
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, IsolationLevel, NoTls, Row, SimpleQueryMessage};

use crate::error::{ensure, equal};
use crate::{Kind, Report, Target, TestError};

/// How long a check may take.
const CHECK_MAX: Duration = Duration::from_secs(60);

/// A statement that runs for minutes and has no row.
const SLOW_QUERY: &str = "SELECT count(*) FROM rust_item a, rust_item b, rust_item c, rust_item d \
    WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.id + b.id + c.id + d.id < 0";

/// Runs all checks, each with a connection of its own.
pub async fn run(target: &Target, kind: Kind) -> Report {
    let mut report = Report::default();
    macro_rules! checks {
        ($($check:ident),* $(,)?) => { $(
            let check = async {
                let mut client = target.connect().await?;
                $check(&mut client).await
            };
            report.check(stringify!($check), CHECK_MAX, check).await;
        )* };
    }
    checks!(
        set_up,
        values,
        nulls,
        description,
        unnamed_statements,
        simple_queries,
        portals,
        pipelined,
        pipelined_with_an_error
    );
    checks!(
        streamed_rows,
        rows_that_are_left,
        copy_text,
        copy_binary,
        copy_that_is_left,
        transactions,
        cancel,
        error_fields
    );
    report.check("cancel_while_rows_are_streamed", CHECK_MAX, cancel_while_rows_are_streamed(target)).await;
    report.check("notices", CHECK_MAX, notices(target, kind)).await;
    report.check("wrong_password", CHECK_MAX, wrong_password(target)).await;
    checks!(tear_down);
    report
}

async fn set_up(c: &mut Client) -> Result<(), TestError> {
    c.batch_execute("DROP TABLE IF EXISTS rust_item").await?;
    c.batch_execute(
        "CREATE TABLE rust_item (id BIGINT PRIMARY KEY, small SMALLINT, whole INTEGER, single REAL, load DOUBLE PRECISION, up BOOLEAN, \
         name VARCHAR(20), made TIMESTAMP, bytes BYTEA, numbers BIGINT[], texts TEXT[])",
    )
    .await?;
    let insert = c.prepare("INSERT INTO rust_item (id, name, whole) VALUES ($1, $2, $3)").await?;
    for i in 0..300_i64 {
        equal(&c.execute(&insert, &[&i, &format!("name {i}"), &((i % 10) as i32)]).await?, &1)?;
    }
    Ok(())
}

/// A value is written and read as it was, also as NULL.
async fn round_trip<T>(c: &Client, column: &str, values: &[T]) -> Result<(), TestError>
where
    T: ToSql + FromSqlOwned + Sync + PartialEq + Debug,
{
    let write = c.prepare(&format!("UPDATE rust_item SET {column} = $1 WHERE id = 0")).await?;
    let read = c.prepare(&format!("SELECT {column} FROM rust_item WHERE id = 0")).await?;
    for value in values {
        c.execute(&write, &[value]).await?;
        equal(&c.query_one(&read, &[]).await?.try_get::<_, T>(0)?, value)?;
    }
    Ok(())
}

async fn values(c: &mut Client) -> Result<(), TestError> {
    round_trip(c, "small", &[i16::MIN, 0, i16::MAX]).await?;
    round_trip(c, "whole", &[i32::MIN, i32::MAX, 0]).await?;
    round_trip(c, "single", &[f32::MIN_POSITIVE, -1.5, f32::MAX]).await?;
    round_trip(c, "load", &[5e-324, f64::MAX, f64::INFINITY, -0.1]).await?;
    round_trip(c, "up", &[true, false]).await?;
    let texts = ["", "it's \\ \"ü\" 😀"].map(str::to_owned);
    round_trip(c, "name", &texts).await?;
    round_trip(c, "bytes", &[vec![], vec![0_u8, 255, 92]]).await?;
    round_trip(c, "numbers", &[vec![Some(1_i64), None, Some(i64::MIN)], vec![]]).await?;
    round_trip(c, "texts", &[vec![String::new(), "a,\"b\" {c}".to_owned()], vec![]]).await?;
    let year_2100 = SystemTime::UNIX_EPOCH + Duration::from_micros(4_102_444_800_000_001);
    round_trip(c, "made", &[SystemTime::UNIX_EPOCH, year_2100, SystemTime::UNIX_EPOCH - Duration::from_micros(1)]).await
}

async fn nulls(c: &mut Client) -> Result<(), TestError> {
    round_trip::<Option<i32>>(c, "whole", &[None, Some(0)]).await?;
    round_trip::<Option<String>>(c, "name", &[None, Some("name 0".to_owned())]).await?;
    round_trip::<Option<Vec<u8>>>(c, "bytes", &[Some(vec![1]), None]).await?;
    round_trip::<Option<Vec<String>>>(c, "texts", &[Some(vec![]), None]).await
}

async fn description(c: &mut Client) -> Result<(), TestError> {
    let statement =
        c.prepare("SELECT id AS number, name, made, texts FROM rust_item WHERE id = $1 AND name = $2").await?;
    let columns: Vec<(&str, &Type)> =
        statement.columns().iter().map(|column| (column.name(), column.type_())).collect();
    let expected = [("number", &Type::INT8), ("name", &Type::VARCHAR), ("made", &Type::TIMESTAMP)];
    let texts = |ty: &Type| *ty == Type::TEXT_ARRAY || *ty == Type::VARCHAR_ARRAY;
    equal(&columns.get(..3), &Some(&expected))?;
    ensure(columns.get(3).is_some_and(|column| texts(column.1)), || format!("the array is {columns:?}"))?;
    equal(&statement.params().first(), &Some(&Type::INT8))?;
    let missing = c.query_opt("SELECT id FROM rust_item WHERE id = $1", &[&12_345_i64]).await?;
    ensure(missing.is_none(), || "a row that is not there".to_owned())
}

async fn unnamed_statements(c: &mut Client) -> Result<(), TestError> {
    for i in 0..20_i64 {
        let rows = c.query_typed("SELECT whole FROM rust_item WHERE id = $1", &[(&i, Type::INT8)]).await?;
        equal(&column(&rows)?, &vec![(i % 10) as i32])?;
    }
    Ok(())
}

async fn simple_queries(c: &mut Client) -> Result<(), TestError> {
    let messages = c
        .simple_query("SELECT id, name FROM rust_item WHERE id < 2 ORDER BY id; DELETE FROM rust_item WHERE id = -1;")
        .await?;
    let text = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => format!("{:?} {:?}", row.get(0), row.get(1)),
        SimpleQueryMessage::CommandComplete(count) => count.to_string(),
        SimpleQueryMessage::RowDescription(columns) => {
            columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(",")
        }
        _ => "another".to_owned(),
    };
    let expected = ["id,name", "Some(\"0\") Some(\"name 0\")", "Some(\"1\") Some(\"name 1\")", "2", "0"];
    equal(&messages.iter().map(text).collect::<Vec<_>>(), &expected.map(str::to_owned).to_vec())?;
    // The driver gives the answer to an empty text as a statement of no rows.
    equal(&c.simple_query("").await?.len(), &1)
}

async fn portals(c: &mut Client) -> Result<(), TestError> {
    let transaction = c.transaction().await?;
    let portal = transaction.bind("SELECT id FROM rust_item WHERE id >= $1 ORDER BY id", &[&100_i64]).await?;
    let mut next = 100;
    for rows_max in [1, 7, 42, 50, 50] {
        let rows = transaction.query_portal(&portal, rows_max).await?;
        let ids: Vec<i64> = column(&rows)?;
        let end = next + i64::from(rows_max);
        equal(&ids, &(next..end).collect())?;
        next = end;
        // Another statement runs while the portal is open.
        equal(&column(&transaction.query("SELECT CAST(7 AS INTEGER)", &[]).await?)?, &vec![7_i32])?;
    }
    equal(&next, &250)?;
    equal(&transaction.query_portal(&portal, 0).await?.len(), &50)?;
    equal(&transaction.query_portal(&portal, 0).await?.len(), &0)?;
    transaction.commit().await?;
    Ok(())
}

async fn pipelined(c: &mut Client) -> Result<(), TestError> {
    let statement = c.prepare("SELECT whole FROM rust_item WHERE id = $1").await?;
    let c = &*c;
    let one = |i: i64| {
        let statement = statement.clone();
        async move { c.query_one(&statement, &[&i]).await }
    };
    let rows = try_join_all((0..200).map(one)).await?;
    equal(&column(&rows)?.iter().sum::<i32>(), &900)
}

async fn pipelined_with_an_error(c: &mut Client) -> Result<(), TestError> {
    let (before, failed, after) = futures::join!(
        c.simple_query("SELECT 1"),
        c.simple_query("SELECT 1/0 FROM rust_item WHERE id = 1"),
        c.query_one("SELECT name FROM rust_item WHERE id = 5", &[])
    );
    before?;
    equal(&state(failed.map(drop))?, &"22012".to_owned())?;
    equal(&after?.try_get::<_, String>(0)?, &"name 5".to_owned())
}

async fn streamed_rows(c: &mut Client) -> Result<(), TestError> {
    let rows = c.query_raw("SELECT id FROM rust_item WHERE id >= 0 ORDER BY id", std::iter::empty::<&i64>()).await?;
    equal(&column(&rows.try_collect::<Vec<_>>().await?)?, &(0..300_i64).collect())
}

async fn rows_that_are_left(c: &mut Client) -> Result<(), TestError> {
    let rows = c.query_raw("SELECT id FROM rust_item WHERE id >= 0", std::iter::empty::<&i64>()).await?;
    ensure(pin!(rows).next().await.is_some(), || "no row".to_owned())?;
    equal(&c.query_one("SELECT CAST(7 AS INTEGER)", &[]).await?.try_get::<_, i32>(0)?, &7)
}

async fn copy_text(c: &mut Client) -> Result<(), TestError> {
    let mut sink = pin!(c.copy_in::<_, Bytes>("COPY rust_item (id, name) FROM STDIN").await?);
    for i in 1000..6000 {
        sink.send(Bytes::from(format!("{i}\trow {i}\n"))).await?;
    }
    equal(&sink.finish().await?, &5000)?;
    let out = c.copy_out("COPY (SELECT id, name FROM rust_item WHERE id >= 1000 ORDER BY id) TO STDOUT").await?;
    let text = out
        .try_fold(Vec::new(), |mut text, part| async move {
            text.extend_from_slice(&part);
            Ok(text)
        })
        .await?;
    let expected: String = (1000..6000).map(|i| format!("{i}\trow {i}\n")).collect();
    ensure(text == expected.as_bytes(), || format!("{} bytes, expected {}", text.len(), expected.len()))?;
    equal(&c.execute("DELETE FROM rust_item WHERE id >= 1000", &[]).await?, &5000)
}

async fn copy_binary(c: &mut Client) -> Result<(), TestError> {
    let types = [Type::INT8, Type::VARCHAR, Type::INT4];
    let sink = c.copy_in("COPY rust_item (id, name, whole) FROM STDIN (FORMAT binary)").await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for i in 1000..3000_i64 {
        let whole = (i % 2 == 0).then_some(i as i32);
        writer.as_mut().write(&[&i, &"binary", &whole]).await?;
    }
    equal(&writer.finish().await?, &2000)?;
    let out = c
        .copy_out("COPY (SELECT id, name, whole FROM rust_item WHERE id >= 1000 ORDER BY id) TO STDOUT (FORMAT binary)")
        .await?;
    let rows: Vec<_> = BinaryCopyOutStream::new(out, &types).try_collect().await?;
    equal(&rows.len(), &2000)?;
    let third = rows.get(2).ok_or_else(|| TestError::Found("no third row".to_owned()))?;
    let third = (third.try_get::<i64>(0)?, third.try_get::<&str>(1)?, third.try_get::<Option<i32>>(2)?);
    equal(&third, &(1002, "binary", Some(1002)))?;
    equal(&c.execute("DELETE FROM rust_item WHERE id >= 1000", &[]).await?, &2000)
}

async fn copy_that_is_left(c: &mut Client) -> Result<(), TestError> {
    {
        let mut sink = pin!(c.copy_in::<_, Bytes>("COPY rust_item (id, name) FROM STDIN").await?);
        sink.send(Bytes::from_static(b"1000\tundone\n")).await?;
    }
    let row = c.query_one("SELECT count(*) FROM rust_item WHERE id >= 1000", &[]).await?;
    equal(&row.try_get::<_, i64>(0)?, &0)
}

async fn transactions(c: &mut Client) -> Result<(), TestError> {
    let mut transaction = c.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await?;
    transaction.execute("INSERT INTO rust_item (id) VALUES (900)", &[]).await?;
    let inner = transaction.savepoint("within").await?;
    equal(&state(inner.execute("INSERT INTO rust_item (id) VALUES (1)", &[]).await)?, &"23505".to_owned())?;
    equal(&state(inner.execute("SELECT 1", &[]).await)?, &"25P02".to_owned())?;
    inner.rollback().await?;
    let count = transaction.query_one("SELECT count(*) FROM rust_item WHERE id = 900", &[]).await?;
    equal(&count.try_get::<_, i64>(0)?, &1)?;
    // A transaction that is dropped is rolled back.
    drop(transaction);
    let count = c.query_one("SELECT count(*) FROM rust_item WHERE id = 900", &[]).await?;
    equal(&count.try_get::<_, i64>(0)?, &0)?;
    let reading = c.build_transaction().read_only(true).start().await?;
    equal(&state(reading.execute("DELETE FROM rust_item WHERE id = 1", &[]).await)?, &"25006".to_owned())
}

async fn cancel(c: &mut Client) -> Result<(), TestError> {
    let token = c.cancel_token();
    let later = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel_query(NoTls).await
    };
    let (answer, sent) = futures::join!(c.query_one(SLOW_QUERY, &[]), later);
    sent?;
    equal(&state(answer)?, &"57014".to_owned())?;
    equal(&c.query_one("SELECT CAST(7 AS INTEGER)", &[]).await?.try_get::<_, i32>(0)?, &7)
}

/// The cancellation comes while the server sends rows, and the client reads none for a while.
async fn cancel_while_rows_are_streamed(target: &Target) -> Result<(), TestError> {
    let c = target.connect().await?;
    let query = SLOW_QUERY.replace("count(*)", "a.id, b.id").replace("< 0", ">= 0");
    let mut rows = pin!(c.query_raw(&query, std::iter::empty::<&i64>()).await?);
    ensure(rows.next().await.is_some_and(|row| row.is_ok()), || "no row".to_owned())?;
    c.cancel_token().cancel_query(NoTls).await?;
    loop {
        match rows.next().await {
            Some(Ok(_)) => {}
            Some(Err(error)) => return equal(&state(Err::<(), _>(error))?, &"57014".to_owned()),
            None => return Err(TestError::Found("the statement was not cancelled".to_owned())),
        }
    }
}

async fn error_fields(c: &mut Client) -> Result<(), TestError> {
    let error = c.query("SELECT 'ä', nothere FROM rust_item WHERE id = 1", &[]).await.err();
    let error = error.as_ref().and_then(|error| error.as_db_error());
    let fields = error.map(|error| (error.code().code(), error.severity(), error.position()));
    equal(&fields, &Some(("42703", "ERROR", Some(&ErrorPosition::Original(13)))))?;
    let error = c.execute("INSERT INTO rust_item (id) VALUES (1)", &[]).await.err();
    let error = error.as_ref().and_then(|error| error.as_db_error());
    equal(&error.map(|error| (error.code().code(), error.table())), &Some(("23505", Some("rust_item"))))
}

async fn notices(target: &Target, kind: Kind) -> Result<(), TestError> {
    let (c, mut connection) = target.config().connect(NoTls).await?;
    let (sender, mut notices) = futures::channel::mpsc::unbounded();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notice(notice) = message {
                // A receiver that is gone has what it wanted.
                drop(sender.unbounded_send(notice.severity().to_owned()));
            }
        }
    });
    let text = match kind {
        Kind::Saltwing => "SET rows_warn = 1; SELECT sum(whole) FROM rust_item WHERE id >= 0",
        Kind::Postgres => "DROP TABLE IF EXISTS rust_nothing",
    };
    c.batch_execute(text).await?;
    let severity = notices.next().await;
    ensure(matches!(severity.as_deref(), Some("NOTICE" | "WARNING")), || format!("the notice is {severity:?}"))
}

async fn wrong_password(target: &Target) -> Result<(), TestError> {
    let wrong = Target { password: "wrong".to_owned(), ..target.clone() };
    equal(&state(wrong.config().connect(NoTls).await.map(drop))?, &"28P01".to_owned())
}

async fn tear_down(c: &mut Client) -> Result<(), TestError> {
    Ok(c.batch_execute("DROP TABLE rust_item").await?)
}

/// The first column of rows.
fn column<T: FromSqlOwned>(rows: &[Row]) -> Result<Vec<T>, TestError> {
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// The SQLSTATE of an answer that must be an error.
fn state<T>(answer: Result<T, tokio_postgres::Error>) -> Result<String, TestError> {
    match answer {
        Ok(_) => Err(TestError::Found("no error".to_owned())),
        Err(error) => match error.code() {
            Some(code) => Ok(code.code().to_owned()),
            None => Err(error.into()),
        },
    }
}
