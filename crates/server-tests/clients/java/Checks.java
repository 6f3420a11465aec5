import java.sql.*;
import java.util.*;

/** What the checks share: a connection for each, and a line of output. */
class Checks {
    interface Check {
        void run(Connection c) throws Exception;
    }

    static boolean isWell = true;

    /** How a client connects, with names and values of more properties. */
    interface Connector {
        Connection connect(String... options) throws SQLException;
    }

    /** Set by the client before its first check. */
    static Connector connector;

    static Connection connect(String... options) throws SQLException {
        return connector.connect(options);
    }

    /** Name and password of the user, then pairs of names and values. */
    static Properties properties(String user, String password, String... options) {
        var login = java.net.URI.create(System.getenv("SERVER_URL")).getUserInfo().split(":", 2);
        var properties = new Properties();
        properties.put(user, login[0]);
        if (login.length > 1) properties.put(password, login[1]);
        for (int i = 0; i < options.length; i += 2) properties.put(options[i], options[i + 1]);
        return properties;
    }

    static void check(String name, Check check, String... options) {
        try (Connection c = connect(options)) {
            check.run(c);
            System.out.println("ok " + name);
        } catch (Throwable error) {
            isWell = false;
            int line = Arrays.stream(error.getStackTrace()).filter(f -> !f.getClassName().contains(".") && !f.getClassName().equals("Checks"))
                .findFirst().map(StackTraceElement::getLineNumber).orElse(0);
            System.out.println("not ok " + name + ": line " + line + ": " + error.toString().replaceAll("\\s+", " "));
        }
    }

    static void equal(Object got, Object expected) {
        if (!Objects.deepEquals(got, expected)) throw new AssertionError("expected " + text(expected) + ", got " + text(got));
    }

    static String text(Object value) {
        if (value instanceof byte[] bytes) return Arrays.toString(bytes);
        return value instanceof Object[] array ? Arrays.deepToString(array) : String.valueOf(value);
    }

    /** The error of a call, which fails if there is none. */
    static SQLException fails(Check call, Connection c) throws Exception {
        try {
            call.run(c);
        } catch (SQLException error) {
            return error;
        }
        throw new AssertionError("no error");
    }

    static void execute(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Rows of a result: of each its columns of these names, or all. */
    static List<List<Object>> rows(ResultSet result, String... columns) throws SQLException {
        var rows = new ArrayList<List<Object>>();
        try (result) {
            while (result.next()) {
                var row = new ArrayList<Object>();
                if (columns.length > 0) for (var column : columns) row.add(result.getObject(column));
                else for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) row.add(result.getObject(i));
                rows.add(row);
            }
        }
        return rows;
    }

    static List<List<Object>> query(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement()) {
            return rows(statement.executeQuery(sql));
        }
    }

    static List<Object> list(Object... values) {
        return Arrays.asList(values);
    }
}
