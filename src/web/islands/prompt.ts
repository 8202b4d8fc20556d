// The page of a prompt: blanks are filled in where they stand, and copying names those that are empty.
import { type Filling, isApplication, linkText, SERVICES } from '../filling.ts'
import { mountBlankFields, takeArrival } from './prompt/blank-fields.ts'
import { make, readStored, writeStored } from './shared.ts'

/** Where the service is kept that was used last. */
const LAST_USED = 'open-in'
/** How long the button says that it copied. */
const COPIED_MS = 1500
/** Blanks that are named in one sentence. */
const MAX_NAMED = 3

function mountPrompt(article: HTMLElement): void {
  const filling: Filling = JSON.parse(article.dataset['filling'] ?? '')
  const { words } = filling
  const find = <T extends HTMLElement>(selector: string) => article.querySelector<T>(selector)
  const copy = find<HTMLButtonElement>('button[data-copy-filled]')
  const status = find('[data-said]')
  const progress = find('[data-progress]')
  /** Whether the reader knows what is missing, and may go on without it. */
  let isWarned = false

  const say = (text: string) => status?.replaceChildren(text)
  const nameMissing = () => {
    const labels = blanks.findMissing().map(({ label }) => label)
    const names = labels.slice(0, MAX_NAMED).join(', ')
    return labels.length <= MAX_NAMED ? names : put(words.namesAndMore, { names, n: labels.length - MAX_NAMED })
  }
  const relabel = () => {
    const missing = blanks.findMissing().length
    if (missing === 0) isWarned = false
    if (copy) {
      const label = missing === 1 ? words.copyWithOne : put(words.copyWithMany, { n: missing })
      copy.textContent = isWarned ? label : words.copy
    }
    const filled = blanks.countFilled()
    if (!progress) return
    progress.hidden = false
    const done = put(words.filled, { n: filled, count: filling.blanks.length })
    progress.querySelector('span')?.replaceChildren(missing === 0 ? done : `${done} · ${put(words.required, { n: missing })}`)
    for (const clear of progress.querySelectorAll<HTMLElement>('[data-clear]')) clear.hidden = filled === 0
  }
  const blanks = mountBlankFields(article, filling, () => {
    say('')
    relabel()
  })
  const mayGoOn = () => {
    if (isWarned || blanks.findMissing().length === 0) return true
    isWarned = true
    relabel()
    blanks.showMissing()
    say(put(words.stillEmpty, { names: nameMissing() }))
    return false
  }

  /** Opens the text with the values in it, and puts the service that was used last first. */
  function mountOpenInMenu(menu: HTMLDetailsElement): void {
    const links = [...menu.querySelectorAll<HTMLAnchorElement>('a[data-service]')].flatMap((link) => {
      const service = SERVICES.find(({ name }) => name === link.dataset['service'])
      return service ? [{ link, service }] : []
    })
    const putFirst = (name: string | null) => {
      const item = links.find(({ service }) => service.name === name)?.link.closest('li')
      item?.parentElement?.prepend(item)
    }
    putFirst(readStored(LAST_USED))
    menu.addEventListener('toggle', () => {
      if (!menu.open) return
      const taken = blanks.text()
      for (const { link, service } of links) {
        const address = linkText(service, taken)
        link.href = address ?? service.home
        link.querySelector<HTMLElement>('[data-copied-first]')?.toggleAttribute('hidden', address !== null)
      }
    })
    for (const { link, service } of links) {
      link.addEventListener('click', async (event) => {
        menu.open = false
        if (!mayGoOn()) {
          event.preventDefault()
          return
        }
        tellCopied(filling.id)
        writeStored(LAST_USED, service.name)
        putFirst(service.name)
        const address = linkText(service, blanks.text())
        link.href = address ?? service.home
        if (address !== null) return
        event.preventDefault()
        say((await copyText(blanks.text())) ? put(words.pasteThere, { name: service.name }) : words.notCopied)
        if (isApplication(service)) location.assign(service.home)
        else open(service.home, '_blank', 'noopener')
      })
    }
  }

  relabel()
  if (copy) copy.hidden = false
  if (takeArrival()) blanks.focusFirst()
  copy?.addEventListener('click', async () => {
    if (!mayGoOn()) return
    const names = nameMissing()
    if (!(await copyText(blanks.text()))) return say(words.notCopied)
    tellCopied(filling.id)
    copy.textContent = words.copied
    say(names === '' ? words.copiedText : put(words.copiedWithBlanks, { names }))
    setTimeout(relabel, COPIED_MS)
  })
  progress?.querySelector('button')?.addEventListener('click', () => {
    blanks.clear()
    isWarned = false
    relabel()
    say(words.cleared)
  })
  const menu = find<HTMLDetailsElement>('details[data-open-in]')
  if (menu) mountOpenInMenu(menu)
  // Enter is a line of a value, so copying has a key of its own, wherever on the page the focus is.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
    const { target } = event
    if (!(target instanceof Element) || (target.matches('input, textarea, select, dialog *') && !article.contains(target))) return
    event.preventDefault()
    copy?.click()
  })
}

/** Says that the text was taken, which its owner sees as a number. Nothing of the text is sent. */
function tellCopied(id: string): void {
  navigator.sendBeacon(`/prompts/${id}/copied`)
}

/** Copies a text; false when the browser does not let it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without TLS, as in many a home network, browsers have no clipboard but this.
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement
  const field = make('textarea', { value: text, className: 'visually-hidden' })
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

/** A text with its placeholders replaced. */
function put(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}

const page = document.querySelector<HTMLElement>('[data-filling]')
if (page) mountPrompt(page)
