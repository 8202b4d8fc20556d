#!/usr/bin/env python3
"""Scan HTML files for accessibility barriers that are visible in the markup.

Usage: python3 scan_html.py FILE [FILE ...] [--json]      (- reads standard input)

Standard library only, no network, scripts in the page are not executed.
Exit codes: 0 no errors found, 1 errors found, 2 a file could not be read.
"""
import argparse
import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser

VOID = set("area base br col embed hr img input link meta source track wbr".split())
RAW_TEXT = {"script", "style", "template", "noscript"}
NATIVE_CONTROLS = {"a", "button", "input", "select", "textarea", "summary", "option", "label", "area"}
UNLABELLED_TYPES = {"hidden", "submit", "reset", "button", "image"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-errormessage")
VAGUE_LINKS = {"here", "click here", "more", "read more", "learn more", "link", "this", "details", "continue"}
FILE_NAME = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)\s*\Z|\A(?:img|dsc|image|photo)[-_ ]?\d+\Z", re.IGNORECASE)
LEVELS = ["error", "warning", "check"]


class Element:
    def __init__(self, tag, attrs, line, hidden):
        self.tag = tag
        self.attrs = attrs
        self.line = line
        self.hidden = hidden
        self.text = []
        self.has_header_cell = False
        self.has_captions = False

    def content(self):
        return " ".join("".join(self.text).split())


