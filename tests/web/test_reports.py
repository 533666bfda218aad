"""HTML reports on a narrow screen."""

from __future__ import annotations

from pathlib import Path

from web_browser import open_browser

from tengen.runs.report import write_page


def test_a_long_path_does_not_widen_a_report_on_a_phone(tmp_path: Path) -> None:
    fields = [("network", "/home/somebody/" + "a" * 80 + "/net.onnx")]
    page = {"title": "A run", "what": "training", "card": {"data": ""}, "tiles": [], "plots": [], "recipe": ""}
    path = write_page(tmp_path / "report.html", "training.html", fields=fields, **page)
    with open_browser(tmp_path, 390, 844, phone=True) as tab:
        tab.driver.get(path.as_uri())
        assert tab.script("return document.scrollingElement.scrollWidth") == 390
