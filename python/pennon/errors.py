"""The exceptions of pennon: bad input is a ValueError, failed storage an OSError, a lost race a CommitConflict."""


class InvalidInput(ValueError):
    """An argument is wrong: an unknown column, a value out of range, bad SQL."""


class StorageError(OSError):
    """The store failed: permission, no space, a network fault."""


class NotFound(FileNotFoundError, ValueError):
    """A table, a version or a file is missing."""


class Corrupt(OSError):
    """Stored bytes cannot be decoded or contradict each other."""


class Unsupported(NotImplementedError, ValueError):
    """A feature flag, type, version or encoding that this pennon does not know."""


class CommitConflict(RuntimeError):
    """A concurrent commit cannot be rebased over. ``retry_helps`` tells whether redoing the work can succeed."""

    retry_helps = False
