// What pages do beyond what they are: nothing here is needed to use them.
import { fetchPage, make, makeButton } from './shared.ts'

/** The day by the reader's own calendar instead of UTC's, written as the service writes it, and the time by their clock. */
const asDay = { day: 'numeric', month: 'short', year: 'numeric' } as const
const asMoment = { ...asDay, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
for (const time of document.querySelectorAll<HTMLTimeElement>('time:is([data-day], [data-moment])')) {
  const isMoment = 'moment' in time.dataset
  if (isMoment) time.title = time.textContent ?? ''
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, isMoment ? asMoment : asDay).format(new Date(time.dateTime))
}

/** Says on a button for a moment what it did. */
function sayOn(button: HTMLButtonElement, text = '', label = ''): void {
  button.textContent = text
  setTimeout(() => {
    button.textContent = label
  }, 1500)
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const text = button.closest('[data-prompt]')?.querySelector('[data-text]')
  if (!text || !navigator.clipboard) continue
  button.hidden = false
  const label = button.textContent ?? ''
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.textContent ?? '')
    const { counted, copy } = button.dataset
    if (counted) navigator.sendBeacon(counted)
    sayOn(button, copy, label)
  })
}

/** Code in a rendered text gets a button that copies it, unless blanks stand in it. */
const words = document.querySelector<HTMLElement>('form.find')?.dataset
for (const code of navigator.clipboard ? document.querySelectorAll<HTMLElement>('.written pre:not(:has(mark), .sample pre)') : []) {
  const label = words?.['copy'] ?? ''
  const button = makeButton(label, async () => {
    await navigator.clipboard.writeText(code.textContent ?? '')
    sayOn(button, words?.['copied'], label)
  })
  const sample = make('div', { className: 'sample' })
  code.replaceWith(sample)
  sample.append(code, button)
}

/** Menus close by a click elsewhere, those over a page also when the focus leaves them; and with Escape, which returns to their button. */
for (const [type, menus] of [
  ['click', '.top details'],
  ['pointerdown', 'details.menu'],
  ['focusin', 'details.menu'],
] as const) {
  addEventListener(type, ({ target }) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>(`${menus}[open]`)) {
      if (target instanceof Node && !menu.contains(target)) menu.open = false
    }
  })
}
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  for (const menu of document.querySelectorAll<HTMLDetailsElement>(':is(.top details, details.menu)[open]')) {
    if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus()
    menu.open = false
  }
})

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-share]')) {
  const url = button.dataset['share'] ?? ''
  const canShare = typeof navigator.share === 'function'
  if (!canShare && !navigator.clipboard) continue
  button.hidden = false
  const label = button.textContent ?? ''
  button.addEventListener('click', async () => {
    if (canShare) {
      // A reader who closes the sheet is no fault.
      await navigator.share({ title: document.title, url }).catch(() => {})
      return
    }
    await navigator.clipboard.writeText(url)
    sayOn(button, button.dataset['copied'], label)
  })
}

/** How often a new key is looked at, and how many times: ten minutes. */
const LOOK_MS = 3_000
const LOOKS = 200

/** Says when the first call with a new key came in. */
const awaited = document.querySelector<HTMLElement>('[data-first-call]')
if (awaited) {
  awaited.hidden = false
  let looks = 0
  const look = async (): Promise<void> => {
    looks++
    const page = await fetchPage('/settings/access')
    if (page.querySelector(`[data-used="${awaited.dataset['firstCall']}"]`)) awaited.textContent = awaited.dataset['received'] ?? ''
    else lookLater()
  }
  const lookLater = () => {
    if (looks < LOOKS) setTimeout(() => look().catch(lookLater), LOOK_MS)
  }
  lookLater()
}
