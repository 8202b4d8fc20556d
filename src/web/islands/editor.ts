// What the editor does beyond a form: it counts, names the variables as they are typed, and keeps a draft on this browser.
import { countCharacters } from '../../library/characters.ts'
import { parseVariables } from '../../library/variables.ts'

type TextField = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** How long typing must rest before anything is done about it. */
const REST_MS = 300

interface Draft {
  readonly values: Readonly<Record<string, string>>
  /** Whether it was submitted. If the form then opens without an error, it was saved. */
  readonly isSent: boolean
}

function readDraft(key: string): Draft | null {
  try {
    const draft: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
    if (typeof draft !== 'object' || draft === null || !('values' in draft) || !('isSent' in draft)) return null
    const { values, isSent } = draft
    if (typeof values !== 'object' || values === null || typeof isSent !== 'boolean') return null
    return { values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])), isSent }
  } catch {
    return null
  }
}

function writeDraft(key: string, draft: Draft): void {
  try {
    localStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // A browser that keeps nothing, or has no room: the form works without a draft.
  }
}

/** The fields a draft keeps: what is typed or chosen, not a better text or a file. A field behind the code editor is hidden. */
function fieldsOf(form: HTMLFormElement): TextField[] {
  const fields = [...form.querySelectorAll<TextField>('input[type="text"][name], textarea[name]:not([name="improved"]), select[name]')]
  // Some stand here and belong to another form.
  return fields.filter((field) => field.form === form)
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries(fieldsOf(form).map((field) => [field.name, field.value]))
}

/** Offers a draft that was kept, and keeps another while the form is written. */
function keepDraft(form: HTMLFormElement, onRestored: () => void): () => void {
  const key = `draft:${form.dataset['editor']}`
  const atFirst = JSON.stringify(valuesOf(form))
  const isRefused = form.dataset['refused'] === 'true'
  const known = readDraft(key)
  if (known && (known.isSent || isRefused)) {
    if (!isRefused) localStorage.removeItem(key)
  } else if (known && JSON.stringify(known.values) !== atFirst) offerDraft(form, key, known, onRestored)
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    const isSaved = submitter instanceof HTMLButtonElement && !['preview', 'improve', 'use'].includes(submitter.value)
    if (isSaved) writeDraft(key, { values: valuesOf(form), isSent: true })
  })
  return () => {
    const values = valuesOf(form)
    if (JSON.stringify(values) === atFirst && !isRefused) localStorage.removeItem(key)
    else writeDraft(key, { values, isSent: false })
  }
}

function offerDraft(form: HTMLFormElement, key: string, draft: Draft, onRestored: () => void): void {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'status')
  notice.append(`${form.dataset['found'] ?? ''} `)
  const addButton = (label: string, act: () => void) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button'
    button.textContent = label
    button.addEventListener('click', () => {
      act()
      notice.remove()
    })
    notice.append(button, ' ')
  }
  addButton(form.dataset['restore'] ?? '', () => {
    for (const field of fieldsOf(form)) {
      const value = draft.values[field.name]
      if (value !== undefined) field.value = value
    }
    form.dispatchEvent(new Event('draft-restored'))
    onRestored()
  })
  addButton(form.dataset['discard'] ?? '', () => localStorage.removeItem(key))
  form.before(notice)
}

/** Says how long the text is, and which variables it has. */
function describeText(form: HTMLFormElement): void {
  const text = form.querySelector<HTMLTextAreaElement>('textarea[name="content"]')?.value ?? ''
  const counter = form.querySelector<HTMLElement>('[data-count]')
  if (counter) {
    const limit = Number(counter.dataset['count'])
    const count = countCharacters(text)
    const shown = (n: number) => n.toLocaleString(document.documentElement.lang)
    counter.textContent = (counter.dataset['counted'] ?? '').replace('{n}', shown(count)).replace('{limit}', shown(limit))
    counter.classList.toggle('fault', count > limit)
    counter.hidden = false
  }
  const variables = form.querySelector<HTMLElement>('[data-variables]')
  if (variables) {
    const names = parseVariables(text).variables.map(({ name }) => name)
    variables.textContent = names.length === 0 ? '' : `${variables.dataset['label']}: ${names.join(', ')}`
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-editor]')) {
  const saveDraft = keepDraft(form, () => describeText(form))
  describeText(form)
  let resting: ReturnType<typeof setTimeout> | undefined
  form.addEventListener('input', () => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      describeText(form)
      saveDraft()
    }, REST_MS)
  })
  const code = form.querySelector<HTMLTextAreaElement>('textarea[data-code]')
  // Large, so only where a file is edited; until it is there, and where it cannot be, the plain field does.
  if (code) import(code.dataset['code'] ?? '').then((editor) => editor.mountCodeEditor(code)).catch(() => {})
}
