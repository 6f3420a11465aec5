// pgx v5 and database/sql over it: types in binary form, batches, COPY, cursors, cancel, transactions, pools.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
)

var (
	url        = os.Getenv("SERVER_URL")
	isSaltwing = os.Getenv("SERVER_KIND") == "saltwing"
	background = context.Background()
)

const slowQuery = "SELECT count(*) FROM pgx_item a, pgx_item b, pgx_item c, pgx_item d " +
	"WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.id + b.id + c.id + d.id < 0"

// must ends a check with an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// value is the first of two results of a call without an error.
func value[T any](v T, err error) T {
	must(err)
	return v
}

func equal(got, expected any) {
	if !reflect.DeepEqual(got, expected) {
		panic(fmt.Errorf("expected %#v, got %#v", expected, got))
	}
}

// state is the SQLSTATE of an error.
func state(err error) string {
	var error *pgconn.PgError
	if errors.As(err, &error) {
		return error.Code
	}
	return fmt.Sprint(err)
}

func setUp(c *pgx.Conn) {
	value(c.Exec(background, "DROP TABLE IF EXISTS pgx_item"))
	value(c.Exec(background, `CREATE TABLE pgx_item (id BIGINT PRIMARY KEY, small SMALLINT, whole INTEGER, single REAL, load DOUBLE PRECISION,
		price NUMERIC(10,2), up BOOLEAN, name VARCHAR(20), made TIMESTAMP, hour TIME, bytes BYTEA, doc JSON, numbers INTEGER[], texts TEXT[])`))
	batch := &pgx.Batch{}
	for i := range 300 {
		batch.Queue("INSERT INTO pgx_item (id, name, whole) VALUES ($1, $2, $3)", i, fmt.Sprint("name ", i), i%10)
	}
	must(c.SendBatch(background, batch).Close())
}

// row has a value of each type.
type row struct {
	ID      int64
	Small   *int16
	Whole   *int32
	Single  *float32
	Load    *float64
	Price   pgtype.Numeric
	Up      *bool
	Name    *string
	Made    *time.Time
	Hour    pgtype.Time
	Bytes   []byte
	Doc     map[string]any
	Numbers []int32
	Texts   []string
}

func pointer[T any](v T) *T { return &v }

func values(c *pgx.Conn) {
	var price pgtype.Numeric
	must(price.Scan("-12345678.25"))
	full := row{7000, pointer(int16(-32768)), pointer(int32(1 << 30)), pointer(float32(1.5)), pointer(5e-324), price, pointer(true), pointer("ü\\ '"),
		pointer(time.Date(2200, 12, 31, 23, 59, 59, 999999000, time.UTC)), pgtype.Time{Microseconds: 86399999000, Valid: true},
		[]byte{0, 255}, map[string]any{"a": []any{1.0, nil}}, []int32{1, -2}, []string{"a", `b "c"`, ""}}
	text := "INSERT INTO pgx_item VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
	value(c.Exec(background, text, full.ID, full.Small, full.Whole, full.Single, full.Load, full.Price, full.Up, full.Name, full.Made, full.Hour,
		full.Bytes, full.Doc, full.Numbers, full.Texts))
	value(c.Exec(background, text, 7001, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil))
	modes := []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	}
	for _, mode := range modes {
		rows := value(c.Query(background, "SELECT * FROM pgx_item WHERE id >= $1 ORDER BY id", mode, 7000))
		found := value(pgx.CollectRows(rows, pgx.RowToStructByPos[row]))
		equal(found, []row{full, {ID: 7001}})
	}
	value(c.Exec(background, "DELETE FROM pgx_item WHERE id >= 7000"))
}

