// pg of Node.js with pg-cursor and pg-copy-streams. NODE_PATH names the folder of the packages.
'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { Client, Pool, types } = require('pg')
const Cursor = require('pg-cursor')
const { from: copyFrom, to: copyTo } = require('pg-copy-streams')

const connectionString = process.env.SERVER_URL
const isSaltwing = process.env.SERVER_KIND === 'saltwing'
// TIMESTAMP as text, so that the zone of this process does not count.
types.setTypeParser(1114, (text) => text)

const checks = []
const check = (name, run) => checks.push([name, run])

const slowQuery =
  'SELECT count(*) FROM node_item a, node_item b, node_item c, node_item d ' +
  'WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.id + b.id + c.id + d.id < 0'

check('set_up', async (c) => {
  await c.query('DROP TABLE IF EXISTS node_item')
  await c.query(
    'CREATE TABLE node_item (id BIGINT PRIMARY KEY, name VARCHAR(20), size INTEGER, price NUMERIC(10,2), made TIMESTAMP, ' +
      'up BOOLEAN, load DOUBLE PRECISION, bytes BYTEA, doc JSON, tags TEXT[])'
  )
  const rows = Array.from({ length: 300 }, (_, i) => `(${i}, 'name ${i}', ${i % 10})`)
  const { command, rowCount } = await c.query(`INSERT INTO node_item (id, name, size) VALUES ${rows.join(', ')}`)
  assert.deepEqual([command, rowCount], ['INSERT', 300])
})

check('values_of_each_type', async (c) => {
  const row = [
    '7000',
    'it\'s "ü" \\',
    -5,
    '12.50',
    '2026-01-02 03:04:05.123456',
    true,
    0.1,
    Buffer.from([0, 255, 92]),
    { a: [1, null] },
    ['a', 'b "c"', '']
  ]
  const text =
    'INSERT INTO node_item (id, name, size, price, made, up, load, bytes, doc, tags) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING *'
  const { rows } = await c.query(text, row)
  assert.deepEqual(Object.values(rows[0]), row)
  const { rows: empty } = await c.query(
    'INSERT INTO node_item (id, name, bytes, tags) VALUES ($1, $2, $3, $4) RETURNING name, bytes, tags',
    [7001, null, null, null]
  )
  assert.deepEqual(empty, [{ name: null, bytes: null, tags: null }])
  await c.query('DELETE FROM node_item WHERE id >= 7000')
})

check('binary_results', async () => {
  const c = new Client({ connectionString, binary: true })
  await c.connect()
  const { rows } = await c.query('SELECT id, size, name, up, load FROM node_item WHERE id = $1', [7])
  assert.deepEqual(rows, [{ id: '7', size: 7, name: 'name 7', up: null, load: null }])
  await c.end()
})

check('fields', async (c) => {
  const { fields } = await c.query('SELECT id, name, price FROM node_item WHERE id = 1')
  assert.deepEqual(
    fields.map((f) => [f.name, f.dataTypeID, f.format]),
    [
      ['id', 20, 'text'],
      ['name', 1043, 'text'],
      ['price', 1700, 'text']
    ]
  )
})

check('named_statement', async (c) => {
  for (let i = 0; i < 20; i++) {
    const { rows } = await c.query({ name: 'by id', text: 'SELECT name FROM node_item WHERE id = $1', values: [i] })
    assert.deepEqual(rows, [{ name: `name ${i}` }])
  }
})

check('several_statements', async (c) => {
  const results = await c.query("SELECT 1 AS a; SELECT 'x' AS b; DELETE FROM node_item WHERE id = -1")
  assert.deepEqual(
    results.map((r) => [r.command, r.rowCount]),
    [
      ['SELECT', 1],
      ['SELECT', 1],
      ['DELETE', 0]
    ]
  )
  assert.equal((await c.query('')).rows.length, 0)
})

check('array_parameter', async (c) => {
  const { rows } = await c.query('SELECT id FROM node_item WHERE id = ANY($1) ORDER BY id', [[8, 3, 999]])
  assert.deepEqual(rows, [{ id: '3' }, { id: '8' }])
})

check('cursor', async (c) => {
  await c.query('BEGIN')
  const cursor = c.query(new Cursor('SELECT id FROM node_item WHERE id >= $1 ORDER BY id', [10]))
  const sizes = []
  for (let rows = await cursor.read(100); rows.length > 0; rows = await cursor.read(100)) sizes.push(rows.length)
  assert.deepEqual(sizes, [100, 100, 90])
  await cursor.close()
  await c.query('COMMIT')
})

