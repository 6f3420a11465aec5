import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.util.*;

/** Phoenix's thin JDBC driver: the query of the mobile log, batches, values, transactions, errors, frames, the end of idle connections, metadata. */
public class Client extends Checks {
    static final int ROWS = 5000;

    static Connection connected(String server, String... options) throws SQLException {
        var url = "jdbc:phoenix:thin:url=" + server + ";serialization=PROTOBUF;authentication=BASIC";
        return DriverManager.getConnection(url, properties("avatica_user", "avatica_password", options));
    }

    static void setUp(Connection c) throws SQLException {
        execute(c, "DROP TABLE IF EXISTS thin_log");
        execute(c, "DROP TABLE IF EXISTS thin_type");
        execute(c, "CREATE TABLE thin_log (id VARCHAR NOT NULL PRIMARY KEY, up BIGINT, down BIGINT, at TIMESTAMP)");
        execute(c, "CREATE INDEX thin_log_at ON thin_log (at)");
        execute(c, "CREATE TABLE thin_type (k INTEGER NOT NULL PRIMARY KEY, tiny TINYINT, small SMALLINT, whole INTEGER, big BIGINT, "
            + "ulong UNSIGNED_LONG, single FLOAT, load DOUBLE, price DECIMAL(10, 2), up BOOLEAN, name VARCHAR, fixed CHAR(4), day DATE, hour TIME, "
            + "made TIMESTAMP, bytes VARBINARY, fixed_bytes BINARY(2), numbers INTEGER ARRAY, texts VARCHAR ARRAY)");
    }

    static String key(int number) {
        return String.format("1%010d", number);
    }

    /** A load as programs do it: batches of 500 rows, each a transaction. */
    static void batchLoad(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (var upsert = c.prepareStatement("UPSERT INTO thin_log (id, up, down, at) VALUES (?, ?, ?, ?)")) {
            for (int i = 0; i < ROWS; i++) {
                upsert.setString(1, key(i));
                upsert.setLong(2, i);
                upsert.setLong(3, 2L * i);
                upsert.setTimestamp(4, new Timestamp(1_700_000_000_000L + i));
                upsert.addBatch();
                if (i % 500 == 499) {
                    var counts = upsert.executeBatch();
                    equal(list(counts.length, Arrays.stream(counts).sum()), list(500, 500));
                    c.commit();
                }
            }
        }
        c.setAutoCommit(true);
        equal(query(c, "SELECT COUNT(*), SUM(up) FROM thin_log WHERE id >= '1'"), list(list((long) ROWS, (long) ROWS * (ROWS - 1) / 2)));
    }

    static void mobileLogQuery(Connection c) throws SQLException {
        try (var select = c.prepareStatement("SELECT id, up, down FROM thin_log WHERE id >= ? AND id <= ?")) {
            for (int low : new int[] {0, 17, 990, ROWS - 3}) {
                select.setString(1, key(low));
                select.setString(2, key(low + 9));
                int next = low;
                try (var row = select.executeQuery()) {
                    for (; row.next(); next++) {
                        equal(list(row.getString("ID"), row.getLong(2), row.getLong("DOWN")), list(key(next), (long) next, 2L * next));
                    }
                }
                equal(next, Math.min(low + 10, ROWS));
            }
        }
    }

    static void frames(Connection c) throws SQLException {
        for (int size : new int[] {1, 100, ROWS - 1, ROWS, 10 * ROWS}) {
            try (var select = c.prepareStatement("SELECT up FROM thin_log WHERE id >= ? LIMIT " + (size == 1 ? 50 : ROWS))) {
                select.setFetchSize(size);
                select.setString(1, "1");
                long next = 0;
                try (var row = select.executeQuery()) {
                    while (row.next()) equal(row.getLong(1), next++);
                }
                equal(next, size == 1 ? 50L : (long) ROWS);
            }
        }
        try (var statement = c.createStatement()) {
            statement.setMaxRows(7);
            equal(rows(statement.executeQuery("SELECT id FROM thin_log WHERE id >= '1'")).size(), 7);
        }
    }

