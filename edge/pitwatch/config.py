"""What a table's file says: which table this is, what it plays, where its camera hangs, whom it tells.

In: a `table.toml`. Out: a `TableConfig`, or a UserError that names file, line, key and remedy. Relative paths
in the file are relative to the folder where it really lies. Secrets are never in it: a broker's password
comes from the environment or from systemd credentials.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pitwatch.capture.controls import CONTROLS
from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.files import check_resolution, load_camera, load_layout
from pitwatch.table.layout import Layout, template

__all__ = [
    "CameraSection",
    "ChipsSection",
    "JournalSection",
    "LayoutSection",
    "MqttSection",
    "TableConfig",
    "TableSection",
    "check_resolution",
    "example_toml",
    "load_table",
    "table_toml",
    "toml_value",
]

_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def _from_folder(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    return path if folder is None else Path(folder, path)


_Path = Annotated[Path, AfterValidator(_from_folder)]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class TableSection(_Section):
    """Which table this is and what it plays."""

    name: _Name = Field(
        title="Table",
        description="The table's name, as the pit calls it: letters, digits, '.', '_' and '-'.",
        examples=["BJ-07"],
    )
    site: _Name = Field(
        default="casino", title="Site", description="The house or the pit; part of every MQTT topic."
    )
    rules: str | dict[str, Any] = Field(
        default="greektown",
        title="House rules",
        description="A rule profile's name, a .json file of your own (`pitwatch rules check` reads it), or a "
        'table { profile = "greektown", <rule> = <value> } that changes single rules.',
    )
    decks: int | None = Field(
        default=None,
        ge=1,
        le=12,
        title="Decks",
        description="Decks in the shoe; left out: unknown.",
        examples=[6],
    )
    minimum: int | None = Field(
        default=None,
        ge=1,
        title="Table minimum",
        description="Smallest wager in cents; left out: not judged.",
        examples=[1000],
    )
    maximum: int | None = Field(
        default=None,
        ge=1,
        title="Table maximum",
        description="Largest wager in cents; left out: not judged.",
        examples=[50000],
    )
    meter: int | None = Field(
        default=None,
        ge=0,
        title="Meter",
        description="What the progressive meter shows, in cents; left out: its share is not judged.",
        examples=[250000],
    )

    @field_validator("rules")
    @classmethod
    def _own_rules(cls, rules: str | dict[str, Any], info: ValidationInfo) -> str | dict[str, Any]:
        own = isinstance(rules, str) and rules.endswith(".json")
        return str(_from_folder(Path(rules), info)) if own and isinstance(rules, str) else rules

    @model_validator(mode="after")
    def _ordered(self) -> TableSection:
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(
                f"'minimum' ({self.minimum}) is above 'maximum' ({self.maximum}); both are cents"
            )
        return self


class CameraSection(_Section):
    """Where the pictures come from, and how the camera sees the table."""

    calibration: _Path = Field(
        title="Calibration",
        description="The camera's lens and pose, written by `pitwatch calibrate pose`.",
        examples=["calibration.json"],
    )
    source: str | None = Field(
        default=None,
        title="Source",
        description="A video file, a folder of pictures, a device such as v4l2:/dev/video0, or sim:; "
        "`--source` comes first.",
        examples=["v4l2:/dev/video0"],
    )
    controls: dict[str, int] = Field(
        default_factory=dict,
        title="Controls",
        description="Exposure, white balance, focus and the like as `pitwatch setup` locked them; set "
        "again and verified each time the camera is opened.",
        examples=[{"auto_exposure": 1, "exposure_time_absolute": 80}],
    )

    @field_validator("controls")
    @classmethod
    def _known(cls, controls: dict[str, int]) -> dict[str, int]:
        for name in controls:
            if name not in CONTROLS:
                close = difflib.get_close_matches(name, CONTROLS, 1, 0.5)
                raise ValueError(
                    f"names the unknown control '{name}'; "
                    + (f"did you mean '{close[0]}'?" if close else f"there are {', '.join(CONTROLS)}")
                )
        return controls


class LayoutSection(_Section):
    """What is printed on the felt: one of the two keys."""

    file: _Path | None = Field(
        default=None,
        title="Layout file",
        description="A layout.json with the betting spots in mm.",
        examples=["layout.json"],
    )
    template: Literal[5, 6, 7] | None = Field(
        default=None, title="Template", description="The usual felt of 5, 6 or 7 seats.", examples=[6]
    )

    @model_validator(mode="after")
    def _one(self) -> LayoutSection:
        if (self.file is None) == (self.template is None):
            raise ValueError("give either 'file' or 'template', as in template = 6")
        return self


class ChipsSection(_Section):
    """The house's chips."""

    set: str = Field(default="casino", title="Chip set", description="Name of the chip set on the table.")