check('cursor_that_is_left', async (c) => {
  const cursor = c.query(new Cursor(slowQuery.replace('count(*)', 'a.id').replace('< 0', '>= 0')))
  assert.equal((await cursor.read(5)).length, 5)
  await cursor.close()
  assert.deepEqual((await c.query('SELECT CAST(1 AS INTEGER) AS one')).rows, [{ one: 1 }])
})

check('copy_in_and_out', async (c) => {
  const lines = Array.from({ length: 20000 }, (_, i) => `${1000 + i}\trow ${i}\t${i % 10}\n`)
  const target = c.query(copyFrom('COPY node_item (id, name, size) FROM STDIN'))
  await pipeline(Readable.from(lines), target)
  assert.equal(target.rowCount, 20000)
  const chunks = []
  for await (const chunk of c.query(
    copyTo('COPY (SELECT id, name FROM node_item WHERE id >= 1000 ORDER BY id) TO STDOUT')
  ))
    chunks.push(chunk)
  const text = Buffer.concat(chunks).toString().split('\n')
  assert.deepEqual([text.length, text[0], text[19999]], [20001, '1000\trow 0', '20999\trow 19999'])
  await c.query('DELETE FROM node_item WHERE id >= 1000')
})

check('copy_with_an_error', async (c) => {
  const target = c.query(copyFrom('COPY node_item (id, name) FROM STDIN'))
  await assert.rejects(pipeline(Readable.from(['1000\ta\n', 'wrong\tb\n']), target), { code: '22P02' })
  assert.deepEqual((await c.query('SELECT CAST(1 AS INTEGER) AS one')).rows, [{ one: 1 }])
})

check('errors_have_their_fields', async (c) => {
  await assert.rejects(c.query('INSERT INTO node_item (id) VALUES ($1)', [1]), {
    code: '23505',
    severity: 'ERROR',
    table: 'node_item'
  })
  await assert.rejects(c.query("SELECT 'ä', nothere FROM node_item WHERE id = 1"), { code: '42703', position: '13' })
  await assert.rejects(c.query('SELEC 1'), { code: '42601' })
  await assert.rejects(c.query('SELECT id FROM node_item WHERE id = $1', ['text']), { code: '22P02' })
})

check('transaction', async (c) => {
  await c.query('BEGIN')
  await c.query('INSERT INTO node_item (id) VALUES (8000)')
  await assert.rejects(c.query('SELECT 1 / 0 FROM node_item WHERE id = 1'), { code: '22012' })
  await assert.rejects(c.query('SELECT 1'), { code: '25P02' })
  assert.equal((await c.query('COMMIT')).command, 'ROLLBACK')
  assert.equal((await c.query('SELECT id FROM node_item WHERE id = 8000')).rowCount, 0)
})

check('pool', async () => {
  const pool = new Pool({ connectionString, max: 5 })
  const found = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      pool.query('SELECT size + $1::INTEGER AS n FROM node_item WHERE id = $2', [i, i])
    )
  )
  assert.deepEqual(
    found.map((r) => Number(r.rows[0].n)),
    Array.from({ length: 60 }, (_, i) => (i % 10) + i)
  )
  await pool.end()
})

check('statement_timeout', async () => {
  const c = new Client({ connectionString, statement_timeout: 300 })
  await c.connect()
  await assert.rejects(c.query(slowQuery), { code: '57014' })
  await c.end()
})

check('notices', async (c) => {
  const found = []
  c.on('notice', (notice) => found.push(notice.message))
  if (isSaltwing) {
    await c.query('SET rows_warn = 1')
    await c.query('SELECT sum(size) FROM node_item WHERE id >= 0')
  } else await c.query('DROP TABLE IF EXISTS node_nothing')
  assert.equal(found.length, 1)
})

check('wrong_password', async () => {
  const url = new URL(connectionString)
  url.password = 'wrong'
  await assert.rejects(new Client({ connectionString: url.href }).connect(), { code: '28P01' })
})

check('tear_down', (c) => c.query('DROP TABLE node_item'))

async function main() {
  for (const [name, run] of checks) {
    const client = new Client({ connectionString })
    try {
      await client.connect()
      await run(client)
      console.log(`ok ${name}`)
    } catch (error) {
      process.exitCode = 1
      console.log(`not ok ${name}: ${String(error.stack).replace(/\s+/g, ' ').slice(0, 600)}`)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

main()
