"""Times and durations as people read them: one zone everywhere, a duration never wider than six cells."""

from datetime import UTC, datetime, timedelta, tzinfo

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def duration(ms: int) -> str:
    """`12s`, `18m04s`, `2h10m`, `2d03h`, `123d`: at most six cells up to 99,999 days; never negative."""
    seconds = max(ms, 0) // SECOND
    if seconds < 60:
        return f"{seconds}s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}m{seconds:02}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02}m"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02}h" if days < 100 else f"{min(days, 99_999)}d"


def fine_duration(ms: int) -> str:
    """`240 ms`, `8.8s`, then as `duration`: for one measured thing, not for a column."""
    if ms < SECOND:
        return f"{max(ms, 0)} ms"
    return f"{ms // 100 / 10:.1f}s" if ms < MINUTE else duration(ms)


def at(ms: int, zone: tzinfo) -> datetime:
    """The wall time of epoch milliseconds in the zone of the screen; far-off times are clamped."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    try:
        return (epoch + timedelta(milliseconds=ms)).astimezone(zone)
    except (OverflowError, ValueError):
        return epoch.astimezone(zone)


def minute(ms: int, zone: tzinfo) -> str:
    """`14:02`"""
    return f"{at(ms, zone):%H:%M}"


def second(ms: int, zone: tzinfo) -> str:
    """`14:02:31`"""
    return f"{at(ms, zone):%H:%M:%S}"


def milli(ms: int, zone: tzinfo) -> str:
    """`14:02:31.118`"""
    return f"{second(ms, zone)}.{ms % SECOND:03}"


def day(ms: int, zone: tzinfo) -> str:
    """`29 Nov`: no locale of the environment changes it."""
    moment = at(ms, zone)
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


def moment(ms: int, now_ms: int, zone: tzinfo) -> str:
    """`14:02:31` for today, `28 Nov 14:02:31` for another day."""
    if at(ms, zone).date() == at(now_ms, zone).date():
        return second(ms, zone)
    return f"{day(ms, zone)} {second(ms, zone)}"


def stamp(ms: int, now_ms: int, zone: tzinfo, cells: int) -> str:
    """The time of an event in a column of 8 or 12 cells: today's to the (milli)second, another day's with its date."""
    if at(ms, zone).date() == at(now_ms, zone).date():
        return milli(ms, zone) if cells >= 12 else second(ms, zone)
    return f"{day(ms, zone):>6} {minute(ms, zone)}" if cells >= 12 else f"{day(ms, zone):>6}  "


def exact(ms: int, now_ms: int, zone: tzinfo) -> str:
    """`14:02:31.118` for today, `28 Nov 14:02:31.118` for another day."""
    if at(ms, zone).date() == at(now_ms, zone).date():
        return milli(ms, zone)
    return f"{day(ms, zone)} {milli(ms, zone)}"


def offset(now_ms: int, zone: tzinfo, *, short: bool = False) -> str:
    """The zone as its offset now: `UTC+01:00`, short `+01` (or `+05:30`)."""
    delta = at(now_ms, zone).utcoffset() or timedelta()
    minutes = int(delta.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    hours, minutes = divmod(abs(minutes), 60)
    if short:
        return f"{sign}{hours:02}" + (f":{minutes:02}" if minutes else "")
    return f"UTC{sign}{hours:02}:{minutes:02}"


def size(count: int) -> str:
    """`812 B`, `2.1 KB`, `3.0 MB`"""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.1f} KB"
    return f"{count / 1024 / 1024:.1f} MB"
