#!/usr/bin/env python3
"""Profile a delimited text file as a stream and print a Markdown or JSON report.

Usage: python3 csv_profile.py FILE [--json] [--no-values] [--delimiter D]
       [--encoding E] [--no-header] [--max-rows N] [--top N]

Standard library only. Exit codes: 0 report printed, 2 file could not be read.
"""
import argparse
import codecs
import csv
import datetime
import io
import json
import os
import random
import re
import sys
import zlib
from collections import Counter

DISTINCT_LIMIT = 50_000
ROW_HASH_LIMIT = 1_000_000
SAMPLE_SIZE = 10_000
FIELD_LIMIT = 1_000_000
MISSING_MARKERS = {"na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?"}
BOOLEANS = {"true", "false", "yes", "no", "y", "n"}

INTEGER = re.compile(r"[+-]?\d+\Z")
LEADING_ZERO = re.compile(r"0\d+\Z")
DECIMAL_POINT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?\Z|[+-]?\d+[eE][+-]?\d+\Z")
GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+\Z")
ISO_DATE = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z"
)
LOCAL_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?: \d{1,2}:\d{2}(?::\d{2})?)?\Z")


class Unreadable(Exception):
    """The file cannot be profiled; the message is meant for the user."""


def kind_of(value):
    """Classify one stripped, non-missing value."""
    if INTEGER.match(value):
        return "code" if LEADING_ZERO.match(value) else "integer"
    if DECIMAL_POINT.match(value):
        return "decimal"
    if GROUPED.match(value):
        return "grouped number"
    if DECIMAL_COMMA.match(value):
        return "decimal comma"
    match = ISO_DATE.match(value)
    if match:
        try:
            datetime.date(*(int(part) for part in match.groups()))
            return "date"
        except ValueError:
            return "text"
    if LOCAL_DATE.match(value):
        return "local date"
    if value.lower() in BOOLEANS:
        return "boolean"
    return "text"


def number_of(value, kind):
    if kind == "decimal comma":
        value = value.replace(".", "").replace(",", ".")
    number = float(value)
    return number if abs(number) != float("inf") else None


