"""What each room may know: who imports whom, and what the edge never loads."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pitwatch

ROOT = Path(pitwatch.__file__).parent
MODULES = sorted(
    m.name for m in pkgutil.walk_packages([str(ROOT)], "pitwatch.") if not m.name.endswith("__main__")
)
FOLDERS = sorted({p.parent for p in ROOT.rglob("*.py")})
FILES = sorted(p for folder in FOLDERS for p in folder.glob("*.py"))
# capture opens the simulated table by name, which comes with the demo extra only
DEMO_ONLY = (
    "pitwatch.sim",
    "pitwatch.monitor.page",
    "pitwatch.adapt",
    "pitwatch.setup.page",
    "pitwatch.pit",
)


# these write down what the simulated table did, and watch nothing
TELLERS = ("pitwatch.cli.simulate", "pitwatch.cli.tape")


def name_of(path: Path) -> str:
    parts = ("pitwatch", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(p for p in parts if p != "__init__")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, *, at_once: bool = False) -> frozenset[str]:
    """Modules that a file imports; at_once: only those that it imports while it is loaded."""
    tree = parsed(path)
    out: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if at_once and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if at_once and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            out |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            out.add(node.module)
        waiting += ast.iter_child_nodes(node)
    return frozenset(out)


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


ALLOWED = {
    "pitwatch.cards": set(),
    "pitwatch.chips": set(),
    "pitwatch.rules": {"cards", "chips", "errors"},
    "pitwatch.game": {"cards", "chips", "rules", "errors"},
    "pitwatch.journal": {"errors"},
    "pitwatch.mqtt": {"errors", "journal"},
    "pitwatch.table": {"errors", "vision"},
    "pitwatch.capture": {"errors", "sim"},
    "pitwatch.pit": {"errors", "cards", "chips", "rules", "game", "mqtt"},
}


def test_a_room_imports_only_what_it_may_know() -> None:
    for path in FILES:
        here = room(name_of(path))
        if here in ALLOWED:
            others = {room(m) for m in imports(path) if m.startswith("pitwatch.")} - {here}
            assert others <= {f"pitwatch.{r}" for r in ALLOWED[here]}, path


@pytest.mark.parametrize("name", ["cards", "chips", "rules", "game"])
def test_the_judging_rooms_need_only_the_standard_library(name: str) -> None:
    files = [f for f in FILES if room(name_of(f)) == f"pitwatch.{name}"]
    assert files
    for path in files:
        for module in imports(path):
            top = module.split(".")[0]
            assert top == "pitwatch" or top in sys.stdlib_module_names, f"{path} imports {module}"


@pytest.mark.parametrize("name", ["table", "vision", "sim", "game", "rules"])
def test_no_clock_is_read_where_time_comes_with_the_frames(name: str) -> None:
    allowed = {"pitwatch.sim.child"}  # paces a live simulated camera
    for path in FILES:
        if room(name_of(path)) == f"pitwatch.{name}" and name_of(path) not in allowed:
            assert not imports(path) & {"time", "datetime"}, f"{path} reads a clock"


def test_nothing_but_the_simulated_table_knows_its_script_and_truth() -> None:
    """Whoever watches has no way to the truth; `demo` and `sim` look it up when the watch is over."""
    secret = {"script", "director", "truth", "stage", "rounds", "play", "people", "moves"}
    for path in FILES:
        name = name_of(path)
        if room(name) == "pitwatch.sim" or name in TELLERS:
            continue
        known = {m for m in imports(path) if m.startswith("pitwatch.sim.") and m.split(".")[2] in secret}
        if name == "pitwatch.cli.demo":
            known &= imports(path, at_once=True)
        assert not known, f"{path} imports {known}"


def test_the_demo_extra_is_only_needed_where_it_is_used() -> None:
    for path in FILES:
        name = name_of(path)
        if not name.startswith(DEMO_ONLY) and name not in ("pitwatch.cli.demo", "pitwatch.cli.simulate"):
            tops = {m.split(".")[0] for m in imports(path, at_once=True)}
            assert not tops & {"fastapi", "starlette", "uvicorn", "amqtt", "PIL", "fonts"}, path


def test_what_the_pit_needs_is_only_loaded_by_the_pit() -> None:
    extra = {"sqlalchemy", "alembic", "argon2", "psycopg", "pyarrow"}
    for path in FILES:
        tops = {m.split(".")[0] for m in imports(path, at_once=True)}
        if room(name_of(path)) != "pitwatch.pit":
            assert not tops & extra, path
            if name_of(path) != "pitwatch.cli.pit":
                assert not {m for m in imports(path) if room(m) == "pitwatch.pit"}, path


def test_no_file_imports_what_is_for_training() -> None:
    for path in FILES:
        tops = {m.split(".")[0] for m in imports(path)}
        assert not tops & {"torch", "torchvision", "ultralytics", "matplotlib", "onnx", "models"}, path


def test_the_whole_edge_loads_without_what_is_for_training() -> None:
    script = (
        "import importlib, sys\n"
        f"for name in {MODULES!r}:\n"
        "    importlib.import_module(name)\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('torch', 'torchvision', 'ultralytics')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_all_says_what_is_exported() -> None:
    """`__all__` holds every public class and function of a module, and nothing that is not there."""
    for name in MODULES:
        module = importlib.import_module(name)
        tree = parsed(Path(module.__file__ or ""))
        if not hasattr(module, "__all__"):
            assert len(tree.body) <= 1, f"{name} has no __all__"
            continue
        said = list(module.__all__)
        assert len(said) == len(set(said)), name
        missing = [n for n in said if not hasattr(module, n)]
        assert not missing, f"{name} exports {missing}, which do not exist"
        unsaid = _public(tree) - set(said)
        assert not unsaid, f"{name} defines {sorted(unsaid)} without exporting it"


def _public(tree: ast.Module) -> set[str]:
    """Classes and functions without an underscore; what a decorator hands to somebody else is not counted."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and not node.name.startswith("_")
        and not any(w in ast.unparse(d) for d in node.decorator_list for w in ("command", "router."))
    }


def test_every_module_begins_by_saying_what_it_is() -> None:
    for path in FILES:
        if path.stat().st_size:
            doc = ast.get_docstring(parsed(path))
            assert doc, path


def test_no_module_is_longer_than_can_be_read() -> None:
    long = {name_of(p): n for p in FILES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 500}
    assert not long