class MqttSection(_Section):
    """Who is told. Without a URL an embedded broker on 127.0.0.1 is used."""

    url: str | None = Field(
        default=None,
        title="Broker",
        description="mqtt://user@host:port, or mqtts:// for TLS. The password comes from the environment "
        "variable PITWATCH_MQTT_PASSWORD or a systemd credential, never from here.",
        examples=["mqtts://bj-07@pit.example:8883"],
    )
    ca_file: _Path | None = Field(
        default=None,
        title="Certificates",
        description="Certificates to trust for mqtts:// instead of the system's.",
        examples=["ca.pem"],
    )

    @field_validator("url")
    @classmethod
    def _no_secret(cls, url: str | None) -> str | None:
        if url is not None and re.match(r"^[^/]*//[^/@:]*:[^/@]*@", url):
            raise ValueError(
                "holds a password; take it out and set PITWATCH_MQTT_PASSWORD in the environment"
            )
        return url


class JournalSection(_Section):
    """Where everything that happened is kept."""

    path: _Path = Field(
        default=Path("pitwatch.db"), title="Journal", description="The journal's SQLite file on a local disk."
    )


class TableConfig(_Section):
    """One table's file."""

    table: TableSection = Field(title="Table")
    camera: CameraSection = Field(title="Camera")
    layout: LayoutSection = Field(title="Layout")
    chips: ChipsSection = Field(default_factory=ChipsSection, title="Chips")
    mqtt: MqttSection = Field(default_factory=MqttSection, title="MQTT")
    journal: JournalSection = Field(default_factory=JournalSection, title="Journal")

    def load_camera(self) -> Camera:
        """The calibrated camera. Raises UserError as `pitwatch.table.files.load_camera`."""
        return load_camera(self.camera.calibration)

    def load_layout(self) -> Layout:
        """The felt. Raises UserError as `pitwatch.table.files.load_layout`."""
        if self.layout.file is not None:
            return load_layout(self.layout.file)
        return template(self.layout.template or 6)


