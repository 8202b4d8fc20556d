import {
  type CaseResult,
  type EvalRun,
  MAX_CASES,
  MAX_RESULTS,
  type ResultFormat,
  toBoundedText,
  toCaseId,
} from '../../domain/evals/evals.ts'
import { decodeText, encodingFault, type SkillFile } from '../../domain/skills/skill.ts'
import { isObject, parseJson } from '../../domain/text/json.ts'
import type { Fields } from '../../domain/text/yaml.ts'
import { AppError } from '../../errors.ts'
import { ALL_CASES, amount, JSON_FORMATS, MAX_TEXT, type RunParts, toMs, toTime, UNMEASURED, UNSAID } from './json-formats.ts'

/** Deepest nesting of elements, and most of them. */
const MAX_DEPTH = 64
const MAX_ELEMENTS = 200_000
/** Longest text decoded. */
const MAX_DECODED = MAX_TEXT * 4

interface Element {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: Element[]
  text: string
}

/** Values of `status` with which GoogleTest and CTest write a disabled test, without `skipped`. */
const UNRUN: ReadonlySet<string> = new Set(['notrun', 'disabled'])

/** A comment, an instruction, a CDATA section, a closing tag, an opening one (of at most 50 attributes), or text. */
const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*')){0,50})\s*(\/?)>|([^<]+)/y
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Text with character references and the five named ones resolved; others stay, for there is no DTD to name them. */
function decode(text: string): string {
  return text.slice(0, MAX_DECODED).replaceAll(/&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/g, (all, hex, decimal, name) => {
    if (name !== undefined) return NAMED[String(name)] ?? all
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

/** All elements of an XML text in their order, parsed in one pass without DTDs and entities. @throws AppError `invalid_input` */
function parseXml(text: string, filename: string): Element[] {
  const refuse = (why: string) => new AppError('invalid_input', `${filename} ${why}.`)
  const all: Element[] = []
  const open: Element[] = [{ name: '', attributes: new Map(), children: [], text: '' }]
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)
    if (text.startsWith('<!DOCTYPE', at)) throw refuse('has a DTD, which is not read. Remove it')
    const top = open.at(-1)
    if (!token || !top) throw refuse(`is not valid XML, or is cut off, at character ${at}`)
    const [, data, closed, opened, attributes = '', empty, plain] = token
    if (top.text.length < MAX_TEXT) top.text += data?.slice(0, MAX_DECODED) ?? decode(plain ?? '')
    if (closed !== undefined) {
      if (closed !== top.name) throw refuse(`is not valid XML: </${closed.slice(0, 40)}> ends nothing at character ${at}`)
      open.pop()
    }
    if (opened === undefined) continue
    const pairs = [...attributes.matchAll(ATTRIBUTE)].map(
      ([, name = '', double, single]) => [name, decode(double ?? single ?? '')] as const,
    )
    const element: Element = { name: opened, attributes: new Map(pairs), children: [], text: '' }
    top.children.push(element)
    if (all.push(element) > MAX_ELEMENTS) throw refuse(`has more than ${MAX_ELEMENTS} elements`)
    if (empty === '' && open.push(element) > MAX_DEPTH) throw refuse(`is nested more than ${MAX_DEPTH} deep`)
  }
  if (open.length > 1) throw refuse(`is cut off: it ends within <${open.at(-1)?.name}>. Send the whole file`)
  return all
}

/**
 * JUnit XML as most tools write it (github.com/testmoapp/junitxml): a `testcase` is a case, and it passes without `failure`, `error` and
 * `skipped`. A name that several classes have is preceded by its class. @throws AppError `invalid_input`
 */
function readJunit(text: string, filename: string): RunParts {
  const all = parseXml(text, filename)
  if (!all[0]?.name.startsWith('testsuite'))
    throw new AppError('invalid_input', `${filename} is XML, but it does not begin with <testsuites>.`)
  const read = (element: Element, name: string) => element.attributes.get(name) ?? ''
  const describe = (fault: Element) => toBoundedText(read(fault, 'message') || read(fault, 'type') || fault.name, MAX_TEXT)
  const found = all.filter(({ name }) => name === 'testcase')
  const classes = new Map<string, Set<string>>()
  for (const one of found) {
    const name = read(one, 'name')
    classes.set(name, (classes.get(name) ?? new Set()).add(read(one, 'classname')))
  }
  const results = found.map((one): CaseResult => {
    const isShared = (classes.get(read(one, 'name'))?.size ?? 0) > 1
    const faults = one.children.filter(({ name }) => name === 'failure' || name === 'error')
    const isSkipped = UNRUN.has(read(one, 'status')) || one.children.some(({ name }) => name === 'skipped')
    const passed = faults.length > 0 ? false : isSkipped ? null : true
    return {
      ...UNMEASURED,
      case: toCaseId(`${isShared ? `${read(one, 'classname')} ` : ''}${read(one, 'name')}`) || 'unnamed',
      passed,
      score: passed === null ? null : passed ? 1 : 0,
      assertions: faults.map((fault) => ({
        text: describe(fault),
        passed: false,
        evidence: toBoundedText(fault.text.trim(), MAX_TEXT) || null,
      })),
      durationMs: toMs(amount.parse(Number.parseFloat(read(one, 'time').replaceAll(',', '')))),
      error: faults.filter(({ name }) => name === 'error').map(describe)[0] ?? null,
    }
  })
  // The epoch stands for what did not start (jest-junit, GoogleTest).
  const startedAt = toTime(
    all.map((element) => read(element, 'timestamp')).find((value) => value !== '' && !value.startsWith('1970-01-01')),
  )
  // An error outside of all cases: the suite broke off, or did not start (TAP::Formatter::JUnit).
  const breaks = all.flatMap(({ name, children }) => (name.startsWith('testsuite') ? children.filter((one) => one.name === 'error') : []))
  const remarks = breaks.map((fault) => `a suite ended with an error (${describe(fault)})`)
  return { ...UNSAID, startedAt, isPartial: breaks.length > 0, results, remarks }
}

/** Most bytes of a result file, or of all files of a run together. */
export const MAX_RESULT_BYTES = 20 * 1024 * 1024
/** Most members of its arrays and objects. */
const MAX_MEMBERS = 2_000_000
const MAX_ASSERTIONS = 200
const MAX_REMARKS = 20

/**
 * Reads the report of a runner, whatever its format: the content decides.
 * @param filename for messages; of a `grading.json` its path, which names the case
 * @throws AppError `too_large` over 20 MiB, 10,000 cases or 100,000 runs; `invalid_input` for a file that is torn, unknown, of another version or empty
 */
export function readResults(bytes: Uint8Array, filename: string): EvalRun {
  return bound(readRun(bytes, filename), filename)
}

/**
 * Reads the files of one run: the `grading.json` of each case, with the `timing.json` in its folder and a `benchmark.json`; or one file of any
 * format. @throws AppError as {@link readResults}, and `invalid_input` for files of several runs
 */
export function readResultFiles(files: readonly Pick<SkillFile, 'filename' | 'bytes'>[]): EvalRun {
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (total > MAX_RESULT_BYTES) throw refuseLarge(total, 'The files')
  const folderOf = (filename: string) => filename.slice(0, filename.lastIndexOf('/') + 1)
  const isTiming = ({ filename }: { readonly filename: string }) => /(?:^|\/)timing\.json$/.test(filename)
  const timings = new Map(
    files.filter(isTiming).map(({ filename, bytes }) => [folderOf(filename), toFields(toText(bytes, filename), filename)]),
  )
  const reports = files.filter((file) => !isTiming(file))
  const runs = reports.map(({ filename, bytes }) => ({ folder: folderOf(filename), run: readRun(bytes, filename) }))
  const graded = runs.filter(({ run }) => run.format === 'grading')
  const [other, ...rest] = runs.flatMap(({ run }) => (run.format === 'grading' ? [] : [run]))
  if (runs.length === 0 || rest.length > 0 || (graded.length > 0 && other && other.format !== 'benchmark')) {
    const remedy = 'Send one result file, or grading.json files with a benchmark.json'
    throw new AppError('invalid_input', `The files are not those of one run. ${remedy}.`)
  }
  // A benchmark.json with runs repeats the grading.json files.
  if (other && (graded.length === 0 || other.results.some((result) => result.case !== ALL_CASES))) return bound(other, 'The file')
  const results = graded.flatMap(({ folder, run }) => {
    const { duration_ms: ms, total_tokens: tokens } = timings.get(folder) ?? {}
    return run.results.map((one) => ({
      ...one,
      durationMs: amount.parse(ms) ?? one.durationMs,
      tokens: amount.parse(tokens) ?? one.tokens,
    }))
  })
  const remarks = [...new Set(graded.flatMap(({ run }) => run.remarks))]
  return bound({ ...UNSAID, ...other, format: 'grading', results, remarks }, 'The files')
}

function refuseLarge(length: number, what: string): AppError {
  const remedy = 'Send fewer cases, without transcripts'
  return new AppError('too_large', `${what} has ${length} bytes; the limit is ${MAX_RESULT_BYTES} (20 MiB). ${remedy}.`)
}

function refuseMany(what: string, runs: number, cases = runs): AppError {
  const limits = `the limits are ${MAX_CASES} and ${MAX_RESULTS}`
  return new AppError('too_large', `${what} has ${cases} cases and ${runs} runs of them; ${limits}. Send them as several runs.`)
}

function readRun(bytes: Uint8Array, filename: string): EvalRun {
  if (bytes.length > MAX_RESULT_BYTES) throw refuseLarge(bytes.length, filename)
  const text = toText(bytes, filename)
  if (text.trimStart().startsWith('<')) return { format: 'junit', ...readJunit(text.trimStart(), filename) }
  const fields = toFields(text, filename)
  // Checked first, for a schema names every fault of every entry.
  const lists = Object.values(isObject(fields['results']) ? fields['results'] : fields).filter(Array.isArray)
  for (const { length } of lists) if (length > MAX_RESULTS) throw refuseMany(filename, length)
  for (const [format, { matches, read }] of Object.entries(JSON_FORMATS) as [ResultFormat, (typeof JSON_FORMATS)['grading']][]) {
    if (matches(fields)) return { format, ...read(fields, filename) }
  }
  const keys = Object.keys(fields).map((key) => key.slice(0, 40).toWellFormed())
  const titles = Object.values(JSON_FORMATS).map(({ title }) => title)
  const fault = `has no format known here (its fields: ${keys.slice(0, 8).join(', ') || 'none'})`
  throw new AppError('invalid_input', `${filename} ${fault}. Send ${titles.join(', ')}, or JUnit XML.`)
}

function toText(bytes: Uint8Array, filename: string): string {
  const text = decodeText(bytes)
  if (text === null) throw new AppError('invalid_input', `${filename} ${encodingFault(bytes)}. Save it as UTF-8 and send it again.`)
  return text.replace(/^\uFEFF/, '')
}

function toFields(text: string, filename: string): Fields {
  const parsed = parseJson(text, MAX_MEMBERS)
  const refuse = (why: string) => new AppError('invalid_input', `${filename} ${why}`)
  if (!parsed.ok && parsed.reason.startsWith('The body')) throw refuse('is not valid JSON; it may have been cut off. Send the whole file.')
  if (!parsed.ok) throw refuse(`cannot be read. ${parsed.reason}`)
  if (!isObject(parsed.value)) throw refuse('is not a JSON object, so it is no result file.')
  return parsed.value
}

/** Holds a run to the limits. */
function bound(run: EvalRun, what: string): EvalRun {
  const cases = new Set(run.results.map((result) => result.case)).size
  if (cases === 0) {
    const why = run.remarks.length > 0 ? `: ${run.remarks.join('; ')}` : '. Run at least one case'
    throw new AppError('invalid_input', `${what} has no results${why}.`)
  }
  if (cases > MAX_CASES || run.results.length > MAX_RESULTS) throw refuseMany(what, run.results.length, cases)
  const isCut = run.results.some(({ assertions }) => assertions.length > MAX_ASSERTIONS)
  const results = run.results.map((one) => ({ ...one, assertions: one.assertions.slice(0, MAX_ASSERTIONS) }))
  const remarks = [...run.remarks.slice(0, MAX_REMARKS), ...(isCut ? [`of each result, ${MAX_ASSERTIONS} assertions are kept`] : [])]
  return { ...run, results, remarks }
}
