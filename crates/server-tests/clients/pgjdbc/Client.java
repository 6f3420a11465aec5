import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.*;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

/** PostgreSQL's JDBC driver: text and binary values, fetch sizes, batches, COPY, cancel, timeouts; then its metadata. */
public class Client extends Checks {
    static final String SLOW_QUERY =
        "SELECT count(*) FROM jdbc_item a, jdbc_item b, jdbc_item c, jdbc_item d "
        + "WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.id + b.id + c.id + d.id < 0";

    static Connection connected(String... options) throws SQLException {
        var url = java.net.URI.create(System.getenv("SERVER_URL"));
        return DriverManager.getConnection("jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath(),
            properties("user", "password", options));
    }

    static void setUp(Connection c) throws SQLException {
        execute(c, "DROP VIEW IF EXISTS jdbc_small");
        execute(c, "DROP TABLE IF EXISTS jdbc_item");
        execute(c, "DROP TABLE IF EXISTS jdbc_pair");
        execute(c, "CREATE TABLE jdbc_item (id BIGINT NOT NULL PRIMARY KEY, small SMALLINT, whole INTEGER DEFAULT 3, single REAL, "
            + "load DOUBLE PRECISION, "
            + "price NUMERIC(10,2), up BOOLEAN, name VARCHAR(20) NOT NULL, fixed CHAR(4), made TIMESTAMP, hour TIME, bytes BYTEA, "
            + "doc JSON, numbers INTEGER[], texts TEXT[])");
        execute(c, "CREATE TABLE jdbc_pair (host VARCHAR(20) NOT NULL, at TIMESTAMP NOT NULL, size INTEGER, "
            + "CONSTRAINT jdbc_pair_key PRIMARY KEY (host, at))");
        execute(c, "CREATE INDEX jdbc_pair_size ON jdbc_pair (size, host)");
        execute(c, "CREATE UNIQUE INDEX jdbc_item_price ON jdbc_item (price)");
        execute(c, "CREATE VIEW jdbc_small AS SELECT id, name FROM jdbc_item WHERE id >= 0 AND whole < 5");
        execute(c, "COMMENT ON TABLE jdbc_item IS 'what is sold'");
        execute(c, "COMMENT ON COLUMN jdbc_item.name IS 'its name'");
        try (var insert = c.prepareStatement("INSERT INTO jdbc_item (id, name, whole) VALUES (?, ?, ?)")) {
            for (int i = 0; i < 300; i++) {
                insert.setLong(1, i);
                insert.setString(2, "name " + i);
                insert.setInt(3, i % 10);
                insert.addBatch();
            }
            equal(Arrays.stream(insert.executeBatch()).sum(), 300);
        }
    }

    static final Object[] VALUES = {
        7000L, (short) -32768, 1 << 30, 1.5f, 5e-324, new BigDecimal("-12345678.25"), true, "ü\\ '\"", "abcd",
        LocalDateTime.of(2200, 12, 31, 23, 59, 59, 999_999_000), LocalTime.of(23, 59, 59, 999_000_000), new byte[] {0, -1}, "{\"a\": 1}",
    };

