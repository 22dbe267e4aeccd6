"""The site: it builds strictly, its links lead somewhere, and its pages load nothing from elsewhere, at any width."""

from __future__ import annotations

import html.parser
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

from docs.generate.public_names import missing, public
from tests.effort import some
from tests.places import ROOT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (390, 1440)
#: As ``make docs`` builds it: with --quiet, --strict would count no warnings.
BUILD = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir")

pytestmark = pytest.mark.slow


def built(project: Path, target: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([*BUILD, str(target)], cwd=project, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = built(ROOT, target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_a_broken_link_ends_the_build(tmp_path: Path) -> None:
    line = " ".join(BUILD[1:-1])
    assert re.search(rf"/python {line}$", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[there](nobody.md)\n", "utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: small\n", "utf-8")
    done = built(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "a link 'nobody.md'" in done.stderr


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and where links to it may lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("prev", "next", "canonical", "edit"):
            self.loads.append(given["href"])


@cache
def parsed(path: Path) -> Page:
    return Page(path)


def pages_of(site: Path) -> list[Path]:
    """Return all pages but the one for addresses that do not exist, whose links are those of a server."""
    return sorted(page for page in site.rglob("*.html") if page.name != "404.html")


def broken(page: Path, link: str) -> bool:
    """Return whether a link within the site leads nowhere."""
    place, anchor = urldefrag(link)
    target = (page.parent / unquote(place)).resolve() if place else page
    if not target.is_file():
        return True
    return bool(anchor) and target.suffix == ".html" and unquote(anchor) not in parsed(target).anchors


def test_every_link_leads_somewhere(site: Path) -> None:
    found = [
        f"{page.relative_to(site)}: {link}"
        for page in pages_of(site)
        for link in parsed(page).links
        if not re.match(r"https?:|mailto:", link) and broken(page, link)
    ]
    assert found == []


def test_pages_load_only_files_of_the_site(site: Path) -> None:
    for page in pages_of(site):
        for loaded in parsed(page).loads:
            assert not re.match(r"(https?:)?//", loaded), (page, loaded)
    assert not re.search(r"@import|url\((?!data:|\.|#|[a-z/]*\.svg|var)", (ROOT / "docs/assets/site.css").read_text())


def test_every_public_name_is_on_the_site(site: Path) -> None:
    import ftplan

    text = (site / "python-reference.html").read_text("utf-8")
    assert list(missing(text, [f"ftplan.{name}" for name in public(ftplan)])) == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Reader:
    """A tab in which pages are opened one after the other; *said* is what they say on the console or request."""

    def __init__(self, browser: Any, width: int, theme: str = "light") -> None:
        self.tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.said: list[str] = []
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("request", lambda request: self._requested(request.url))

    def _requested(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "about:")):
            self.said.append(url)

    def open(self, page: Path) -> None:
        self.tab.goto(page.as_uri())
        self.tab.wait_for_function("document.documentElement.classList.contains('js')")


def test_pages_fit_and_are_quiet(browser: Any, site: Path) -> None:
    """Opened as files, as somebody without a network does: no console message, no request, no sideways scrolling."""
    reader = Reader(browser, WIDTHS[0])
    for page in pages_of(site):
        reader.open(page)
        for width in WIDTHS:
            reader.tab.set_viewport_size({"width": width, "height": 900})
            across = reader.tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert across <= 0, f"{page.relative_to(site)} is {across} px too wide at {width} px"
        assert reader.said == [], page.relative_to(site)


@pytest.mark.parametrize("half", [0, 1])
def test_what_pages_say_is_accessible(browser: Any, site: Path, half: int) -> None:
    """No serious or critical violation of axe's rules: some pages narrow and light, others wide and dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    reader = Reader(browser, WIDTHS[half], ("light", "dark")[half])
    found = []
    for page in some(pages_of(site)[half::2], half):
        reader.open(page)
        results = axe.run(reader.tab, context=".md-content", options={"resultTypes": ["violations"]})
        found += [f"{page.relative_to(site)}: {fault}" for fault in grave(results.response)]
    assert found == []


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_what_stands_around_pages_is_accessible(browser: Any, site: Path, width: int, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    reader = Reader(browser, width, theme)
    reader.open(site / "files" / "topology.html")
    assert grave(axe.run(reader.tab).response) == []


def grave(response: dict[str, Any]) -> list[str]:
    return [
        f"{rule['id']}: {[' '.join(node['target']) for node in rule['nodes']][:3]}"
        for rule in response["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


def test_search_finds_from_a_file(browser: Any, site: Path) -> None:
    reader = Reader(browser, 1440)
    reader.open(site / "index.html")
    reader.tab.click("input[name=query]")
    reader.tab.keyboard.type("rebalance")
    reader.tab.wait_for_selector(".md-search-result__item a[href*='rebalance']")
    assert reader.said == []


def test_commands_are_copied_without_prompt_and_output(browser: Any, site: Path) -> None:
    reader = Reader(browser, 1440)
    reader.open(site / "files" / "topology.html")
    copied = reader.tab.evaluate(
        "(() => { const code = [...document.querySelectorAll('code')].find(one => one.querySelector('.gp'));"
        " code.setAttribute('data-md-copying', ''); return code.innerText })()"
    )
    assert copied.split("\n")[0] == "cd examples/storm-recovery"
    assert "operators," not in copied
