//! Relations of `pg_catalog` without rows: what PostgreSQL has and Saltwing does not.
//!
//! Clients ask for policies, triggers, publications and the like before they show a table, and take an empty answer for what it is.

use super::relation::Entry;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_table(
        "pg_aggregate",
        2600,
        "aggfnoid regproc, aggkind char, aggnumdirectargs int2, aggtransfn regproc, aggfinalfn regproc, aggcombinefn regproc, \
         aggserialfn regproc, aggdeserialfn regproc, aggmtransfn regproc, aggminvtransfn regproc, aggmfinalfn regproc, \
         aggfinalextra bool, aggmfinalextra bool, aggfinalmodify char, aggmfinalmodify char, aggsortop oid, aggtranstype oid, \
         aggtransspace int4, aggmtranstype oid, aggmtransspace int4, agginitval text, aggminitval text",
    ),
    Entry::empty_table(
        "pg_amop",
        2602,
        "oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid, amopstrategy int2, amoppurpose char, amopopr oid, \
         amopmethod oid, amopsortfamily oid",
    ),
    Entry::empty_table(
        "pg_amproc",
        2603,
        "oid oid, amprocfamily oid, amproclefttype oid, amprocrighttype oid, amprocnum int2, amproc regproc",
    ),
    Entry::empty_table("pg_auth_members", 1261, "roleid oid, member oid, grantor oid, admin_option bool"),
    Entry::empty_view(
        "pg_available_extension_versions",
        "name name, version text, installed bool, superuser bool, trusted bool, relocatable bool, schema name, requires _name, \
         comment text",
    ),
    Entry::empty_view(
        "pg_available_extensions",
        "name name, default_version text, installed_version text, comment text",
    ),
    Entry::empty_table(
        "pg_cast",
        2605,
        "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char",
    ),
    Entry::empty_view("pg_config", "name text, setting text"),
    Entry::empty_table(
        "pg_conversion",
        2607,
        "oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, contoencoding int4, conproc regproc, \
         condefault bool",
    ),
    Entry::empty_table("pg_db_role_setting", 2964, "setdatabase oid, setrole oid, setconfig _text"),
    Entry::empty_table(
        "pg_default_acl",
        826,
        "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl _aclitem",
    ),
    Entry::empty_table("pg_enum", 3501, "oid oid, enumtypid oid, enumsortorder float4, enumlabel name"),
    Entry::empty_table(
        "pg_event_trigger",
        3466,
        "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char, evttags _text",
    ),
    Entry::empty_table(
        "pg_extension",
        3079,
        "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, extversion text, extconfig _oid, \
         extcondition _text",
    ),
    Entry::empty_view(
        "pg_file_settings",
        "sourcefile text, sourceline int4, seqno int4, name text, setting text, applied bool, error text",
    ),
    Entry::empty_table(
        "pg_foreign_data_wrapper",
        2328,
        "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl _aclitem, fdwoptions _text",
    ),
    Entry::empty_table(
        "pg_foreign_server",
        1417,
        "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl _aclitem, srvoptions _text",
    ),
    Entry::empty_table("pg_foreign_table", 3118, "ftrelid oid, ftserver oid, ftoptions _text"),
    Entry::empty_view("pg_group", "groname name, grosysid oid, grolist _oid"),
    Entry::empty_view(
        "pg_hba_file_rules",
        "line_number int4, type text, database _text, user_name _text, address text, netmask text, auth_method text, \
         options _text, error text",
    ),
    Entry::empty_table("pg_inherits", 2611, "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"),
    Entry::empty_table(
        "pg_init_privs",
        3394,
        "objoid oid, classoid oid, objsubid int4, privtype char, initprivs _aclitem",
    ),
    Entry::empty_table("pg_largeobject", 2613, "loid oid, pageno int4, data bytea"),
    Entry::empty_table("pg_largeobject_metadata", 2995, "oid oid, lomowner oid, lomacl _aclitem"),
    Entry::empty_view(
        "pg_locks",
        "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid, classid oid, \
         objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, fastpath bool, \
         waitstart timestamptz",
    ),
    Entry::empty_view(
        "pg_matviews",
        "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated bool, \
         definition text",
    ),
    Entry::empty_table(
        "pg_operator",
        2617,
        "oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool, oprcanhash bool, oprleft oid, \
         oprright oid, oprresult oid, oprcom oid, oprnegate oid, oprcode regproc, oprrest regproc, oprjoin regproc",
    ),
    Entry::empty_table("pg_parameter_acl", 6243, "oid oid, parname text, paracl _aclitem"),
    Entry::empty_table(
        "pg_partitioned_table",
        3350,
        "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2vector, partclass oidvector, \
         partcollation oidvector, partexprs pg_node_tree",
    ),
    Entry::empty_view(
        "pg_policies",
        "schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text, with_check text",
    ),
    Entry::empty_table(
        "pg_policy",
        3256,
        "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles _oid, polqual pg_node_tree, \
         polwithcheck pg_node_tree",
    ),
    Entry::empty_view(
        "pg_prepared_xacts",
        "transaction xid, gid text, prepared timestamptz, owner name, database name",
    ),
    Entry::empty_table(
        "pg_publication",
        6104,
        "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool, \
         pubtruncate bool, pubviaroot bool",
    ),
    Entry::empty_table("pg_publication_namespace", 6237, "oid oid, pnpubid oid, pnnspid oid"),
    Entry::empty_table(
        "pg_publication_rel",
        6106,
        "oid oid, prpubid oid, prrelid oid, prqual pg_node_tree, prattrs int2vector",
    ),
    Entry::empty_view(
        "pg_publication_tables",
        "pubname name, schemaname name, tablename name, attnames _name, rowfilter text",
    ),
    Entry::empty_table(
        "pg_range",
        3541,
        "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, rngcanonical regproc, \
         rngsubdiff regproc",
    ),
    Entry::empty_view(
        "pg_replication_slots",
        "slot_name name, plugin name, slot_type text, datoid oid, database name, temporary bool, active bool, active_pid int4, \
         xmin xid, catalog_xmin xid, restart_lsn pg_lsn, confirmed_flush_lsn pg_lsn, wal_status text, safe_wal_size int8, \
         two_phase bool",
    ),
    Entry::empty_table(
        "pg_rewrite",
        2618,
        "oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead bool, ev_qual pg_node_tree, \
         ev_action pg_node_tree",
    ),
    Entry::empty_view("pg_rules", "schemaname name, tablename name, rulename name, definition text"),
    Entry::empty_view("pg_timezone_abbrevs", "abbrev text, utc_offset interval, is_dst bool"),
    Entry::empty_view("pg_timezone_names", "name text, abbrev text, utc_offset interval, is_dst bool"),
    Entry::empty_table("pg_transform", 3576, "oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc"),
    Entry::empty_table(
        "pg_trigger",
        2620,
        "oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char, tgisinternal bool, \
         tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool, tginitdeferred bool, tgnargs int2, \
         tgattr int2vector, tgargs bytea, tgqual pg_node_tree, tgoldtable name, tgnewtable name",
    ),
    Entry::empty_table("pg_ts_config", 3602, "oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid"),
    Entry::empty_table("pg_ts_config_map", 3603, "mapcfg oid, maptokentype int4, mapseqno int4, mapdict oid"),
    Entry::empty_table(
        "pg_ts_dict",
        3600,
        "oid oid, dictname name, dictnamespace oid, dictowner oid, dicttemplate oid, dictinitoption text",
    ),
    Entry::empty_table(
        "pg_ts_parser",
        3601,
        "oid oid, prsname name, prsnamespace oid, prsstart regproc, prstoken regproc, prsend regproc, prsheadline regproc, \
         prslextype regproc",
    ),
    Entry::empty_table(
        "pg_ts_template",
        3764,
        "oid oid, tmplname name, tmplnamespace oid, tmplinit regproc, tmpllexize regproc",
    ),
    Entry::empty_table("pg_user_mapping", 1418, "oid oid, umuser oid, umserver oid, umoptions _text"),
    Entry::empty_view(
        "pg_user_mappings",
        "umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions _text",
    ),
];
