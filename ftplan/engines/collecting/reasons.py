"""Why nothing answered, in words that do not need those of the libraries below."""

from __future__ import annotations

from ftplan.errors import shortened

LATE = "no answer in time (--timeout)"


def reason_of(error: Exception) -> str:
    """Return why nothing answered, without the words of the libraries below."""
    import ssl

    from urllib3 import exceptions

    inner: BaseException | None = error
    if isinstance(error, exceptions.MaxRetryError) and error.reason is not None:
        inner = error.reason
    if isinstance(inner, exceptions.ResponseError):
        return "it sends the request on and on"
    if isinstance(inner, exceptions.NameResolutionError):
        return "its host name is not known"
    if isinstance(inner, (exceptions.TimeoutError, TimeoutError)) and not isinstance(
        inner, exceptions.NewConnectionError
    ):
        return LATE
    causes: list[BaseException] = []
    while inner is not None and inner not in causes:
        causes.append(inner)
        nested = [item for item in inner.args if isinstance(item, BaseException)]
        inner = inner.__cause__ or inner.__context__ or (nested[0] if nested else None)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not accepted: {cause.verify_message} (--ca-file)"
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
        if isinstance(cause, ConnectionResetError):
            return "connection reset"
    system = next((item.strerror for item in causes if isinstance(item, OSError) and item.strerror), None)
    return shortened(system or type(causes[0]).__name__)
