"""The console in a headless Chromium. SERVER_CONSOLE has the page's URL; SHOTS, if it is set, a folder for screenshots."""

import contextlib
import os
import time
import urllib.parse

from checks import check, contains, equal, run
from driver import Browser, Driver, until

PAGE = os.environ["SERVER_CONSOLE"]
LOGIN = urllib.parse.urlsplit(os.environ["SERVER_URL"])
SHOTS = os.environ.get("SHOTS")

#: A query that runs until it is cancelled.
ENDLESS = "SELECT count(*) FROM {} WHERE {} AND {} < -1".format(
    ", ".join(f"clog {name}" for name in "abcde"),
    " AND ".join(f"{name}.host >= 'a'" for name in "abcde"),
    " + ".join(f"{name}.up" for name in "abcde"),
)

#: Lines of the browser's log that these tests cause: the page asks for its login, and pixels are read often.
EXPECTED_LOG = ("401", "willReadFrequently")

driver = None


@contextlib.contextmanager
def opened(**options):
    """A browser before the login. Afterwards: nothing but this server was asked, and the page had no error."""
    browser = Browser(driver, **options)
    try:
        browser.open(PAGE)
        yield browser
        equal([line for line in browser.log() if not any(known in line for known in EXPECTED_LOG)], [])
        names = browser.script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        equal([name for name in names if not name.startswith(PAGE)], [])
    finally:
        # A login would stay until it is idle for too long.
        browser.script("return fetch('/api/logout', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'}).then(answer => answer.status)")
        browser.close()


def log_in(browser):
    browser.wait("#login input")
    browser.write("#login input[name=user]", LOGIN.username)
    browser.write("#login input[name=password]", LOGIN.password)
    browser.press("Enter")
    browser.wait("#panel-query")


@contextlib.contextmanager
def page(**options):
    with opened(**options) as browser:
        log_in(browser)
        yield browser


def statement(browser, sql, selector="#results .card", text=""):
    """Runs a text in the editor, and waits for what it shows."""
    browser.script("document.querySelector('#results').replaceChildren()")
    browser.write("#editor", sql)
    browser.press("Control", "Enter")
    browser.wait(selector, text)


def shoot(browser, name):
    if SHOTS:
        browser.screenshot(os.path.join(SHOTS, f"{name}.png"))


def rows(browser):
    script = "return [...document.querySelectorAll('#results tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    return browser.script(script)


@check
def a_wrong_password_is_refused():
    with opened() as browser:
        browser.wait("#login input")
        shoot(browser, "login")
        browser.write("#login input[name=user]", LOGIN.username)
        browser.write("#login input[name=password]", "wrong")
        browser.press("Enter")
        browser.wait(".login-failure", "password authentication failed")
        equal(browser.is_shown("#panel-query"), False)


@check
def rows_are_shown_with_all_digits():
    with page() as browser:
        setup = "DROP TABLE IF EXISTS clog; CREATE TABLE clog (host VARCHAR NOT NULL, ts DATE NOT NULL, up BIGINT, down DECIMAL(20,2), CONSTRAINT pk PRIMARY KEY (host, ts))"
        statement(browser, setup, ".result .summary", "written")
        values = ", ".join(f"('h{n % 9}', '2024-05-{n % 28 + 1:02} {n % 24:02}:00', {n * n % 977}, {n}.5)" for n in range(400))
        statement(browser, f"UPSERT INTO clog VALUES {values}, ('big', '2024-01-01', 9223372036854775807, 123456789012345678.25)", ".result .summary", "401 rows")
        statement(browser, "SELECT up, down, host FROM clog WHERE host = 'big'", ".result td")
        equal(rows(browser), [["9223372036854775807", "123456789012345678.25", "big"]])
        statement(browser, "SELECT ts, up, down FROM clog WHERE host = 'h1' ORDER BY ts", ".result td")
        shoot(browser, "query")
        browser.click(".result .choice button", "Chart")
        browser.wait(".chart path")
        shoot(browser, "chart")
        browser.click(".result .choice button", "Bars")
        browser.wait(".chart rect")


@check
def more_rows_come_when_they_are_asked_for():
    with page() as browser:
        browser.script("document.querySelector('select[aria-label=\"Rows of a page\"]').value = '100'")
        statement(browser, "SELECT host, ts FROM clog WHERE host >= 'a'", ".summary", "100 rows, and more")
        browser.click("#results button", "More rows")
        browser.wait(".summary", "200 rows, and more")
        equal(len(rows(browser)), 200)


@check
def errors_are_marked_at_their_place():
    with page() as browser:
        statement(browser, "SELECT host,\n  wrong FROM clog WHERE host = 'a'", ".failure", "42703")
        equal(browser.script("return document.querySelector('.editor mark').textContent"), "wrong")
        contains(browser.script("return document.querySelector('.caret').textContent"), "2 |   wrong FROM clog", "^^^^^")
        shoot(browser, "error")


@check
def a_refusal_has_fixes_that_work():
    with page() as browser:
        statement(browser, "SELECT host, up FROM clog WHERE up = 4", ".failure", "Refused by the guard")
        shoot(browser, "refusal")
        browser.click(".fix", "Read all rows once")
        browser.wait(".result td")
        contains(browser.script("return document.querySelector('#editor').value"), "FULL_SCAN")
        statement(browser, "SELECT host, up FROM clog WHERE up = 4", ".fix", "CREATE INDEX")
        browser.click(".fix", "CREATE INDEX")
        browser.wait(".result td")
        equal({row[1] for row in rows(browser)}, {"4"})


