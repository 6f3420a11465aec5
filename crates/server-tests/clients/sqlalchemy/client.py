"""SQLAlchemy 2 over psycopg: Core, sessions of the ORM, reflection."""

import datetime as dt
from contextlib import contextmanager
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql

from checks import URL, check, equal, raises, run

ENGINE = sa.create_engine(URL.replace("postgresql://", "postgresql+psycopg://", 1))
METADATA = sa.MetaData()

# Two columns in the key, so that an order of columns can be seen.
EVENT = sa.Table(
    "sqlalchemy_event",
    METADATA,
    sa.Column("host", sa.String(30), primary_key=True),
    sa.Column("at", sa.DateTime, primary_key=True),
    sa.Column("load", sa.Double, nullable=True),
    sa.Column("cost", sa.Numeric(10, 2), server_default="1"),
    sa.Column("size", sa.Integer, nullable=False),
    sa.CheckConstraint("size >= 0", name="sqlalchemy_event_size"),
    sa.Index("sqlalchemy_event_size_host", "size", "host"),
    sa.Index("sqlalchemy_event_load", "load", unique=True),
    comment="what happened",
)


class Base(orm.DeclarativeBase):
    metadata = METADATA


class Author(Base):
    __tablename__ = "sqlalchemy_author"
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, sa.Identity(), primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50))
    books: orm.Mapped[list["Book"]] = orm.relationship(
        back_populates="author",
        primaryjoin="Author.id == foreign(Book.author_id)",
        order_by="Book.number",
        cascade="all, delete-orphan",
    )


class Book(Base):
    __tablename__ = "sqlalchemy_book"
    author_id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    number: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str]
    pages: orm.Mapped[int | None]
    author: orm.Mapped[Author] = orm.relationship(
        back_populates="books", primaryjoin="Author.id == foreign(Book.author_id)"
    )


def instant(minute):
    return dt.datetime(2026, 1, 2, 3, minute)


@contextmanager
def connected():
    with ENGINE.connect() as connection:
        yield connection


@contextmanager
def session():
    with orm.Session(ENGINE) as s:
        yield s


@check
def set_up(c):
    c.execute(sa.text("DROP VIEW IF EXISTS sqlalchemy_recent"))
    c.commit()
    METADATA.drop_all(ENGINE)
    METADATA.create_all(ENGINE)
    # All are there already.
    METADATA.create_all(ENGINE)


@check
def core_insert_many(c):
    rows = [{"host": f"h{i % 3}", "at": instant(i), "load": i / 4, "size": i} for i in range(30)]
    c.execute(sa.insert(EVENT), rows)
    c.commit()
    equal(c.scalar(sa.select(sa.func.count()).select_from(EVENT).where(EVENT.c.host >= "h")), 30)


@check
def core_select(c):
    query = (
        sa.select(EVENT).where(EVENT.c.host == "h1", EVENT.c.at.between(instant(4), instant(10))).order_by(EVENT.c.at)
    )
    rows = c.execute(query).mappings().all()
    equal([row["size"] for row in rows], [4, 7, 10])
    equal(dict(rows[0]), {"host": "h1", "at": instant(4), "load": 1.0, "cost": Decimal("1.00"), "size": 4})


@check
def core_aggregate_and_subquery(c):
    totals = (
        sa.select(EVENT.c.host, sa.func.sum(EVENT.c.size).label("total"))
        .where(EVENT.c.host >= "h")
        .group_by(EVENT.c.host)
        .subquery()
    )
    rows = c.execute(sa.select(totals).where(totals.c.total > 140).order_by(totals.c.host)).all()
    equal(rows, [("h1", 145), ("h2", 155)])


@check
def core_in_and_case(c):
    kind = sa.case((EVENT.c.size < 10, "small"), else_="large")
    query = sa.select(kind).where(EVENT.c.host.in_(["h0", "h2"]), EVENT.c.at == instant(12))
    equal(c.scalars(query).all(), ["large"])


@check
def core_update_and_delete(c):
    where = (EVENT.c.host == "h0") & (EVENT.c.at < instant(5))
    equal(c.execute(sa.update(EVENT).where(where).values(size=EVENT.c.size + 100)).rowcount, 2)
    equal(c.execute(sa.delete(EVENT).where(where).returning(EVENT.c.size)).scalars().all(), [100, 103])
    c.rollback()
    equal(c.scalar(sa.select(sa.func.max(EVENT.c.size)).where(EVENT.c.host == "h0")), 27)