def load_table(path: str | Path) -> TableConfig:
    """Read a table's file.

    Raises UserError naming the file, where possible the line, the key, the key that was probably meant, and
    the remedy.
    """
    p = Path(path)
    try:
        text = p.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{p} does not exist; begin with a copy of calibration/table.example.toml") from None
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise UserError(f"{p} cannot be read ({reason}); it should be a table's TOML file") from None
    try:
        obj = _toml.loads(text)
    except _toml.TOMLDecodeError as e:
        raise UserError(f"{p} is not TOML: {e}; correct that line") from None
    # a section left out is read like an empty one, so that its default paths too are the file's neighbours
    empty: dict[str, Any] = {name: {} for name, f in TableConfig.model_fields.items() if not f.is_required()}
    try:
        return TableConfig.model_validate({**empty, **obj}, context={"folder": p.resolve().parent})
    except ValidationError as e:
        # a misspelt key is also a missing one; say it as what it is
        errors = sorted(e.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
        sentence = _sentence(errors[0])
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        line = _line_of(text, tuple(errors[0]["loc"]))
        where = f"{p}, line {line}" if line else str(p)
        raise UserError(f"{where}: {sentence}{more}") from None


def _sections() -> dict[str, type[_Section]]:
    out: dict[str, type[_Section]] = {}
    for name, f in TableConfig.model_fields.items():
        assert isinstance(f.annotation, type)
        assert issubclass(f.annotation, _Section)
        out[name] = f.annotation
    return out


def _sentence(error: Any) -> str:
    loc = tuple(str(k) for k in error["loc"])
    kind, sections = error["type"], _sections()
    section = sections.get(loc[0]) if loc else None
    inside = f" in [{loc[0]}]" if len(loc) > 1 else ""
    if kind == "extra_forbidden":
        key = loc[-1]
        names = list(section.model_fields) if section and len(loc) > 1 else list(sections)
        close = difflib.get_close_matches(key.lower(), names, 1, 0.6)
        if close:
            return f"unknown key '{key}'{inside}; did you mean '{close[0]}'?"
        home = [s for s, m in sections.items() if key in m.model_fields]
        if home:
            return f"the key '{key}' belongs in [{home[0]}]; move it there"
        return f"unknown key '{key}'{inside}; take it out, or use one of {', '.join(names)}"
    if kind == "missing":
        if section is None or len(loc) == 1:
            return f"the section [{loc[0]}] is missing; add it as in calibration/table.example.toml"
        f = section.model_fields[loc[1]]
        example = json.dumps((f.examples or ["..."])[0])
        return f"the key '{loc[1]}'{inside} is missing; add {loc[1]} = {example} ({f.description})"
    if kind == "value_error":
        message = str(error["ctx"]["error"])
        return f"'{loc[1]}'{inside} {message}" if len(loc) > 1 else f"[{loc[0]}] is wrong: {message}"
    if section is None or len(loc) == 1:
        return f"[{loc[0]}] should be a section of keys; write it as in calibration/table.example.toml"
    description = section.model_fields[loc[1]].description
    should = (
        str(error["msg"]).replace("Input should be", "it should be").replace("String should", "it should")
    )
    return f"'{loc[1]}'{inside} is {error['input']!r}; {should} ({description})"


def _line_of(text: str, loc: tuple[str | int, ...]) -> int | None:
    """The line of a key in TOML, counting from 1, as far as sections and keys stand at a line's begin."""
    want = tuple(str(k) for k in loc)
    section: tuple[str, ...] = ()
    header: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        keys = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        if head:
            section = _keys(head[1])
            if section == want or (header is None and section[:1] == want[:1]):
                header = number
        elif keys and want[: len(section) + 1] == (*section, *_keys(keys[1]))[: len(section) + 1]:
            return number
    return header


def _keys(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def toml_value(value: object) -> str:
    """A number, a text, a path or a mapping of such as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    # JSON's escapes are TOML's too
    return json.dumps(str(value), ensure_ascii=False)


def table_toml(values: Mapping[str, Mapping[str, object]], heading: str = "") -> str:
    """A table's file that says `values`, by section and key, beside what every other key means.

    Paths as they are to stand there. heading: a comment's lines for the top.
    """
    out = [f"# {line}" for line in heading.splitlines()]
    out += ["# A table's file. Keys that are commented out show an example or their default."]
    for name, section in _sections().items():
        given = values.get(name, {})
        out += ["", f"# {' '.join((section.__doc__ or '').split())}", f"[{name}]"]
        for key, f in section.model_fields.items():
            out += textwrap.wrap(
                f"{f.title}: {f.description}", 100, initial_indent="# ", subsequent_indent="#   "
            )
            example = (f.examples or [f.default])[0]
            out += [
                f"{key} = {toml_value(given[key])}" if key in given else f"# {key} = {toml_value(example)}"
            ]
    return "\n".join(out) + "\n"


def example_toml() -> str:
    """A table's file with every key and what it means; what is optional is commented out."""
    wanted: dict[str, dict[str, object]] = {}
    for name, section in _sections().items():
        for key, f in section.model_fields.items():
            # the layout needs one of its keys
            if f.is_required() or (name, key) == ("layout", "template"):
                wanted.setdefault(name, {})[key] = (f.examples or [f.default])[0]
    return table_toml(wanted)


if __name__ == "__main__":
    sys.stdout.write(example_toml())
