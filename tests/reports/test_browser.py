"""Pages in a real browser: no request, no error, no script, and the accessibility rules of axe."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ftplan
from tests.reports import cases

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytest.importorskip("jinja2")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium"),
]
WIDTHS, THEMES = (390, 1440), ("light", "dark")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        FREE.clear()
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of all documents, pages of some, and one whose documents hold markup."""
    folder = tmp_path_factory.mktemp("pages")
    plan, topology = cases.hostile(cases.HOSTILE[1] + cases.HOSTILE[0] + cases.HOSTILE[3])
    listed = cases.documents()
    few = [document for name, document in listed.items() if name not in ("events", "replication")]
    pages = {
        "all": ftplan.report(few),
        "one": ftplan.report(cases.recovery_with_events()),
        "folded": ftplan.report(cases.recovery_with_events(), max_tasks=0),
        "markup": ftplan.report(plan, topology=topology, title=cases.HOSTILE[0]),
    }
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html)
    return {name: folder / f"{name}.html" for name in pages}


#: Tabs that are left open: to load a page in one of them takes half of what a new one takes.
FREE: list[Any] = []


class Opened:
    """A page in a browser, and what it did."""

    def __init__(self, browser: Any, path: Path, width: int = 1440, theme: str = "light") -> None:
        self.page = FREE.pop() if FREE else browser.new_page()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=theme)
        self.said: list[str] = []
        self.listeners = {
            "console": lambda message: self.said.append(message.text),
            "pageerror": lambda error: self.said.append(str(error)),
            "dialog": lambda dialog: (self.said.append(dialog.message), dialog.dismiss()),
            "request": lambda request: self._requested(request.url, path),
        }
        for event, listener in self.listeners.items():
            self.page.on(event, listener)
        self.page.goto(path.as_uri())

    def _requested(self, url: str, path: Path) -> None:
        if url not in (path.as_uri(), "data:,"):
            self.said.append(url)

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)

    def open_all(self) -> None:
        """Unfold all that is folded."""
        self.value("document.querySelectorAll('details').forEach(one => { one.open = true })")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        FREE.append(self.page)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["all", "one", "folded", "markup"])
def test_a_page_is_quiet_and_fits(browser: Any, files: dict[str, Path], name: str, width: int, theme: str) -> None:
    """No console message, no request, no sideways scrolling."""
    with Opened(browser, files[name], width, theme) as opened:
        opened.open_all()
        assert opened.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert opened.said == []


@pytest.mark.parametrize(
    ("name", "width", "theme"),
    [("all", 390, "light"), ("all", 1440, "dark"), ("folded", 1440, "light"), ("markup", 390, "dark")],
)
def test_a_page_is_accessible(browser: Any, files: dict[str, Path], name: str, width: int, theme: str) -> None:
    """No violation of axe's rules, contrast among them."""
    with Opened(browser, files[name], width, theme) as opened:
        opened.open_all()
        results = axe.Axe().run(opened.page)
        assert results.violations_count == 0, results.generate_report()
        assert {"color-contrast", "scrollable-region-focusable", "svg-img-alt"} <= {
            rule["id"] for kind in ("passes", "inapplicable") for rule in results.response[kind]
        }
        assert opened.said == []


def test_markup_runs_no_script(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["markup"]) as opened:
        assert opened.value("document.querySelectorAll('script, img, [onerror], [onload]').length") == 0
        assert cases.HOSTILE[0] in opened.page.title()
        assert opened.said == []


def test_the_policy_of_the_page_stops_scripts_and_requests(
    browser: Any, files: dict[str, Path], tmp_path: Path
) -> None:
    """Even if a text were not escaped, nothing would run."""
    broken = tmp_path / "broken.html"
    html = files["one"].read_text()
    broken.write_text(html.replace("</main>", "<script>document.title = 'run'</script><img src=x.png></main>"))
    with Opened(browser, broken) as opened:
        assert opened.page.title() != "run"
        assert len([text for text in opened.said if "Content Security Policy" in text]) == 2


def test_the_tab_key_goes_in_reading_order(browser: Any, files: dict[str, Path]) -> None:
    """From the skip link through everything that can have the focus, visibly, and each is where it can be seen."""
    with Opened(browser, files["one"], width=390) as opened:
        order, outlines = [], []
        count = opened.value("document.querySelectorAll('a, input, summary, [tabindex=\"0\"]').length")
        for _ in range(count):
            opened.page.keyboard.press("Tab")
            at, outline = opened.value(
                "[[...document.querySelectorAll('*')].indexOf(document.activeElement), "
                "getComputedStyle(document.activeElement).outlineStyle]"
            )
            if order and at <= order[0]:
                break
            order.append(at)
            outlines.append(outline)
        assert order == sorted(order)
        assert len(order) > 15
        assert set(outlines) == {"solid"}


def test_the_skip_link_leads_to_the_report(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["one"]) as opened:
        opened.page.keyboard.press("Tab")
        assert opened.value("document.activeElement.textContent") == "Skip to the report"
        assert opened.value("document.activeElement.getBoundingClientRect().left >= 0")
        opened.page.keyboard.press("Enter")
        assert opened.value("document.activeElement.id") == "main"


def test_the_switch_changes_the_colours_without_a_script(browser: Any, files: dict[str, Path]) -> None:
    def ground(opened: Opened) -> str:
        return str(opened.value("getComputedStyle(document.body).backgroundColor"))

    with Opened(browser, files["one"], theme="light") as light, Opened(browser, files["one"], theme="dark") as dark:
        white, black = ground(light), ground(dark)
        assert white != black
        light.page.get_by_label("dark").check()
        dark.page.get_by_label("light", exact=True).check()
        assert (ground(light), ground(dark)) == (black, white)
        light.page.get_by_label("as the system").check()
        assert ground(light) == white


def test_a_phone_gets_its_own_drawings(browser: Any, files: dict[str, Path]) -> None:
    shown = "[...document.querySelectorAll('svg.drawing')].filter(one => one.getClientRects().length)"
    for width in WIDTHS:
        with Opened(browser, files["one"], width) as opened:
            sizes = opened.value(f"{shown}.map(one => one.viewBox.baseVal.width / one.getBoundingClientRect().width)")
            assert len(sizes) >= 4
            assert max(sizes) < 1.01, "a drawing is made smaller, and its letters with it"
