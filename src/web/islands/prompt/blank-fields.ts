import { splitControls } from '../../../domain/text/characters.ts'
import { escapeInJson, findQuotedBlanks } from '../../../domain/text/json.ts'
import type { Blank, Filling } from '../../filling.ts'
import { listStored, make, readStored, writeStored } from '../shared.ts'

// Values that were typed into a prompt, kept for this tab alone: they are never sent, and end with the tab.

const PREFIX = 'filling:'

/** The values of a prompt's blanks, by name. What is stored is read with care, for other pages of this service share it. */
function readValues(id: string, names: ReadonlySet<string>): Map<string, string> {
  const values = new Map<string, string>()
  try {
    const stored: unknown = JSON.parse(readStored(PREFIX + id, 'sessionStorage') ?? '{}')
    for (const [name, value] of Object.entries(stored ?? {})) {
      if (names.has(name) && typeof value === 'string' && value !== '') values.set(name, value)
    }
  } catch {
    // Another page wrote something else.
  }
  return values
}

/** Keeps the values of a prompt. Those of other prompts make room when there is none. */
function storeValues(id: string, values: ReadonlyMap<string, string>): void {
  const write = (key: string, kept: string | null) => writeStored(key, kept, 'sessionStorage')
  const kept = values.size === 0 ? null : JSON.stringify(Object.fromEntries(values))
  if (write(PREFIX + id, kept)) return
  for (const key of listStored('sessionStorage')) if (key.startsWith(PREFIX)) write(key, null)
  write(PREFIX + id, kept)
}

/** Set by the palette before it opens a prompt, which is to be filled in at once. */
const ARRIVAL = 'fill-in'

/** Whether the palette led here. */
export function takeArrival(): boolean {
  const isSet = readStored(ARRIVAL, 'sessionStorage') === location.pathname
  writeStored(ARRIVAL, null, 'sessionStorage')
  return isSet
}

// Blanks as fields where they stand in the text.

/** Fields of one page; further blanks show their value as text, so that a text with thousands of them stays quick. */
const MAX_FIELDS = 500
/** A value that may be folded, in UTF-16 units: more than twelve lines of a page. */
const LONG = 800
/** Runs of control characters that are named behind a field. */
const MAX_NAMED = 5

/** A place where a blank stands. */
interface Place {
  /** Null where the value is only shown. */
  readonly field: HTMLTextAreaElement | null
  draw(value: string): void
}

/**
 * Turns the marks of a prompt's text into fields.
 * @param onChange called when a value changes
 */
export function mountBlankFields(article: HTMLElement, filling: Filling, onChange: () => void) {
  const blanks = new Map(filling.blanks.map((blank) => [blank.name, blank]))
  const values = readValues(filling.id, new Set(blanks.keys()))
  const places = new Map<string, Place[]>(filling.blanks.map(({ name }) => [name, []]))
  const source = article.querySelector<HTMLElement>('[data-text]')
  const shown = article.querySelector<HTMLElement>('.written.text') ?? source
  const pieces = source ? readPieces(source) : []
  const quoted = findQuotedBlanks(pieces)
  let count = 0

  const putIn = ({ name, raw }: { readonly name: string; readonly raw: string }, place: number): string => {
    const value = values.get(name)
    if (value === undefined) return blanks.get(name)?.preset ?? raw
    return quoted.has(place) ? escapeInJson(value) : value
  }
  const findValue = (name: string) => values.get(name) ?? blanks.get(name)?.preset
  const draw = (name: string) => {
    for (const place of places.get(name) ?? []) place.draw(values.get(name) ?? '')
  }
  const set = (name: string, value: string) => {
    if (value === '') values.delete(name)
    else values.set(name, value)
    draw(name)
    onChange()
  }
  const addPlace = (mark: HTMLElement, blank: Blank) => {
    const known = places.get(blank.name)
    if (!known) return
    const isRepeated = known.some(({ field }) => field !== null)
    // A field in a link would follow it, and a hundred names with a field each are always there.
    const isField = !mark.closest('a') && (!isRepeated || count < MAX_FIELDS)
    const place = isField ? makeField(mark, blank, (value) => set(blank.name, value), filling.words.longValue) : makeEcho(mark, blank)
    // One value needs one stop of the Tab key.
    if (place.field && isRepeated) place.field.tabIndex = -1
    if (place.field) count++
    known.push(place)
  }

  for (const mark of shown?.querySelectorAll<HTMLElement>('mark[data-blank]') ?? []) {
    const blank = blanks.get(mark.dataset['blank'] ?? '')
    if (blank) addPlace(mark, blank)
  }
  // Rendered Markdown loses what stands in the address of a link, for example.
  for (const blank of filling.blanks) {
    if (places.get(blank.name)?.some(({ field }) => field)) continue
    const mark = make('mark')
    shown?.before(make('p', { className: 'apart-blank' }, `${blank.label}: `, mark))
    addPlace(mark, blank)
  }
  for (const { name } of filling.blanks) draw(name)

  const store = () => storeValues(filling.id, values)
  article.addEventListener('change', store)
  addEventListener('pagehide', store)
  // A selection holds the fields as lines of their own, and those of a source not at all.
  shown?.addEventListener('copy', (event) => {
    const selection = getSelection()
    if (event.target instanceof HTMLTextAreaElement || !selection?.rangeCount) return
    const part = make('div', {}, selection.getRangeAt(0).cloneContents())
    for (const mark of part.querySelectorAll<HTMLElement>('mark[data-blank]')) {
      const name = mark.dataset['blank'] ?? ''
      mark.textContent = findValue(name) ?? `\${${name}}`
      mark.style.whiteSpace = 'pre-wrap'
    }
    if (shown !== source) shown.append(part)
    event.clipboardData?.setData('text/plain', shown === source ? (part.textContent ?? '') : part.innerText)
    part.remove()
    event.preventDefault()
  })

  const fieldsOf = (name: string) => (places.get(name) ?? []).flatMap(({ field }) => field ?? [])
  /** Required blanks without a value, in the order of the text. */
  const findMissing = () => filling.blanks.filter(({ name, preset }) => preset === undefined && !values.has(name))
  return {
    /** The text with values and defaults; an empty required blank stays as it is written. */
    text: () => pieces.map((piece, place) => (typeof piece === 'string' ? piece : putIn(piece, place))).join(''),
    /** Blanks that have a value. */
    countFilled: () => values.size,
    findMissing,
    /** Marks the blanks that are missing, and gives the first the focus. */
    showMissing() {
      const missing = findMissing()
      for (const { name } of missing) for (const field of fieldsOf(name)) field.setAttribute('aria-invalid', 'true')
      fieldsOf(missing[0]?.name ?? '')[0]?.focus()
    },
    focusFirst: () => fieldsOf(filling.blanks[0]?.name ?? '')[0]?.focus(),
    /** Empties all, and gives the first the focus. */
    clear() {
      values.clear()
      for (const { name } of filling.blanks) {
        for (const field of fieldsOf(name)) field.removeAttribute('aria-invalid')
        draw(name)
      }
      store()
      onChange()
      fieldsOf(filling.blanks[0]?.name ?? '')[0]?.focus()
    },
  }
}

