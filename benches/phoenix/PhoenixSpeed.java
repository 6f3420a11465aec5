import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Phoenix by its JDBC driver, for the bench that drives it: a line of standard input is a command, a line of standard output its answer.
 *
 * <p>Fields are separated by tabs. {@code run SQL} and {@code query SQL PARAMETER..} answer {@code ok NANOSECONDS ROWS CHECKSUM}, {@code load TABLE ROWS
 * ROWS_OF_A_PHONE ROWS_OF_A_COMMIT} writes the log. What fails answers {@code error TEXT}. The first argument is the quorum: HOST:PORT:/NODE.
 */
public class PhoenixSpeed {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final long FNV_START = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final Connection connection;
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    PhoenixSpeed(Connection connection) {
        this.connection = connection;
    }

    public static void main(String[] arguments) throws Exception {
        // The driver's libraries write to standard output, too.
        PrintStream answers = System.out;
        System.setOut(System.err);
        try (Connection connection = DriverManager.getConnection("jdbc:phoenix:" + arguments[0])) {
            PhoenixSpeed phoenix = new PhoenixSpeed(connection);
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                String answer;
                try {
                    answer = phoenix.answer(line.split("\t"));
                } catch (Exception error) {
                    answer = "error\t" + String.valueOf(error).replaceAll("\\s+", " ");
                }
                answers.println(answer);
                answers.flush();
            }
        }
        System.exit(0);
    }

    private String answer(String[] fields) throws Exception {
        switch (fields[0]) {
            case "run":
                return run(fields[1]);
            case "query":
                return query(fields);
            default:
                return load(fields[1], Long.parseLong(fields[2]), Long.parseLong(fields[3]), Long.parseLong(fields[4]));
        }
    }

    private String run(String sql) throws Exception {
        long began = System.nanoTime();
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
        return "ok\t" + (System.nanoTime() - began) + "\t0\t0";
    }

    /** Takes all values of all rows; the checksum is made after the time is taken. */
    private String query(String[] fields) throws Exception {
        PreparedStatement statement = statements.get(fields[1]);
        if (statement == null) {
            connection.setAutoCommit(true);
            statement = connection.prepareStatement(fields[1]);
            statements.put(fields[1], statement);
        }
        List<Object[]> rows = new ArrayList<>();
        long began = System.nanoTime();
        for (int at = 2; at < fields.length; at++) {
            String value = fields[at].substring(1);
            if (fields[at].charAt(0) == 'i') {
                statement.setLong(at - 1, Long.parseLong(value));
            } else {
                statement.setString(at - 1, value);
            }
        }
        try (ResultSet result = statement.executeQuery()) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                Object[] row = new Object[columns];
                for (int column = 0; column < columns; column++) {
                    row[column] = result.getObject(column + 1);
                }
                rows.add(row);
            }
        }
        long nanoseconds = System.nanoTime() - began;
        long checksum = 0;
        for (Object[] row : rows) {
            checksum += checksum(row);
        }
        return "ok\t" + nanoseconds + "\t" + rows.size() + "\t" + Long.toUnsignedString(checksum);
    }

    private static long checksum(Object[] row) {
        long sum = FNV_START;
        for (Object value : row) {
            for (byte one : (value + "\t").getBytes(StandardCharsets.UTF_8)) {
                sum = (sum ^ (one & 0xff)) * FNV_PRIME;
            }
        }
        return sum;
    }

    /** The rows of the log, as the bench makes them. */
    private String load(String table, long rows, long ofPhone, long ofCommit) throws Exception {
        connection.setAutoCommit(false);
        long phones = Math.max(1, rows / ofPhone);
        long began = System.nanoTime();
        try (PreparedStatement upsert = connection.prepareStatement("UPSERT INTO " + table + " VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            for (long index = 0; index < rows; index++) {
                Mix mix = new Mix(index);
                upsert.setString(1, Long.toString(18_600_000_000L + index % phones));
                upsert.setLong(2, 1_400_000_000_000L + index * 10);
                upsert.setLong(3, mix.below(1_000_000));
                upsert.setLong(4, mix.below(1_000_000));
                upsert.setInt(5, (int) mix.below(331));
                upsert.setInt(6, (int) mix.below(10_000));
                String path = String.format("%04d", mix.below(2000));
                upsert.setString(7, "http://www.example.com/section/" + path + "/article.html?ref=frontpage&campaign=summer");
                upsert.executeUpdate();
                if ((index + 1) % ofCommit == 0) {
                    connection.commit();
                }
            }
            connection.commit();
        }
        return "ok\t" + (System.nanoTime() - began) + "\t" + rows + "\t0";
    }

    /** Well-mixed numbers (splitmix64). */
    private static final class Mix {
        private long state;

        Mix(long state) {
            this.state = state;
        }

        long below(long end) {
            state += GOLDEN;
            long z = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
            z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
            return Long.remainderUnsigned(z ^ (z >>> 31), end);
        }
    }
}
