import { actOnPage, addCopyButtons, copyPrompt, hasSingleKeys, header, moveInRows, setSingleKeys } from './find/rows.ts'
import { fetchPage, make, makeButton, makeDialog, post, readFields, takeLast, writeStored } from './shared.ts'

/** The data of the search page for the script: entries of the palette, and the shortcuts. Read once for each page. */
let entries: Promise<Document> | undefined
const readEntries = () => {
  entries ??= fetchPage('/search').catch((error: unknown) => {
    entries = undefined
    throw error
  })
  return entries
}

interface Entry {
  readonly group: string
  readonly text: string
  readonly href: string
  readonly detail?: string | undefined
  readonly theme?: string | undefined
}

function readLinks(page: Document): Entry[] {
  const { content } = page.querySelector<HTMLTemplateElement>('template[data-palette]') ?? {}
  return [...(content?.querySelectorAll<HTMLAnchorElement>('a') ?? [])].map((link) => ({
    group: link.closest('ul')?.dataset['group'] ?? '',
    text: link.textContent?.trim() ?? '',
    href: link.getAttribute('href') ?? '',
    theme: link.dataset['themeChoice'],
  }))
}

function readHits(page: Document): Entry[] {
  return [...page.querySelectorAll<HTMLElement>('[data-hits]')].flatMap((section) =>
    [...section.querySelectorAll('li[data-row]')].slice(0, 6).map((row) => ({
      group: section.dataset['hits'] ?? '',
      text: row.querySelector('h3')?.textContent?.trim() ?? '',
      href: row.querySelector('h3 a')?.getAttribute('href') ?? '',
      detail: row.querySelector('.facts a')?.textContent ?? '',
    })),
  )
}

/** Applies a theme on this page and every later one. */
async function chooseTheme(theme: string): Promise<void> {
  const { ok } = await post('/settings', { do: 'theme', theme })
  if (!ok) location.assign('/settings')
  else if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** Opens the palette: actions, pages, and what a search finds. Typing before its entries arrive is not lost. */
export function openPalette(): void {
  if (document.querySelector('dialog[open]')) return
  const label = header?.querySelector('input')?.ariaLabel ?? ''
  const dialog = makeDialog('palette', label)
  const field = make('input', {
    type: 'text',
    role: 'combobox',
    autocomplete: 'off',
    maxLength: 1000,
    ariaAutoComplete: 'list',
    ariaExpanded: 'true',
    ariaLabel: label,
    placeholder: label,
  })
  field.setAttribute('aria-controls', 'palette-list')
  const list = make('div', { id: 'palette-list', role: 'listbox', ariaLabel: label })
  const hint = make('p', { className: 'quiet' })
  dialog.append(field, list, hint)

  let links: Entry[] = []
  let hits: Entry[] = []
  let shown: Entry[] = []
  let chosen = 0
  let words: DOMStringMap = {}
  const go = (entry: Entry | undefined) => {
    if (!entry) return
    dialog.close()
    // The page of the prompt gives its first blank the focus; its script reads this key.
    if (entry.href.startsWith('/prompts/')) writeStored('fill-in', entry.href, 'sessionStorage')
    if (entry.theme) chooseTheme(entry.theme).catch(() => location.assign(entry.href))
    else location.assign(entry.href)
  }
  const choose = (place: number) => {
    chosen = shown.length === 0 ? 0 : (place + shown.length) % shown.length
    for (const [at, option] of list.querySelectorAll('[role=option]').entries()) {
      option.ariaSelected = String(at === chosen)
      if (at === chosen) option.scrollIntoView({ block: 'nearest' })
    }
    field.setAttribute('aria-activedescendant', shown.length === 0 ? '' : `palette-${chosen}`)
  }
  const show = () => {
    const text = field.value.trim()
    const found = links.filter((entry) => entry.text.toLowerCase().includes(text.toLowerCase()))
    const all = { group: '', text: `${words['searchFor'] ?? ''} “${text}”`, href: `/search?${new URLSearchParams({ q: text })}` }
    shown = text === '' ? found : [...found, ...hits, all]
    list.replaceChildren()
    let group: HTMLElement | undefined
    for (const [place, entry] of shown.entries()) {
      if (!group || group.dataset['name'] !== entry.group) {
        group = make('div', { role: 'group', ariaLabel: entry.group || all.text })
        group.dataset['name'] = entry.group
        list.append(group)
      }
      const option = make('div', { id: `palette-${place}`, role: 'option' }, entry.text)
      if (entry.detail) option.append(' ', make('span', { className: 'quiet' }, entry.detail))
      option.addEventListener('click', () => go(entry))
      group.append(option)
    }
    choose(0)
  }
  const ask = takeLast(async (signal) => {
    const text = field.value.trim()
    hits = text === '' ? [] : readHits(await fetchPage(`/search?${new URLSearchParams({ q: text })}`, signal))
    if (!signal.aborted) show()
  }, 120)
  field.addEventListener('input', () => {
    if (field.value.trim() === '') hits = []
    show()
    ask()
  })
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.isComposing || (step === undefined && event.key !== 'Enter')) return
    event.preventDefault()
    const entry = shown[chosen]
    if (step === undefined && (event.ctrlKey || event.metaKey) && entry?.href.startsWith('/prompts/')) {
      dialog.close()
      copyPrompt(entry.href)
    } else if (step === undefined) go(entry)
    else choose(chosen + step)
  })
  dialog.showModal()
  field.focus()
  readEntries().then(
    (page) => {
      links = readLinks(page)
      words = page.querySelector<HTMLElement>('template[data-palette]')?.dataset ?? {}
      hint.textContent = words['hint'] ?? ''
      show()
    },
    () => show(),
  )
}

