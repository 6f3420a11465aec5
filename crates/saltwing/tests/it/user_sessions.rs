//! Sessions of users: kept plans, transactions, passwords, restarts.

use saltwing::blocking::Connection;

use crate::users::{as_ann, code, database, refusal, rows, run};

/// Plans are kept, by the text and in prepared statements; rights are not kept longer than the grants.
#[test]
fn a_kept_plan_runs_only_for_those_who_may() {
    let database = database();
    let (ann, owner) = (as_ann(&database), database.connect().blocking());
    let bob = database.connect_as("Bob B").unwrap().blocking();
    let sql = "SELECT v FROM t WHERE k = ?";
    let value = |connection: &Connection| connection.query_one::<(String,)>(sql, (1,));
    (0..5).for_each(|_| assert_eq!(value(&owner).unwrap().0, "one"));
    assert_eq!(code(value(&ann)), "insufficient_privilege");
    run(&owner, "GRANT SELECT ON t TO ann");
    (0..5).for_each(|_| assert_eq!(value(&ann).unwrap().0, "one"));
    assert_eq!(code(value(&bob)), "insufficient_privilege");
    assert_eq!(code(bob.prepare(sql)), "insufficient_privilege");

    let prepared = ann.prepare(sql).unwrap();
    let of_owner = owner.prepare(sql).unwrap();
    assert_eq!(of_owner.query_one::<(String,)>((1,)).unwrap().0, "one");
    assert_eq!(prepared.query_one::<(String,)>((1,)).unwrap().0, "one");
    assert_eq!(code(of_owner.on(&bob).query_one::<(String,)>((1,))), "insufficient_privilege");
    assert_eq!(of_owner.on(&ann).query_one::<(String,)>((1,)).unwrap().0, "one");
    run(&owner, "REVOKE SELECT ON t FROM ann");
    assert_eq!(code(prepared.query_one::<(String,)>((1,))), "insufficient_privilege");
    assert_eq!(code(of_owner.on(&ann).query_one::<(String,)>((1,))), "insufficient_privilege");
    assert_eq!(code(value(&ann)), "insufficient_privilege");
    assert_eq!(value(&owner).unwrap().0, "one");
    run(&owner, "GRANT SELECT ON DATABASE TO ann");
    assert_eq!(prepared.query_one::<(String,)>((1,)).unwrap().0, "one");
}

#[test]
fn a_revoke_holds_inside_an_open_transaction() {
    let database = database();
    let (ann, owner) = (as_ann(&database), database.connect().blocking());
    run(&owner, "GRANT SELECT, UPSERT ON t TO ann");
    run(&ann, "BEGIN");
    run(&ann, "UPSERT INTO t VALUES (9, 'nine')");
    run(&owner, "REVOKE UPSERT ON t FROM ann");
    refusal(&ann, "UPSERT INTO t VALUES (10, 'ten')");
    assert_eq!(code(ann.execute("COMMIT", ())), "failed_transaction");
    assert!(rows(&ann, "SELECT v FROM t WHERE k = 9").is_empty());
    let transaction = ann.begin().unwrap();
    refusal(&transaction, "UPSERT INTO t VALUES (10, 'ten')");
}

/// A transaction sees the tables of its beginning; a grant on a later table of the name is none on them.
#[test]
fn a_transaction_has_the_rights_on_what_it_sees() {
    let database = database();
    let (ann, owner) = (as_ann(&database), database.connect().blocking());
    run(&owner, "GRANT SELECT ON t TO ann");
    run(&ann, "BEGIN");
    assert_eq!(rows(&ann, "SELECT v FROM t WHERE k = 1"), ["one"]);
    run(&owner, "DROP VIEW few");
    run(&owner, "DROP VIEW own");
    run(&owner, "ALTER TABLE s.secret RENAME TO hidden");
    run(&owner, "CREATE TABLE s.secret (k BIGINT PRIMARY KEY, w VARCHAR)");
    run(&owner, "GRANT SELECT ON s.secret TO ann");
    run(&owner, "ALTER TABLE t RENAME TO later");
    assert_eq!(rows(&ann, "SELECT v FROM t WHERE k = 2"), ["two"]);
    refusal(&ann, "SELECT w FROM s.secret WHERE k = 1");
    run(&ann, "ROLLBACK");
    assert!(rows(&ann, "SELECT w FROM s.secret WHERE k = 1").is_empty());
}