/** The text in pieces: what is copied is made from them, whatever is shown. */
function readPieces(source: HTMLElement): (string | { readonly name: string; readonly raw: string })[] {
  return [...source.childNodes].map((node) => {
    const text = node.textContent ?? ''
    const name = node instanceof HTMLElement ? node.dataset['blank'] : undefined
    return name === undefined ? text : { name, raw: text }
  })
}

/** A field in a mark. It lies over a copy of its text, which is as large as the text is and makes the room for it. */
function makeField(mark: HTMLElement, { name, label, preset }: Blank, onInput: (value: string) => void, lengthText: string): Place {
  const placeholder = preset || label
  const field = make('textarea', { rows: 1, autocomplete: 'off', dir: 'auto', placeholder, ariaLabel: label })
  if (preset === undefined) field.setAttribute('aria-required', 'true')
  field.addEventListener('input', () => {
    field.removeAttribute('aria-invalid')
    onInput(field.value)
  })
  // Not at once when the focus leaves: the page would move under the click that took it.
  field.addEventListener('blur', () => setTimeout(() => fold(), 300))
  field.addEventListener('focus', () => fold())
  const room = make('span', { className: 'room' }, field)
  const fold = () => {
    const { length } = field.value
    if (length <= LONG || document.activeElement === field) delete room.dataset['folded']
    else room.dataset['folded'] = lengthText.replace('{n}', length.toLocaleString(document.documentElement.lang))
  }
  mark.dataset['blank'] = name
  mark.classList.add('blank')
  mark.replaceChildren(room)
  keepTogether(mark)
  // What scrolls is a stop of the Tab key while it holds no field.
  mark.closest('[tabindex="0"]')?.removeAttribute('tabindex')
  return {
    field,
    draw(value) {
      if (field.value !== value) field.value = value
      // A line end at the end makes no line by itself.
      room.dataset['shown'] = (value || placeholder).replace(/\n$/, '\n\u200b')
      mark.classList.toggle('filled', value !== '')
      fold()
      // The field itself stays where it is, or it would lose the focus.
      for (const bdi of mark.querySelectorAll('bdi')) bdi.remove()
      room.after(...nameControls(value || (preset ?? '')))
    },
  }
}

/** Keeps a field and the punctuation after it on one line, as they would be in a text. */
function keepTogether(mark: HTMLElement): void {
  const next = mark.nextSibling
  const end = next instanceof Text ? (/^\p{P}{1,2}/u.exec(next.data)?.[0].length ?? 0) : 0
  if (!(next instanceof Text) || end === 0) return
  next.splitText(end)
  const line = make('span', { className: 'together' })
  mark.before(line)
  line.append(mark, next)
}

/** A blank that is only shown. */
function makeEcho(mark: HTMLElement, { preset }: Blank): Place {
  const raw = mark.textContent ?? ''
  return {
    field: null,
    draw(value) {
      mark.replaceChildren(
        ...splitControls(value || (preset ?? raw)).map((piece) => (typeof piece === 'string' ? piece : nameControl(piece))),
      )
    },
  }
}

/** Names the control characters of a value, which a field does not show. */
function nameControls(value: string): HTMLElement[] {
  return splitControls(value, MAX_NAMED).flatMap((piece) => (typeof piece === 'string' ? [] : nameControl({ ...piece, controls: '' })))
}

function nameControl({ name, controls }: { readonly name: string; readonly controls: string }): HTMLElement {
  const mark = make('bdi', {}, controls)
  mark.dataset['controls'] = name
  return mark
}
