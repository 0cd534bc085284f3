"""The house's rules, checked on the syntax trees of the five packages.

Imports run one way (sim -> meteor -> arms -> squid -> chord), packages meet at their public names,
meteor's rooms look one way too, protocol code never touches sockets, clocks or global randomness,
no modules import each other in a circle, files and functions stay short, public names say what they
mean.  Every rule is also broken on purpose below.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "chord": (),
    "squid": ("chord",),
    "arms": ("squid",),
    "meteor": ("chord", "squid", "arms"),
    "sim": ("chord", "squid", "arms", "meteor"),
}
ROOMS = {
    "wire": (),
    "journal": (),
    "links": ("wire",),
    "keeping": ("wire", "journal"),
    "copies": ("wire", "keeping"),
    "rendezvous": ("wire", "journal", "keeping", "copies"),
    "client": ("wire", "links"),
}
"""Within meteor: which room may import from which; from the shared modules beside them, and from
`security`, all may."""
ARMS_SEES = {
    "squid.query",
    "squid.keywords",
    "squid.normal_form",
    "squid.keyword_space",
    "squid.errors",
    "chord",
}
"""arms knows what a dimension is, never how a region is routed; `chord` is the root error."""
EDGES = (
    "peer", "connection", "local", "sqlite_file", "sqlite_journal", "directory_lock", "tls",
    "no_collections", "rare_collections", "routes", "discovery", "rounds", "__main__",
)  # fmt: skip
"""Modules of meteor that face the outside, beside `asyncio_*`, `websocket_*`, `*transport`, cli/
and demo/."""
ONLY_IN: dict[str, Callable[[PurePosixPath], bool]] = {
    "lxml": lambda path: path.stem.endswith("_xml"),
    "aiosqlite": lambda path: path.stem == "sqlite_file",
    "sqlite3": lambda path: (
        path.stem in {"sqlite_file", "sqlite_reading", "tree_check", "index_check"}
    ),
    "simpy": lambda path: path.parts[0] == "sim",
    "pyspark": lambda path: path.parts[:2] == ("sim", "spark"),
    "click": lambda path: path.parts[1] == "cli",
    "cryptography": lambda path: path.parts[:2] == ("meteor", "security"),
    "prometheus_client": lambda path: path.parts[:2] == ("meteor", "operation"),
    "zeroconf": lambda path: path.parts[:2] == ("meteor", "operation"),
}
ONLY_AT_EDGES = {
    "aiohttp", "asyncio", "multiprocessing", "secrets", "signal", "socket", "ssl", "subprocess",
    "threading", "time", "uuid",
}  # fmt: skip
LINES_MAX = 400
FUNCTION_LINES_MAX = 50


def is_edge(path: PurePosixPath) -> bool:
    """Whether a module may know of sockets, clocks and processes."""
    if path.parts[:2] == ("sim", "spark"):
        # Which Java, which Python, what is kept of them: the machine's business.
        return path.stem in ("session", "java", "class_archive", "training")
    if path.parts[0] == "sim":
        return path.parts[1] in ("cli.py", "cli", "measure", "__main__.py")
    return path.parts[0] == "meteor" and (
        path.parts[1] in ("cli", "demo", "rest", "dashboard", "sync")
        or path.stem in EDGES
        or path.stem.startswith(("asyncio_", "websocket_"))
        or path.stem.endswith("transport")
    )


def sources() -> Iterator[tuple[PurePosixPath, str]]:
    for package in MAY_IMPORT:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text()


@lru_cache(maxsize=2)
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All of a tree, which every rule looks at: going through it is what these tests cost."""
    return tuple(ast.walk(tree))


def imports(tree: ast.AST) -> Iterator[tuple[int, str, str | None]]:
    """Line, module and, for `from module import name`, the name."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, module, alias.name) for alias in node.names)


@cache
def public_names(package: str) -> dict[str, str]:
    """What a package exports -> the module that it comes from."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    exported = {
        element.value
        for node in nodes_of(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for element in ast.walk(node.value)
        if isinstance(element, ast.Constant)
    }
    origin = {name: module for _, module, name in imports(tree) if name}
    lazy = lazy_names(tree)
    return {str(name): origin.get(str(name), lazy.get(str(name), package)) for name in exported}


