import { fetchPage, make, makeButton, makeDialog, post, takeLast, writeStored } from '../shared.ts'
import { hasSingleKeys, header, setSingleKeys } from './page.ts'
import { copyPrompt } from './rows.ts'

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