class Column:
    def __init__(self, name, position):
        self.name = name
        self.position = position
        self.empty = 0
        self.markers = Counter()
        self.kinds = Counter()
        self.values = Counter()
        self.distinct_capped = False
        self.padded = 0
        self.formula = 0
        self.long_integers = 0
        self.line_breaks = 0
        self.count = 0
        self.mean = 0.0
        self.minimum = None
        self.maximum = None
        self.sample = []
        self.first_date = None
        self.last_date = None
        self.first_part_max = 0
        self.second_part_max = 0
        self.longest = 0

    def add(self, raw, rng):
        value = raw.strip()
        if not value:
            self.empty += 1
            return
        if value.lower() in MISSING_MARKERS:
            self.markers[value] += 1
            return
        if value != raw:
            self.padded += 1
        breaks = value.count("\n")
        if breaks > self.line_breaks:
            self.line_breaks = breaks
        if len(value) > self.longest:
            self.longest = len(value)
        kind = kind_of(value)
        self.kinds[kind] += 1
        if value[0] in "=@" or (value[0] in "+-" and kind == "text"):
            self.formula += 1
        known = value if len(value) <= 200 else f"{value[:180]}... #{zlib.crc32(value.encode('utf-8', 'replace')):08x}"
        if known in self.values or len(self.values) < DISTINCT_LIMIT:
            self.values[known] += 1
        else:
            self.distinct_capped = True
        if kind in ("integer", "decimal", "decimal comma"):
            if kind == "integer" and len(value.lstrip("+-")) > 15:
                self.long_integers += 1
            number = number_of(value, kind)
            if number is not None:
                self.count += 1
                self.mean += (number - self.mean) / self.count
                self.minimum = number if self.minimum is None else min(self.minimum, number)
                self.maximum = number if self.maximum is None else max(self.maximum, number)
                if len(self.sample) < SAMPLE_SIZE:
                    self.sample.append(number)
                else:
                    slot = rng.randrange(self.count)
                    if slot < SAMPLE_SIZE:
                        self.sample[slot] = number
        elif kind == "date":
            day = value[:10]
            self.first_date = day if self.first_date is None else min(self.first_date, day)
            self.last_date = day if self.last_date is None else max(self.last_date, day)
        elif kind == "local date":
            first, _, second, _ = LOCAL_DATE.match(value).groups()
            self.first_part_max = max(self.first_part_max, int(first))
            self.second_part_max = max(self.second_part_max, int(second))

    def type_name(self):
        total = sum(self.kinds.values())
        if not total:
            return "empty"
        merged = Counter(self.kinds)
        if merged["decimal"] and merged["integer"]:
            merged["decimal"] += merged.pop("integer")
        if merged["decimal comma"] and merged["integer"]:
            merged["decimal comma"] += merged.pop("integer")
        if merged["code"] and merged["integer"]:
            merged["code"] += merged.pop("integer")
        kind, amount = merged.most_common(1)[0]
        if amount / total >= 0.95:
            return kind
        parts = ", ".join(f"{k} {share(n, total)}" for k, n in merged.most_common(3))
        return f"mixed ({parts})"

    def median(self):
        if not self.sample:
            return None
        ordered = sorted(self.sample)
        middle = len(ordered) // 2
        if len(ordered) % 2:
            return ordered[middle]
        return (ordered[middle - 1] + ordered[middle]) / 2

    def notes(self, rows, show_values):
        filled = sum(self.kinds.values())
        notes = []
        if rows and not filled:
            notes.append("no values at all")
        elif filled > 1 and len(self.values) == 1:
            notes.append("the same value in every filled row")
        if self.markers:
            shown = ", ".join(f"{m!r} {n}x" for m, n in self.markers.most_common(5))
            notes.append(f"counted as missing: {shown}" if show_values else "missing markers such as NA occur")
        if self.kinds["code"]:
            notes.append(f"{amount_of(self.kinds['code'], 'value')} with leading zeros: treat the column as text")
        if self.kinds["grouped number"]:
            notes.append(
                f"{amount_of(self.kinds['grouped number'], 'value')} like 1,234: thousands or decimals? Left out of the statistics"
            )
        if self.kinds["decimal comma"]:
            notes.append(f"{amount_of(self.kinds['decimal comma'], 'value')} with a decimal comma")
        if self.kinds["decimal comma"] and self.kinds["decimal"]:
            notes.append("decimal point and decimal comma in the same column")
        if self.kinds["local date"]:
            day_first, month_first = self.first_part_max > 12, self.second_part_max > 12
            if day_first and month_first:
                notes.append("dates with the day first and dates with the month first are mixed")
            elif day_first:
                notes.append("dates are written with the day first")
            elif month_first:
                notes.append("dates are written with the month first")
            else:
                notes.append("day and month of the dates cannot be told apart")
        if self.kinds["date"] and self.kinds["local date"]:
            notes.append("two different date formats")
        if self.padded:
            notes.append(f"{amount_of(self.padded, 'value')} with spaces at the start or end")
        folded = Counter()
        if not self.distinct_capped:
            for value in self.values:
                folded[value.casefold()] += 1
            if len(folded) < len(self.values):
                notes.append(f"spellings that differ only in case: {len(self.values) - len(folded)}")
        if self.formula:
            notes.append(f"{amount_of(self.formula, 'value')} a spreadsheet could execute as a formula")
        if self.long_integers:
            notes.append(f"{amount_of(self.long_integers, 'integer')} with more than 15 digits")
        if self.line_breaks > 20:
            notes.append(f"a value with {self.line_breaks} line breaks: unclosed quotation mark?")
        if filled > 20 and not self.distinct_capped and len(self.values) == filled == rows:
            notes.append("all values different: possible key")
        return notes

    def report(self, rows, top, show_values):
        missing = self.empty + sum(self.markers.values())
        result = {
            "position": self.position,
            "name": self.name,
            "type": self.type_name(),
            "missing": missing,
            "distinct": len(self.values),
            "distinct_is_lower_bound": self.distinct_capped,
            "longest_value": self.longest,
            "notes": self.notes(rows, show_values),
        }
        if self.count and not self.kinds["code"] and show_values:
            result["numbers"] = {
                "count": self.count,
                "min": self.minimum,
                "median": self.median(),
                "median_is_estimate": self.count > SAMPLE_SIZE,
                "mean": self.mean,
                "max": self.maximum,
            }
        if self.first_date and show_values:
            result["dates"] = {"first": self.first_date, "last": self.last_date}
        if show_values:
            result["frequent"] = [[v, n] for v, n in self.values.most_common(top)]
        return result


