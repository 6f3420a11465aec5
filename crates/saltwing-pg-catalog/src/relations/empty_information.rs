//! Relations of `information_schema` without rows.
//!
//! Clients ask for policies, triggers, publications and the like before they show a table, and take an empty answer for what it is.

use super::relation::Entry;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_information("administrable_role_authorizations", "grantee name, role_name name, is_grantable varchar"),
    Entry::empty_information("applicable_roles", "grantee name, role_name name, is_grantable varchar"),
    Entry::empty_information(
        "attributes",
        "udt_catalog name, udt_schema name, udt_name name, attribute_name name, ordinal_position int4, \
         attribute_default varchar, is_nullable varchar, data_type varchar, character_maximum_length int4, \
         character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, \
         collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, \
         numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, \
         interval_precision int4, attribute_udt_catalog name, attribute_udt_schema name, attribute_udt_name name, \
         scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, \
         is_derived_reference_attribute varchar",
    ),
    Entry::empty_information(
        "check_constraint_routine_usage",
        "constraint_catalog name, constraint_schema name, constraint_name name, specific_catalog name, specific_schema name, \
         specific_name name",
    ),
    Entry::empty_information(
        "collations",
        "collation_catalog name, collation_schema name, collation_name name, pad_attribute varchar",
    ),
    Entry::empty_information(
        "column_domain_usage",
        "domain_catalog name, domain_schema name, domain_name name, table_catalog name, table_schema name, table_name name, \
         column_name name",
    ),
    Entry::empty_information(
        "column_options",
        "table_catalog name, table_schema name, table_name name, column_name name, option_name name, option_value varchar",
    ),
    Entry::empty_information(
        "column_udt_usage",
        "udt_catalog name, udt_schema name, udt_name name, table_catalog name, table_schema name, table_name name, \
         column_name name",
    ),
    Entry::empty_information(
        "domain_constraints",
        "constraint_catalog name, constraint_schema name, constraint_name name, domain_catalog name, domain_schema name, \
         domain_name name, is_deferrable varchar, initially_deferred varchar",
    ),
    Entry::empty_information(
        "domain_udt_usage",
        "udt_catalog name, udt_schema name, udt_name name, domain_catalog name, domain_schema name, domain_name name",
    ),
    Entry::empty_information(
        "domains",
        "domain_catalog name, domain_schema name, domain_name name, data_type varchar, character_maximum_length int4, \
         character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, \
         collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, \
         numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, \
         interval_precision int4, domain_default varchar, udt_catalog name, udt_schema name, udt_name name, \
         scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name",
    ),
    Entry::empty_information(
        "element_types",
        "object_catalog name, object_schema name, object_name name, object_type varchar, collection_type_identifier name, \
         data_type varchar, character_maximum_length int4, character_octet_length int4, character_set_catalog name, \
         character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, \
         collation_name name, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, \
         datetime_precision int4, interval_type varchar, interval_precision int4, domain_default varchar, udt_catalog name, \
         udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, \
         dtd_identifier name",
    ),
    Entry::empty_information(
        "foreign_data_wrappers",
        "foreign_data_wrapper_catalog name, foreign_data_wrapper_name name, authorization_identifier name, \
         library_name varchar, foreign_data_wrapper_language varchar",
    ),
    Entry::empty_information(
        "foreign_servers",
        "foreign_server_catalog name, foreign_server_name name, foreign_data_wrapper_catalog name, \
         foreign_data_wrapper_name name, foreign_server_type varchar, foreign_server_version varchar, \
         authorization_identifier name",
    ),
    Entry::empty_information(
        "foreign_tables",
        "foreign_table_catalog name, foreign_table_schema name, foreign_table_name name, foreign_server_catalog name, \
         foreign_server_name name",
    ),
    Entry::empty_information(
        "parameters",
        "specific_catalog name, specific_schema name, specific_name name, ordinal_position int4, parameter_mode varchar, \
         is_result varchar, as_locator varchar, parameter_name name, data_type varchar, character_maximum_length int4, \
         character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, \
         collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, \
         numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, \
         interval_precision int4, udt_catalog name, udt_schema name, udt_name name, scope_catalog name, scope_schema name, \
         scope_name name, maximum_cardinality int4, dtd_identifier name, parameter_default varchar",
    ),
    Entry::empty_information(
        "referential_constraints",
        "constraint_catalog name, constraint_schema name, constraint_name name, unique_constraint_catalog name, \
         unique_constraint_schema name, unique_constraint_name name, match_option varchar, update_rule varchar, \
         delete_rule varchar",
    ),
    Entry::empty_information(
        "role_routine_grants",
        "grantor name, grantee name, specific_catalog name, specific_schema name, specific_name name, routine_catalog name, \
         routine_schema name, routine_name name, privilege_type varchar, is_grantable varchar",
    ),
    Entry::empty_information(
        "role_udt_grants",
        "grantor name, grantee name, udt_catalog name, udt_schema name, udt_name name, privilege_type varchar, \
         is_grantable varchar",
    ),
    Entry::empty_information(
        "role_usage_grants",
        "grantor name, grantee name, object_catalog name, object_schema name, object_name name, object_type varchar, \
         privilege_type varchar, is_grantable varchar",
    ),
    Entry::empty_information(
        "routine_privileges",
        "grantor name, grantee name, specific_catalog name, specific_schema name, specific_name name, routine_catalog name, \
         routine_schema name, routine_name name, privilege_type varchar, is_grantable varchar",
    ),
    Entry::empty_information(
        "sql_features",
        "feature_id varchar, feature_name varchar, sub_feature_id varchar, sub_feature_name varchar, is_supported varchar, \
         is_verified_by varchar, comments varchar",
    ),
    Entry::empty_information(
        "sql_implementation_info",
        "implementation_info_id varchar, implementation_info_name varchar, integer_value int4, character_value varchar, \
         comments varchar",
    ),
    Entry::empty_information(
        "triggered_update_columns",
        "trigger_catalog name, trigger_schema name, trigger_name name, event_object_catalog name, event_object_schema name, \
         event_object_table name, event_object_column name",
    ),
    Entry::empty_information(
        "triggers",
        "trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation varchar, event_object_catalog name, \
         event_object_schema name, event_object_table name, action_order int4, action_condition varchar, \
         action_statement varchar, action_orientation varchar, action_timing varchar, action_reference_old_table name, \
         action_reference_new_table name, action_reference_old_row name, action_reference_new_row name, created timestamptz",
    ),
    Entry::empty_information(
        "udt_privileges",
        "grantor name, grantee name, udt_catalog name, udt_schema name, udt_name name, privilege_type varchar, \
         is_grantable varchar",
    ),
    Entry::empty_information(
        "usage_privileges",
        "grantor name, grantee name, object_catalog name, object_schema name, object_name name, object_type varchar, \
         privilege_type varchar, is_grantable varchar",
    ),
    Entry::empty_information(
        "user_defined_types",
        "user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name, \
         user_defined_type_category varchar, is_instantiable varchar, is_final varchar, ordering_form varchar, \
         ordering_category varchar, ordering_routine_catalog name, ordering_routine_schema name, ordering_routine_name name, \
         reference_type varchar, data_type varchar, character_maximum_length int4, character_octet_length int4, \
         character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, \
         collation_schema name, collation_name name, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, \
         datetime_precision int4, interval_type varchar, interval_precision int4, source_dtd_identifier name, \
         ref_dtd_identifier name",
    ),
    Entry::empty_information(
        "user_mappings",
        "authorization_identifier name, foreign_server_catalog name, foreign_server_name name",
    ),
    Entry::empty_information(
        "view_column_usage",
        "view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name name, \
         column_name name",
    ),
    Entry::empty_information(
        "view_table_usage",
        "view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name name",
    ),
];