@check
def core_upsert(c):
    statement = postgresql.insert(EVENT).values(host="h0", at=instant(0), size=50)
    statement = statement.on_conflict_do_update(index_elements=["host", "at"], set_={"size": statement.excluded.size})
    equal(c.execute(statement.returning(EVENT.c.size)).scalar_one(), 50)
    other = postgresql.insert(EVENT).values(host="h0", at=instant(0), size=1).on_conflict_do_nothing()
    equal(c.execute(other, execution_options={"preserve_rowcount": True}).rowcount, 0)
    c.rollback()


@check
def streamed_result(c):
    result = c.execution_options(yield_per=7).execute(
        sa.select(EVENT.c.size).where(EVENT.c.host >= "h").order_by(EVENT.c.size)
    )
    equal([row.size for row in result], list(range(30)))


@check
def errors_have_classes(c):
    row = {"host": "h0", "at": instant(0), "size": 1}
    equal(raises(sa.exc.IntegrityError, c.execute, sa.insert(EVENT), row).orig.sqlstate, "23505")
    c.rollback()
    raises(sa.exc.IntegrityError, c.execute, sa.insert(EVENT), {**row, "at": instant(59), "size": -1})
    c.rollback()
    raises(sa.exc.ProgrammingError, c.execute, sa.text("SELECT * FROM sqlalchemy_nothing"))
    c.rollback()


@check
def nested_transactions(c):
    with c.begin():
        c.execute(sa.insert(EVENT), {"host": "x", "at": instant(0), "size": 1})
        nested = c.begin_nested()
        c.execute(sa.insert(EVENT), {"host": "y", "at": instant(0), "size": 1})
        nested.rollback()
    equal(c.scalars(sa.select(EVENT.c.host).where(EVENT.c.host >= "i")).all(), ["x"])
    c.execute(sa.delete(EVENT).where(EVENT.c.host == "x"))
    c.commit()


@check
def isolation_levels(c):
    equal(
        c.execution_options(isolation_level="REPEATABLE READ").scalar(sa.text("SHOW transaction_isolation")),
        "repeatable read",
    )


@check
def orm_unit_of_work(s):
    s.add_all(
        [
            Author(name="Ada", books=[Book(number=1, title="Notes", pages=66), Book(number=2, title="Letters")]),
            Author(name="Bob"),
        ]
    )
    s.commit()
    ada = s.scalars(sa.select(Author).where(Author.id >= 0, Author.name == "Ada")).one()
    equal([(b.number, b.title, b.pages) for b in ada.books], [(1, "Notes", 66), (2, "Letters", None)])
    ada.name = "Ada L."
    ada.books[1].pages = 10
    del ada.books[0]
    ada.books.append(Book(number=3, title="Plans"))
    s.commit()
    s.expire_all()
    equal([(b.number, b.pages) for b in s.get(Author, ada.id).books], [(2, 10), (3, None)])


@check
def orm_eager_loading(s):
    authors = s.scalars(
        sa.select(Author).where(Author.id >= 0).options(orm.selectinload(Author.books)).order_by(Author.id)
    ).all()
    equal([(a.name, len(a.books)) for a in authors], [("Ada L.", 2), ("Bob", 0)])
    joined = sa.select(Author).where(Author.id >= 0).options(orm.joinedload(Author.books)).order_by(Author.id)
    equal([len(a.books) for a in s.scalars(joined).unique()], [2, 0])


@check
def orm_join_and_group(s):
    query = (
        sa.select(Author.name, sa.func.count(Book.number))
        .join(Book, Book.author_id == Author.id)
        .where(Author.id >= 0)
        .group_by(Author.name)
    )
    equal(s.execute(query).all(), [("Ada L.", 2)])


@check
def orm_many_inserts_return_their_keys(s):
    many = [Author(name=f"writer {i}") for i in range(500)]
    s.add_all(many)
    s.flush()
    equal(len({author.id for author in many}), 500)
    s.rollback()


