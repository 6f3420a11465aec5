//! Relations of `pg_catalog` without rows, for statistics, subscriptions and security.
//!
//! Clients ask for policies, triggers, publications and the like before they show a table, and take an empty answer for what it is.

use super::relation::Entry;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_table("pg_seclabel", 3596, "objoid oid, classoid oid, objsubid int4, provider text, label text"),
    Entry::empty_view(
        "pg_seclabels",
        "objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text, label text",
    ),
    Entry::empty_view(
        "pg_shadow",
        "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text, \
         valuntil timestamptz, useconfig _text",
    ),
    Entry::empty_table("pg_shdescription", 2396, "objoid oid, classoid oid, description text"),
    Entry::empty_table("pg_shseclabel", 3592, "objoid oid, classoid oid, provider text, label text"),
    Entry::empty_view(
        "pg_stat_archiver",
        "archived_count int8, last_archived_wal text, last_archived_time timestamptz, failed_count int8, last_failed_wal text, \
         last_failed_time timestamptz, stats_reset timestamptz",
    ),
    Entry::empty_view(
        "pg_stat_bgwriter",
        "checkpoints_timed int8, checkpoints_req int8, checkpoint_write_time float8, checkpoint_sync_time float8, \
         buffers_checkpoint int8, buffers_clean int8, maxwritten_clean int8, buffers_backend int8, buffers_backend_fsync int8, \
         buffers_alloc int8, stats_reset timestamptz",
    ),
    Entry::empty_view("pg_stat_gssapi", "pid int4, gss_authenticated bool, principal text, encrypted bool"),
    Entry::empty_view(
        "pg_stat_progress_create_index",
        "pid int4, datid oid, datname name, relid oid, index_relid oid, command text, phase text, lockers_total int8, \
         lockers_done int8, current_locker_pid int8, blocks_total int8, blocks_done int8, tuples_total int8, tuples_done int8, \
         partitions_total int8, partitions_done int8",
    ),
    Entry::empty_view(
        "pg_stat_progress_vacuum",
        "pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total int8, heap_blks_scanned int8, \
         heap_blks_vacuumed int8, index_vacuum_count int8, max_dead_tuples int8, num_dead_tuples int8",
    ),
    Entry::empty_view(
        "pg_stat_replication",
        "pid int4, usesysid oid, usename name, application_name text, client_addr inet, client_hostname text, \
         client_port int4, backend_start timestamptz, backend_xmin xid, state text, sent_lsn pg_lsn, write_lsn pg_lsn, \
         flush_lsn pg_lsn, replay_lsn pg_lsn, write_lag interval, flush_lag interval, replay_lag interval, sync_priority int4, \
         sync_state text, reply_time timestamptz",
    ),
    Entry::empty_view(
        "pg_stat_ssl",
        "pid int4, ssl bool, version text, cipher text, bits int4, client_dn text, client_serial numeric, issuer_dn text",
    ),
    Entry::empty_view(
        "pg_stat_subscription",
        "subid oid, subname name, pid int4, relid oid, received_lsn pg_lsn, last_msg_send_time timestamptz, \
         last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz",
    ),
    Entry::empty_view(
        "pg_stat_sys_indexes",
        "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, \
         idx_tup_fetch int8",
    ),
    Entry::empty_view(
        "pg_stat_sys_tables",
        "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, \
         n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, \
         n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, \
         last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count int8, \
         autoanalyze_count int8",
    ),
    Entry::empty_view(
        "pg_stat_user_functions",
        "funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8",
    ),
    Entry::empty_view(
        "pg_stat_wal_receiver",
        "pid int4, status text, receive_start_lsn pg_lsn, receive_start_tli int4, written_lsn pg_lsn, flushed_lsn pg_lsn, \
         received_tli int4, last_msg_send_time timestamptz, last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, \
         latest_end_time timestamptz, slot_name text, sender_host text, sender_port int4, conninfo text",
    ),
    Entry::empty_table(
        "pg_statistic",
        2619,
        "starelid oid, staattnum int2, stainherit bool, stanullfrac float4, stawidth int4, stadistinct float4, stakind1 int2, \
         stakind2 int2, stakind3 int2, stakind4 int2, stakind5 int2, staop1 oid, staop2 oid, staop3 oid, staop4 oid, \
         staop5 oid, stacoll1 oid, stacoll2 oid, stacoll3 oid, stacoll4 oid, stacoll5 oid, stanumbers1 text, stanumbers2 text, \
         stanumbers3 text, stanumbers4 text, stanumbers5 text, stavalues1 text, stavalues2 text, stavalues3 text, \
         stavalues4 text, stavalues5 text",
    ),
    Entry::empty_table(
        "pg_statistic_ext",
        3381,
        "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4, stxkeys int2vector, \
         stxkind _char, stxexprs pg_node_tree",
    ),
    Entry::empty_view(
        "pg_stats",
        "schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4, n_distinct float4, \
         most_common_vals text, most_common_freqs text, histogram_bounds text, correlation float4, most_common_elems text, \
         most_common_elem_freqs text, elem_count_histogram text",
    ),
    Entry::empty_table(
        "pg_subscription",
        6100,
        "oid oid, subdbid oid, subskiplsn pg_lsn, subname name, subowner oid, subenabled bool, subbinary bool, substream bool, \
         subtwophasestate char, subdisableonerr bool, subconninfo text, subslotname name, subsynccommit text, \
         subpublications _text",
    ),
    Entry::empty_table("pg_subscription_rel", 6102, "srsubid oid, srrelid oid, srsubstate char, srsublsn pg_lsn"),
];
