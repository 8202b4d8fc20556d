#!/usr/bin/env python3
"""Sort incident events into a UTC timeline with durations and gaps.

Usage: python3 timeline.py EVENTS.txt [--tz +01:00 | --tz Europe/Berlin] [--gap 15]
       python3 timeline.py - < EVENTS.txt

One event per line: a timestamp, then the text. The text may begin with a marker:
[start] [detected] [acknowledged] [mitigated] [resolved]. Lines that begin with #
are comments. Standard library only. Exit codes: 0 fine, 1 lines with problems, 2 no
usable input.
"""
import argparse
import datetime as dt
import re
import sys

MARKERS = ["start", "detected", "acknowledged", "mitigated", "resolved"]
SPANS = [
    ("Start to detected", "start", "detected"),
    ("Detected to acknowledged", "detected", "acknowledged"),
    ("Acknowledged to mitigated", "acknowledged", "mitigated"),
    ("Duration of the effect (start to mitigated)", "start", "mitigated"),
    ("Start to resolved", "start", "resolved"),
]
LINE = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)"
    r"\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?(?=[\s|,;]|$)[\s|,;]*(?P<text>.*)",
    re.IGNORECASE,
)
MARKER = re.compile(r"\[([a-z]+)\]\s*", re.IGNORECASE)


def parse_zone(text):
    """Return a tzinfo for an offset such as +01:00, for Z or UTC, or for a zone name."""
    if text.upper() in ("Z", "UTC"):
        return dt.timezone.utc
    match = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", text)
    if match:
        hours, minutes = int(match[2]), int(match[3])
        if hours > 14 or minutes > 59:
            raise ValueError(f"impossible offset: {text}")
        offset = dt.timedelta(hours=hours, minutes=minutes)
        return dt.timezone(-offset if match[1] == "-" else offset)
    try:
        from zoneinfo import ZoneInfo

        return ZoneInfo(text)
    except Exception:
        raise ValueError(f"unknown time zone: {text} (use an offset such as +01:00)") from None


def parse_events(lines, default_zone):
    events, problems = [], []
    for number, raw in enumerate(lines, 1):
        line = raw.strip().lstrip("\ufeff")
        line = re.sub(r"^[-*]\s+", "", line)
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match:
            problems.append(f"line {number}: no timestamp like 2024-03-05 14:02: {line[:60]}")
            continue
        clock = match["time"].replace(",", ".").split(".")[0]
        clock = clock if clock.count(":") == 2 else clock + ":00"
        try:
            try:
                moment = dt.datetime.strptime(f"{match['date']} {clock}", "%Y-%m-%d %H:%M:%S")
            except ValueError:
                raise ValueError(f"no such date or time: {match['date']} {match['time']}") from None
            zone = parse_zone(match["zone"]) if match["zone"] else default_zone
            moment = moment.replace(tzinfo=zone).astimezone(dt.timezone.utc)
        except (ValueError, OverflowError) as problem:
            problems.append(f"line {number}: {problem}")
            continue
        text, markers = match["text"].strip(), []
        while found := MARKER.match(text):
            name = found[1].lower()
            if name not in MARKERS:
                problems.append(f"line {number}: unknown marker [{name}], kept as text")
                break
            markers.append(name)
            text = text[found.end():]
        if not text:
            problems.append(f"line {number}: event without a description")
            text = "(no description)"
        events.append((moment, number, markers, text))
    events.sort(key=lambda event: (event[0], event[1]))
    return events, problems


def span(delta):
    minutes = round(delta.total_seconds() / 60)
    sign, minutes = ("-" if minutes < 0 else ""), abs(minutes)
    days, rest = divmod(minutes, 1440)
    hours, minutes = divmod(rest, 60)
    parts = [f"{days} d"] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes or not parts else []
    return sign + " ".join(parts)


def render(events, gap_minutes, problems):
    marked = {}
    for moment, number, markers, _ in events:
        for name in markers:
            if name in marked:
                problems.append(f"line {number}: [{name}] occurs more than once, the earliest one counts")
            else:
                marked[name] = moment
    order = [name for name in MARKERS if name in marked]
    for earlier, later in zip(order, order[1:]):
        if marked[later] < marked[earlier]:
            problems.append(f"[{later}] is before [{earlier}]: check the times and their zones")
    zero = marked.get("start", events[0][0])
    several_days = events[0][0].date() != events[-1][0].date()
    pattern = "%Y-%m-%d %H:%M" if several_days else "%H:%M"

    out = [f"All times in UTC, {events[0][0]:%Y-%m-%d}" + (f" to {events[-1][0]:%Y-%m-%d}" if several_days else "")]
    out += ["", "| Time | Since start | Event |", "| --- | --- | --- |"]
    for moment, _, markers, text in events:
        label = "".join(f"**{name}** " for name in markers)
        out.append(f"| {moment.strftime(pattern)} | {span(moment - zero)} | {label}{text.replace('|', chr(92) + '|')} |")
    out += ["", "## Durations", ""]
    if "start" not in marked:
        out.append("- No [start] marker: counted from the first event.")
    for title, first, second in SPANS:
        if first in marked and second in marked:
            out.append(f"- {title}: {span(marked[second] - marked[first])}")
    missing = [f"[{name}]" for name in MARKERS if name not in marked]
    if missing:
        out.append("- Not marked: " + ", ".join(missing))
    gaps = []
    for before, after in zip(events, events[1:]):
        if after[0] - before[0] >= dt.timedelta(minutes=gap_minutes):
            gaps.append(
                f"- {span(after[0] - before[0])} between {before[0].strftime(pattern)} "
                f"and {after[0].strftime(pattern)}: what happened after \"{before[3]}\"?"
            )
    if gaps:
        out += ["", f"## Gaps of {gap_minutes} minutes or more", ""] + gaps
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description="Sort incident events into a UTC timeline.")
    parser.add_argument("file", help="text file with one event per line, or - for standard input")
    parser.add_argument("--tz", default="UTC", help="zone of times without an offset (default UTC)")
    parser.add_argument("--gap", type=int, default=15, help="report gaps of at least this many minutes")
    args = parser.parse_args()
    if args.gap < 1:
        parser.error("--gap has to be at least 1")
    try:
        zone = parse_zone(args.tz)
        if args.file == "-":
            lines = sys.stdin.buffer.read().decode("utf-8-sig").splitlines()
        else:
            with open(args.file, encoding="utf-8-sig") as handle:
                lines = handle.read().splitlines()
    except UnicodeDecodeError:
        print(f"timeline: {args.file}: not a UTF-8 text file", file=sys.stderr)
        return 2
    except (OSError, ValueError) as problem:
        reason = f"{args.file}: {problem.strerror}" if isinstance(problem, OSError) else problem
        print(f"timeline: {reason}", file=sys.stderr)
        return 2
    events, problems = parse_events(lines, zone)
    if events:
        print(render(events, args.gap, problems))
    for problem in problems:
        print(f"timeline: {problem}", file=sys.stderr)
    if not events:
        print("timeline: no events found", file=sys.stderr)
        return 2
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