@check
def the_plan_is_a_picture():
    with page() as browser:
        browser.write("#editor", "SELECT * FROM clog WHERE host IN ('h1', 'h4') AND ts > '2024-05-10'")
        browser.click("#plan")
        browser.wait(".access", "of the key space")
        equal(browser.script("return document.querySelectorAll('.key-space .scanned').length"), 2)
        shoot(browser, "plan")


@check
def a_statement_is_cancelled():
    with page() as browser:
        browser.write("#editor", ENDLESS)
        browser.press("Control", "Enter")
        browser.wait("#cancel")
        browser.wait(".progress-text", " s")
        shoot(browser, "running")
        browser.press("Escape")
        browser.wait(".failure", "57014")


@check
def activity_shows_sessions_and_cancels():
    with page() as browser, page() as other:
        other.write("#editor", ENDLESS)
        other.press("Control", "Enter")
        other.wait("#cancel")
        browser.click("#tab-activity")
        browser.wait("#panel-activity td", "console")
        browser.wait("#panel-activity .danger", "Cancel")
        shoot(browser, "activity")
        browser.click("#panel-activity .danger", "Cancel")
        other.wait(".failure", "57014")
        browser.wait("#panel-activity td", "error 57014")


@check
def tables_are_described():
    with page() as browser:
        browser.click("#tab-tables")
        browser.click("#panel-tables .pick-list button", "clog")
        browser.wait("#table-detail", "PRIMARY KEY (host, ts)")
        browser.wait("#table-detail code", "(host, ts)")
        browser.wait("#table-detail", "clog_up")
        shoot(browser, "tables")
        browser.click("#table-detail button", "First 100 rows")
        browser.wait("#results td")


@check
def heat_is_drawn_after_writes():
    with page() as browser:
        for round in range(3):
            values = ", ".join(f"('h{n % 9}', '2024-06-{n % 28 + 1:02}', {n}, 1)" for n in range(round * 100, round * 100 + 300))
            statement(browser, f"UPSERT INTO clog VALUES {values}", ".summary", "written")
            statement(browser, "SELECT up FROM clog WHERE host = 'h3'", ".result td")
            time.sleep(1)
        browser.click("#tab-heat")
        until(lambda: browser.script("return document.querySelector('#heat-relation').value") == "clog", "the table is listed", browser.visible_text)
        colours = """const c = document.querySelector('#heat-canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(`${d[i]},${d[i + 1]},${d[i + 2]}`); return seen.size"""
        until(lambda: browser.script(colours) > 1, "there are several colours", browser.visible_text)
        browser.script("document.querySelector('#heat-canvas').focus()")
        browser.press("ArrowLeft")
        browser.wait(".heat-cell", "writes per second")
        shoot(browser, "heat")


@check
def the_advisor_lists_refusals():
    with page() as browser:
        for _ in range(3):
            statement(browser, "SELECT host FROM clog WHERE down = 7", ".failure", "Refused")
        browser.click("#tab-advisor")
        browser.wait("#panel-advisor .refusal", "times")
        browser.wait("#panel-advisor .fix", "CREATE INDEX")
        shoot(browser, "advisor")


@check
def the_keyboard_alone_is_enough():
    with opened() as browser:
        browser.wait("#login input")
        for text in [LOGIN.username, "Tab", LOGIN.password, "Enter"]:
            for key in [text] if text in ("Tab", "Enter") else text:
                browser.press(key)
        browser.wait("#panel-query")
        browser.script("document.querySelector('#tab-query').focus()")
        browser.press("ArrowRight")
        browser.wait("#panel-tables")
        equal(browser.script("return document.activeElement.id"), "tab-tables")
        browser.press("1")
        browser.press("/")
        equal(browser.script("return document.activeElement.id"), "editor")
        for key in "SELECT 1 AS one":
            browser.press(key)
        browser.press("Control", "Enter")
        browser.wait(".result td", "1")
        browser.press("Tab")
        equal(browser.script("return document.activeElement.id"), "run")
        reachable = "return [...document.querySelectorAll('#panel-query button, #panel-query select, #panel-query tr[tabindex]')].filter(e => e.checkVisibility() && !e.disabled && e.tabIndex < 0).length"
        equal(browser.script(reachable), 0)
        browser.press("?")
        browser.wait("#shortcuts", "Ctrl")


@check
def it_fits_a_phone_and_the_dark():
    for name, options in {"phone": {"width": 390, "height": 844}, "dark": {"dark": True}, "phone-dark": {"width": 390, "height": 844, "dark": True}}.items():
        with page(**options) as browser:
            statement(browser, "SELECT host, ts, up FROM clog WHERE host = 'h2'", ".result td")
            for part in ["query", "tables", "activity", "heat", "advisor"]:
                browser.click(f"#tab-{part}")
                if part == "tables":
                    browser.click("#panel-tables .pick-list button", "clog")
                    browser.wait("#table-detail", "PRIMARY KEY")
                time.sleep(0.5)
                shoot(browser, f"{name}-{part}")
                equal(browser.script("return document.documentElement.scrollWidth <= innerWidth"), True)
            small = """return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && e.childNodes.length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
                && parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.outerHTML.slice(0, 80))"""
            equal(browser.script(small), [])


@check
def a_logout_ends_the_login():
    with page() as browser:
        browser.click("#logout-button")
        browser.wait("#login input")
        browser.open(PAGE)
        browser.wait("#login input")


driver = Driver()
try:
    run()
finally:
    driver.close()
