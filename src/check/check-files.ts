import { createHash } from 'node:crypto'
import { type UnzipFileInfo, unzipSync } from 'fflate'
import { type MarkedFinding, SEVERITIES, type Severity, shiftSeverity } from '../domain/check/findings.ts'
import { finish } from '../domain/service/running-work.ts'
import { decodeText, SKILL_MD, type SkillFile } from '../domain/skills/skill.ts'
import { findTail, isArchive, isHiddenZip, isZip, pickledGlobal, programOf } from './file-forms.ts'
import { type CheckedFile, type FileView, INVISIBLE, viewFile } from './file-view.ts'
import type { Match, Rule } from './rule.ts'
import { SINK, SOURCE } from './rules/data.ts'
import { TEXT_RULES, WHOLE_RULES } from './rules/index.ts'

/** Findings of one rule in one file that are named: the last one stands for all further ones. */
const MAX_OF_RULE = 5
/** Matches of one rule in one file that become findings; those after them do where they are worse, as far as they are looked at. */
const MAX_MATCHES = 500
const MAX_LOOKED_AT = 20_000
/** Findings that are shown of an item. */
export const MAX_FINDINGS = 200
const MAX_EVIDENCE = 120
/** Files of a zip that are looked at, and their bytes. */
const MAX_ZIPPED = 100
const MAX_UNZIPPED = 2 * 2 ** 20
/** Encoded texts of one file that are decoded, and the characters of each. */
const MAX_DECODED = 20
const MAX_ENCODED = 64 * 1024

/** The report on one file: its findings, and the first places where it reads private data and sends something. */
export interface FileReport {
  readonly findings: readonly MarkedFinding[]
  readonly source: MarkedFinding | null
  readonly sink: MarkedFinding | null
}

/** Characters that evidence shows by their numbers. */
const HIDDEN = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u2028\\u2029${INVISIBLE}]|[\\u{e0000}-\\u{e01ef}]`, 'gu')

/** A text with its invisible characters by their numbers; tabs and ends of lines stay. */
export function spellOut(text: string): string {
  return text.replace(HIDDEN, (hidden) => `⟨U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** The evidence of a match. Of a secret, the first and last characters show. */
function quote(text: string, isSecret = false): string {
  const masked = isSecret ? `${text.slice(0, 6)}…${text.length > 24 ? text.slice(-2) : ''}` : text
  const shown = spellOut(masked.slice(0, MAX_EVIDENCE * 2).replace(/[\r\n\t]+/g, ' ')).toWellFormed()
  return shown.length > MAX_EVIDENCE ? `${shown.slice(0, MAX_EVIDENCE - 1).toWellFormed()}…` : shown
}

/** Characters of a line before and after its evidence that belong to it: some lines are files. */
const AROUND = 500
const around = (line: string, column: number) => line.slice(Math.max(0, column - AROUND), column + AROUND)

