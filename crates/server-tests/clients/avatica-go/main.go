// Avatica's driver for Go under database/sql: its own tests against a server of their own; then what a program does with it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	_ "github.com/apache/calcite-avatica-go/v5"
	avatica "github.com/apache/calcite-avatica-go/v5/errors"
)

const itemCount = 300

var background = context.Background()

// dataSource is the driver's URL of the server, with name, password and more parameters.
func dataSource(parameters ...string) string {
	login := value(url.Parse(os.Getenv("SERVER_URL"))).User
	password, _ := login.Password()
	query := url.Values{"authentication": {"BASIC"}, "avaticaUser": {login.Username()}, "avaticaPassword": {password}}
	for i := 0; i < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	return strings.TrimSuffix(os.Getenv("SERVER_AVATICA"), "/") + "?" + query.Encode()
}

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
		panic(fmt.Errorf("expected %#v (%[1]T), got %#v (%[2]T)", expected, got))
	}
}

// state is number and SQLSTATE of an error.
func state(err error) string {
	var response avatica.ResponseError
	if errors.As(err, &response) {
		return fmt.Sprint(response.ErrorCode, " ", response.SqlState)
	}
	return fmt.Sprint(err)
}

// queryer is a database, a connection or a transaction.
type queryer interface {
	Query(text string, arguments ...any) (*sql.Rows, error)
}

// numbers are the rows of a query with one column of numbers.
func numbers(db queryer, text string, arguments ...any) []int64 {
	found := []int64{}
	rows := value(db.Query(text, arguments...))
	defer rows.Close()
	for rows.Next() {
		var number int64
		must(rows.Scan(&number))
		found = append(found, number)
	}
	must(rows.Err())
	return found
}

func setUp(db *sql.DB) {
	value(db.Exec("DROP TABLE IF EXISTS go_item"))
	value(db.Exec("DROP TABLE IF EXISTS go_type"))
	value(db.Exec("CREATE TABLE go_item (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR, size INTEGER)"))
	value(db.Exec(`CREATE TABLE go_type (k INTEGER NOT NULL PRIMARY KEY, small SMALLINT, whole INTEGER, big BIGINT, ulong UNSIGNED_LONG, single FLOAT,
		load DOUBLE, price DECIMAL(10, 2), up BOOLEAN, name VARCHAR, fixed CHAR(4), day DATE, made TIMESTAMP, bytes VARBINARY)`))
	upsert := value(db.Prepare("UPSERT INTO go_item VALUES (?, ?, ?)"))
	defer upsert.Close()
	for i := range itemCount {
		equal(value(value(upsert.Exec(i, fmt.Sprint("name ", i), i%10)).RowsAffected()), int64(1))
	}
}

func parameters(db *sql.DB) {
	equal(numbers(db, "SELECT id FROM go_item WHERE id >= ? AND id <= ?", 7, 9), []int64{7, 8, 9})
	var name string
	must(db.QueryRow("SELECT name FROM go_item WHERE id = ?", 17).Scan(&name))
	equal(name, "name 17")
	equal(db.QueryRow("SELECT name FROM go_item WHERE id = ?", 12345).Scan(&name), sql.ErrNoRows)
}

func values(db *sql.DB) {
	made := time.Date(2200, 12, 31, 23, 59, 59, 999000000, time.UTC)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	full := []any{int64(1), int64(-32768), int64(1 << 30), int64(1 << 62), int64(math.MaxInt64), float32(1.5), 5e-324, "-12345678.25", true, "ü\\ '\"", "abcd", day, made, []byte{0, 255}}
	text := "UPSERT INTO go_type VALUES (" + strings.Repeat("?, ", 13) + "?)"
	value(db.Exec(text, full...))
	empty := make([]any, 14)
	empty[0] = int64(2)
	value(db.Exec(text, empty...))
	for i, expected := range [][]any{full, empty} {
		found := make([]any, 14)
		places := make([]any, 14)
		for place := range found {
			places[place] = &found[place]
		}
		must(db.QueryRow("SELECT * FROM go_type WHERE k = ?", i+1).Scan(places...))
		for place, one := range found {
			if at, isTime := one.(time.Time); isTime {
				one = at.UTC()
			}
			equal(one, expected[place])
		}
	}
}

func columnTypes(db *sql.DB) {
	rows := value(db.Query("SELECT k, price, name, made FROM go_type WHERE k = 1"))
	defer rows.Close()
	equal(value(rows.Columns()), []string{"K", "PRICE", "NAME", "MADE"})
	kinds := value(rows.ColumnTypes())
	precision, scale, _ := kinds[1].DecimalSize()
	equal([]any{kinds[0].DatabaseTypeName(), kinds[1].DatabaseTypeName(), precision, scale, kinds[3].DatabaseTypeName()},
		[]any{"INTEGER", "DECIMAL", int64(10), int64(2), "TIMESTAMP"})
}

func frames(*sql.DB) {
	for _, size := range []string{"1", "7", "299", "300", "5000"} {
		db := value(sql.Open("avatica", dataSource("frameMaxSize", size)))
		found := numbers(db, "SELECT id FROM go_item WHERE id >= ? ORDER BY id", 0)
		must(db.Close())
		equal([]any{len(found), found[0], found[itemCount-1]}, []any{itemCount, int64(0), int64(itemCount - 1)})
	}
	db := value(sql.Open("avatica", dataSource("maxRowsTotal", "5")))
	defer db.Close()
	equal(len(numbers(db, "SELECT id FROM go_item WHERE id >= 0")), 5)
}

