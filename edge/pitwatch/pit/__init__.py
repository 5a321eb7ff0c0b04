"""The pit: every table on one page.

In: what tables publish over MQTT. Out: a store (SQLite or PostgreSQL), and a page and HTTP interface over it,
as `docs/pit-api.md` describes it. Knows rounds and findings, and nothing of cameras.
"""
