// Finding from anywhere: shortcuts, the palette, results while typing, and rows that copy. Nothing here is needed to use the pages.
import { hasSingleKeys, header } from './find/page.ts'
import { offerSwitch, openPalette, openShortcuts } from './find/palette.ts'
import { actOnPage, addCopyButtons, moveInRows } from './find/rows.ts'
import { fetchPage, readFields, takeLast } from './shared.ts'

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
