// What those who are signed in do in place. Nothing here is needed to use the pages.
import { OWN_DRAFTS, readDraft } from './drafts.ts'
import { listStored, make, makeButton, makeDialog, post, readFields, readPage, writeStored } from './shared.ts'

/** Forms that are sent as they are, since sending them in place failed: the page that answers says why. */
const failed = new WeakSet<HTMLFormElement>()

/** A star is set or removed without leaving the list. */
addEventListener('submit', (event) => {
  const { target: form, submitter: button } = event
  if (!(form instanceof HTMLFormElement && button instanceof HTMLButtonElement && form.matches('.star')) || failed.has(form)) return
  event.preventDefault()
  const isMarked = button.value === 'favourite'
  post(form.action, { do: button.value })
    .then(({ ok }) => {
      if (!ok) throw new Error('The star was refused.')
      button.value = isMarked ? 'unfavourite' : 'favourite'
      button.ariaPressed = String(isMarked)
    })
    .catch(() => {
      failed.add(form)
      form.requestSubmit(button)
    })
})

/** The part of a page that says which collections an item is in; null for another page. */
async function readCollecting(answer: Response): Promise<HTMLElement | null> {
  return (await readPage(answer)).querySelector<HTMLElement>('[data-collecting]')
}

/** Shows the collections of an item above its page, with what a form in there came to. What fails leads to the page itself. */
function openCollecting(part: HTMLElement, path: string): void {
  const dialog = makeDialog('collecting', '')
  const close = makeButton(part.dataset['collecting'], () => dialog.close())
  const show = (fresh: HTMLElement) => {
    dialog.replaceChildren(fresh, close)
    dialog.ariaLabel = fresh.querySelector('h1')?.textContent ?? ''
  }
  dialog.addEventListener('submit', (event) => {
    const { target: form, submitter: button } = event
    if (!(form instanceof HTMLFormElement && form.method === 'post')) return
    event.preventDefault()
    const place = [...dialog.querySelectorAll('button')].findIndex((one) => one === button)
    post(form.action, readFields(form, button))
      .then(readCollecting)
      .then((fresh) => {
        if (!fresh) throw new Error('The page was another one.')
        show(fresh)
        dialog.querySelectorAll('button')[place]?.focus()
      })
      .catch(() => location.assign(path))
  })
  show(part)
  dialog.showModal()
}

addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href$="/collections"]') : null
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (!link || !isPlain || !/^\/(?:prompts|skills)\/[^/]+\/collections$/.test(link.pathname)) return
  event.preventDefault()
  fetch(link.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(10_000) })
    .then(readCollecting)
    .then((part) => (part ? openCollecting(part, link.href) : location.assign(link.href)))
    .catch(() => location.assign(link.href))
})

const boxesOf = () => [...document.querySelectorAll<HTMLInputElement>('.pick input')]
let last: HTMLInputElement | undefined

/** Says how many items the bar would change. The list is replaced while somebody searches, so it is looked up each time. */
function tellSelected(): void {
  const told = document.querySelector<HTMLElement>('.bulk [data-selected]')
  if (!told) return
  const isAll = document.querySelector<HTMLInputElement>('.bulk [name="all"]')?.checked ?? false
  const count = isAll ? Number(told.dataset['total']) : boxesOf().filter(({ checked }) => checked).length
  const actions = document.querySelector<HTMLDetailsElement>('.bulk > details')
  const page = document.querySelector<HTMLElement>('.bulk [data-page]')
  if (page) page.hidden = false
  if (actions) {
    actions.hidden = count === 0
    actions.open = count > 0
  }
  told.textContent =
    count === 0 ? '' : (told.dataset['selected'] ?? '').replace('{count}', count.toLocaleString(document.documentElement.lang))
}

addEventListener('click', ({ target, shiftKey }) => {
  if (!(target instanceof HTMLInputElement)) return
  const boxes = boxesOf()
  if (target.matches('.bulk p input')) for (const box of boxes) box.checked = target.checked
  else if (target.matches('.pick input')) {
    // With Shift, all rows between this one and the last become what this one is.
    const [from, to] = [boxes.indexOf(target), last ? boxes.indexOf(last) : -1]
    if (shiftKey && to >= 0) for (const box of boxes.slice(Math.min(from, to), Math.max(from, to))) box.checked = target.checked
    last = target
    const all = document.querySelector<HTMLInputElement>('.bulk [name="all"]')
    if (all && !target.checked) all.checked = false
  } else return
  tellSelected()
})
tellSelected()

/** Where a draft goes on: its editor has a name, or the path of a prompt with its version. */
function findPath(editor: string): string | undefined {
  if (editor === 'new-prompt') return '/new'
  if (editor === 'new-skill') return '/new/skill'
  const prompt = /^(\/prompts\/[^/?#:]+):\d+$/.exec(editor)?.[1]
  return prompt && `${prompt}/edit`
}

// Drafts were once kept without the name of their writer: nobody knows whose.
for (const key of listStored()) if (/^draft:(?![^:/]+:)/.test(key)) writeStored(key, null)
const drafts = document.querySelector<HTMLElement>('[data-drafts]')
for (const key of drafts ? listStored() : []) {
  const href = key.startsWith(OWN_DRAFTS) ? findPath(key.slice(OWN_DRAFTS.length)) : undefined
  const draft = href && readDraft(key)
  if (!drafts || !draft || draft.isSent) continue
  const link = make('a', { href, dir: 'auto' }, draft.values['title']?.trim() || (drafts.dataset['drafts'] ?? ''))
  drafts.querySelector('ul')?.append(make('li', {}, link))
  drafts.hidden = false
}