func parameters(c *pgx.Conn) {
	var text string
	must(c.QueryRow(background, "SELECT name FROM pgx_item WHERE id = $1 AND whole = $2", 17, 7).Scan(&text))
	equal(text, "name 17")
	rows := value(c.Query(background, "SELECT id FROM pgx_item WHERE id = ANY($1) ORDER BY id", []int64{9, 4, 1000}))
	equal(value(pgx.CollectRows(rows, pgx.RowTo[int64])), []int64{4, 9})
	named := value(c.Query(background, "SELECT id FROM pgx_item WHERE id BETWEEN @low AND @high ORDER BY id", pgx.NamedArgs{"low": 3, "high": 5}))
	equal(value(pgx.CollectRows(named, pgx.RowTo[int64])), []int64{3, 4, 5})
}

func tags(c *pgx.Conn) {
	tag := value(c.Exec(background, "INSERT INTO pgx_item (id) VALUES (900), (901)"))
	equal([]any{tag.String(), tag.RowsAffected()}, []any{"INSERT 0 2", int64(2)})
	equal(value(c.Exec(background, "DELETE FROM pgx_item WHERE id >= 900")).String(), "DELETE 2")
	equal(value(c.Exec(background, "")).String(), "")
}

func preparedStatement(c *pgx.Conn) {
	description := value(c.Prepare(background, "by id", "SELECT id, price, name FROM pgx_item WHERE id = $1"))
	equal(description.ParamOIDs, []uint32{20})
	equal([]uint32{description.Fields[0].DataTypeOID, description.Fields[1].DataTypeOID, description.Fields[2].DataTypeOID}, []uint32{20, 1700, 1043})
	for i := range int64(20) {
		var id int64
		must(c.QueryRow(background, "by id", i).Scan(&id, nil, nil))
		equal(id, i)
	}
	must(c.Deallocate(background, "by id"))
}

func batch(c *pgx.Conn) {
	batch := &pgx.Batch{}
	var sum int64
	for i := range 50 {
		batch.Queue("SELECT whole FROM pgx_item WHERE id = $1", i).QueryRow(func(row pgx.Row) error {
			var n int64
			err := row.Scan(&n)
			sum += n
			return err
		})
	}
	must(c.SendBatch(background, batch).Close())
	equal(sum, int64(225))
}

func batchWithAnError(c *pgx.Conn) {
	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO pgx_item (id) VALUES (900)")
	batch.Queue("INSERT INTO pgx_item (id) VALUES (1)")
	equal(state(c.SendBatch(background, batch).Close()), "23505")
	var count int
	must(c.QueryRow(background, "SELECT count(*) FROM pgx_item WHERE id = 900").Scan(&count))
	equal(count, 0)
}

func copyIn(c *pgx.Conn) {
	source := pgx.CopyFromSlice(10000, func(i int) ([]any, error) {
		return []any{int64(1000 + i), fmt.Sprint("row ", i), int32(i % 10)}, nil
	})
	equal(value(c.CopyFrom(background, pgx.Identifier{"pgx_item"}, []string{"id", "name", "whole"}, source)), int64(10000))
	var sum int64
	must(c.QueryRow(background, "SELECT sum(whole) FROM pgx_item WHERE id >= 1000").Scan(&sum))
	equal(sum, int64(45000))
	value(c.Exec(background, "DELETE FROM pgx_item WHERE id >= 1000"))
}

func copyText(c *pgx.Conn) {
	tag := value(c.PgConn().CopyFrom(background, strings.NewReader("1000,a\n1001,\n"), "COPY pgx_item (id, name) FROM STDIN (FORMAT csv)"))
	equal(tag.String(), "COPY 2")
	var out bytes.Buffer
	tag = value(c.PgConn().CopyTo(background, &out, "COPY (SELECT id, name FROM pgx_item WHERE id >= 1000 ORDER BY id) TO STDOUT"))
	equal([]string{tag.String(), out.String()}, []string{"COPY 2", "1000\ta\n1001\t\\N\n"})
	value(c.Exec(background, "DELETE FROM pgx_item WHERE id >= 1000"))
}

