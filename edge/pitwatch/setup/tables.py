"""The table's file that the wizard writes, and house rules as the page asks for them.

In: what was done. Out: `table.toml` with every key explained; what is wrong in a name, a limit or a broker's
address, in one sentence.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pitwatch.config import MqttSection, TableSection, load_table, table_toml
from pitwatch.errors import UserError
from pitwatch.mqtt.url import parse_url
from pitwatch.rules import PROFILES, load_profile
from pitwatch.rules.wording import in_short
from pitwatch.setup.progress import House, Progress

__all__ = ["answers", "checked_house", "house_choices", "proven", "table_text"]

_ANSWER_S = 3.0
_LABELS = {
    "name": "the table's name",
    "site": "the house's name",
    "rules": "the house rules",
    "decks": "the number of decks",
    "minimum": "the table's minimum",
    "maximum": "the table's maximum",
    "url": "the broker's address",
}


def house_choices() -> list[dict[str, str]]:
    """The rule profiles that come with pitwatch, each with what it says in short."""
    out = []
    for name in PROFILES:
        profile = load_profile(name)
        out.append({"name": name, "document": profile.document, "short": in_short(profile)})
    return out


def checked_house(house: House) -> House:
    """The same, once it is sure that a table's file may say so. Raises UserError naming the entry."""
    values = house.model_dump(exclude={"mqtt"}, exclude_none=True)
    if house.minimum is not None and house.maximum is not None and house.minimum > house.maximum:
        raise UserError(
            f"the smallest wager (${house.minimum / 100:,.2f}) is above the largest "
            f"(${house.maximum / 100:,.2f}); exchange them"
        )
    try:
        TableSection.model_validate(values)
        if house.mqtt:
            MqttSection.model_validate({"url": house.mqtt})
    except ValidationError as e:
        error = e.errors(include_url=False)[0]
        key = str(error["loc"][0]) if error["loc"] else ""
        if error["type"] == "value_error":
            text = str(error["ctx"]["error"])
            raise UserError(f"{_LABELS[key]} {text}" if key else text) from None
        if error["type"] == "string_pattern_mismatch":
            raise UserError(
                f"{_LABELS[key]} is {error['input']!r}; use letters, digits, '.', '_' and '-', as in BJ-07"
            ) from None
        message = str(error["msg"]).replace("Input should be", "it should be")
        raise UserError(f"{_LABELS.get(key, key)} is {error['input']!r}; {message}") from None
    load_profile(house.rules)
    if house.mqtt:
        parse_url(house.mqtt)
    return house


def answers(url: str) -> str:
    """Whether a broker can be reached, in a sentence. Raises UserError for an address that is none."""
    broker = parse_url(url)
    try:
        with socket.create_connection((broker.host, broker.port), _ANSWER_S):
            return f"{broker.host}:{broker.port} answers."
    except OSError as e:
        raise UserError(
            f"{broker.host}:{broker.port} does not answer ({e.strerror or e}); check the address and the "
            "network, or go on: what is found waits until the broker is there"
        ) from None


def table_text(progress: Progress, heading: str) -> str:
    """The table's file, which is to lie beside calibration.json and layout.json."""
    house, source = progress.house, progress.source
    assert house is not None
    assert source is not None
    table = house.model_dump(exclude={"mqtt"}, exclude_none=True)
    camera: dict[str, Any] = {"calibration": "calibration.json", "source": _spec(source.spec)}
    if source.controls:
        camera["controls"] = dict(source.controls)
    values: dict[str, dict[str, Any]] = {"table": table, "camera": camera, "layout": {"file": "layout.json"}}
    if house.mqtt:
        values["mqtt"] = {"url": house.mqtt}
    return table_toml(values, heading)


def _spec(spec: str) -> str:
    """A path made absolute: the table's file is not read where the wizard was started."""
    path = Path(spec).expanduser()
    return str(path.resolve()) if path.exists() else spec


def proven(path: Path) -> None:
    """Make sure that what was written reads back. Raises UserError as `load_table` does."""
    config = load_table(path)
    config.load_camera()
    config.load_layout()
