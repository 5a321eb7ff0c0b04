"""Who may: accounts, sessions, bearer tokens, and how often one may try.

In: names, passwords, tokens. Out: `Caller`. Passwords are kept as argon2id, tokens and sessions as SHA-256 of
what their owner holds.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Any, Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import Connection, Engine, delete, func, select, update

from pitwatch.errors import UserError
from pitwatch.pit import schema
from pitwatch.pit.sql import now, writing

__all__ = [
    "ROLES",
    "Caller",
    "Role",
    "TooOften",
    "add_token",
    "add_user",
    "begin_session",
    "by_session",
    "by_token",
    "check_name",
    "check_new_password",
    "check_password",
    "end_sessions",
    "session_length",
    "set_password",
    "sign_in_user",
]

Role = Literal["screen", "viewer", "supervisor", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)
IDLE = 30 * 60_000  # ms without a request
LONGEST = 12 * 3_600_000
SCREEN_LONGEST = 90 * 86_400_000  # of a wall screen's, at whose keyboard nobody sits
SHORTEST_PASSWORD = 12
_WINDOW = 15 * 60_000
_TRIES_NAME, _TRIES_ADDRESS = 5, 20
_hasher = PasswordHasher()
_NOBODY = _hasher.hash(secrets.token_hex(16))  # a name that there is not takes as long as a wrong password


class TooOften(Exception):  # noqa: N818 - a "not now"
    """Too many wrong passwords; `seconds` to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many wrong passwords; try again in {seconds} seconds.")
        self.seconds = seconds


@dataclass(frozen=True)
class Caller:
    """Who asks. user_id: None for a bearer token. session: what the store knows the session by."""

    name: str
    role: Role
    user_id: int | None = None
    session: str | None = None
    csrf: str | None = None
    created_at: int = 0
    used_at: int = 0

    def may(self, role: Role) -> bool:
        """Whether the caller's role is at least this one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def check_name(name: object) -> str:
    """A name for an account. Raises UserError."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w][\w .@-]{0,39}", name) or name != name.strip():
        raise UserError("a name is 1 to 40 letters, digits, spaces or . @ - _, beginning with a letter")
    return name


def check_new_password(password: object) -> str:
    """A password that may be chosen. Raises UserError."""
    if not isinstance(password, str) or not SHORTEST_PASSWORD <= len(password) <= 200:
        raise UserError(f"a password has {SHORTEST_PASSWORD} to 200 characters")
    if len(set(password)) < 5:
        raise UserError("this password repeats too few characters; choose another")
    try:
        password.encode()
    except UnicodeEncodeError:
        raise UserError("this password has half a character in it; choose another") from None
    return password


def add_user(db: Connection, name: object, password: object, role: str) -> int:
    """Make an account; its id. Raises UserError when the name is taken or anything is not as it should be."""
    u = schema.users
    name = check_name(name)
    if role not in ROLES:
        raise UserError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
    hashed = _hasher.hash(check_new_password(password))
    if db.execute(select(u.c.id).where(func.lower(u.c.name) == name.lower())).first():
        raise UserError(f"the name {name!r} is taken")
    made = db.execute(
        u.insert().values(name=name, role=role, password=hashed, created_at=now()).returning(u.c.id)
    )
    return int(made.scalar_one())


def set_password(db: Connection, user_id: int, password: object) -> None:
    """Give an account another password. Raises UserError."""
    hashed = _hasher.hash(check_new_password(password))
    db.execute(update(schema.users).where(schema.users.c.id == user_id).values(password=hashed))


def check_password(hashed: str | None, password: object) -> bool:
    """Whether this is the password; takes as long when there is none."""
    given = password if isinstance(password, str) and len(password) <= 200 else ""
    try:
        return _hasher.verify(hashed or _NOBODY, given.encode("utf-8", "replace")) and hashed is not None
    except (Argon2Error, InvalidHashError):
        return False


