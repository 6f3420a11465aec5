CREATE SCHEMA app;
CREATE TABLE orders (
    id BIGINT NOT NULL, no INTEGER NOT NULL, customer VARCHAR(40) NOT NULL, price DECIMAL(10,2) DEFAULT 1.5, note VARCHAR,
    paid BOOLEAN DEFAULT false, at TIMESTAMP, data VARBINARY, tags VARCHAR[], doc JSON, uid UUID, small SMALLINT, ratio DOUBLE,
    code CHAR(3), CONSTRAINT orders_pkey PRIMARY KEY (id, no), CONSTRAINT price_ok CHECK (price > 0)
);
CREATE INDEX orders_customer ON orders (customer, at DESC);
CREATE UNIQUE INDEX orders_note ON orders (note);
CREATE INDEX orders_lower ON orders (lower(customer));
CREATE VIEW paid_orders AS SELECT id, price FROM orders WHERE paid;
CREATE SEQUENCE counter START WITH 5;
CREATE TABLE app."My Table" ("Key" BIGINT PRIMARY KEY, v VARCHAR);
CREATE TABLE people (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name VARCHAR NOT NULL, loud VARCHAR GENERATED ALWAYS AS (upper(name)) STORED);
COMMENT ON TABLE orders IS 'what was ordered';
COMMENT ON COLUMN orders.price IS 'in euros';
COMMENT ON VIEW paid_orders IS 'those that are paid';
CREATE USER ann PASSWORD 'correct horse';
GRANT SELECT ON orders TO ann;