#[test]
fn a_dropped_user_is_no_later_one_of_its_name() {
    let database = database();
    let (ann, owner) = (as_ann(&database), database.connect().blocking());
    run(&owner, "GRANT ALL ON DATABASE TO ann");
    let prepared = ann.prepare("SELECT v FROM t WHERE k = 1").unwrap();
    run(&owner, "DROP USER ann");
    assert_eq!(refusal(&ann, "SHOW TABLES"), "the user ann of this connection is dropped; ");
    assert_eq!(code(database.connect_as("ann")), "no_such_user");
    run(&owner, "CREATE USER ann PASSWORD 'again'");
    run(&owner, "GRANT ALL ON DATABASE TO ann");
    refusal(&ann, "SELECT v FROM t WHERE k = 1");
    assert_eq!(code(prepared.query_one::<(String,)>(())), "insufficient_privilege");
    assert_eq!(rows(&as_ann(&database), "SELECT v FROM t WHERE k = 1"), ["one"]);
    assert_eq!(code(owner.execute("DROP USER nope", ())), "no_such_user");
    run(&owner, "DROP USER IF EXISTS nope");
    assert_eq!(code(owner.execute("CREATE USER ANN PASSWORD 'x'", ())), "duplicate_user");
    run(&owner, "CREATE USER IF NOT EXISTS Ann PASSWORD 'other'");
    assert!(database.authenticate("ann", "again").is_ok());
}

/// COPY by the program's streams, pages and appenders run as statements do.
#[test]
fn every_way_to_run_a_statement_is_checked() {
    let database = database();
    let (ann, owner) = (as_ann(&database), database.connect().blocking());
    let page = || ann.query_page::<(i64,)>("SELECT k FROM t WHERE k > 0 ORDER BY k LIMIT 1", (), None);
    let arrow = || ann.query_arrow("SELECT v FROM t WHERE k = 1", ());
    let write = || ann.copy_to_writer("COPY t TO STDOUT", (), std::io::sink());
    let load = || ann.copy_from_reader("COPY t FROM STDIN", &b"6,six\n"[..]);
    let batch = || ann.execute_batch("SHOW TABLES; SELECT v FROM t WHERE k = 1");
    assert_eq!(
        [code(page()), code(arrow()), code(write()), code(load()), code(batch())],
        ["insufficient_privilege"; 5]
    );
    assert_eq!(code(ann.appender("t")), "insufficient_privilege");
    assert_eq!(
        code(ann.transaction(|inner| inner.execute("SELECT v FROM t WHERE k = 1", ()))),
        "insufficient_privilege"
    );
    run(&owner, "GRANT SELECT, UPSERT ON t TO ann");
    assert_eq!([code(page()), code(arrow()), code(write()), code(load()), code(batch())], [""; 5]);
    let mut appender = ann.appender("t").unwrap();
    appender.append_row((8, "eight")).unwrap();
    run(&owner, "REVOKE UPSERT ON t FROM ann");
    assert_eq!(code(appender.close()), "insufficient_privilege", "the right is asked when the rows are written");
    // Clones and other settings are the same user's.
    assert_eq!(
        code(ann.with_settings(|settings| settings.rows_max = Some(5)).execute("DROP TABLE t", ())),
        "insufficient_privilege"
    );
    assert_eq!(code(ann.clone().execute("DROP TABLE t", ())), "insufficient_privilege");
}

#[test]
fn passwords_are_checked_and_never_shown() {
    let database = database();
    let owner = database.connect().blocking();
    assert!(database.authenticate("ANN", "correct horse").is_ok());
    for (user, password) in [("ann", "Correct horse"), ("ann", ""), ("nobody", "x"), ("", "")] {
        assert_eq!(code(database.authenticate(user, password)), "invalid_password", "{user}");
    }
    assert_eq!(database.authenticate("x", "y").err().unwrap().sqlstate(), "28P01");
    // A user of another system moves with the stored form.
    let verifier = database.scram_verifier("ann").unwrap();
    run(&owner, &format!("ALTER USER \"bob b\" PASSWORD '{}'", verifier.to_text()));
    assert!(database.authenticate("Bob B", "correct horse").is_ok());
    assert_eq!(database.scram_verifier("bob b").unwrap(), verifier);
    // Nobody can tell who is there.
    let made_up = database.scram_verifier("nobody").unwrap();
    assert_eq!(made_up, database.scram_verifier("Nobody").unwrap());
    assert_eq!((made_up.iterations, made_up.salt.len()), (verifier.iterations, verifier.salt.len()));
    assert_ne!(made_up, database.scram_verifier("other").unwrap());

    let secret = "hush hush";
    for sql in [
        format!("CREATE USER ann PASSWORD '{secret}'"),
        format!("CREATE USER u PASSWORD '{secret}' LOGIN"),
        format!("CREATE USER u PASSWORD \"{secret}\""),
        format!("CREATE USER u PASSWORT '{secret}'"),
        format!("CREATE USER u '{secret}'"),
        format!("CREATE USER u PASSWORD '{secret}\n'"),
        format!("CREATE USER u PASSWORD 'SCRAM-SHA-256${secret}'"),
        format!("CREATE ROLE u PASSWORD '{secret}'"),
        format!("ALTER USER nope PASSWORD '{secret}'"),
        format!("CREATE USER u PASSWORD '{secret}"),
        format!("CREATE USER u PASSWORD 'it's {secret}'"),
    ] {
        for error in
            [owner.execute(&sql, ()).unwrap_err(), owner.execute_batch(&format!("SHOW TABLES; {sql}")).unwrap_err()]
        {
            let all = format!("{error:?} {error} {:?} {}", error.sql(), error.render(&sql));
            assert!(!all.contains("hush"), "{all}");
        }
    }
    let plan = rows(&owner, &format!("EXPLAIN CREATE USER u PASSWORD '{secret}'")).join("\n");
    assert!(plan.contains("creates user u") && !plan.contains("hush"), "{plan}");
    for wrong in ["''", "E'a\\tb'"] {
        assert_eq!(code(owner.execute(&format!("CREATE USER u PASSWORD {wrong}"), ())), "bad_argument", "{wrong}");
    }
}