def sign_in_user(engine: Engine, name: object, password: object, address: str) -> Any:
    """The account's row, or None when name or password are wrong. Raises TooOften."""
    a, u = schema.attempts, schema.users
    at = now()
    key = name.strip().lower()[:60] if isinstance(name, str) else ""
    key = key.encode("utf-8", "replace").decode().replace("\x00", " ")
    with writing(engine) as db:
        db.execute(delete(a).where(a.c.at < at - _WINDOW))
        for column, value, most in ((a.c.name, key, _TRIES_NAME), (a.c.address, address, _TRIES_ADDRESS)):
            newest = select(a.c.at).where(column == value).order_by(a.c.at.desc()).limit(most)
            tries = db.execute(newest).scalars().all()
            if len(tries) >= most:
                raise TooOften(max(1, (tries[-1] + _WINDOW - at) // 1000))
        # noted beforehand, so that many at once are many
        db.execute(a.insert().values(at=at, name=key, address=address))
        row = db.execute(select(u).where(func.lower(u.c.name) == key)).first()
    if not check_password(row.password if row is not None else None, password) or row is None or row.disabled:
        return None
    with writing(engine) as db:
        db.execute(delete(a).where(a.c.name == key))
        db.execute(update(u).where(u.c.id == row.id).values(last_login_at=at))
    return row


def begin_session(db: Connection, user_id: int) -> tuple[str, str]:
    """A new session: what its owner keeps in the cookie, and its CSRF token."""
    s, u = schema.sessions, schema.users.c
    token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    at = now()
    screens = s.c.user_id.in_(select(u.id).where(u.role == "screen"))
    ended = (s.c.used_at < at - IDLE) | (s.c.created_at < at - LONGEST)
    db.execute(delete(s).where((ended & ~screens) | (s.c.created_at < at - SCREEN_LONGEST)))
    db.execute(s.insert().values(token=_digest(token), user_id=user_id, csrf=csrf, created_at=at, used_at=at))
    return token, csrf


def end_sessions(db: Connection, user_id: int, but: str | None = None) -> None:
    """End every session of an account, `but` one."""
    s = schema.sessions
    gone = delete(s).where(s.c.user_id == user_id)
    db.execute(gone if but is None else gone.where(s.c.token != but))


def session_length(role: Role) -> int:
    """How long a session lasts at most, ms."""
    return SCREEN_LONGEST if role == "screen" else LONGEST


def by_session(db: Connection, token: str) -> Caller | None:
    """Whose session this is; None when it is none, or has ended."""
    s, u = schema.sessions, schema.users
    row = db.execute(
        select(s, u.c.name, u.c.role, u.c.disabled).join(u).where(s.c.token == _digest(token))
    ).first()
    at = now()
    if row is None or row.disabled or at - row.created_at > session_length(row.role):
        return None
    if row.role != "screen" and at - row.used_at > IDLE:
        return None
    return Caller(row.name, row.role, row.user_id, row.token, row.csrf, row.created_at, row.used_at)


def add_token(db: Connection, name: str, role: str, days: int | None = None) -> str:
    """A new bearer token, shown once. Raises UserError."""
    if role not in ROLES:
        raise UserError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
    token = "pwt_" + secrets.token_urlsafe(32)
    at = now()
    expires = None if days is None else at + days * 86_400_000
    t = schema.tokens
    db.execute(
        t.insert().values(
            name=check_name(name), role=role, token=_digest(token), created_at=at, expires_at=expires
        )
    )
    return token


def by_token(db: Connection, token: str) -> tuple[Caller, int, int | None] | None:
    """Whose bearer token this is, its id, and when it was last used."""
    t = schema.tokens
    row = db.execute(select(t).where(t.c.token == _digest(token))).first()
    if row is None or (row.expires_at is not None and row.expires_at < now()):
        return None
    return Caller(f"token {row.name}", row.role), row.id, row.used_at