class Scanner(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.findings = []
        self.stack = []
        self.ids = Counter()
        self.id_lines = {}
        self.references = []
        self.labels = []
        self.controls = []
        self.headings = []
        self.tags = Counter()
        self.doc_title = None
        self.main = 0

    def report(self, level, line, criterion, message):
        self.findings.append({"level": level, "line": line, "criterion": criterion, "message": message})

    # Tree building

    def handle_starttag(self, tag, attrs):
        self.open(tag, attrs, closed=False)

    def handle_startendtag(self, tag, attrs):
        # In HTML a slash has no effect, except inside SVG and MathML.
        foreign = any(e.tag in ("svg", "math") for e in self.stack) or tag in ("svg", "math")
        self.open(tag, attrs, closed=foreign)

    def open(self, tag, attrs, closed):
        if any(e.tag in RAW_TEXT for e in self.stack):
            if tag not in VOID and not closed:
                self.stack.append(Element(tag, {}, self.getpos()[0], True))
            return
        attrs = {name: (value or "").strip() for name, value in reversed(attrs)}
        hidden_here = attrs.get("aria-hidden") == "true" or "hidden" in attrs
        hidden = hidden_here or any(e.hidden for e in self.stack)
        element = Element(tag, attrs, self.getpos()[0], hidden)
        self.tags[tag] += 1
        self.inspect(element)
        label = attrs.get("aria-label") or (attrs.get("alt") if tag in ("img", "input", "area") else "")
        self.stack.append(element)
        if label:
            self.handle_data(f" {label} ")
        if tag in VOID or closed:
            self.complete(self.stack.pop())

    def handle_endtag(self, tag):
        for position in range(len(self.stack) - 1, -1, -1):
            if self.stack[position].tag == tag:
                while len(self.stack) > position:
                    self.complete(self.stack.pop())
                return

    def handle_data(self, data):
        if self.stack and self.stack[-1].tag in RAW_TEXT:
            return
        for element in reversed(self.stack):
            if element.attrs.get("aria-hidden") == "true" or "hidden" in element.attrs:
                break
            element.text.append(data)

    def finish(self):
        self.close()
        while self.stack:
            self.complete(self.stack.pop())
        self.check_document()
        self.check_controls()
        self.check_headings()
        self.check_references()
        self.findings.sort(key=lambda f: (LEVELS.index(f["level"]), f["line"], f["message"]))
        return self.findings

    # Checks at the start tag

    def inspect(self, e):
        a, tag, line = e.attrs, e.tag, e.line
        if a.get("id"):
            self.ids[a["id"]] += 1
            self.id_lines.setdefault(a["id"], line)
        for name in REFERENCES:
            for target in a.get(name, "").split():
                self.references.append((name, target, line))
        if tag == "main" or a.get("role") == "main":
            self.main += 1
        if tag == "th" or a.get("role") in ("columnheader", "rowheader"):
            for parent in reversed(self.stack):
                if parent.tag == "table":
                    parent.has_header_cell = True
                    break
        if tag == "track" and a.get("kind", "subtitles").lower() in ("captions", "subtitles"):
            for parent in reversed(self.stack):
                if parent.tag == "video":
                    parent.has_captions = True
                    break
        if tag == "html" and not a.get("lang"):
            self.report("error", line, "3.1.1", "<html> has no lang: screen readers choose the wrong pronunciation")
        if tag == "img" and not e.hidden and "alt" not in a and not named(a):
            if a.get("role") not in ("presentation", "none"):
                self.report("error", line, "1.1.1", f"image without alt: {source(a)}")
        if tag in ("img", "area", "input") and FILE_NAME.search(a.get("alt", "")):
            self.report("warning", line, "1.1.1", f"alt looks like a file name: {a['alt']!r}")
        if tag == "area" and a.get("href") and not a.get("alt") and not named(a):
            self.report("error", line, "1.1.1", "clickable area of an image map without alt")
        if tag == "input" and a.get("type", "").lower() == "image" and not a.get("alt") and not named(a):
            self.report("error", line, "1.1.1", "image button without alt")
        if tag == "meta" and a.get("name", "").lower() == "viewport":
            content = a.get("content", "").lower().replace(" ", "")
            scale = re.search(r"maximum-scale=([\d.]+)", content)
            if re.search(r"user-scalable=(?:no|0)", content) or (scale and to_float(scale[1], 9) < 2):
                self.report("error", line, "1.4.4", "viewport prevents zooming")
        if tag == "meta" and a.get("http-equiv", "").lower() == "refresh":
            if not re.match(r"0\s*(?:;|,|\Z)", a.get("content", "")):
                self.report("error", line, "2.2.1", "page reloads or redirects by itself after a delay")
        if tag == "iframe" and not e.hidden and not named(a):
            self.report("error", line, "4.1.2", "iframe without title")
        if tag in ("audio", "bgsound") and "autoplay" in a and "muted" not in a:
            self.report("error", line, "1.4.2", "audio starts by itself")
        if tag in ("marquee", "blink"):
            self.report("error", line, "2.2.2", f"<{tag}> moves and cannot be stopped")
        tabindex = a.get("tabindex")
        if tabindex and re.fullmatch(r"\+?\d+", tabindex) and int(tabindex) > 0:
            self.report("warning", line, "2.4.3", f"tabindex={tabindex} overrides the natural focus order")
        native = tag in NATIVE_CONTROLS and not (tag == "a" and "href" not in a)
        focusable = (native and tag != "label" and a.get("type", "").lower() != "hidden") or (
            tabindex is not None and re.fullmatch(r"\+?\d+", tabindex)
        )
        if a.get("aria-hidden") == "true" and focusable and tabindex != "-1" and "disabled" not in a:
            self.report("error", line, "4.1.2", f"<{tag}> can be focused but is hidden with aria-hidden")
        if "onclick" in a and not native:
            if not (a.get("role") and tabindex is not None):
                self.report("error", line, "2.1.1", f"<{tag} onclick> cannot be used with the keyboard: use a button or link")
            elif not any(k in a for k in ("onkeydown", "onkeyup", "onkeypress")):
                self.report("check", line, "2.1.1", f"<{tag} role={a['role']} onclick>: is there a handler for Enter and Space?")
        if tag == "a" and not a.get("href") and not a.get("id") and not a.get("name") and not a.get("role"):
            self.report("warning", line, "2.1.1", "<a> without href is neither focusable nor a link")
        if tag == "a" and a.get("href", "").replace(" ", "").lower() in ("#", "javascript:void(0)", "javascript:;"):
            self.report("check", line, "4.1.2", f"link with href={a['href']!r}: should this be a button?")
        if tag in ("button", "select", "textarea", "input") or (tag == "a" and a.get("href")):
            for parent in self.stack:
                if parent.tag == "button" or (parent.tag == "a" and parent.attrs.get("href")):
                    self.report("error", line, "4.1.2", f"<{tag}> inside <{parent.tag}> (line {parent.line})")
                    break
        kind = a.get("type", "").lower()
        if (tag in ("select", "textarea") or (tag == "input" and kind not in UNLABELLED_TYPES)) and not e.hidden:
            wrapper = next((p for p in reversed(self.stack) if p.tag == "label"), None)
            self.controls.append((e, wrapper))

    # Checks at the end tag, when the content is known

    def complete(self, e):
        if any(p.tag in RAW_TEXT for p in self.stack):
            return
        a, tag, line, text = e.attrs, e.tag, e.line, e.content()
        if tag == "title" and not any(p.tag in ("svg", "symbol") for p in self.stack) and self.doc_title is None:
            self.doc_title = text
        if tag == "label":
            self.labels.append((a.get("for"), text, line))
        if tag == "video":
            if "autoplay" in a and "muted" not in a:
                self.report("error", line, "1.4.2", "video with sound starts by itself")
            if not e.has_captions and "muted" not in a:
                self.report("check", line, "1.2.2", "video without a caption track: are captions burnt in or unnecessary?")
        if tag == "table" and a.get("role") not in ("presentation", "none") and not e.has_header_cell and not e.hidden:
            self.report("warning", line, "1.3.1", "table without header cells (<th>)")
        if e.hidden:
            return
        if tag in HEADINGS or a.get("role") == "heading":
            level = int(tag[1]) if tag in HEADINGS else int(to_float(a.get("aria-level", ""), 2))
            if text or named(a):
                self.headings.append((level, line, text))
            else:
                self.report("warning", line, "1.3.1", f"empty heading <{tag}>")
        is_link = (tag == "a" and a.get("href")) or a.get("role") == "link"
        is_button = tag == "button" or a.get("role") == "button"
        if (is_link or is_button) and tag not in ("input", "img") and not text and not named(a):
            what = "link" if is_link else "button"
            detail = f": {a['href'][:60]}" if a.get("href") else ""
            self.report("error", line, "4.1.2", f"{what} without a name{detail}")
        if is_link and text.lower().rstrip(". \u2026>\u00bb") in VAGUE_LINKS and not a.get("aria-label"):
            self.report("check", line, "2.4.4", f"link text {text!r} says little without its surroundings")

    # Checks on the whole document

    def check_document(self):
        if not self.tags["html"] and not self.tags["head"]:
            return
        if not self.doc_title:
            self.report("error", 1, "2.4.2", "page without a <title>")
        if not self.main:
            self.report("check", 1, "1.3.1", "no <main>: the content cannot be reached as a landmark")
        elif self.main > 1:
            self.report("check", 1, "1.3.1", f"{self.main} <main> elements: only one may be visible")
        if not any(level == 1 for level, _, _ in self.headings):
            self.report("warning", 1, "1.3.1", "no <h1>")

    def check_controls(self):
        by_id = {}
        for target, text, line in self.labels:
            if target:
                by_id.setdefault(target, []).append(text)
                self.references.append(("for", target, line))
        for e, wrapper in self.controls:
            a = e.attrs
            labelled = a.get("aria-label") or a.get("aria-labelledby")
            labelled = labelled or any(by_id.get(a.get("id"), [])) or (wrapper and wrapper.content())
            if labelled:
                continue
            described = f"<{e.tag}{' type=' + a['type'] if a.get('type') else ''}>"
            described += f" {a['name']!r}" if a.get("name") else ""
            if a.get("title"):
                self.report("warning", e.line, "3.3.2", f"{described} is named only by title: add a visible label")
            elif a.get("placeholder"):
                self.report("error", e.line, "3.3.2", f"{described} has only a placeholder, which disappears while typing")
            else:
                self.report("error", e.line, "4.1.2", f"{described} has no label")

    def check_headings(self):
        previous = None
        for level, line, text in self.headings:
            if previous is not None and level > previous + 1:
                self.report("check", line, "1.3.1", f"heading level jumps from {previous} to {level}: {text[:50]!r}")
            previous = level

    def check_references(self):
        used = {target for _, target, _ in self.references}
        for name, target, line in self.references:
            if target not in self.ids:
                level = "check" if name == "aria-controls" else "error"
                self.report(level, line, "1.3.1", f"{name} refers to the missing id {target!r}")
        for identifier, amount in self.ids.items():
            if amount > 1 and identifier in used:
                self.report(
                    "error", self.id_lines[identifier], "1.3.1", f"id {identifier!r} is used {amount} times and referred to"
                )


def named(attrs):
    return bool(attrs.get("aria-label") or attrs.get("aria-labelledby") or attrs.get("title"))


def source(attrs):
    return (attrs.get("src") or "no src")[:60]


def to_float(text, fallback):
    try:
        return float(text)
    except ValueError:
        return fallback


def read(path):
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as handle:
            data = handle.read()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        if b"\x00" in data[:4096]:
            raise ValueError("not a text file")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", errors="replace")
    if "<" not in text:
        raise ValueError("contains no HTML")
    return text


def markdown(results):
    out = []
    for path, findings in results:
        counts = Counter(f["level"] for f in findings)
        out += [f"# {path}", "", ", ".join(f"{level}: {counts[level]}" for level in LEVELS), ""]
        if not findings:
            out += ["Nothing found. That says nothing about keyboard, focus, contrast or content.", ""]
            continue
        out += ["| Level | Line | WCAG | Finding |", "| --- | --- | --- | --- |"]
        for f in findings:
            message = " ".join(f["message"].split()).replace("|", "\\|").replace("<", "&lt;")
            out.append(f"| {f['level']} | {f['line']} | {f['criterion']} | {message} |")
        out.append("")
    return "\n".join(out).rstrip()


def main():
    parser = argparse.ArgumentParser(description="Scan HTML files for accessibility barriers.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="HTML file, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    args = parser.parse_args()
    results, unreadable = [], False
    for path in args.files:
        try:
            text = read(path)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            print(f"scan_html: {path}: {reason}", file=sys.stderr)
            unreadable = True
            continue
        scanner = Scanner()
        scanner.feed(text)
        results.append((path, scanner.finish()))
    if args.json:
        print(json.dumps([{"file": p, "findings": f} for p, f in results], ensure_ascii=False, indent=2))
    elif results:
        print(markdown(results))
    if unreadable:
        return 2
    return 1 if any(f["level"] == "error" for _, found in results for f in found) else 0


if __name__ == "__main__":
    sys.exit(main())
