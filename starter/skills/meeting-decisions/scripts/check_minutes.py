#!/usr/bin/env python3
"""Check minutes written with assets/minutes-template.md and export their actions.

Usage: python3 check_minutes.py MINUTES.md [--today YYYY-MM-DD]
       [--actions-csv FILE | -] [--force]

Standard library only. Exit codes: 0 nothing found, 1 findings, 2 file unusable.
"""
import argparse
import csv
import datetime as dt
import os
import re
import sys
from collections import Counter

SECTIONS = {
    "decisions": ["no.", "decision", "reason", "decided by", "review"],
    "actions": ["no.", "task", "owner", "due", "status"],
    "open questions": ["no.", "question", "who answers", "needed by"],
}
DONE = {"done", "closed", "completed", "cancelled", "dropped"}
NOBODY = {"", "-", "open", "tbd", "tba", "?", "n/a", "none", "nobody"}
EVERYBODY = {"all", "everyone", "everybody", "team", "the team", "we", "us", "group"}
SEVERAL = re.compile(r"\s*(?:,|;|/|&|\+|\band\b|\bund\b)\s*", re.IGNORECASE)
VAGUE_TASK = re.compile(
    r"^(?:look into|look at|think about|discuss|talk about|talk to|follow up|consider|check|"
    r"keep an eye on|see if|try to|work on|deal with|take care of|explore)\b",
    re.IGNORECASE,
)
VAGUE_DECISION = re.compile(
    r"\b(?:should|could|might|maybe|perhaps|probably|possibly|we discussed|was discussed|try to|as appropriate)\b",
    re.IGNORECASE,
)
VAGUE_TIME = re.compile(r"\b(?:asap|as soon as possible|soon|shortly|in due course|timely)\b", re.IGNORECASE)
PLACEHOLDER = re.compile(r"<(?!!--)(?!https?:)(?!/?(?:br|b|i|em|strong)\b)[^<>\n]{2,}>")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Unusable(Exception):
    """The file cannot be checked; the message is meant for the user."""


def cells(line):
    inner = line.strip()[1:]
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", inner)]


def parse_date(text):
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def parse(text):
    """Return (facts, tables); a table is a list of (line number, {column: cell})."""
    facts, tables, section, columns = {}, {}, None, None
    in_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        if "<!--" in line:
            in_comment = True
        if in_comment:
            in_comment = "-->" not in line
            continue
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            section, columns = heading[1].strip().lower(), None
            if section in SECTIONS:
                tables.setdefault(section, [])
            continue
        fact = re.match(r"[-*]\s+\**([A-Za-z ]+?)\**:\**\s*(.*)$", line)
        if fact and section is not None and section not in SECTIONS:
            facts.setdefault(fact[1].strip().lower(), (number, fact[2].strip()))
        if section in SECTIONS and line.strip().startswith("|"):
            row = cells(line)
            if all(re.fullmatch(r":?-+:?", cell) for cell in row):
                continue
            if columns is None:
                columns = [cell.lower() for cell in row]
                missing = [name for name in SECTIONS[section] if name not in columns]
                if missing:
                    raise Unusable(f"line {number}: table \"{section}\" lacks the column: {', '.join(missing)}")
                continue
            if len(row) != len(columns):
                raise Unusable(f"line {number}: {len(row)} cells instead of {len(columns)} (unescaped | in a cell?)")
            if any(row):
                tables[section].append((number, dict(zip(columns, row))))
    return facts, tables


def people(text):
    return [name for name in (part.strip() for part in re.split(r"[,;]", text)) if name and name.lower() not in NOBODY]


def knows(name, known):
    """True if the name, or a first or last name alone, belongs to a listed person."""
    wanted = name.casefold()
    return any(wanted == other.casefold() or wanted in other.casefold().split() for other in known)


