import { type CaseResult, toBoundedText, toCaseId } from '../../domain/evals/evals.ts'
import { AppError } from '../../errors.ts'
import { amount, MAX_TEXT, type RunParts, toMs, toTime, UNMEASURED, UNSAID } from './json-formats.ts'

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
export function readJunit(text: string, filename: string): RunParts {
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