/** Tells a finding from others of its rule: it changes with the evidence, its line and the rule. */
function markOf({ id, major = 1 }: Rule, file: string, evidence: string, line: string): string {
  return digestOf([id, major, file, evidence, line.trim()])
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** A finding of a rule, with the severity of the rule and at the beginning of the file unless said otherwise. */
export function findingOf(
  { id, severity, why, fix }: Rule,
  found: Pick<MarkedFinding, 'mark' | 'file' | 'evidence'> & Partial<MarkedFinding>,
): MarkedFinding {
  return { rule: id, severity, line: 1, column: 1, why, fix, ...found }
}

/** The severity of a match where it stands. */
function severityOf(file: FileView, rule: Rule, { at, severity = rule.severity }: Match): Severity {
  return rule.weight === 'data' ? severity : shiftSeverity(severity, file.shiftOf(at, rule.weight))
}

function toFinding(file: FileView, rule: Rule, match: Match, severity: Severity = severityOf(file, rule, match)): MarkedFinding {
  const { at, length } = match
  const place = file.placeOf(at)
  return findingOf(rule, {
    ...place,
    mark: markOf(rule, file.name, file.text.slice(at, at + length), around(file.lines[place.line - 1] ?? '', place.column)),
    severity,
    file: file.name,
    evidence: quote(file.text.slice(at, at + Math.min(length, 400)), rule.isSecret),
  })
}

function isFor({ only, isOfFiles = false }: Rule, { kind, name, headEnd }: FileView): boolean {
  if (isOfFiles && kind === 'prompt') return false
  if (only === undefined) return true
  if (only === 'script') return kind === 'script'
  if (only === 'markdown') return kind === 'markdown' || kind === 'prompt'
  return name === SKILL_MD && (only === 'skill' || headEnd > 0)
}

/** Where a rule matches, in the text as it was written. */
function* matchesOf(rule: Rule, file: FileView): Generator<Match> {
  if (rule.find) yield* rule.find(file)
  if (!rule.pattern || (rule.given && !file.holds(rule.given))) return
  for (const { at, length, match } of file.search(rule.pattern, rule.on)) {
    const severity = rule.weigh ? rule.weigh(match, file, at) : rule.severity
    if (severity !== null && !rule.except?.test(match[0])) yield { at, length, severity }
  }
}

/** Findings of a rule, the worst kept; the last of them stands for those that are left out, and changes with them. */
function boundFindings(found: readonly MarkedFinding[]): readonly MarkedFinding[] {
  if (found.length <= MAX_OF_RULE) return found
  const sorted = sortFindings(found)
  const rest = sorted.slice(MAX_OF_RULE - 1)
  const [last] = rest
  if (!last) return sorted
  const mark = digestOf(rest.map((one) => one.mark).sort())
  return [...sorted.slice(0, MAX_OF_RULE - 1), { ...last, mark, evidence: `${last.evidence} (and ${rest.length - 1} more)` }]
}

/** Findings of rules in a file. Yields between rules. */
function* findIn(file: FileView, rules: readonly Rule[]): Generator<void, MarkedFinding[]> {
  const findings: MarkedFinding[] = []
  for (const rule of rules) {
    if (!isFor(rule, file)) continue
    const found: MarkedFinding[] = []
    let count = 0
    let worst: number = SEVERITIES.length
    for (const match of matchesOf(rule, file)) {
      const severity = severityOf(file, rule, match)
      if (found.length < MAX_MATCHES || SEVERITIES.indexOf(severity) < worst) found.push(toFinding(file, rule, match, severity))
      worst = Math.min(worst, SEVERITIES.indexOf(severity))
      if (++count >= MAX_LOOKED_AT || (worst === 0 && found.length >= MAX_MATCHES)) break
    }
    if (found.length > 0) findings.push(...boundFindings(found))
    yield
  }
  return findings
}

const ENCODED = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{28,}={0,2}/g

/** Texts in base64 or hex that decode to a program, or to a text that breaks rules. */
function* findEncoded(file: FileView): Generator<Match> {
  let decoded = 0
  for (const { at: index, length, match } of file.search(ENCODED)) {
    const [found] = match
    if (found.length > MAX_ENCODED || decoded >= MAX_DECODED) continue
    const before = file.text.slice(Math.max(0, index - 40), index)
    if (/data:(?:image|font)\/[\w+.-]+;base64,$|sha(?:1|256|384|512)[-:]?$/i.test(before)) continue
    decoded++
    for (const encoding of /^[0-9a-f]+$/i.test(found) ? (['hex', 'base64'] as const) : (['base64'] as const)) {
      const bytes = Buffer.from(found, encoding)
      const inner =
        viewFile({ filename: 'decoded.txt', bytes }) ?? viewFile({ filename: 'decoded.txt', bytes: Buffer.from(bytes.toString('utf16le')) })
      const isText = inner !== null && /^[\t\n\r\u0020-\u007e]{12,}/.test(inner.text)
      const breaks =
        isText && finish(findIn(inner, TEXT_RULES)).some(({ severity, rule }) => severity !== 'low' && !rule.startsWith('secrets/'))
      const isOrder =
        isText && /\b(?:curl|wget|bash|sh -c|eval|exec|powershell|import os|subprocess|child_process|socket|https?:\/\/)/.test(inner.text)
      const isHiddenProse = isText && file.shiftOf(index, 'words') > 0 && /(?:[a-z,]{1,15} ){5}/i.test(inner.text)
      if (breaks || isHiddenProse || programOf(bytes) !== null) yield { at: index, length }
      else if (isOrder) yield { at: index, length, severity: 'medium' }
      else continue
      break
    }
  }
}

/** Names of what shows, and what it begins with. */
const SHOWN = /\.(?:png|jpe?g|gif|webp|bmp|ico|svg|pdf|mp[34]|wav|woff2?|ttf|otf|md|txt|csv|json|ya?ml)$/i
/** Office documents and packages are zips by design. */
const ZIP_NAME = /\.(?:zip|docx|xlsx|pptx|odt|ods|odp|epub|jar|whl|skill|mcpb|dxt|vsix|xpi|crx|apk|ipa|potx|dotx|xlsm)$/i
const PICTURE =
  /\.(?:png|jpe?g|gif|webp|bmp|ico|pdf|mp[34]|wav|woff2?|ttf|otf|eot|svgz|tiff?|heic|avif|mov|webm|ogg|parquet|sqlite|npy|onnx)$/i

/** Findings about the bytes of a file that is no text, or not what its name says. */
function* findInBytes({ filename, bytes }: SkillFile, depth: number): Generator<void, MarkedFinding[]> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  const about = (rule: Rule, evidence: string, severity: Severity = rule.severity) =>
    findingOf(rule, { mark: markOf(rule, filename, digest, ''), severity, file: filename, evidence: quote(evidence) })
  const program = programOf(bytes)
  const isScript = bytes[0] === 0x23 && bytes[1] === 0x21
  if (SHOWN.test(filename) && (program !== null || isArchive(bytes) || (isScript && !/\.(?:md|txt)$/i.test(filename))))
    return [about(WHOLE_RULES.disguised, program ?? (isScript ? 'a script' : 'an archive'))]
  if (program !== null) return [about(WHOLE_RULES.program, program, /WebAssembly|Java|Python/.test(program) ? 'medium' : 'high')]
  const global = pickledGlobal(bytes)
  if (global !== null) return [about(WHOLE_RULES.program, `a pickle that calls ${global}`)]
  if (isArchive(bytes) || isHiddenZip(bytes)) return yield* findInArchive(filename, bytes, about, depth)
  // A program behind the end of a picture.
  const tail = findTail(bytes)
  if (tail !== null) return [about(WHOLE_RULES.disguised, tail)]
  return PICTURE.test(filename) ? [] : [about(WHOLE_RULES.unread, 'bytes that are no UTF-8 text')]
}

