"""The pit over HTTP, as `docs/pit-api.md` describes it.

In: requests. Out: JSON, pictures, files, a stream of events. Every route says which role it needs.
"""