    static void twoResultsAtOnce(Connection c) throws SQLException {
        try (var a = c.createStatement(); var b = c.createStatement()) {
            a.setFetchSize(10);
            b.setFetchSize(10);
            var left = a.executeQuery("SELECT up FROM thin_log WHERE id >= '" + key(0) + "'");
            var right = b.executeQuery("SELECT up FROM thin_log WHERE id >= '" + key(100) + "'");
            for (int i = 0; i < 50; i++) equal(list(left.next(), right.next(), right.getLong(1) - left.getLong(1)), list(true, true, 100L));
        }
    }

    static void values(Connection c) throws SQLException {
        Object[] full = {
            1, (byte) -128, (short) 32767, Integer.MIN_VALUE, 1L << 62, Long.MAX_VALUE, 1.5f, 5e-324, new BigDecimal("-12345678.25"), true, "ü\\ '\"",
            "abcd", java.sql.Date.valueOf("2024-02-29"), Time.valueOf("23:59:59"), new Timestamp(7_289_135_999_999L), new byte[] {0, -1}, new byte[] {1, 2},
        };
        try (var upsert = c.prepareStatement("UPSERT INTO thin_type VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int i = 0; i < full.length; i++) upsert.setObject(i + 1, full[i]);
            // The driver does not send a BigDecimal that comes as an object.
            upsert.setBigDecimal(9, (BigDecimal) full[8]);
            upsert.setArray(18, c.createArrayOf("INTEGER", new Object[] {1, -2}));
            upsert.setArray(19, c.createArrayOf("VARCHAR", new Object[] {"a", "b \"c\""}));
            equal(upsert.executeUpdate(), 1);
            upsert.setInt(1, 2);
            for (int i = 2; i <= 19; i++) upsert.setObject(i, null);
            equal(upsert.executeUpdate(), 1);
        }
        try (var select = c.prepareStatement("SELECT * FROM thin_type WHERE k = ?")) {
            select.setInt(1, 1);
            try (var row = select.executeQuery()) {
                equal(row.next(), true);
                Object[] found = {
                    row.getInt(1), row.getByte(2), row.getShort(3), row.getInt(4), row.getLong(5), row.getLong(6), row.getFloat(7), row.getDouble(8),
                    row.getBigDecimal(9), row.getBoolean(10), row.getString(11), row.getString(12), row.getObject(13), row.getObject(14), row.getTimestamp(15),
                    row.getBytes(16), row.getBytes(17),
                };
                equal(found, full);
                equal(text(row.getArray(18).getArray()), "[1, -2]");
                equal(text(row.getArray(19).getArray()), "[a, b \"c\"]");
            }
            select.setInt(1, 2);
            try (var row = select.executeQuery()) {
                equal(row.next(), true);
                for (int i = 2; i <= 19; i++) equal(list(i, row.getObject(i), row.wasNull()), list(i, null, true));
            }
        }
    }

    static void resultMetaData(Connection c) throws SQLException {
        try (var statement = c.prepareStatement("SELECT k AS number, price, name, made FROM thin_type WHERE k = ?")) {
            var columns = statement.getMetaData();
            equal(list(columns.getColumnCount(), columns.getColumnLabel(1), columns.getColumnType(1), columns.getColumnTypeName(1)),
                list(4, "NUMBER", Types.INTEGER, "INTEGER"));
            equal(list(columns.getPrecision(2), columns.getScale(2), columns.getColumnClassName(4)), list(10, 2, "java.sql.Timestamp"));
            equal(list(columns.getTableName(1), columns.isNullable(1)), list("THIN_TYPE", ResultSetMetaData.columnNoNulls));
            equal(statement.getParameterMetaData().getParameterCount(), 1);
        }
    }

    static void transactions(Connection c) throws Exception {
        c.setAutoCommit(false);
        execute(c, "UPSERT INTO thin_log (id, up) VALUES ('2', 1)");
        try (var other = connect()) {
            equal(query(other, "SELECT up FROM thin_log WHERE id >= '2'"), list());
            c.commit();
            equal(query(other, "SELECT up FROM thin_log WHERE id >= '2'"), list(list(1L)));
        }
        execute(c, "DELETE FROM thin_log WHERE id = '2'");
        c.rollback();
        equal(query(c, "SELECT up FROM thin_log WHERE id >= '2'"), list(list(1L)));
        execute(c, "DELETE FROM thin_log WHERE id = '2'");
        c.setAutoCommit(true);
        equal(query(c, "SELECT up FROM thin_log WHERE id >= '2'"), list());
        c.setReadOnly(true);
        equal(fails(connection -> execute(connection, "DELETE FROM thin_log WHERE id = '1'"), c).getErrorCode(), 518);
    }

    static void aBatchIsWrittenWholeOrNotAtAll(Connection c) throws Exception {
        fails(connection -> {
            try (var upsert = connection.prepareStatement("UPSERT INTO thin_log (id, up) VALUES (?, 1)")) {
                for (var id : new String[] {"3", null, "4"}) {
                    upsert.setString(1, id);
                    upsert.addBatch();
                }
                upsert.executeBatch();
            }
        }, c);
        equal(query(c, "SELECT id FROM thin_log WHERE id >= '2'"), list());
        try (var statement = c.createStatement()) {
            statement.addBatch("UPSERT INTO thin_log (id) VALUES ('3')");
            statement.addBatch("UPSERT INTO thin_log (id) VALUES ('4')");
            statement.addBatch("DELETE FROM thin_log WHERE id >= '3'");
            equal(Arrays.toString(statement.executeBatch()), "[1, 1, 2]");
        }
    }

    static void errors(Connection c) throws Exception {
        Object[][] cases = {
            {"SELECT id FROM nothere WHERE id = '1'", 1012, "42M03"}, {"SELECT nothere FROM thin_log WHERE id = '1'", 504, "42703"},
            {"SELEC", 601, "42P00"}, {"UPSERT INTO thin_log (id) VALUES (NULL)", 218, "23018"}, {"UPSERT INTO thin_type (k) VALUES (1 / 0)", 202, "22012"},
            {"UPSERT INTO thin_type (k, tiny) VALUES (3, 10000)", 203, "22005"}, {"CREATE TABLE thin_log (k INTEGER PRIMARY KEY)", 1013, "42M04"},
        };
        for (var each : cases) {
            var error = fails(connection -> execute(connection, (String) each[0]), c);
            equal(list(each[0], error.getErrorCode(), error.getSQLState()), list(each));
        }
        var refused = fails(connection -> query(connection, "SELECT id FROM thin_log WHERE up = 3"), c);
        equal(list(refused.getSQLState(), refused.getMessage().contains("add a condition on ID")), list("54F01", true));
    }

    static void closedAndCancelledStatements(Connection c) throws Exception {
        var statement = c.createStatement();
        statement.setFetchSize(10);
        var row = statement.executeQuery("SELECT up FROM thin_log WHERE id >= '1'");
        equal(row.next(), true);
        statement.cancel();
        fails(connection -> {
            while (row.next()) { }
        }, c);
        equal(query(c, "SELECT up FROM thin_log WHERE id = '" + key(5) + "'"), list(list(5L)));
        statement.close();
        fails(connection -> statement.executeQuery("SELECT up FROM thin_log WHERE id = '1'"), c);
        // More statements than a connection may have at once, each of them closed.
        for (int i = 0; i < 1200; i++) c.createStatement().close();
        equal(query(c, "SELECT up FROM thin_log WHERE id = '" + key(6) + "'"), list(list(6L)));
    }

    static void wrongPasswords(Connection c) throws Exception {
        try {
            connect("avatica_password", "wrong").close();
            throw new AssertionError("no error");
        } catch (RuntimeException error) {
            // The driver has no SQLException for it.
            equal(error.getMessage(), "Failed to execute HTTP Request, got HTTP/401");
        }
        equal(query(c, "SELECT up FROM thin_log WHERE id = '" + key(7) + "'"), list(list(7L)));
    }

    /** The server of this client closes connections that are idle for a second. The driver opens them again, and prepares queries again. */
    static void idleConnections(Connection unused) throws Exception {
        try (var c = connected(System.getenv("OWN_AVATICA"))) {
            execute(c, "CREATE TABLE idle (k INTEGER PRIMARY KEY)");
            try (var upsert = c.prepareStatement("UPSERT INTO idle VALUES (?)"); var select = c.prepareStatement("SELECT k FROM idle WHERE k >= ?")) {
                upsert.setInt(1, 1);
                equal(upsert.executeUpdate(), 1);
                Thread.sleep(8000);
                select.setInt(1, 0);
                equal(rows(select.executeQuery()), list(list(1)));
                // The driver does not send the text of an update again.
                upsert.setInt(1, 2);
                var lost = fails(other -> upsert.executeUpdate(), c);
                equal(lost.getCause() instanceof org.apache.calcite.avatica.NoSuchStatementException, true);
                execute(c, "UPSERT INTO idle VALUES (2)");
                equal(rows(select.executeQuery()), list(list(1), list(2)));
            }
        }
    }

    static void tables(Connection c) throws SQLException {
        var metadata = c.getMetaData();
        equal(rows(metadata.getTables(null, null, "THIN\\_%", new String[] {"TABLE"}), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"),
            list(list(null, "THIN_LOG", "TABLE"), list(null, "THIN_TYPE", "TABLE")));
        var columns = rows(metadata.getColumns(null, null, "THIN_LOG", null), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "NULLABLE", "ORDINAL_POSITION");
        equal(columns.size(), 4);
        equal(columns.get(0), list("ID", Types.VARCHAR, "VARCHAR", 0, 1));
        equal(columns.get(3), list("AT", Types.TIMESTAMP, "TIMESTAMP", 1, 4));
        equal(list(metadata.getDatabaseProductName(), metadata.getURL() != null), list("Phoenix", true));
    }

    static void tearDown(Connection c) throws SQLException {
        execute(c, "DROP TABLE thin_log");
        execute(c, "DROP TABLE thin_type");
    }

    /** The reason of each check that must fail: lines `NAME  reason`, and comments. */
    static Map<String, String> expectedFailures(Path file) throws IOException {
        var reasons = new HashMap<String, String>();
        for (var line : Files.readAllLines(file)) {
            if (line.isBlank() || line.startsWith("#")) continue;
            var parts = line.split("\\s+", 2);
            reasons.put(parts[0], parts[1]);
        }
        return reasons;
    }

    public static void main(String[] arguments) throws Exception {
        connector = options -> connected(System.getenv("SERVER_AVATICA"), options);
        check("set_up", Client::setUp);
        check("batch_load", Client::batchLoad);
        check("mobile_log_query", Client::mobileLogQuery);
        check("frames", Client::frames);
        check("two_results_at_once", Client::twoResultsAtOnce);
        check("values", Client::values);
        check("result_metadata", Client::resultMetaData);
        check("transactions", Client::transactions);
        check("a_batch_is_written_whole_or_not_at_all", Client::aBatchIsWrittenWholeOrNotAtAll);
        check("errors", Client::errors);
        check("closed_and_cancelled_statements", Client::closedAndCancelledStatements);
        check("wrong_passwords", Client::wrongPasswords);
        check("idle_connections", Client::idleConnections);
        check("tables", Client::tables);
        MetaDataCalls.all("THIN_LOG", expectedFailures(Path.of("expected_failures.txt")));
        check("tear_down", Client::tearDown);
        System.exit(isWell ? 0 : 1);
    }
}
