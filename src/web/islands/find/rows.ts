import { fetchPage, makeButton, post } from '../shared.ts'
import { announce, header } from './page.ts'

const ROW = 'main li[data-row]'

const titleOf = (row: Element) => row.querySelector<HTMLAnchorElement>('h3 a')

/** Gives each prompt of a list a button that copies its text; the sheet shows it on hover and focus. */
export function addCopyButtons(): void {
  if (!navigator.clipboard) return
  for (const row of document.querySelectorAll('li[data-row=prompts]:not(:has(.row-copy))')) {
    const button = makeButton(header?.dataset['copy'], () => copyRow(row, button), 'button row-copy')
    button.ariaLabel = `${button.textContent}: ${titleOf(row)?.textContent}`
    row.append(button)
  }
}

/** The text of a prompt with its defaults. @throws Error when it cannot be read */
async function readText(path: string): Promise<string> {
  const answer = await fetch(`/download${path}/filled`, { signal: AbortSignal.timeout(10_000) })
  if (!answer.ok) throw new Error(String(answer.status))
  return await answer.text()
}

/** Copies the text of the prompt at a path, with its defaults, and says so; also that blanks are left in it. */
export function copyPrompt(path: string, show: (text: string | undefined) => void = announce): void {
  const words = header?.dataset
  const text = readText(path)
  // The promise goes into the item: browsers allow a copy only in the moment of the click.
  navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((read) => new Blob([read], { type: 'text/plain' })) })]).then(
    async () => show(/\$\{[^}]+\}/.test(await text) ? words?.['copiedWithBlanks'] : words?.['copied']),
    () => show(words?.['failed']),
  )
}

function copyRow(row: Element, button: HTMLButtonElement): void {
  copyPrompt(titleOf(row)?.pathname ?? '', (text) => {
    announce(text)
    button.textContent = (text === header?.dataset['failed'] ? text : header?.dataset['copied']) ?? ''
    setTimeout(() => {
      button.textContent = header?.dataset['copy'] ?? ''
    }, 1500)
  })
}

/** Votes for an item, or removes the vote, by the form of its own page. */
async function vote(path: string): Promise<void> {
  const page = await fetchPage(path)
  const button = page.querySelector<HTMLButtonElement>('button[name=do]:is([value=vote], [value=unvote])')
  if (!button) {
    location.assign(`/sign-in?to=${encodeURIComponent(path)}`)
    return
  }
  const { ok } = await post(path, { do: button.value })
  announce(header?.dataset[ok ? (button.value === 'vote' ? 'voted' : 'unvoted') : 'failed'])
}

/** Keys on the page of an item, and the buttons and links they press. */
const ON_PAGE: Readonly<Record<string, string>> = {
  c: 'button:is([data-copy-filled], [data-counted])',
  e: '.item-actions > a[href$="/edit"]',
  f: '.room textarea',
  s: '.item-actions button.starred',
  v: '.item-actions button:is([value=vote], [value=unvote])',
}

/** Does what a key means on the page of an item. Whether it means anything. */
export function actOnPage(key: string): boolean {
  const selector = ON_PAGE[key]
  const target = selector === undefined ? null : document.querySelector<HTMLElement>(selector)
  if (target instanceof HTMLTextAreaElement) target.focus()
  else target?.click()
  return target !== null
}

/** Does what a key means for the rows of a list. Whether it means anything. */
export function moveInRows(key: string): boolean {
  const rows = [...document.querySelectorAll(ROW)]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const row = rows[at]
  if (key === 'j' || key === 'k') {
    const next = rows[key === 'j' ? at + 1 : at < 0 ? rows.length - 1 : at - 1]
    if (next) titleOf(next)?.focus()
    return rows.length > 0
  }
  const path = row && titleOf(row)?.pathname
  if (!path) return false
  if (key === 'c') row.querySelector<HTMLButtonElement>('.row-copy')?.click()
  else if (key === 's') row.querySelector<HTMLButtonElement>('.star button')?.click()
  else if (key === 'e') location.assign(`${path}/edit`)
  else if (key === 'v') vote(path).catch(() => announce(header?.dataset['failed']))
  else return false
  return true
}
