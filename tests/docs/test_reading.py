"""Lines of the site do not end within an option."""

from __future__ import annotations

from docs.generate.reading import unbroken


def test_options_in_sentences_are_kept_whole() -> None:
    html = "<p>give <code>--fail node:a1 -o x-y</code></p>"
    whole = "<code>{}--fail</span> node:a1 {}-o</span> x-y</code>".replace("{}", '<span class="option">')
    assert unbroken(html) == f"<p>give {whole}</p>"


def test_blocks_and_other_text_are_left_as_they_are() -> None:
    html = "<p>a --b</p><pre><span></span><code>--seed 1</code></pre><p><code>x-y</code> <code>2 - 1</code></p>"
    assert unbroken(html) == html
