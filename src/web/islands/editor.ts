// What the editor does beyond a form: it shows the text as it will be, keeps a draft on this browser, saves by key, and improves in place.
import { countCharacters } from '../../domain/text/characters.ts'
import { type ParsedText, parseVariables } from '../../domain/variables/variables.ts'
import { type Draft, OWN_DRAFTS, readDraft } from './drafts.ts'
import { mountImprove } from './improve-in-place.ts'
import { make, makeButton, post, readPage, takeLast, writeStored } from './shared.ts'

/** Longest text that is marked while it is typed, in UTF-16 units. */
const MAX_MARKED = 50_000

/** Marks the variables where they stand in a field, by a copy of its text behind it. Gives a function to call when the text changed. */
function mountMarks(field: HTMLTextAreaElement): (parsed: ParsedText) => void {
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
function showPreview(section: HTMLElement, { segments, variables }: ParsedText): void {
  const byName = new Map(variables.map((variable) => [variable.name, variable]))
  const pieces = segments.map((segment) => {
    if (segment.kind !== 'variable') return segment.kind === 'text' ? segment.text : segment.raw
    return make('mark', {}, byName.get(segment.name)?.default || segment.name)
  })
  section.querySelector('.text')?.replaceChildren(...pieces)
  section.hidden = segments.length === 0
}

/** Lists the variables, with the default of each or that it has to be filled in. */
function showVariables(section: HTMLElement, { variables }: ParsedText): void {
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
const PREVIEW_REST_MS = 800

/** Shows a Markdown text as it will be, rendered by the service like the page of the skill. Gives a function to call when it changed. */
function mountMarkdownPreview(section: HTMLElement, field: HTMLTextAreaElement): () => void {
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
  const drawSoon = takeLast(draw, PREVIEW_REST_MS)
  room.addEventListener('change', drawSoon)
  takeLast(draw, 0)()
  return drawSoon
}

/** Shows the tags of a field one by one, with a field to add another. The field of all tags stays, hidden: it is what is sent. */
function mountTagChips(box: HTMLElement): void {
  const all = box.querySelector<HTMLInputElement>('input[name="tags"]')
  if (!all) return
  const chips = make('ul', { className: 'chips' })
  // What led to the field of all tags leads here.
  const adding = make('input', { type: 'text', autocomplete: 'off', id: all.id })
  adding.setAttribute('list', 'known-tags')
  all.removeAttribute('id')
  for (const name of ['aria-describedby', 'aria-invalid']) {
    const value = all.getAttribute(name)
    if (value !== null) adding.setAttribute(name, value)
  }

  const most = Number(box.dataset['most'])
  const read = () => splitTags(all.value)
  const write = (tags: readonly string[]) => {
    all.value = tags.join(', ')
    draw()
    all.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const add = () => {
    const added = splitTags(adding.value)
    adding.value = ''
    if (added.length > 0) write([...new Set([...read(), ...added])].slice(0, most))
  }
  const draw = () => {
    chips.replaceChildren(
      ...read().map((tag) => {
        const forget = () => {
          write(read().filter((other) => other !== tag))
          adding.focus()
        }
        const remove = makeButton('×', forget, '')
        remove.ariaLabel = (box.dataset['remove'] ?? '').replace('{name}', () => tag)
        return make('li', {}, make('span', {}, tag), remove)
      }),
    )
    chips.hidden = chips.childElementCount === 0
    const isFull = read().length >= most
    adding.disabled = isFull
    adding.placeholder = (isFull ? box.dataset['full'] : box.dataset['tags']) ?? ''
  }

  adding.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    if (event.key === 'Enter' && adding.value !== '') {
      // Not the form: the tag is what was finished.
      event.preventDefault()
      add()
    } else if (event.key === 'Backspace' && adding.value === '') write(read().slice(0, -1))
  })
  adding.addEventListener('input', () => {
    // A comma was typed, or several tags were pasted.
    if (SEPARATOR.test(adding.value)) add()
  })
  adding.addEventListener('change', add)
  // What was not finished is meant, too.
  all.form?.addEventListener('submit', add)
  all.form?.addEventListener('draft-restored', draw)
  const hasFocus = all.autofocus || document.activeElement === all
  all.hidden = true
  all.before(chips, adding)
  draw()
  if (hasFocus) adding.focus()
}

/** The separators of tags, as `readItemFields` has them. */
const SEPARATOR = /[,，、]/

function splitTags(text: string): string[] {
  return text
    .split(SEPARATOR)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

type TextField = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** How long typing must rest before anything is done about it. */
const REST_MS = 300

/** The fields a draft keeps: what is typed or chosen, and what it began with, not a better text or a file. A field behind the code editor is hidden. */
function fieldsOf(form: HTMLFormElement): TextField[] {
  const selector = 'input[type="text"][name], input[name="base"], textarea[name]:not([name="improved"], [name="changes"]), select[name]'
  const fields = [...form.querySelectorAll<TextField>(selector)]
  // Some stand here and belong to another form.
  return fields.filter((field) => field.form === form)
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries(fieldsOf(form).map((field) => [field.name, field.value]))
}

/** Offers a draft that was kept, and keeps another while the form is written. */
function keepDraft(form: HTMLFormElement, onRestored: () => void): () => void {
  // The first page lists these keys by their form.
  const key = `${OWN_DRAFTS}${form.dataset['editor']}`
  const write = (draft: Draft) => writeStored(key, JSON.stringify(draft))
  const atFirst = JSON.stringify(valuesOf(form))
  const isRefused = form.dataset['refused'] === 'true'
  let isLeaving = false
  let isSent = false
  const known = readDraft(key)
  if (known && (known.isSent || isRefused)) {
    if (!isRefused) writeStored(key, null)
  } else if (known && JSON.stringify(known.values) !== atFirst) offerDraft(form, key, known, onRestored)
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    isSent = submitter instanceof HTMLButtonElement && !['preview', 'improve', 'use'].includes(submitter.value)
    if (isSent) write({ values: valuesOf(form), isSent })
    isLeaving = true
  })
  addEventListener('pageshow', () => {
    isLeaving = false
    isSent = false
  })
  addEventListener('beforeunload', (event) => {
    if (!isLeaving && (isRefused || JSON.stringify(valuesOf(form)) !== atFirst)) event.preventDefault()
  })
  return () => {
    // What was typed just before it was saved is no draft.
    if (isSent) return
    const values = valuesOf(form)
    if (JSON.stringify(values) === atFirst && !isRefused) writeStored(key, null)
    else write({ values, isSent: false })
  }
}

