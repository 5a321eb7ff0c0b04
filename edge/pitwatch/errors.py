"""The one kind of error that a user may read: a clear sentence with the remedy in it."""

__all__ = ["UserError"]


class UserError(ValueError):
    """The user's mistake, or a device's: one sentence naming the file, key or device, and the remedy.

    The command line prints it and exits with status 2; no traceback is shown.
    """
