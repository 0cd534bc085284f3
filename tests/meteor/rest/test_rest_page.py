"""The page on HTTP names the routes that there are, each with what it is for."""

from __future__ import annotations

import re
from pathlib import Path

import meteor
from meteor.operation.routes import operation_resources
from meteor.rest.config import RestConfig
from meteor.rest.serving import described_resources
from tests.meteor.building import SPACE

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "http.md"


def test_the_table_of_routes_is_that_which_serves() -> None:
    peer = meteor.Peer(space=SPACE)
    resources, _ = described_resources(peer, RestConfig(), operation_resources(peer))
    served = [
        (f"{operation.method} {resource.path}", operation.summary)
        for resource in resources
        for operation in resource.operations
    ]
    shown = re.findall(r"^\| `([A-Z]+ /\S*)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert shown == served