/** Parts of an office document or a book; programs are none of them. */
const DOCUMENT_PART = /\.(?:xml|rels|xhtml|html?|css|opf|ncx|png|jpe?g|gif|emf|wmf|svg|bin|vml|ttf|odttf)$|^mimetype$/i

/** Findings in a zip, one zip deep; other archives are not opened. */
function* findInArchive(
  filename: string,
  bytes: Uint8Array,
  about: (rule: Rule, evidence: string, severity?: Severity) => MarkedFinding,
  depth: number,
): Generator<void, MarkedFinding[]> {
  const findings = [about(WHOLE_RULES.archive, filename)]
  if (depth > 0) return [about(WHOLE_RULES.unread, `an archive inside an archive: ${filename}`, 'medium')]
  if (!isZip(bytes)) return isHiddenZip(bytes) || ZIP_NAME.test(filename) ? [about(WHOLE_RULES.unread, filename, 'medium')] : findings
  let left = MAX_UNZIPPED
  let skipped = 0
  let count = 0
  const isTaken = ({ originalSize, name }: UnzipFileInfo) => {
    if (name.endsWith('/')) return false
    if (++count > MAX_ZIPPED || originalSize > left || name === '__proto__') {
      skipped++
      return false
    }
    left -= originalSize
    return true
  }
  let inner: Record<string, Uint8Array>
  try {
    inner = unzipSync(bytes, { filter: isTaken })
  } catch {
    return [...findings, about(WHOLE_RULES.unread, 'a damaged or encrypted archive', 'medium')]
  }
  const isDocument = '[Content_Types].xml' in inner || 'mimetype' in inner
  const isOffice = isDocument && ZIP_NAME.test(filename) && !/\.(?:zip|jar|whl|skill|mcpb|dxt|vsix|xpi|crx)$/i.test(filename)
  if (isOffice) findings.length = 0
  else if (ZIP_NAME.test(filename) && /\.(?:docx|xlsx|pptx|od[tsp]|epub|potx|dotx|xlsm)$/i.test(filename))
    findings.push(about(WHOLE_RULES.disguised, 'no document'))
  const reports: FileReport[] = []
  for (const [name, content] of Object.entries(inner)) {
    if (isOffice && DOCUMENT_PART.test(name) && programOf(content) === null) continue
    reports.push(yield* checkSteps({ filename: `${filename}!${name}`.slice(0, 400), bytes: content }, depth + 1))
  }
  findings.push(...joinReports(reports).slice(0, MAX_FINDINGS))
  if (skipped > 0)
    findings.push(
      about(
        WHOLE_RULES.unread,
        `${skipped} files of the archive: at most ${MAX_ZIPPED} files and ${MAX_UNZIPPED / 2 ** 20} MiB are read`,
        'medium',
      ),
    )
  return findings
}