    static void values(Connection c) throws SQLException {
        execute(c, "DELETE FROM jdbc_item WHERE id >= 7000");
        try (var insert = c.prepareStatement("INSERT INTO jdbc_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::JSON, ?, ?)")) {
            for (int i = 0; i < VALUES.length; i++) insert.setObject(i + 1, VALUES[i]);
            insert.setArray(14, c.createArrayOf("int4", new Integer[] {1, null, -2}));
            insert.setArray(15, c.createArrayOf("text", new String[] {"a", "b \"c\"", ""}));
            equal(insert.executeUpdate(), 1);
        }
        // The driver asks for binary values from the sixth run on.
        try (var select = c.prepareStatement("SELECT * FROM jdbc_item WHERE id = ?")) {
            for (int run = 1; run <= 12; run++) {
                select.setLong(1, 7000);
                try (var row = select.executeQuery()) {
                    equal(row.next(), true);
                    Object[] found = {
                        row.getLong(1), row.getShort(2), row.getInt(3), row.getFloat(4), row.getDouble(5), row.getBigDecimal(6), row.getBoolean(7),
                        row.getString(8), row.getString(9), row.getObject(10, LocalDateTime.class), row.getObject(11, LocalTime.class),
                        row.getBytes(12), row.getString(13),
                    };
                    equal(found, VALUES);
                    equal(row.getArray(14).getArray(), new Integer[] {1, null, -2});
                    equal(row.getArray(15).getArray(), new String[] {"a", "b \"c\"", ""});
                    equal(row.getString(6), "-12345678.25");
                    equal(row.next(), false);
                }
            }
        }
        execute(c, "DELETE FROM jdbc_item WHERE id >= 7000");
    }

    static void switchToBinary(Connection c) throws SQLException {
        try (var select = c.prepareStatement("SELECT id, price FROM jdbc_item WHERE id = ?")) {
            for (int run = 1; run <= 8; run++) {
                select.setLong(1, run);
                equal(rows(select.executeQuery()).get(0).get(0), (long) run);
            }
            equal(select.unwrap(PGStatement.class).isUseServerPrepare(), true);
        }
    }

    static void nulls(Connection c) throws SQLException {
        try (var insert = c.prepareStatement("INSERT INTO jdbc_item (id, name, whole, price, made, bytes, up) VALUES (?, 'n', ?, ?, ?, ?, ?)")) {
            insert.setLong(1, 7000);
            int[] kinds = {Types.INTEGER, Types.NUMERIC, Types.TIMESTAMP, Types.BINARY, Types.BOOLEAN};
            for (int i = 0; i < kinds.length; i++) insert.setNull(i + 2, kinds[i]);
            insert.executeUpdate();
        }
        equal(query(c, "SELECT whole, price, made, bytes, up FROM jdbc_item WHERE id = 7000"), list(list(null, null, null, null, null)));
        execute(c, "DELETE FROM jdbc_item WHERE id >= 7000");
    }

    static void dates(Connection c) throws SQLException {
        var made = Timestamp.valueOf("2024-02-29 12:34:56.789");
        try (var insert = c.prepareStatement("INSERT INTO jdbc_pair VALUES (?, ?, ?)")) {
            insert.setString(1, "h");
            insert.setTimestamp(2, made);
            insert.setLong(3, 5);
            insert.executeUpdate();
        }
        try (var select = c.prepareStatement("SELECT at, size FROM jdbc_pair WHERE host = ? AND at = ?")) {
            for (int run = 0; run < 8; run++) {
                select.setString(1, "h");
                select.setTimestamp(2, made);
                equal(rows(select.executeQuery()), list(list(made, 5)));
            }
        }
        try (var select = c.prepareStatement("SELECT size FROM jdbc_pair WHERE host = 'h' AND at > ?")) {
            select.setDate(1, java.sql.Date.valueOf("2024-02-29"));
            equal(rows(select.executeQuery()).size(), 1);
            select.setObject(1, LocalDateTime.of(2024, 3, 1, 0, 0));
            equal(rows(select.executeQuery()).size(), 0);
        }
        execute(c, "DELETE FROM jdbc_pair WHERE host = 'h'");
    }

