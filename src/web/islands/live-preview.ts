import type { ParsedText } from '../../domain/variables/variables.ts'
import { make } from './elements.ts'
import { post, readPage, takeLast } from './pages.ts'

/** Longest text that is marked while it is typed, in UTF-16 units. */
const MAX_MARKED = 50_000

/** Marks the variables where they stand in a field, by a copy of its text behind it. Gives a function to call when the text changed. */
export function mountMarks(field: HTMLTextAreaElement): (parsed: ParsedText) => void {
  const box = make('div', { className: 'marked' })
  const behind = make('div', { ariaHidden: 'true' })
  const isFocused = document.activeElement === field
  field.replaceWith(box)
  box.append(behind, field)
  // A field that moves loses the focus, and with it what is typed just then.
  if (isFocused) field.focus()
  const scroll = () => {
    behind.scrollTop = field.scrollTop
  }
  field.addEventListener('scroll', scroll)
  return ({ segments }) => {
    // A text that ends with a line break has a last line without anything in it.
    const pieces = segments.map(({ kind, raw }) => (kind === 'text' ? raw : make('mark', {}, raw)))
    behind.replaceChildren(...(field.value.length > MAX_MARKED ? [] : [...pieces, '\n ']))
    scroll()
  }
}

/** Shows the text as it is copied: with defaults, and the names of what has to be filled in. */
export function showPreview(section: HTMLElement, { segments, variables }: ParsedText): void {
  const byName = new Map(variables.map((variable) => [variable.name, variable]))
  const pieces = segments.map((segment) => {
    if (segment.kind !== 'variable') return segment.kind === 'text' ? segment.text : segment.raw
    return make('mark', {}, byName.get(segment.name)?.default || segment.name)
  })
  section.querySelector('.text')?.replaceChildren(...pieces)
  section.hidden = segments.length === 0
}

/** Lists the variables, with the default of each or that it has to be filled in. */
export function showVariables(section: HTMLElement, { variables }: ParsedText): void {
  section.hidden = variables.length === 0
  section.querySelector('ul')?.replaceChildren(
    ...variables.map((variable) => {
      const means = variable.required
        ? section.dataset['required']
        : section.dataset['default']?.replace('{value}', () => variable.default ?? '')
      return make('li', {}, make('mark', {}, variable.name), ` ${means ?? ''}`)
    }),
  )
}

/** Where there is room for a preview; the sheet of the editors says the same. */
const HAS_ROOM = '(min-width: 1100px)'
/** How long typing must rest before the service is asked. */
const REST_MS = 800

/** Shows a Markdown text as it will be, rendered by the service like the page of the skill. Gives a function to call when it changed. */
export function mountMarkdownPreview(section: HTMLElement, field: HTMLTextAreaElement): () => void {
  const room = matchMedia(HAS_ROOM)
  const shown = section.querySelector<HTMLElement>('.prose')
  let drawn: string | null = null
  let asked = 0

  const draw = async (signal: AbortSignal): Promise<void> => {
    const text = field.value
    if (text === drawn || !room.matches) return
    const fields = { do: 'live', filename: section.dataset['liveFile'] ?? '', content: text }
    const own = ++asked
    const answer = await post(location.pathname, fields, signal)
    // The last preview stays when there is none: the service may be busy.
    if (!answer.ok) return
    const made = (await readPage(answer)).querySelector('[data-preview]')
    if (own < asked || !made || !shown) return
    drawn = text
    shown.replaceChildren(...made.childNodes)
    section.hidden = false
  }
  const drawSoon = takeLast(draw, REST_MS)
  room.addEventListener('change', drawSoon)
  takeLast(draw, 0)()
  return drawSoon
}