func transactions(c *pgx.Conn) {
	undo := errors.New("undo")
	err := pgx.BeginFunc(background, c, func(tx pgx.Tx) error {
		value(tx.Exec(background, "INSERT INTO pgx_item (id) VALUES (900)"))
		inner := pgx.BeginFunc(background, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(background, "INSERT INTO pgx_item (id) VALUES (1)")
			return err
		})
		equal(state(inner), "23505")
		var count int
		must(tx.QueryRow(background, "SELECT count(*) FROM pgx_item WHERE id = 900").Scan(&count))
		equal(count, 1)
		return undo
	})
	equal(err, undo)
	equal(string(c.PgConn().TxStatus()), "I")
	tx := value(c.BeginTx(background, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}))
	_, err = tx.Exec(background, "DELETE FROM pgx_item WHERE id = 1")
	equal([]string{state(err), string(c.PgConn().TxStatus())}, []string{"25006", "E"})
	equal(tx.Commit(background), pgx.ErrTxCommitRollback)
}

func cursor(c *pgx.Conn) {
	tx := value(c.Begin(background))
	value(tx.Exec(background, "DECLARE walk CURSOR FOR SELECT id FROM pgx_item WHERE id >= 0 ORDER BY id"))
	rows := value(tx.Query(background, "FETCH FORWARD 3 FROM walk"))
	equal(value(pgx.CollectRows(rows, pgx.RowTo[int64])), []int64{0, 1, 2})
	must(tx.Commit(background))
}

func rowsThatAreLeft(c *pgx.Conn) {
	rows := value(c.Query(background, "SELECT id FROM pgx_item WHERE id >= 0"))
	equal(rows.Next(), true)
	rows.Close()
	must(c.Ping(background))
}

func cancel(c *pgx.Conn) {
	config := value(pgx.ParseConfig(url))
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, CancelRequestDelay: 0, DeadlineDelay: 10 * time.Second}
	}
	other := value(pgx.ConnectConfig(background, config))
	defer other.Close(background)
	ctx, stop := context.WithTimeout(background, 300*time.Millisecond)
	defer stop()
	_, err := other.Exec(ctx, slowQuery)
	equal(state(err), "57014")
	must(other.Ping(background))
}

func timeoutClosesTheConnection(c *pgx.Conn) {
	ctx, stop := context.WithTimeout(background, 300*time.Millisecond)
	defer stop()
	_, err := c.Exec(ctx, slowQuery)
	equal([]bool{errors.Is(err, context.DeadlineExceeded), c.IsClosed()}, []bool{true, true})
}

func errorFields(c *pgx.Conn) {
	_, err := c.Exec(background, "SELECT 'ä', nothere FROM pgx_item WHERE id = 1")
	var error *pgconn.PgError
	equal(errors.As(err, &error), true)
	equal([]any{error.Code, error.Position, error.SeverityUnlocalized}, []any{"42703", int32(13), "ERROR"})
	_, err = c.Exec(background, "INSERT INTO pgx_item (id) VALUES ($1)", 1)
	equal(errors.As(err, &error), true)
	equal([]any{error.Code, error.TableName}, []any{"23505", "pgx_item"})
}

func pool(*pgx.Conn) {
	config := value(pgxpool.ParseConfig(url))
	config.MaxConns = 8
	pool := value(pgxpool.NewWithConfig(background, config))
	defer pool.Close()
	var group sync.WaitGroup
	found := make([]int, 200)
	failed := make([]error, 200)
	for i := range 200 {
		group.Go(func() {
			failed[i] = pool.QueryRow(background, "SELECT whole FROM pgx_item WHERE id = $1", i).Scan(&found[i])
		})
	}
	group.Wait()
	for i := range 200 {
		must(failed[i])
		equal(found[i], i%10)
	}
}

