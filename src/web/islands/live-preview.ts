import type { ParsedText } from '../../domain/variables/variables.ts'

/** Longest text that is marked while it is typed, in UTF-16 units. */
const MAX_MARKED = 50_000

/** Marks the variables where they stand in a field, by a copy of its text behind it. Gives a function to call when the text changed. */
export function mountMarks(field: HTMLTextAreaElement): (parsed: ParsedText) => void {
  const box = document.createElement('div')
  box.className = 'marked'
  const behind = document.createElement('div')
  behind.setAttribute('aria-hidden', 'true')
  field.replaceWith(box)
  box.append(behind, field)
  const scroll = () => {
    behind.scrollTop = field.scrollTop
  }
  field.addEventListener('scroll', scroll)
  return ({ segments }) => {
    // A text that ends with a line break has a last line without anything in it.
    behind.replaceChildren(...(field.value.length > MAX_MARKED ? [] : [...markPieces(segments), '\n ']))
    scroll()
  }
}

function markPieces(segments: ParsedText['segments']): (string | HTMLElement)[] {
  return segments.map((segment) => {
    if (segment.kind === 'text') return segment.raw
    const mark = document.createElement('mark')
    mark.textContent = segment.raw
    return mark
  })
}

/** Shows the text as it is copied: with defaults, and the names of what has to be filled in. */
export function showPreview(section: HTMLElement, { segments, variables }: ParsedText): void {
  const byName = new Map(variables.map((variable) => [variable.name, variable]))
  const pieces = segments.map((segment) => {
    if (segment.kind !== 'variable') return segment.kind === 'text' ? segment.text : segment.raw
    const mark = document.createElement('mark')
    mark.textContent = byName.get(segment.name)?.default || segment.name
    return mark
  })
  section.querySelector('.text')?.replaceChildren(...pieces)
  section.hidden = segments.length === 0
}

/** Lists the variables, with the default of each or that it has to be filled in. */
export function showVariables(section: HTMLElement, { variables }: ParsedText): void {
  section.hidden = variables.length === 0
  section.querySelector('ul')?.replaceChildren(
    ...variables.map((variable) => {
      const row = document.createElement('li')
      const name = document.createElement('mark')
      name.textContent = variable.name
      const means = variable.required
        ? section.dataset['required']
        : section.dataset['default']?.replace('{value}', () => variable.default ?? '')
      row.append(name, ` ${means ?? ''}`)
      return row
    }),
  )
}