func batches(*sql.DB) {
	db := value(sql.Open("avatica", dataSource("batching", "true")))
	defer db.Close()
	upsert := value(db.Prepare("UPSERT INTO go_item (id, name) VALUES (?, ?)"))
	for i := range 1000 {
		value(upsert.Exec(1000+i, "batched"))
	}
	// The driver sends the batch as it closes the statement.
	must(upsert.Close())
	equal(numbers(db, "SELECT COUNT(*) FROM go_item WHERE id >= 1000"), []int64{1000})
	value(db.Exec("DELETE FROM go_item WHERE id >= 1000"))
}

func transactions(db *sql.DB) {
	tx := value(db.Begin())
	value(tx.Exec("UPSERT INTO go_item (id) VALUES (1000)"))
	equal(numbers(tx, "SELECT id FROM go_item WHERE id >= 1000"), []int64{1000})
	equal(numbers(db, "SELECT id FROM go_item WHERE id >= 1000"), []int64{})
	must(tx.Rollback())
	equal(numbers(db, "SELECT id FROM go_item WHERE id >= 1000"), []int64{})
	tx = value(db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
	value(tx.Exec("UPSERT INTO go_item (id) VALUES (?)", 1000))
	must(tx.Commit())
	equal(numbers(db, "SELECT id FROM go_item WHERE id >= 1000"), []int64{1000})
	value(db.Exec("DELETE FROM go_item WHERE id >= 1000"))
	_, err := db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSerializable})
	equal(state(err), "0 0A000")
}

func conflict(db *sql.DB) {
	first, second := value(db.Begin()), value(db.Begin())
	for _, tx := range []*sql.Tx{first, second} {
		equal(numbers(tx, "SELECT size FROM go_item WHERE id = 3"), []int64{3})
		value(tx.Exec("UPSERT INTO go_item (id, size) VALUES (3, 3)"))
	}
	must(first.Commit())
	equal(state(second.Commit()), "523 42900")
	// A transaction of database/sql ends with its commit, whatever came of it.
	equal(numbers(db, "SELECT size FROM go_item WHERE id = 3"), []int64{3})
}

func errorFields(db *sql.DB) {
	for text, expected := range map[string]string{
		"SELECT id FROM nothere WHERE id = 1":      "1012 42M03",
		"SELECT nothere FROM go_item WHERE id = 1": "504 42703",
		"SELEC":                                                 "601 42P00",
		"UPSERT INTO go_item (id) VALUES (NULL)":                "218 23018",
		"UPSERT INTO go_item (id) VALUES (1 / 0)":               "202 22012",
		"UPSERT INTO go_type (k, small) VALUES (3, 100000)":     "203 22005",
		"CREATE TABLE go_item (k INTEGER NOT NULL PRIMARY KEY)": "1013 42M04",
		"SELECT id FROM go_item WHERE name = 'name 3'":          "0 54F01",
	} {
		_, err := db.Exec(text)
		equal(text+": "+state(err), text+": "+expected)
	}
}

func timeouts(db *sql.DB) {
	ctx, stop := context.WithTimeout(background, 300*time.Millisecond)
	defer stop()
	_, err := db.QueryContext(ctx, "SELECT COUNT(*) FROM go_item a, go_item b, go_item c, go_item d "+
		"WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.id + b.id + c.id + d.id < 0")
	equal(errors.Is(err, context.DeadlineExceeded), true)
	must(db.Ping())
}

func pool(db *sql.DB) {
	db.SetMaxOpenConns(8)
	var group sync.WaitGroup
	failed := make([]error, 200)
	found := make([]int, 200)
	for i := range 200 {
		group.Go(func() { failed[i] = db.QueryRow("SELECT size FROM go_item WHERE id = ?", i).Scan(&found[i]) })
	}
	group.Wait()
	for i := range 200 {
		must(failed[i])
		equal(found[i], i%10)
	}
}

func wrongPassword(*sql.DB) {
	db := value(sql.Open("avatica", dataSource("avaticaPassword", "wrong")))
	defer db.Close()
	equal(state(db.Ping()) != "", true)
	equal(db.Ping() != nil, true)
}

func tearDown(db *sql.DB) {
	value(db.Exec("DROP TABLE go_item"))
	value(db.Exec("DROP TABLE go_type"))
}

// run gives a check its own database, and is whether it was passed.
func run(name string, check func(*sql.DB)) (isWell bool) {
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("not ok %s: %s\n", name, strings.Join(strings.Fields(fmt.Sprint(failure)), " "))
			isWell = false
		}
	}()
	db := value(sql.Open("avatica", dataSource()))
	defer db.Close()
	check(db)
	fmt.Println("ok", name)
	return true
}

func main() {
	isWell := suite(strings.TrimSuffix(os.Getenv("OWN_AVATICA"), "/"))
	for _, check := range []struct {
		name string
		run  func(*sql.DB)
	}{
		{"set_up", setUp}, {"parameters", parameters}, {"values", values}, {"column_types", columnTypes}, {"frames", frames}, {"batches", batches},
		{"transactions", transactions}, {"conflict", conflict}, {"errors", errorFields}, {"timeouts", timeouts}, {"pool", pool},
		{"wrong_password", wrongPassword}, {"tear_down", tearDown},
	} {
		isWell = run(check.name, check.run) && isWell
	}
	if !isWell {
		os.Exit(1)
	}
}
