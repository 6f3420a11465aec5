//! Who is the owner, and when nobody is.

use saltwing::Database;
use saltwing_sessions::{Limits, Login, Protocol, Refusal, Sessions};

const CREATE: &str = "CREATE USER ann PASSWORD 'correct horse'";

/// The SQLSTATE of the login of a client that is taken for the owner; `None` if it gets a session.
fn owner_refused(sessions: &Sessions) -> Option<&'static str> {
    let arrival = sessions.arrive(Protocol::Postgres, None).unwrap();
    arrival.log_in(Login::Owner { name: "anybody".to_owned() }).err().map(|refusal| refusal.sqlstate())
}

fn execute(sessions: &Sessions, sql: &str) {
    sessions.database().connect().blocking().execute(sql, ()).unwrap();
}

#[test]
fn the_owner_is_let_in_while_there_are_no_users() {
    let sessions = Sessions::new(Database::memory().unwrap(), Limits::default());
    assert_eq!(owner_refused(&sessions), None);
    // A client was taken for the owner before the first user came.
    execute(&sessions, CREATE);
    assert_eq!(owner_refused(&sessions), Some("28000"));
    execute(&sessions, "DROP USER ann");
    assert_eq!(owner_refused(&sessions), None);
    assert_eq!(sessions.connections(), 0);
}

#[test]
fn dropping_the_last_user_opens_no_server_that_requires_users() {
    let sessions = Sessions::new(Database::memory().unwrap(), Limits::default());
    execute(&sessions, CREATE);
    sessions.require_users();
    let login = |user: &str| sessions.arrive(Protocol::Postgres, None).unwrap().log_in(Login::User(user.to_owned()));
    assert!(login("ann").is_ok());
    execute(&sessions, "DROP USER ann");
    let refusal =
        sessions.arrive(Protocol::Postgres, None).unwrap().log_in(Login::Owner { name: "ann".to_owned() }).err();
    assert!(matches!(refusal, Some(Refusal::NoPassword)) && refusal.unwrap().help().unwrap().contains("CREATE USER"));
    assert!(login("ann").is_err());
}