def check(text, today):
    facts, tables = parse(text)
    if not tables:
        raise Unusable("no section Decisions, Actions or Open questions (see assets/minutes-template.md)")
    found = []

    def add(line, message):
        found.append((line, message))

    for number, line in enumerate(text.splitlines(), 1):
        match = PLACEHOLDER.search(line)
        if match and "`" not in line:
            add(number, f"placeholder not filled in: {match[0][:50]}")

    line, value = facts.get("date", (1, ""))
    held = parse_date(value)
    if not held:
        add(line, "the date of the meeting is missing or not written as YYYY-MM-DD")
    known = []
    for key in ("present", "absent"):
        line, value = facts.get(key, (1, ""))
        known += people(value)
        if key == "present" and not people(value):
            add(line, "nobody is listed as present")

    for section in ("decisions", "actions"):
        if section not in tables:
            add(1, f"section {section.capitalize()} is missing (an empty table is fine)")

    for section, rows in tables.items():
        numbers = Counter(row["no."] for _, row in rows)
        for line, row in rows:
            if not row["no."]:
                add(line, f"{section}: number missing")
            elif numbers[row["no."]] > 1:
                add(line, f"{section}: number {row['no.']} is used {numbers[row['no.']]} times")

    for line, row in tables.get("decisions", []):
        label = row["no."] or "decision"
        if len(row["decision"]) < 10:
            add(line, f"{label}: too short to be understood later")
        match = VAGUE_DECISION.search(row["decision"])
        if match:
            add(line, f"{label}: \"{match[0]}\" sounds like a proposal. Was it decided?")
        if row["decided by"].lower() in NOBODY:
            add(line, f"{label}: who decided?")
        if row["review"].lower() not in NOBODY:
            review = parse_date(row["review"])
            if not review:
                add(line, f"{label}: review date is not written as YYYY-MM-DD: {row['review']}")
            elif held and review < held:
                add(line, f"{label}: review date is before the meeting")

    load = Counter()
    for line, row in tables.get("actions", []):
        label = row["no."] or "action"
        done = row["status"].lower() in DONE
        if len(row["task"]) < 5:
            add(line, f"{label}: task missing")
        elif VAGUE_TASK.search(row["task"]) and not done:
            add(line, f"{label}: \"{VAGUE_TASK.search(row['task'])[0]}\" has no visible result. What will exist afterwards?")
        owner = row["owner"]
        if owner.lower() in NOBODY:
            add(line, f"{label}: no owner")
        elif owner.lower() in EVERYBODY:
            add(line, f"{label}: \"{owner}\" is nobody in particular. Who is responsible?")
        else:
            if len([part for part in SEVERAL.split(owner) if part]) > 1:
                add(line, f"{label}: several owners ({owner}). Who is responsible?")
            elif known and not knows(owner, known):
                add(line, f"{label}: {owner} is listed neither as present nor as absent. Do they know about it?")
            if not done:
                load[owner] += 1
        due = parse_date(row["due"])
        if row["due"].lower() in NOBODY or VAGUE_TIME.search(row["due"]):
            add(line, f"{label}: no date" + (f" (\"{row['due']}\")" if row["due"] else ""))
        elif not due:
            add(line, f"{label}: date is not written as YYYY-MM-DD: {row['due']}")
        elif held and due < held and row["status"].lower() == "new":
            add(line, f"{label}: due before the meeting took place ({due})")
        elif due.weekday() >= 5 and not done:
            add(line, f"{label}: {due} is a {due:%A}. Intended?")
        if due and today and due < today and not done:
            add(line, f"{label}: overdue by {(today - due).days} days ({owner})")
    for owner, amount in load.items():
        if amount > 5:
            add(1, f"{owner} has {amount} open actions. Is that realistic?")

    for line, row in tables.get("open questions", []):
        label = row["no."] or "question"
        if row["who answers"].lower() in NOBODY | EVERYBODY:
            add(line, f"{label}: nobody is to answer this question")
        if row["needed by"].lower() not in NOBODY and not parse_date(row["needed by"]):
            add(line, f"{label}: date is not written as YYYY-MM-DD: {row['needed by']}")
    found.sort()
    return found, facts, tables


def export(tables, facts, target, force):
    rows = [["no", "task", "owner", "due", "status", "meeting date"]]
    held = facts.get("date", (1, ""))[1]
    for _, row in tables.get("actions", []):
        values = [row["no."], row["task"], row["owner"], row["due"], row["status"], held]
        # A leading apostrophe keeps spreadsheets from executing the cell.
        rows.append(["'" + v if v.startswith(FORMULA) and v != "-" else v for v in values])
    if target == "-":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    if os.path.exists(target) and not force:
        raise Unusable(f"{target} already exists (use --force to replace it)")
    with open(target, "w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


def iso_date(text):
    value = parse_date(text)
    if not value:
        raise argparse.ArgumentTypeError("has to be a date such as 2025-04-01")
    return value


def main():
    parser = argparse.ArgumentParser(description="Check minutes and export their actions.")
    parser.add_argument("file", help="Markdown file based on the template")
    parser.add_argument("--today", type=iso_date, help="also report actions that are overdue on this day")
    parser.add_argument("--actions-csv", metavar="FILE", help="write the actions as CSV, - for standard output")
    parser.add_argument("--force", action="store_true", help="replace an existing CSV file")
    args = parser.parse_args()
    try:
        with open(args.file, encoding="utf-8-sig") as handle:
            text = handle.read()
        found, facts, tables = check(text, args.today)
        if args.actions_csv:
            export(tables, facts, args.actions_csv, args.force)
    except UnicodeDecodeError:
        print(f"check_minutes: {args.file}: not a UTF-8 text file", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"check_minutes: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    except Unusable as problem:
        print(f"check_minutes: {args.file}: {problem}", file=sys.stderr)
        return 2
    stream = sys.stderr if args.actions_csv == "-" else sys.stdout
    for line, message in found:
        print(f"{args.file}:{line}: {message}", file=stream)
    counts = ", ".join(f"{len(tables.get(s, []))} {s}" for s in SECTIONS)
    print(f"{counts}. {len(found)} finding{'' if len(found) == 1 else 's'}.", file=stream)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