function offerDraft(form: HTMLFormElement, key: string, draft: Draft, onRestored: () => void): void {
  const notice = make('p', { className: 'notice', role: 'status' }, `${form.dataset['found'] ?? ''} `)
  const addButton = (label: string | undefined, act: () => void) => {
    const button = makeButton(label, () => {
      act()
      notice.remove()
    })
    notice.append(button, ' ')
  }
  addButton(form.dataset['restore'], () => {
    for (const field of fieldsOf(form)) {
      const value = draft.values[field.name]
      if (value !== undefined) field.value = value
    }
    form.dispatchEvent(new Event('draft-restored'))
    onRestored()
  })
  addButton(form.dataset['discard'], () => writeStored(key, null))
  form.before(notice)
}

/** Shows how long the text is, which variables it has, and what it will look like. Gives a function to call when it changed. */
function describeText(form: HTMLFormElement): () => void {
  const field = form.querySelector<HTMLTextAreaElement>('textarea[name="content"]')
  const counter = form.querySelector<HTMLElement>('[data-count]')
  const variables = form.querySelector<HTMLElement>('[data-variables]')
  const preview = form.querySelector<HTMLElement>('[data-live]')
  const mark = field && preview ? mountMarks(field) : null
  return () => {
    const text = field?.value ?? ''
    if (counter) {
      const limit = Number(counter.dataset['count'])
      const count = countCharacters(text)
      const shown = (n: number) => n.toLocaleString(document.documentElement.lang)
      counter.textContent = (counter.dataset['counted'] ?? '').replace('{n}', shown(count)).replace('{limit}', shown(limit))
      counter.classList.toggle('fault', count > limit)
      counter.hidden = false
    }
    if (!variables || !preview) return
    const parsed = parseVariables(text)
    mark?.(parsed)
    showVariables(variables, parsed)
    showPreview(preview, parsed)
  }
}

/** Ctrl+S or Cmd+S saves: the form with the focus, or else the one that was changed last, or else the first. */
function saveByKey(forms: readonly HTMLFormElement[]): void {
  const buttons = forms.flatMap((form) => form.querySelector<HTMLButtonElement>('button[data-save]') ?? [])
  if (buttons.length === 0) return
  let changed = buttons[0]
  for (const button of buttons) {
    button.form?.addEventListener('input', () => {
      changed = button
    })
  }
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
    event.preventDefault()
    const save = buttons.find((button) => button.form?.contains(document.activeElement)) ?? changed
    save?.form?.requestSubmit(save)
  })
}

for (const box of document.querySelectorAll<HTMLElement>('[data-tags]')) mountTagChips(box)
const forms = [...document.querySelectorAll<HTMLFormElement>('form[data-editor]')]
saveByKey(forms)
for (const form of forms) {
  const describe = describeText(form)
  const saveDraft = keepDraft(form, describe)
  describe()
  const improve = form.querySelector<HTMLButtonElement>('button[data-improving]')
  if (improve) mountImprove(form, improve)
  const live = document.querySelector<HTMLElement>('[data-live-file]')
  const source = form.querySelector<HTMLTextAreaElement>('textarea[data-source]')
  const preview = live && source ? mountMarkdownPreview(live, source) : null
  const rest = takeLast(async () => {
    describe()
    saveDraft()
  }, REST_MS)
  form.addEventListener('draft-restored', () => preview?.())
  // What was typed in the last moment.
  addEventListener('pagehide', saveDraft)
  form.addEventListener('input', () => {
    preview?.()
    rest()
  })
  const code = form.querySelector<HTMLTextAreaElement>('textarea[data-code]')
  // Large, so only where a file is edited; until it is there, and where it cannot be, the plain field does.
  if (code) import(code.dataset['code'] ?? '').then((editor) => editor.mountCodeEditor(code)).catch(() => {})
}
