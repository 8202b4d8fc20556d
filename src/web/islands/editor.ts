// What the editor does beyond a form: it shows the text as it will be, keeps a draft on this browser, saves by key, and improves in place.
import { countCharacters } from '../../domain/text/characters.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import { type Draft, OWN_DRAFTS, readDraft } from './drafts.ts'
import { make, makeButton } from './elements.ts'
import { mountImprove } from './improve-in-place.ts'
import { mountMarkdownPreview, mountMarks, showPreview, showVariables } from './live-preview.ts'
import { takeLast } from './pages.ts'
import { writeStored } from './stored.ts'
import { mountTagChips } from './tag-chips.ts'

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