    static void resultMetaData(Connection c) throws SQLException {
        try (var statement = c.prepareStatement("SELECT id AS number, price, name, made FROM jdbc_item WHERE id = ?")) {
            var columns = statement.getMetaData();
            equal(columns.getColumnCount(), 4);
            equal(list(columns.getColumnLabel(1), columns.getColumnType(1), columns.getColumnTypeName(1)), list("number", Types.BIGINT, "int8"));
            equal(list(columns.getPrecision(2), columns.getScale(2), columns.getColumnDisplaySize(3)), list(10, 2, 20));
            equal(columns.getColumnClassName(4), "java.sql.Timestamp");
            equal(list(columns.getTableName(1), ((org.postgresql.PGResultSetMetaData) columns).getBaseColumnName(1)), list("jdbc_item", "id"));
            equal(columns.isNullable(1), ResultSetMetaData.columnNoNulls);
            var parameters = statement.getParameterMetaData();
            equal(list(parameters.getParameterCount(), parameters.getParameterTypeName(1)), list(1, "int8"));
        }
    }

    static void fetchSize(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (var select = c.prepareStatement("SELECT id FROM jdbc_item WHERE id >= ? ORDER BY id")) {
            for (int size : new int[] {1, 7, 100, 290, 1000}) {
                select.setFetchSize(size);
                select.setLong(1, 10);
                long expected = 10;
                try (var row = select.executeQuery()) {
                    while (row.next()) equal(row.getLong(1), expected++);
                }
                equal(expected, 300L);
            }
        }
        // Two results are open at once, and one of them is left.
        try (var a = c.createStatement(); var b = c.createStatement()) {
            a.setFetchSize(10);
            b.setFetchSize(10);
            var left = a.executeQuery("SELECT id FROM jdbc_item WHERE id >= 0 ORDER BY id");
            var right = b.executeQuery("SELECT id FROM jdbc_item WHERE id >= 100 ORDER BY id");
            for (int i = 0; i < 50; i++) equal(list(left.next(), right.next(), right.getLong(1) - left.getLong(1)), list(true, true, 100L));
        }
        c.commit();
    }

    static void maxRows(Connection c) throws SQLException {
        try (var statement = c.createStatement()) {
            statement.setMaxRows(5);
            equal(rows(statement.executeQuery("SELECT id FROM jdbc_item WHERE id >= 0 ORDER BY id")).size(), 5);
        }
    }