func changedDefinition(c *pgx.Conn) {
	value(c.Exec(background, "DROP TABLE IF EXISTS pgx_change"))
	value(c.Exec(background, "CREATE TABLE pgx_change (k INTEGER PRIMARY KEY)"))
	text := "SELECT * FROM pgx_change WHERE k = $1"
	value(c.Exec(background, text, 1))
	value(c.Exec(background, "ALTER TABLE pgx_change ADD COLUMN v INTEGER"))
	_, err := c.Exec(background, text, 1)
	equal(state(err), "0A000")
	// The driver has dropped its statement.
	value(c.Exec(background, text, 1))
	value(c.Exec(background, "DROP TABLE pgx_change"))
}

func databaseSQL(*pgx.Conn) {
	db := value(sql.Open("pgx", url))
	defer db.Close()
	db.SetMaxOpenConns(4)
	statement := value(db.Prepare("SELECT name FROM pgx_item WHERE id = $1"))
	var name sql.NullString
	for i := range 20 {
		must(statement.QueryRow(i).Scan(&name))
		equal(name.String, fmt.Sprint("name ", i))
	}
	tx := value(db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
	affected := value(value(tx.Exec("UPDATE pgx_item SET whole = whole + 1 WHERE id BETWEEN $1 AND $2", 1, 5)).RowsAffected())
	must(tx.Rollback())
	equal(affected, int64(5))
	rows := value(db.Query("SELECT id, price, made FROM pgx_item WHERE id < $1 ORDER BY id", 2))
	kinds := value(rows.ColumnTypes())
	precision, scale, _ := kinds[1].DecimalSize()
	equal([]any{kinds[0].DatabaseTypeName(), kinds[1].DatabaseTypeName(), precision, scale, kinds[2].DatabaseTypeName()},
		[]any{"INT8", "NUMERIC", int64(10), int64(2), "TIMESTAMP"})
	must(rows.Close())
	equal(db.QueryRow("SELECT id FROM pgx_item WHERE id = $1", 12345).Scan(new(int64)), sql.ErrNoRows)
	ctx, stop := context.WithTimeout(background, 300*time.Millisecond)
	defer stop()
	_, err := db.ExecContext(ctx, slowQuery)
	equal(err != nil, true)
	must(db.Ping())
}

func refusedFullScan(c *pgx.Conn) {
	_, err := c.Exec(background, "SELECT * FROM pgx_item WHERE whole = 1")
	if isSaltwing {
		equal(state(err), "54F01")
	} else {
		must(err)
	}
}

func tearDown(c *pgx.Conn) { value(c.Exec(background, "DROP TABLE pgx_item")) }

// run gives a check its own connection, and is whether it was passed.
func run(name string, check func(*pgx.Conn)) (isWell bool) {
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("not ok %s: %s\n", name, strings.Join(strings.Fields(fmt.Sprint(failure)), " "))
			isWell = false
		}
	}()
	ctx, stop := context.WithTimeout(background, 30*time.Second)
	defer stop()
	c := value(pgx.Connect(ctx, url))
	defer c.Close(background)
	check(c)
	fmt.Println("ok", name)
	return true
}

func main() {
	isWell := true
	for _, check := range []struct {
		name string
		run  func(*pgx.Conn)
	}{
		{"set_up", setUp}, {"values_in_all_modes", values}, {"parameters", parameters}, {"tags", tags}, {"prepared_statement", preparedStatement},
		{"batch", batch}, {"batch_with_an_error", batchWithAnError}, {"copy_binary", copyIn}, {"copy_text", copyText},
		{"transactions", transactions}, {"cursor", cursor}, {"rows_that_are_left", rowsThatAreLeft}, {"cancel", cancel},
		{"timeout_closes_the_connection", timeoutClosesTheConnection}, {"error_fields", errorFields}, {"pool", pool},
		{"changed_definition", changedDefinition}, {"database_sql", databaseSQL}, {"refused_full_scan", refusedFullScan}, {"tear_down", tearDown},
	} {
		isWell = run(check.name, check.run) && isWell
	}
	if !isWell {
		os.Exit(1)
	}
}
