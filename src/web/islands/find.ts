// Finding from anywhere: shortcuts, the palette, results while typing, and rows that copy. Nothing here is needed to use the pages.
import { showAges } from './find/ages.ts'
import { searchWhileTyping } from './find/live-search.ts'
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
