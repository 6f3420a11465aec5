//! Relations whose rows are those of a session. The translation of a query puts them in their place.

use super::relation::Entry;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::view(
        "pg_cursors",
        "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, creation_time timestamptz",
        |_| Ok(Vec::new()),
    ),
    Entry::view(
        "pg_prepared_statements",
        "name text, statement text, prepare_time timestamptz, parameter_types _regtype, from_sql bool, generic_plans int8, \
         custom_plans int8",
        |_| Ok(Vec::new()),
    ),
    Entry::view(
        "pg_settings",
        "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text, source text, \
         min_val text, max_val text, enumvals _text, boot_val text, reset_val text, sourcefile text, sourceline int4, \
         pending_restart bool",
        |_| Ok(Vec::new()),
    ),
    Entry::view(
        "pg_stat_activity",
        "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, client_addr text, \
         client_hostname text, client_port int4, backend_start timestamptz, xact_start timestamptz, query_start timestamptz, \
         state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid xid, backend_xmin xid, \
         query_id int8, query text, backend_type text",
        |_| Ok(Vec::new()),
    ),
];
