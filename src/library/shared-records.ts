/** The JSON of a record that is kept, and the same within a text of JSON; made when first needed. */
interface Texts {
  plain: string | null
  quoted: string | null
}

const shared = new WeakMap<object, Texts>()

/** Marks a record that many answers will hold as it is: it never changes any more, and its JSON is made once. */
export function shareRecord<T extends object>(record: T): T {
  if (!shared.has(record)) shared.set(Object.freeze(record), { plain: null, quoted: null })
  return record
}

/** Makes a shared record out of a shared one and what is around it, once; out of one that is not shared, a plain one each time. */
export function shareOnce<From extends object, Around, To extends object>(
  make: (from: From, around: Around) => To,
): (from: From, around: Around) => To {
  const made = new WeakMap<From, Map<Around, To>>()
  return (from, around) => {
    if (!shared.has(from)) return make(from, around)
    const ofFrom = made.get(from) ?? new Map<Around, To>()
    const known = ofFrom.get(around)
    if (known) return known
    const record = shareRecord(make(from, around))
    made.set(from, ofFrom.set(around, record))
    return record
  }
}

/** The JSON of one record, kept where the record is shared. */
export function toRecordText(record: object): string {
  return plainText(record)
}

/** An answer as JSON: what `JSON.stringify` gives. */
export function toJsonText(answer: Record<string, unknown>): string {
  if (shared.has(answer)) return plainText(answer)
  return hasShared(answer) ? assemble(answer, plainText, (frame) => frame) : JSON.stringify(answer)
}

/** An answer as JSON that stands as a text in other JSON: what `JSON.stringify` gives when it is used twice. */
export function toQuotedJsonText(answer: Record<string, unknown>): string {
  if (shared.has(answer)) return `"${quotedText(answer)}"`
  return hasShared(answer) ? `"${assemble(answer, quotedText, quote)}"` : JSON.stringify(JSON.stringify(answer))
}

/** Whether a list of shared records is in it, which is where the records are. */
function hasShared(answer: Record<string, unknown>): boolean {
  for (const name in answer) {
    const value = answer[name]
    if (Array.isArray(value) && isObject(value[0]) && shared.has(value[0])) return true
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Puts an answer together from the texts of its records and of what is around them. */
function assemble(answer: Record<string, unknown>, toText: (record: unknown) => string, around: (frame: string) => string): string {
  const members: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue
    const label = around(`${JSON.stringify(name)}:`)
    members.push(Array.isArray(value) ? `${label}[${value.map(toText).join(',')}]` : label + around(JSON.stringify(value)))
  }
  return `{${members.join(',')}}`
}

function plainText(record: unknown): string {
  const texts = isObject(record) ? shared.get(record) : undefined
  if (!texts) return JSON.stringify(record) ?? 'null'
  texts.plain ??= JSON.stringify(record)
  return texts.plain
}

function quotedText(record: unknown): string {
  const texts = isObject(record) ? shared.get(record) : undefined
  if (!texts) return quote(plainText(record))
  texts.quoted ??= quote(plainText(record))
  return texts.quoted
}

/** A text as it stands between the quotation marks of JSON. */
function quote(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
