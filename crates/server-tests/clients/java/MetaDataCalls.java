import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.*;
import java.util.*;

/** Every method of DatabaseMetaData. */
class MetaDataCalls extends Checks {
    /** An argument for a parameter of a call of the metadata, by its type and its place among those of this type. */
    private static Object argument(Class<?> type, int place, String table) {
        if (type == String.class) return place == 2 ? table : null;
        if (type == int.class) return ResultSet.TYPE_FORWARD_ONLY;
        if (type == boolean.class) return false;
        if (type == Class.class) return Connection.class;
        return null;
    }

    /**
     * A check for each method of the metadata: it can be called, of this table, and its rows can be read. Those of these checks must fail, for the reasons
     * that are named.
     */
    static void all(String table, Map<String, String> expectedFailures) {
        var expected = new HashMap<>(expectedFailures);
        var byName = Comparator.comparing(Method::getName).thenComparing(Method::getParameterCount);
        var methods = Arrays.stream(DatabaseMetaData.class.getMethods()).sorted(byName).toList();
        for (var method : methods) {
            var name = "metadata_" + method.getName() + (method.getParameterCount() > 0 ? "_" + method.getParameterCount() : "");
            var reason = expected.remove(name);
            check(reason == null ? name : name + " fails: " + reason, c -> {
                var arguments = new Object[method.getParameterCount()];
                int texts = 0;
                for (int i = 0; i < arguments.length; i++) {
                    var type = method.getParameterTypes()[i];
                    arguments[i] = argument(type, type == String.class ? texts++ : 0, table);
                }
                try {
                    var answer = method.invoke(c.getMetaData(), arguments);
                    if (answer instanceof ResultSet result) rows(result);
                    if (reason != null) throw new AssertionError("it passes, and expected_failures.txt says that it fails");
                } catch (InvocationTargetException error) {
                    // What the driver itself does not have, and what it does not convert to.
                    boolean isTheDrivers = error.getCause() instanceof SQLFeatureNotSupportedException || method.getName().equals("unwrap");
                    if (!isTheDrivers && reason == null) throw (Exception) error.getCause();
                }
            });
        }
        check("expected_failures_have_methods", c -> equal(expected.keySet(), Set.of()));
    }
}
