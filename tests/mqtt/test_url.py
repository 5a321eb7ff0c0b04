"""Broker URLs are read strictly, and no password is ever in one or shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from pitwatch.errors import UserError
from pitwatch.mqtt import BrokerUrl, parse_url
from pitwatch.mqtt.url import password


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mqtt://broker", BrokerUrl("broker", 1883)),
        ("mqtt://127.0.0.1:18830/", BrokerUrl("127.0.0.1", 18830)),
        ("mqtts://broker.casino.example", BrokerUrl("broker.casino.example", 8883, tls=True)),
        ("mqtts://BJ-07@broker:9883", BrokerUrl("broker", 9883, user="BJ-07", tls=True)),
        ("mqtt://first%20base@[::1]:1884", BrokerUrl("::1", 1884, user="first base")),
    ],
)
def test_a_url_is_read_and_shown_again(url: str, expected: BrokerUrl) -> None:
    assert parse_url(url) == expected
    assert parse_url(str(expected)) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "broker:1883",
        "http://broker",
        "mqtt://",
        "mqtt://:1883",
        "mqtt://broker:port",
        "mqtt://broker:0",
        "mqtt://broker:99999",
        "mqtt://[::1",
        "mqtt://bro ker",
        "mqtt://broker/pitwatch",
        "mqtt://broker?qos=0",
    ],
)
def test_a_malformed_url_names_itself_and_the_right_form(url: str) -> None:
    with pytest.raises(UserError, match="mqtts://user@broker") as error:
        parse_url(url)
    assert repr(url) in str(error.value)


@pytest.mark.parametrize("url", ["mqtt://BJ-07:s3cret@broker", "mqtt://:s3cret@broker:x", "ftp://a:s3cret@b"])
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UserError) as error:
        parse_url(url)
    assert "s3cret" not in str(error.value)


def test_the_refusal_of_a_password_names_where_it_belongs() -> None:
    with pytest.raises(
        UserError, match="environment variable PITWATCH_MQTT_PASSWORD, or the systemd credential"
    ):
        parse_url("mqtt://BJ-07:s3cret@broker")


def test_the_password_comes_from_the_environment_or_a_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PITWATCH_MQTT_PASSWORD", raising=False)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert password() is None
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert password() is None
    (tmp_path / "mqtt-password").write_text("")
    assert password() is None
    (tmp_path / "mqtt-password").write_text("of the credential\n")
    assert password() == "of the credential"
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", "of the environment")
    assert password() == "of the environment"
