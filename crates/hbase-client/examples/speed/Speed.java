import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/** The work of the example `speed`, with HBase's own client: Speed ZOOKEEPER_PORT [ROWS] [SECONDS]. */
public class Speed {
    static final int REGIONS = 8;
    static final int COLUMNS = 5;
    static final byte[] FAMILY = "f".getBytes();
    static final TableName NAME = TableName.valueOf("speed_java");

    static byte[] key(long row) {
        return String.format("%08d", row).getBytes(StandardCharsets.US_ASCII);
    }

    static Put put(long row) {
        Put put = new Put(key(row));
        for (int column = 0; column < COLUMNS; column++) {
            byte[] value = new byte[30];
            Arrays.fill(value, (byte) ('a' + (row + column) % 26));
            put.addColumn(FAMILY, new byte[] {(byte) ('0' + column)}, value);
        }
        return put;
    }

    static void report(String what, long rows, long begun) {
        System.out.printf("%-34s %9.0f rows/s%n", what, rows / ((System.nanoTime() - begun) / 1e9));
    }

    static void create(Connection connection, long rows) throws Exception {
        try (Admin admin = connection.getAdmin()) {
            if (admin.tableExists(NAME)) {
                admin.disableTable(NAME);
                admin.deleteTable(NAME);
            }
            byte[][] splits = new byte[REGIONS - 1][];
            for (int region = 1; region < REGIONS; region++) splits[region - 1] = key(region * (rows / REGIONS));
            admin.createTable(
                TableDescriptorBuilder.newBuilder(NAME)
                    .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build(), splits);
        }
    }

    static long sum(ExecutorService pool, List<Callable<Long>> work) throws Exception {
        long sum = 0;
        for (Future<Long> part : pool.invokeAll(work)) sum += part.get();
        return sum;
    }

    public static void main(String[] a) throws Exception {
        long rows = a.length > 1 ? Long.parseLong(a[1]) : 200_000;
        long seconds = a.length > 2 ? Long.parseLong(a[2]) : 5;
        Configuration conf = HBaseConfiguration.create();
        conf.set("hbase.zookeeper.quorum", "127.0.0.1:" + a[0]);
        ExecutorService pool = Executors.newFixedThreadPool(64);
        try (Connection connection = ConnectionFactory.createConnection(conf)) {
            for (int inFlight : new int[] {1, 4, 8}) {
                create(connection, rows);
                long begun = System.nanoTime();
                AtomicLong next = new AtomicLong();
                List<Callable<Long>> work = new ArrayList<>();
                for (int number = 0; number < inFlight; number++) {
                    work.add(() -> {
                        try (Table table = connection.getTable(NAME)) {
                            while (true) {
                                long first = next.getAndAdd(1000);
                                if (first >= rows) return 0L;
                                List<Put> batch = new ArrayList<>();
                                for (long row = first; row < Math.min(rows, first + 1000); row++) {
                                    batch.add(put(row % REGIONS * (rows / REGIONS) + row / REGIONS));
                                }
                                table.put(batch);
                            }
                        }
                    });
                }
                sum(pool, work);
                report("puts, " + inFlight + " batches in flight", rows, begun);
            }
            for (int inFlight : new int[] {1, 8, 64}) {
                long begun = System.nanoTime();
                long until = begun + seconds * 1_000_000_000L;
                List<Callable<Long>> work = new ArrayList<>();
                for (int number = 0; number < inFlight; number++) {
                    Random random = new Random(number);
                    work.add(() -> {
                        long done = 0;
                        try (Table table = connection.getTable(NAME)) {
                            while (System.nanoTime() < until) {
                                Result row = table.get(new Get(key((long) (random.nextDouble() * rows))));
                                if (row.size() != COLUMNS) throw new IllegalStateException("cells: " + row.size());
                                done++;
                            }
                        }
                        return done;
                    });
                }
                report("gets, " + inFlight + " in flight", sum(pool, work), begun);
            }
            List<HRegionLocation> regions = connection.getRegionLocator(NAME).getAllRegionLocations();
            for (int sideBySide : new int[] {1, 2, 8}) {
                long begun = System.nanoTime();
                long sum = 0;
                for (int first = 0; first < regions.size(); first += sideBySide) {
                    List<Callable<Long>> work = new ArrayList<>();
                    for (HRegionLocation region : regions.subList(first, first + sideBySide)) {
                        work.add(() -> {
                            long read = 0;
                            Scan scan = new Scan().withStartRow(region.getRegion().getStartKey())
                                .withStopRow(region.getRegion().getEndKey());
                            try (Table table = connection.getTable(NAME); ResultScanner scanner = table.getScanner(scan)) {
                                for (Result row : scanner) {
                                    if (row.getValue(FAMILY, new byte[] {'4'}) != null) read++;
                                }
                            }
                            return read;
                        });
                    }
                    sum += sum(pool, work);
                }
                if (sum != rows) throw new IllegalStateException("rows: " + sum);
                report("scan, " + sideBySide + " regions side by side", sum, begun);
            }
        }
        pool.shutdown();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM")) System.out.println(line);
        }
        System.exit(0);
    }
}