def amount_of(number, noun):
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def choose_encoding(path, wanted):
    """Return (encoding, note). Reads the file once in chunks."""
    if wanted:
        try:
            codecs.lookup(wanted)
        except LookupError:
            raise Unreadable(f"unknown encoding: {wanted}") from None
        return wanted, None
    with open(path, "rb") as handle:
        start = handle.read(4096)
        if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise Unreadable("this is a spreadsheet or archive, not a text file; export it as CSV first")
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", None
        if b"\x00" in start:
            raise Unreadable("contains NUL bytes; not text, or UTF-16 without a mark (try --encoding utf-16-le)")
        decoder = codecs.getincrementaldecoder("utf-8")()
        handle.seek(0)
        try:
            while chunk := handle.read(1 << 20):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252", "not valid UTF-8, read as cp1252: check accented characters"
    return "utf-8-sig", None


def choose_delimiter(path, encoding, wanted):
    if wanted:
        wanted = "\t" if wanted.lower() in ("tab", "\\t") else wanted
        if len(wanted) != 1 or wanted in "\r\n\"":
            raise Unreadable("the delimiter has to be a single character, or the word tab")
        return wanted
    with open(path, encoding=encoding, errors="replace", newline="") as handle:
        sample = handle.read(65536)
        if len(sample) == 65536 and "\n" in sample:
            sample = sample[: sample.rindex("\n") + 1]
    best, best_score = ",", (0.0, 0)
    for candidate in ",;\t|":
        counts = Counter()
        try:
            for row in csv.reader(io.StringIO(sample, newline=""), delimiter=candidate):
                if row:
                    counts[len(row)] += 1
        except csv.Error:
            continue
        if not counts:
            continue
        width, amount = counts.most_common(1)[0]
        score = (amount / sum(counts.values()), width)
        if width > 1 and score > best_score:
            best, best_score = candidate, score
    return best


def profile(args):
    path = args.file
    if not os.path.exists(path):
        raise Unreadable("no such file")
    if os.path.isdir(path):
        raise Unreadable("this is a directory")
    size = os.path.getsize(path)
    if size == 0:
        raise Unreadable("the file is empty")
    encoding, encoding_note = choose_encoding(path, args.encoding)
    delimiter = choose_delimiter(path, encoding, args.delimiter)
    warnings = [encoding_note] if encoding_note else []

    csv.field_size_limit(FIELD_LIMIT)
    rng = random.Random(0)
    columns, rows, blank, odd, odd_lines = [], 0, 0, 0, []
    seen, duplicates, seen_capped, complete = set(), 0, False, True
    errors = "replace" if encoding == "cp1252" and not args.encoding else "strict"
    with open(path, encoding=encoding, errors=errors, newline="") as handle:
        reader = csv.reader(handle, delimiter=delimiter)
        try:
            for row in reader:
                if not row or (len(row) == 1 and not row[0].strip()):
                    blank += 1
                    continue
                if not columns:
                    if args.no_header:
                        columns = [Column(f"column {i}", i) for i in range(1, len(row) + 1)]
                    else:
                        names = [cell.strip() for cell in row]
                        columns = [Column(n or f"(unnamed {i})", i) for i, n in enumerate(names, 1)]
                        if any(kind_of(n) not in ("text", "boolean") for n in names if n):
                            warnings.append("the first row looks like data: run again with --no-header if so")
                        if any(not n for n in names):
                            warnings.append("at least one column has no name")
                        twice = [n for n, c in Counter(n.casefold() for n in names if n).items() if c > 1]
                        if twice:
                            warnings.append("column names used more than once: " + ", ".join(twice))
                        continue
                if args.max_rows and rows >= args.max_rows:
                    complete = False
                    break
                rows += 1
                if len(row) != len(columns):
                    odd += 1
                    if len(odd_lines) < 5:
                        odd_lines.append(reader.line_num)
                for column, cell in zip(columns, row):
                    column.add(cell, rng)
                for column in columns[len(row):]:
                    column.empty += 1
                key = hash(tuple(row))
                if key in seen:
                    duplicates += 1
                elif len(seen) < ROW_HASH_LIMIT:
                    seen.add(key)
                else:
                    seen_capped = True
        except csv.Error as problem:
            raise Unreadable(
                f"cannot be parsed near line {reader.line_num}: {problem} (unclosed quotation mark?)"
            ) from None
        except UnicodeError:
            raise Unreadable(f"not valid {encoding} near line {reader.line_num + 1}; try --encoding") from None
    if not columns:
        raise Unreadable("the file contains only blank lines")

    if len(columns) == 1:
        warnings.append("only one column found: is the delimiter right?")
    if rows == 0:
        warnings.append("no data rows, only a header")
    if odd:
        lines = ", ".join(map(str, odd_lines))
        warnings.append(f"{amount_of(odd, 'row')} without exactly {len(columns)} fields (line {lines}{', ...' if odd > 5 else ''})")
    if blank:
        warnings.append(f"{amount_of(blank, 'blank line')} skipped")
    if duplicates:
        warnings.append(f"exact repetitions of an earlier row: {duplicates:,}")
    if seen_capped:
        warnings.append(f"repeated rows were only looked for among the first {ROW_HASH_LIMIT} different rows")
    if not complete:
        warnings.append(f"stopped after {amount_of(rows, 'row')} as requested: figures do not cover the whole file")

    return {
        "file": os.path.basename(path),
        "bytes": size,
        "encoding": encoding,
        "delimiter": delimiter,
        "rows": rows,
        "complete": complete,
        "columns": [c.report(rows, args.top, not args.no_values) for c in columns],
        "warnings": warnings,
    }