/** The first line where a pattern matches, as a finding of the rule that brings sources and sinks together. */
function firstOf(file: FileView, pattern: RegExp): MarkedFinding | null {
  for (const hit of file.search(pattern)) return toFinding(file, WHOLE_RULES.leak, hit)
  return null
}

/** Lines within which concealment belongs to what it conceals. */
const NEAR = 3

/** Whoever conceals an action from the user knows why: both together are grave. */
function raiseConcealed(findings: readonly MarkedFinding[]): MarkedFinding[] {
  const isAct = ({ rule, severity }: MarkedFinding) => severity !== 'low' && !/^(?:override|hidden|frontmatter|names)\//.test(rule)
  return findings.map((finding) => {
    const isNearAct = () => findings.some((other) => isAct(other) && Math.abs(other.line - finding.line) <= NEAR)
    return finding.rule === 'override/conceal' && finding.severity === 'medium' && isNearAct() ? { ...finding, severity: 'high' } : finding
  })
}

/** Checks one file by itself: what it gives is the same whatever stands beside it. Yields between rules. */
export function* checkSteps(file: CheckedFile, depth = 0): Generator<void, FileReport> {
  const view = viewFile(file)
  const isText = view !== null && decodeText(file.bytes) !== null
  const isShown = SHOWN.test(file.filename) && (view?.text.startsWith('#!') ?? false) && !/\.(?:md|txt)$/i.test(file.filename)
  const inBytes = view === null || !isText || isHiddenZip(file.bytes) || isShown ? yield* findInBytes(file, depth) : []
  if (view === null) return { findings: inBytes, source: null, sink: null }
  const findings = [...inBytes, ...(yield* findIn(view, TEXT_RULES))]
  const encoded = [...findEncoded(view)].map((match) => toFinding(view, WHOLE_RULES.encoded, match))
  findings.push(...boundFindings(encoded))
  yield
  const sink = firstOf(view, SINK)
  return {
    findings: sortFindings(raiseConcealed(findings)),
    source: sink || view.kind !== 'prompt' ? firstOf(view, SOURCE) : null,
    sink,
  }
}

/** Checks one file at once. */
export function checkFile(file: CheckedFile): FileReport {
  return finish(checkSteps(file))
}

/** A text that a person says, such as that of a prompt, as the check reads it. */
export function promptFile(text: string, name = 'prompt'): CheckedFile {
  return { filename: name, bytes: Buffer.from(text), isPrompt: true }
}

/** The worst first, then by place. */
function sortFindings(findings: readonly MarkedFinding[]): MarkedFinding[] {
  return findings.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      a.line - b.line ||
      a.column - b.column,
  )
}

/** A source with the sink that it goes to; the finding changes with both. */
function toLeak(source: MarkedFinding, sink: MarkedFinding): MarkedFinding {
  const isOneFile = source.file === sink.file
  return {
    ...source,
    mark: digestOf([source.mark, sink.mark]),
    severity: isOneFile ? source.severity : shiftSeverity(source.severity, -1),
    evidence: quote(`${source.evidence} … ${sink.evidence} (${isOneFile ? `line ${sink.line}` : `${sink.file}:${sink.line}`})`),
  }
}

/** All findings of an item, the worst first, by the reports of its files. A source in one of its files goes with a sink in another. */
export function joinReports(reports: readonly FileReport[]): MarkedFinding[] {
  const findings = reports.flatMap((report) => report.findings)
  const leaks = reports.flatMap(({ source, sink }) => (source && sink ? [toLeak(source, sink)] : []))
  const source = reports.find((report) => report.source)?.source
  const sink = reports.find((report) => report.sink)?.sink
  if (leaks.length === 0 && source && sink) leaks.push(toLeak(source, sink))
  return sortFindings([...findings, ...leaks])
}

/** Checks the files of a skill, or a prompt by {@link promptFile}. */
export function checkFiles(files: readonly CheckedFile[]): MarkedFinding[] {
  return joinReports(files.map(checkFile)).slice(0, MAX_FINDINGS)
}

/** Longest that other work waits for a check. */
const TURN_MS = 10

/** Runs work to its end, in turns with other work. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (let began = performance.now(); ; ) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - began < TURN_MS) continue
    await new Promise((resume) => setImmediate(resume))
    began = performance.now()
  }
}