/** Shows the shortcuts, and lets readers turn the single keys off (WCAG 2.2, 2.1.4). */
export function openShortcuts(): void {
  readEntries().then(
    (page) => {
      const section = page.querySelector('[data-shortcuts]')?.cloneNode(true)
      if (!(section instanceof HTMLElement) || document.querySelector('dialog[open]')) return
      const dialog = makeDialog('shortcuts', section.querySelector('h2')?.textContent ?? '')
      const close = makeButton(page.querySelector<HTMLElement>('template[data-palette]')?.dataset['close'], () => dialog.close())
      dialog.append(document.adoptNode(section), close)
      offerSwitch(dialog)
      dialog.showModal()
      // Not the switch above it: the space bar would turn the shortcuts off.
      close.focus()
    },
    () => location.assign('/search'),
  )
}

/** Shows the switch for single keys inside an element. */
export function offerSwitch(parent: ParentNode): void {
  const box = parent.querySelector<HTMLInputElement>('input[data-single-keys]')
  if (!box) return
  const label = box.closest('label')
  if (label) label.hidden = false
  box.checked = hasSingleKeys()
  box.addEventListener('change', () => setSingleKeys(box.checked))
}

// Finding from anywhere: shortcuts, the palette, results while typing, and rows that copy. Nothing here is needed to use the pages.

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const refresh = () => {
  showAges()
  addCopyButtons()
}
refresh()
searchWhileTyping(refresh)
listenForKeys()
// The search page lists the shortcuts: without single keys, it is where they are turned on again.
offerSwitch(document)

/** Shows results as they are typed, in the page that shows them; the address stays that of the form. */
function searchWhileTyping(refresh: () => void): void {
  const form = header
  if (form?.getAttribute('action') !== location.pathname) return
  const ask = takeLast(async (signal) => {
    const fields = readFields(form).filter(([, value]) => value !== '')
    const url = fields.length === 0 ? location.pathname : `${location.pathname}?${new URLSearchParams(fields)}`
    const page = await fetchPage(url, signal)
    const main = document.querySelector('main')
    const fresh = page.querySelector('main')
    if (!main || !fresh) return
    const results = main.querySelector('[data-results]')
    const others = fresh.querySelector('[data-results]')
    const wasOpen = main.querySelector<HTMLDetailsElement>('.narrowing')?.open ?? false
    if (results && others) results.replaceWith(others)
    else main.replaceChildren(...fresh.children)
    const narrowing = main.querySelector<HTMLDetailsElement>('.narrowing')
    if (narrowing) narrowing.open = wasOpen
    history.replaceState(null, '', url)
    document.title = page.title
    refresh()
  }, 200)
  form.addEventListener('input', ask)
  // From the field, the first result is one key away.
  form.addEventListener('keydown', (event) => {
    const first = document.querySelector<HTMLAnchorElement>('main .rows :is(h2, h3) a')
    if (event.key !== 'ArrowDown' || !first) return
    event.preventDefault()
    first.focus()
  })
}

/** Whether keys go into a field, also into one of an editor in a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0]
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

/** Ctrl+K or Cmd+K opens the palette anywhere; single keys act when nothing is typed into. */
function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event
    if (event.defaultPrevented || isComposing || altKey) return
    if (ctrlKey || metaKey) {
      if (key.toLowerCase() !== 'k' || shiftKey) return
      event.preventDefault()
      openPalette()
      return
    }
    if (isTyping(event) || document.querySelector('dialog[open]') || !hasSingleKeys()) return
    if (key === '/') findField()?.focus()
    else if (key === '?') openShortcuts()
    else if (shiftKey || !(moveInRows(key) || actOnPage(key))) return
    event.preventDefault()
  })
}

/** The field of this page's own search, or that of the header. */
function findField(): HTMLInputElement | null | undefined {
  return document.querySelector<HTMLInputElement>('form[data-search] input[type=search]') ?? header?.querySelector('input')
}

/** Shows how long ago things happened, or the exact time where that was asked for, by the reader's own clock. */
function showAges(): void {
  const { lang } = document.documentElement
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
  const exact = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' })
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const date = new Date(time.dateTime)
    const seconds = (date.getTime() - Date.now()) / 1000
    const [unit, length] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1]
    time.title = exact.format(date)
    if (time.dataset['ago'] === 'exact') time.textContent = exact.format(date)
    else time.textContent = unit === 'second' ? relative.format(0, 'second') : relative.format(Math.trunc(seconds / length), unit)
  }
}