/// The first user makes the database one that an earlier version refuses, and copies have the users.
#[test]
#[cfg(feature = "redb")]
fn users_are_there_after_a_restart_and_in_copies() {
    use saltwing::Database;

    let folder = tempfile::tempdir().unwrap();
    let [path, copy, restored] = ["db", "copy", "restored"].map(|name| folder.path().join(name));
    let database = Database::open(&path).unwrap();
    let unknown = database.scram_verifier("nobody").unwrap();
    let owner = database.connect().blocking();
    owner
        .execute_batch(
            "CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE USER ann PASSWORD 'x'; CREATE USER bob PASSWORD 'y';
             GRANT SELECT ON t TO ann; GRANT ALL ON DATABASE TO bob; DROP USER bob",
        )
        .unwrap();
    let made_up = database.scram_verifier("nobody").unwrap();
    assert_ne!(unknown, made_up, "the first user brings the secret of the database");
    run(&owner, &format!("BACKUP TO '{}'", copy.display()));
    drop((owner, database));
    drop(Database::builder(&restored).restore(&copy).unwrap());
    for path in [&path, &restored] {
        let database = Database::builder(path).readonly(true).open().unwrap();
        assert_eq!(database.scram_verifier("nobody").unwrap(), made_up);
        let ann = database.authenticate("ann", "x").unwrap().blocking();
        assert!(rows(&ann, "SELECT k FROM t WHERE k = 1").is_empty());
        refusal(&ann, "UPSERT INTO t VALUES (1)");
        assert_eq!(rows(&ann, "SHOW GRANTS"), ["ann|TABLE|NULL|t|SELECT"]);
        assert_eq!(code(database.connect_as("bob")), "no_such_user");
    }
}

#[test]
fn asynchronous_connections_have_users_too() {
    let database = database();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let (ann, owner) = (database.authenticate("ann", "correct horse").unwrap(), database.connect());
        let sql = "SELECT v FROM t WHERE k = ?";
        assert_eq!(code(ann.query_one::<(String,)>(sql, (1,)).await), "insufficient_privilege");
        owner.execute("GRANT SELECT ON t TO ann", ()).await.unwrap();
        assert_eq!(ann.query_one::<(String,)>(sql, (1,)).await.unwrap().0, "one");
        let prepared = ann.prepare(sql).await.unwrap();
        assert_eq!(prepared.query_one::<(String,)>((2,)).await.unwrap().0, "two");
        let (one, other) = (prepared.query_one::<(String,)>((1,)), ann.query_one::<(String,)>(sql, (2,)));
        assert_eq!((one.await.unwrap().0, other.await.unwrap().0), ("one".to_owned(), "two".to_owned()));
        owner.execute("REVOKE SELECT ON t FROM ann", ()).await.unwrap();
        assert_eq!(code(prepared.query_one::<(String,)>((1,)).await), "insufficient_privilege");
        assert_eq!(
            code(ann.begin().await.unwrap().execute("UPSERT INTO t VALUES (1, 'x')", ()).await),
            "insufficient_privilege"
        );
    });
}

/// Sessions of several users run one text at the same time, while grants change: each sees rows only while it may.
#[test]
fn rights_hold_under_threads() {
    let database = database();
    let owner = database.connect().blocking();
    run(&owner, "GRANT SELECT ON t TO \"Bob B\"");
    std::thread::scope(|scope| {
        let reads = |user: &'static str, may: Option<bool>| {
            let connection = database.connect_as(user).unwrap().blocking();
            move || {
                for _ in 0..300 {
                    let code = code(connection.query_one::<(String,)>("SELECT v FROM t WHERE k = 1", ()));
                    assert!(
                        may.map_or(matches!(code, "" | "insufficient_privilege"), |may| may == code.is_empty()),
                        "{user}: {code}"
                    );
                }
            }
        };
        scope.spawn(reads("ann", None));
        scope.spawn(reads("bob b", Some(true)));
        for _ in 0..20 {
            run(&owner, "GRANT SELECT ON t TO ann");
            run(&owner, "REVOKE SELECT ON t FROM ann");
        }
    });
    refusal(&as_ann(&database), "SELECT v FROM t WHERE k = 1");
}
