// Finding from anywhere: shortcuts, the palette, results while typing, and rows that copy. Nothing here is needed to use the pages.
import { showAges } from './find/ages.ts'
import { fetchPage, header, takeLast } from './find/page.ts'
import { offerSwitch } from './find/palette.ts'
import { actOnPage, addCopyButtons, moveInRows } from './find/rows.ts'
import { listenForKeys } from './find/shortcuts.ts'

const refresh = () => {
  showAges()
  addCopyButtons()
}
refresh()
searchWhileTyping(refresh)
listenForKeys((key) => moveInRows(key) || actOnPage(key))
// The search page lists the shortcuts: without single keys, it is where they are turned on again.
offerSwitch(document)
// A menu closes as people expect: by a click elsewhere, or by Escape, which returns to its button.
const openMenus = () => document.querySelectorAll<HTMLDetailsElement>('.top details[open]')
addEventListener('click', ({ target }) => {
  for (const menu of openMenus()) if (target instanceof Node && !menu.contains(target)) menu.open = false
})
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  for (const menu of openMenus()) {
    if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus()
    menu.open = false
  }
})

/** Shows results as they are typed, in the page that shows them; the address stays that of the form. */
function searchWhileTyping(refresh: () => void): void {
  const form = header
  if (form?.getAttribute('action') !== location.pathname) return
  const ask = takeLast(async (signal) => {
    const fields = [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [[name, value]] : []))
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