def lazy_names(tree: ast.AST) -> dict[str, str]:
    """Names that a package imports on first use: its table `_LAZY = {name: module}`."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) == "_LAZY":
                return dict(ast.literal_eval(node.value))
    return {}


def room_breaches(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    room = path.parts[1]
    if path.parts[0] != "meteor" or room not in ROOMS:
        return
    for line, module, name in imports(tree):
        parts = [*module.split("."), *([name] if name else [])]
        other = parts[1] if parts[0] == "meteor" and len(parts) > 1 else room
        if other in ROOMS and other != room and other not in ROOMS[room]:
            yield f"{path}:{line}: {room} imports {other}"


def import_breaches(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    package = path.parts[0]
    for line, module, name in imports(tree):
        top = module.split(".")[0]
        where = f"{path}:{line}"
        if not top:
            yield f"{where}: relative import"
        elif top in MAY_IMPORT and top != package:
            if top not in MAY_IMPORT[package]:
                yield f"{where}: {package} imports {top}"
            elif module != top:
                yield f"{where}: {module} is not a public name of {top}"
            elif name and name not in public_names(top):
                yield f"{where}: {top} does not export {name}"
            elif package == "arms" and name and public_names(top)[name] not in ARMS_SEES:
                yield f"{where}: arms sees only query terms and dimensions, not {name}"
        elif top in ONLY_IN and not ONLY_IN[top](path):
            yield f"{where}: {top} has no place here"
        elif top in ONLY_AT_EDGES and not is_edge(path):
            yield f"{where}: {top} in protocol code"


def banned_breaches(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    if is_edge(path):
        return
    from_imports = {(module, name) for _, module, name in imports(tree)}
    has_random = imports_random(tree)
    if any(module == "random" and name not in (None, "Random") for module, name in from_imports):
        yield f"{path}: global randomness imported"
    for node in nodes_of(tree):
        text = dotted(node)
        named = f"{path}:{getattr(node, 'lineno', 0)}: {text}"
        if text.startswith("random.") and text != "random.Random" and has_random:
            yield f"{named} is global randomness"
        elif text in ("os.environ", "os.getenv", "os.urandom", "time.time"):
            yield f"{named} reads the environment"
        elif text.endswith(("datetime.now", "datetime.utcnow", "datetime.today", "date.today")):
            yield f"{named} reads the clock"
        elif isinstance(node, ast.Call) and dotted(node.func) == "print":
            yield f"{path}:{node.lineno}: print"


def dotted(node: ast.AST) -> str:
    """Names with dots between them, as they are written; what is no name has none."""
    parts = list[str]()
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)])


def imports_random(tree: ast.AST) -> bool:
    """Whether `random` is the module at the top of a file, not an attribute called so."""
    return any(module == "random" and name is None for _, module, name in imports(tree))


def size_breaches(path: PurePosixPath, tree: ast.AST, text: str) -> Iterator[str]:
    lines = text.count("\n")
    if lines > LINES_MAX:
        yield f"{path}: {lines} lines"
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES_MAX:
                yield f"{path}:{node.lineno}: {node.name} has {size} lines"


def docstring_breaches(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    if not ast.get_docstring(tree):
        yield f"{path}: no module docstring"
    holders: list[ast.Module | ast.ClassDef] = [tree]
    while holders:
        for node in holders.pop().body:
            named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if not named or node.name.startswith("_"):
                continue
            if isinstance(node, ast.ClassDef):
                holders.append(node)
            marks = {ast.unparse(mark).split(".")[-1] for mark in node.decorator_list}
            if not ast.get_docstring(node) and not marks & {"overload", "setter"}:
                yield f"{path}:{node.lineno}: {node.name} has no docstring"


def unfinished_breaches(path: PurePosixPath, tree: ast.AST, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if any(mark in line for mark in ("TODO", "FIXME", "XXX", "HACK")):
            yield f"{path}:{number}: {line.strip()}"
    for node in nodes_of(tree):
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield f"{path}:{node.lineno}: NotImplementedError"
        if isinstance(node, ast.ExceptHandler) and [ast.unparse(s) for s in node.body] == ["pass"]:
            yield f"{path}:{node.lineno}: an error is swallowed"


def breaches(path: str, text: str) -> list[str]:
    """Everything that a file breaks."""
    where, tree = PurePosixPath(path), ast.parse(text)
    return [
        *import_breaches(where, tree),
        *room_breaches(where, tree),
        *banned_breaches(where, tree),
        *size_breaches(where, tree, text),
        *docstring_breaches(where, tree),
        *unfinished_breaches(where, tree, text),
    ]


def test_the_five_packages_keep_the_rules() -> None:
    found = [breach for path, text in sources() for breach in breaches(str(path), text)]
    assert not found, "\n" + "\n".join(found)


def circle(texts: dict[str, str]) -> list[str]:
    """Modules that import each other, if only for a type; the first and last are the same."""
    known = {_module(PurePosixPath(path)) for path in texts}
    needs: dict[str, set[str]] = {}
    for path, text in texts.items():
        where = PurePosixPath(path)
        if where.name == "__init__.py" and len(where.parts) == 2:
            continue  # a package's face names what lies behind it
        found = needs.setdefault(_module(where), set())
        for _, module, name in imports(ast.parse(text)):
            inner = f"{module}.{name}"
            found.add(inner if inner in known else module if module in known else "")
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _module(path: PurePosixPath) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = circle({str(path): text for path, text in sources()})
    assert not found, " -> ".join(found)


def test_a_circle_is_seen_also_one_for_a_type() -> None:
    typed = "if TYPE_CHECKING:\n    from chord.a import A"
    texts = {"chord/a.py": "from chord import b", "chord/b.py": typed, "chord/c.py": "import chord"}
    assert set(circle(texts)) == {"chord.a", "chord.b"}
    assert circle({**texts, "chord/b.py": "from chord.c import C"}) == []


def test_no_file_of_the_tests_is_too_long() -> None:
    lines = {path: path.read_text().count("\n") for path in (ROOT / "tests").rglob("*.py")}
    assert len(lines) > 100
    too_long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > LINES_MAX}
    assert not too_long


def test_there_is_something_to_check() -> None:
    assert {path.parts[0] for path, _ in sources()} == set(MAY_IMPORT)


DOC = '"""What this is."""\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("chord/a.py", "import squid"),
        ("squid/a.py", "from arms import Profile"),
        ("meteor/a.py", "import sim"),
        ("meteor/client/a.py", "from meteor.rendezvous.point import Point"),
        ("meteor/keeping/a.py", "from meteor import copies"),
        ("squid/a.py", "from chord.contact import Contact"),
        ("squid/a.py", "from chord import _private"),
        ("arms/a.py", "from chord import Contact"),
        ("chord/a.py", "from . import contact"),
        ("arms/store.py", "import lxml.etree"),
        ("meteor/peer.py", "import aiosqlite"),
        ("meteor/client/session.py", "import aiohttp"),
        ("chord/a.py", "import asyncio"),
        ("sim/a.py", "import time"),
        ("arms/a.py", "import random\nN = random.random()"),
        ("arms/a.py", "from random import choice"),
        ("arms/a.py", "import datetime\nN = datetime.datetime.now()"),
        ("arms/a.py", "N = __import__('datetime').datetime.now()"),
        ("meteor/client/session.py", "import os\nN = os.environ['HOME']"),
        ("chord/a.py", "print(1)"),
        ("chord/a.py", "def ask():\n    return 1"),
        ("chord/a.py", "class Peer:\n    '''A peer.'''\n    def ask(self): return 1"),
        ("chord/a.py", "N = 1\n" * 401),
        ("chord/a.py", "def _long():\n" + "    n = 1\n" * 51),
        ("chord/a.py", "N = 1  # TODO: two"),
        ("chord/a.py", "try:\n    N = 1\nexcept ValueError:\n    pass"),
    ],
)
def test_a_breach_is_seen(path: str, text: str) -> None:
    assert breaches(path, DOC + text), text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("squid/a.py", "from chord import Contact"),
        ("chord/a.py", "import random\nN = random.Random(1)"),
        ("meteor/links/websocket_transport.py", "import asyncio, aiohttp"),
        ("arms/profile_xml.py", "import lxml.etree"),
        ("sim/kernel.py", "import simpy"),
    ],
)
def test_what_is_allowed_passes(path: str, text: str) -> None:
    assert not breaches(path, DOC + text)


def test_a_missing_docstring_of_a_module_is_seen() -> None:
    assert breaches("chord/a.py", "N = 1")