def cell_text(value, limit=40):
    text = " ".join(str(value).split())
    text = text if len(text) <= limit else text[: limit - 3] + "..."
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'")


def compact(number):
    size = abs(number)
    if float(number).is_integer() and size < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.2f}" if 100 <= size < 1e15 else f"{number:.4g}"


def markdown(result):
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
    scope = "all rows" if result["complete"] else "not all rows"
    lines = [
        f"# Profile of {cell_text(result['file'], 80)}",
        "",
        f"- {amount_of(result['rows'], 'data row')} ({scope}), "
        f"{amount_of(len(result['columns']), 'column')}, {amount_of(result['bytes'], 'byte')}",
        f"- encoding {result['encoding']}, delimiter {names.get(result['delimiter'], result['delimiter'])}",
    ]
    if result["warnings"]:
        lines += ["", "## Warnings", ""] + [f"- {cell_text(w, 300)}" for w in result["warnings"]]
    lines += [
        "",
        "## Columns",
        "",
        "| # | Name | Type | Missing | Distinct | Range or frequent values |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for c in result["columns"]:
        if "numbers" in c:
            n = c["numbers"]
            about = "about " if n["median_is_estimate"] else ""
            detail = (
                f"{compact(n['min'])} to {compact(n['max'])}, "
                f"median {about}{compact(n['median'])}, mean {compact(n['mean'])}"
            )
        elif "dates" in c:
            detail = f"{c['dates']['first']} to {c['dates']['last']}"
        else:
            detail = "; ".join(f"{cell_text(v)} ({n})" for v, n in c.get("frequent", []))
        more = "more than " if c["distinct_is_lower_bound"] else ""
        lines.append(
            f"| {c['position']} | {cell_text(c['name'])} | {c['type']} | "
            f"{c['missing']:,} ({share(c['missing'], result['rows'])}) | {more}{c['distinct']:,} | {detail} |"
        )
    noted = [c for c in result["columns"] if c["notes"]]
    if noted:
        lines += ["", "## Notes", ""]
        for c in noted:
            lines.append(f"- **{cell_text(c['name'])}**: " + "; ".join(cell_text(n, 200) for n in c["notes"]))
    return "\n".join(lines)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be at least 1")
    return number


def main():
    parser = argparse.ArgumentParser(description="Profile a delimited text file.")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--no-values", action="store_true", help="do not print cell contents")
    parser.add_argument("--delimiter", help="single character, or the word tab")
    parser.add_argument("--encoding", help="for example cp1252 or utf-16-le")
    parser.add_argument("--no-header", action="store_true", help="the first row is data")
    parser.add_argument("--max-rows", type=positive, help="stop after this many data rows")
    parser.add_argument("--top", type=positive, default=3, help="frequent values per column (default 3)")
    args = parser.parse_args()
    try:
        result = profile(args)
    except (Unreadable, OSError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        print(f"csv_profile: {args.file}: {reason}", file=sys.stderr)
        return 2
    print(json.dumps(result, ensure_ascii=False, indent=2) if args.json else markdown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
