import java.sql.*;
import java.util.Comparator;
import java.util.Map;

/** What the driver asks the catalog for: the answers that programs lean on, and every call. */
class MetaDataChecks extends Checks {
    static void all() {
        check("tables", MetaDataChecks::tables);
        check("columns", MetaDataChecks::columns);
        check("primary_keys", MetaDataChecks::primaryKeys);
        check("indexes", MetaDataChecks::indexes);
        check("best_row_identifier", MetaDataChecks::bestRowIdentifier);
        check("schemas_and_types", MetaDataChecks::schemasAndTypes);
        MetaDataCalls.all("jdbc_item", Map.of());
    }

    static void tables(Connection c) throws SQLException {
        var tables = c.getMetaData().getTables(null, null, "jdbc\\_%", new String[] {"TABLE", "VIEW"});
        var found = rows(tables, "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS");
        found.sort(Comparator.comparing(row -> (String) row.get(1)));
        equal(found, list(list("public", "jdbc_item", "TABLE", "what is sold"), list("public", "jdbc_pair", "TABLE", null),
            list("public", "jdbc_small", "VIEW", null)));
    }

    static void columns(Connection c) throws SQLException {
        var found = rows(c.getMetaData().getColumns(null, "public", "jdbc_item", null),
            "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "NULLABLE", "ORDINAL_POSITION");
        equal(found.size(), 15);
        equal(found.get(0), list("id", Types.BIGINT, "int8", 0, 1));
        equal(found.get(5), list("price", Types.NUMERIC, "numeric", 1, 6));
        equal(found.get(13), list("numbers", Types.ARRAY, "_int4", 1, 14));
        var more = rows(c.getMetaData().getColumns(null, null, "jdbc_item", "%e"),
            "COLUMN_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "COLUMN_DEF", "REMARKS", "IS_AUTOINCREMENT");
        equal(more.stream().map(row -> row.get(0)).toList(), list("whole", "single", "price", "name", "made"));
        equal(list(more.get(0).get(3), more.get(2).get(1), more.get(2).get(2), more.get(3).get(1), more.get(3).get(4)),
            list("3", 10, 2, 20, "its name"));
    }

    static void primaryKeys(Connection c) throws SQLException {
        var found = rows(c.getMetaData().getPrimaryKeys(null, "public", "jdbc_pair"), "COLUMN_NAME", "KEY_SEQ");
        found.sort(Comparator.comparing(row -> ((Number) row.get(1)).intValue()));
        equal(found.toString(), "[[host, 1], [at, 2]]");
        equal(rows(c.getMetaData().getPrimaryKeys(null, null, "jdbc_item"), "COLUMN_NAME").size(), 1);
    }

    static void indexes(Connection c) throws SQLException {
        var found = rows(c.getMetaData().getIndexInfo(null, "public", "jdbc_pair", false, false),
            "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC");
        equal(found.size(), 4);
        equal(found.stream().filter(row -> row.get(0).equals("jdbc_pair_size")).toList().toString(),
            "[[jdbc_pair_size, true, 1, size, A], [jdbc_pair_size, true, 2, host, A]]");
        equal(found.stream().filter(row -> row.get(1).equals(false)).map(row -> row.get(3)).toList(), list("host", "at"));
        equal(rows(c.getMetaData().getIndexInfo(null, null, "jdbc_item", true, true), "COLUMN_NAME").size(), 2);
    }

    static void bestRowIdentifier(Connection c) throws SQLException {
        var found = rows(c.getMetaData().getBestRowIdentifier(null, "public", "jdbc_item", DatabaseMetaData.bestRowSession, false),
            "COLUMN_NAME", "DATA_TYPE");
        equal(found, list(list("id", Types.BIGINT)));
    }

    static void schemasAndTypes(Connection c) throws SQLException {
        var metadata = c.getMetaData();
        equal(rows(metadata.getSchemas(), "TABLE_SCHEM").contains(list("public")), true);
        equal(rows(metadata.getSchemas(null, "pub%"), "TABLE_SCHEM"), list(list("public")));
        equal(rows(metadata.getTableTypes(), "TABLE_TYPE").contains(list("TABLE")), true);
        var types = rows(metadata.getTypeInfo(), "TYPE_NAME", "DATA_TYPE");
        equal(types.contains(list("int8", Types.BIGINT)) && types.contains(list("numeric", Types.NUMERIC)), true);
        equal(rows(metadata.getCatalogs(), "TABLE_CAT").contains(list(c.getCatalog())), true);
        equal(rows(metadata.getImportedKeys(null, null, "jdbc_item")).size(), 0);
        equal(list(metadata.getDatabaseProductName(), metadata.getDatabaseMajorVersion()), list("PostgreSQL", 15));
    }
}