@check
def orm_rollback_and_refresh(s):
    bob = s.scalars(sa.select(Author).where(Author.id >= 0, Author.name == "Bob")).one()
    bob.name = "Robert"
    s.flush()
    s.rollback()
    equal(bob.name, "Bob")
    s.delete(bob)
    s.commit()
    equal(s.scalars(sa.select(Author.name).where(Author.id >= 0)).all(), ["Ada L."])


@check
def inspector_lists_relations(c):
    c.execute(sa.text("CREATE VIEW sqlalchemy_recent AS SELECT host, size FROM sqlalchemy_event WHERE host >= 'h'"))
    c.commit()
    inspector = sa.inspect(ENGINE)
    ours = {name for name in inspector.get_table_names() if name.startswith("sqlalchemy_")}
    equal(ours, {"sqlalchemy_event", "sqlalchemy_author", "sqlalchemy_book"})
    equal("sqlalchemy_recent" in inspector.get_view_names(), True)
    equal((inspector.has_table("sqlalchemy_event"), inspector.has_table("sqlalchemy_none")), (True, False))
    equal("public" in inspector.get_schema_names(), True)
    equal(inspector.default_schema_name, "public")


@check
def inspector_columns():
    columns = {column["name"]: column for column in sa.inspect(ENGINE).get_columns("sqlalchemy_event")}
    equal(list(columns), ["host", "at", "load", "cost", "size"])
    kinds = {name: str(column["type"].compile(ENGINE.dialect)) for name, column in columns.items()}
    expected = {
        "host": "VARCHAR(30)",
        "at": "TIMESTAMP WITHOUT TIME ZONE",
        "load": "DOUBLE PRECISION",
        "cost": "NUMERIC(10, 2)",
        "size": "INTEGER",
    }
    equal(kinds, expected)
    equal({name for name, column in columns.items() if column["nullable"]}, {"load", "cost"})
    equal("1" in columns["cost"]["default"], True)


@check
def inspector_primary_keys():
    inspector = sa.inspect(ENGINE)
    equal(inspector.get_pk_constraint("sqlalchemy_event")["constrained_columns"], ["host", "at"])
    equal(inspector.get_pk_constraint("sqlalchemy_book")["constrained_columns"], ["author_id", "number"])


@check
def inspector_indexes():
    indexes = {
        index["name"]: (index["column_names"], index["unique"])
        for index in sa.inspect(ENGINE).get_indexes("sqlalchemy_event")
    }
    equal(indexes, {"sqlalchemy_event_size_host": (["size", "host"], False), "sqlalchemy_event_load": (["load"], True)})


@check
def inspector_constraints():
    inspector = sa.inspect(ENGINE)
    equal([check["name"] for check in inspector.get_check_constraints("sqlalchemy_event")], ["sqlalchemy_event_size"])
    equal(inspector.get_foreign_keys("sqlalchemy_event"), [])
    equal(inspector.get_unique_constraints("sqlalchemy_event"), [])


@check
def inspector_comment_and_identity():
    inspector = sa.inspect(ENGINE)
    equal(inspector.get_table_comment("sqlalchemy_event")["text"], "what happened")
    column = inspector.get_columns("sqlalchemy_author")[0]
    equal(bool(column.get("identity") or column["default"]), True)


@check
def inspector_of_a_view():
    inspector = sa.inspect(ENGINE)
    equal([column["name"] for column in inspector.get_columns("sqlalchemy_recent")], ["host", "size"])
    equal("sqlalchemy_event" in inspector.get_view_definition("sqlalchemy_recent"), True)


@check
def reflected_tables_work(c):
    reflected = sa.MetaData()
    reflected.reflect(ENGINE, only=["sqlalchemy_event", "sqlalchemy_book"])
    event = reflected.tables["sqlalchemy_event"]
    equal([column.name for column in event.primary_key], ["host", "at"])
    equal({index.name for index in event.indexes}, {"sqlalchemy_event_size_host", "sqlalchemy_event_load"})
    equal(c.scalar(sa.select(event.c.size).where(event.c.host == "h1", event.c.at == instant(7))), 7)


@check
def tear_down(c):
    c.execute(sa.text("DROP VIEW sqlalchemy_recent"))
    c.commit()
    METADATA.drop_all(ENGINE)
    equal([name for name in sa.inspect(ENGINE).get_table_names() if name.startswith("sqlalchemy_")], [])


run(c=connected, s=session)