    static void batches(Connection c) throws Exception {
        try (var statement = c.createStatement()) {
            statement.addBatch("INSERT INTO jdbc_item (id, name) VALUES (900, 'a'), (901, 'b')");
            statement.addBatch("UPDATE jdbc_item SET whole = 1 WHERE id >= 900");
            statement.addBatch("DELETE FROM jdbc_item WHERE id >= 900");
            equal(java.util.Arrays.toString(statement.executeBatch()), "[2, 2, 2]");
        }
        var error = fails(connection -> {
            try (var insert = connection.prepareStatement("INSERT INTO jdbc_item (id, name) VALUES (?, 'x')")) {
                for (long id : new long[] {900, 901, 1, 902}) {
                    insert.setLong(1, id);
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        }, c);
        equal(error instanceof BatchUpdateException, true);
        equal(error.getNextException().getSQLState(), "23505");
        equal(query(c, "SELECT count(*) FROM jdbc_item WHERE id >= 900"), list(list(0L)));
    }

    static void batchesAsOneInsert(Connection c) throws SQLException {
        try (var insert = c.prepareStatement("INSERT INTO jdbc_item (id, name) VALUES (?, ?)")) {
            for (int i = 0; i < 100; i++) {
                insert.setLong(1, 1000 + i);
                insert.setString(2, "batched");
                insert.addBatch();
            }
            insert.executeBatch();
        }
        equal(query(c, "SELECT count(*) FROM jdbc_item WHERE id >= 1000"), list(list(100L)));
        execute(c, "DELETE FROM jdbc_item WHERE id >= 1000");
    }

    static void generatedKeys(Connection c) throws SQLException {
        try (var insert = c.prepareStatement("INSERT INTO jdbc_item (id, name) VALUES (900, 'a')", new String[] {"id", "whole"})) {
            insert.executeUpdate();
            equal(rows(insert.getGeneratedKeys()), list(list(900L, 3)));
        }
        execute(c, "DELETE FROM jdbc_item WHERE id = 900");
    }

    static void copy(Connection c) throws Exception {
        CopyManager manager = c.unwrap(PGConnection.class).getCopyAPI();
        var lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++) lines.append(1000 + i).append("\trow\t").append(i % 10).append('\n');
        equal(manager.copyIn("COPY jdbc_item (id, name, whole) FROM STDIN", new StringReader(lines.toString())), 20_000L);
        var out = new StringWriter();
        equal(manager.copyOut("COPY (SELECT id, name, whole FROM jdbc_item WHERE id >= 1000 ORDER BY id) TO STDOUT", out), 20_000L);
        equal(out.toString(), lines.toString());
        execute(c, "DELETE FROM jdbc_item WHERE id >= 1000");
        equal(fails(connection -> manager.copyIn("COPY jdbc_item (id, name) FROM STDIN", new StringReader("x\ty\n")), c).getSQLState(), "22P02");
        equal(query(c, "SELECT CAST(1 AS INTEGER)"), list(list(1)));
    }

    static void copyIsCancelled(Connection c) throws Exception {
        var copy = c.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY jdbc_item (id, name) FROM STDIN");
        byte[] line = "1000\tx\n".getBytes();
        copy.writeToCopy(line, 0, line.length);
        copy.cancelCopy();
        equal(query(c, "SELECT count(*) FROM jdbc_item WHERE id >= 1000"), list(list(0L)));
    }

    static void cancel(Connection c) throws Exception {
        try (var statement = c.createStatement()) {
            var thread = new Thread(() -> {
                try {
                    Thread.sleep(500);
                    statement.cancel();
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            });
            thread.start();
            equal(fails(connection -> statement.executeQuery(SLOW_QUERY), c).getSQLState(), "57014");
            thread.join();
            equal(rows(statement.executeQuery("SELECT CAST(1 AS INTEGER)")), list(list(1)));
        }
    }

    static void queryTimeout(Connection c) throws Exception {
        try (var statement = c.createStatement()) {
            statement.setQueryTimeout(1);
            equal(fails(connection -> statement.executeQuery(SLOW_QUERY), c).getSQLState(), "57014");
            equal(rows(statement.executeQuery("SELECT CAST(1 AS INTEGER)")), list(list(1)));
        }
    }

    static void transactions(Connection c) throws Exception {
        c.setAutoCommit(false);
        execute(c, "INSERT INTO jdbc_item (id, name) VALUES (900, 'a')");
        var savepoint = c.setSavepoint("before");
        equal(fails(connection -> execute(connection, "INSERT INTO jdbc_item (id, name) VALUES (1, 'a')"), c).getSQLState(), "23505");
        equal(fails(connection -> query(connection, "SELECT 1"), c).getSQLState(), "25P02");
        c.rollback(savepoint);
        equal(query(c, "SELECT count(*) FROM jdbc_item WHERE id = 900"), list(list(1L)));
        c.rollback();
        equal(query(c, "SELECT count(*) FROM jdbc_item WHERE id = 900"), list(list(0L)));
        c.rollback();
        c.setReadOnly(true);
        equal(fails(connection -> execute(connection, "DELETE FROM jdbc_item WHERE id = 1"), c).getSQLState(), "25006");
        c.rollback();
        c.setReadOnly(false);
        c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        equal(c.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ);
        equal(query(c, "SELECT name FROM jdbc_item WHERE id = 1"), list(list("name 1")));
        c.commit();
    }

    static void errorFields(Connection c) throws Exception {
        Check unknownColumn = connection -> execute(connection, "SELECT 'ä', nothere FROM jdbc_item WHERE id = 1");
        var error = ((PSQLException) fails(unknownColumn, c)).getServerErrorMessage();
        equal(list(error.getSQLState(), error.getPosition(), error.getSeverity()), list("42703", 13, "ERROR"));
        error = ((PSQLException) fails(connection -> execute(connection, "INSERT INTO jdbc_item (id) VALUES (5000)"), c)).getServerErrorMessage();
        equal(list(error.getSQLState(), error.getTable(), error.getColumn()), list("23502", "jdbc_item", "name"));
    }

    static void changedDefinition(Connection c) throws Exception {
        execute(c, "DROP TABLE IF EXISTS jdbc_change");
        execute(c, "CREATE TABLE jdbc_change (k INTEGER PRIMARY KEY)");
        execute(c, "INSERT INTO jdbc_change VALUES (1)");
        try (var select = c.prepareStatement("SELECT * FROM jdbc_change WHERE k = ?"); var other = connect()) {
            for (int run = 0; run < 8; run++) {
                select.setInt(1, 1);
                equal(rows(select.executeQuery()), list(list(1)));
            }
            execute(other, "ALTER TABLE jdbc_change ADD COLUMN v INTEGER");
            // The driver prepares the statement again when it gets 0A000 of RevalidateCachedQuery.
            equal(rows(select.executeQuery()), list(list(1, null)));
        }
        execute(c, "DROP TABLE jdbc_change");
    }

    static void updatableResult(Connection c) throws SQLException {
        try (var statement = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            var row = statement.executeQuery("SELECT id, whole FROM jdbc_item WHERE id BETWEEN 1 AND 3 ORDER BY id");
            equal(row.absolute(2), true);
            row.updateInt("whole", 77);
            row.updateRow();
            equal(row.getInt(2), 77);
        }
        equal(query(c, "SELECT whole FROM jdbc_item WHERE id = 2"), list(list(77)));
    }

    static void schemaAndValidity(Connection c) throws SQLException {
        equal(list(c.getSchema(), c.isValid(5), c.getCatalog()), list("public", true, query(c, "SELECT current_database()").get(0).get(0)));
        c.setClientInfo("ApplicationName", "jdbc test");
        equal(query(c, "SHOW application_name"), list(list("jdbc test")));
    }

    static void tearDown(Connection c) throws SQLException {
        execute(c, "DROP VIEW jdbc_small");
        execute(c, "DROP TABLE jdbc_item");
        execute(c, "DROP TABLE jdbc_pair");
    }

    public static void main(String[] arguments) throws Exception {
        connector = Client::connected;
        check("set_up", Client::setUp);
        check("values_as_text_then_binary", Client::values);
        check("values_always_binary", Client::values, "prepareThreshold", "-1");
        check("values_in_simple_queries", Client::values, "preferQueryMode", "simple", "prepareThreshold", "0");
        check("values_of_named_statements", Client::values, "prepareThreshold", "1");
        check("values_without_binary", Client::values, "binaryTransfer", "false");
        check("switch_to_binary_after_five_runs", Client::switchToBinary);
        check("nulls", Client::nulls);
        check("dates", Client::dates);
        check("result_metadata", Client::resultMetaData);
        check("fetch_size", Client::fetchSize);
        check("adaptive_fetch", Client::fetchSize, "adaptiveFetch", "true", "defaultRowFetchSize", "10", "maxResultBuffer", "10M");
        check("max_rows", Client::maxRows);
        check("batches", Client::batches);
        check("batches_as_one_insert", Client::batchesAsOneInsert, "reWriteBatchedInserts", "true");
        check("generated_keys", Client::generatedKeys);
        check("copy", Client::copy);
        check("copy_is_cancelled", Client::copyIsCancelled);
        check("cancel", Client::cancel);
        check("query_timeout", Client::queryTimeout);
        check("transactions", Client::transactions);
        check("autosave", Client::errorFields, "autosave", "always");
        check("error_fields", Client::errorFields);
        check("changed_definition", Client::changedDefinition);
        check("updatable_result", Client::updatableResult);
        check("schema_and_validity", Client::schemaAndValidity);
        MetaDataChecks.all();
        check("tear_down", Client::tearDown);
        System.exit(isWell ? 0 : 1);
    }
}
