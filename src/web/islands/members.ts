// What those who are signed in do in place. Nothing here is needed to use the pages.

/** Forms that are sent as they are, since sending them in place failed: the page that answers says why. */
const failed = new WeakSet<HTMLFormElement>()

/** A star is set or removed without leaving the list. */
addEventListener('submit', (event) => {
  const { target: form, submitter: button } = event
  if (!(form instanceof HTMLFormElement && button instanceof HTMLButtonElement && form.matches('.star')) || failed.has(form)) return
  event.preventDefault()
  const isMarked = button.value === 'favourite'
  fetch(form.action, { method: 'POST', body: new URLSearchParams({ do: button.value }), signal: AbortSignal.timeout(10_000) })
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
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  return page.querySelector<HTMLElement>('[data-collecting]')
}

/** Shows the collections of an item above its page, with what a form in there came to. What fails leads to the page itself. */
function openCollecting(part: HTMLElement, path: string): void {
  const dialog = Object.assign(document.createElement('dialog'), { className: 'collecting' })
  const close = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'button',
    textContent: part.dataset['collecting'],
  })
  const show = (fresh: HTMLElement) => {
    dialog.replaceChildren(fresh, close)
    dialog.ariaLabel = fresh.querySelector('h1')?.textContent ?? ''
  }
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  dialog.addEventListener('submit', (event) => {
    const { target: form, submitter: button } = event
    if (!(form instanceof HTMLFormElement && form.method === 'post')) return
    event.preventDefault()
    const place = [...dialog.querySelectorAll('button')].findIndex((one) => one === button)
    const fields = [...new FormData(form, button)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
    fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { accept: 'text/html' },
      signal: AbortSignal.timeout(10_000),
    })
      .then(readCollecting)
      .then((fresh) => {
        if (!fresh) throw new Error('The page was another one.')
        show(fresh)
        dialog.querySelectorAll('button')[place]?.focus()
      })
      .catch(() => location.assign(path))
  })
  show(part)
  document.body.append(dialog)
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

/** A draft as the editors keep it; null for what is none, or was sent. */
function readDraft(key: string): { readonly title: string } | null {
  try {
    const draft: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
    if (typeof draft !== 'object' || draft === null || !('values' in draft) || ('isSent' in draft && draft.isSent)) return null
    const { values } = draft
    return { title: typeof values === 'object' && values !== null && 'title' in values ? String(values.title).trim() : '' }
  } catch {
    return null
  }
}

/** The keys of what this browser keeps; none where it keeps nothing. */
function readKeys(): string[] {
  try {
    return Object.keys(localStorage).sort()
  } catch {
    return []
  }
}

/** Where a draft goes on: its editor has a name, or the path of a prompt with its version. */
function findPath(editor: string): string | undefined {
  if (editor === 'new-prompt') return '/new'
  if (editor === 'new-skill') return '/new/skill'
  const prompt = /^(\/prompts\/[^/?#:]+):\d+$/.exec(editor)?.[1]
  return prompt && `${prompt}/edit`
}

// Others may sign in on this browser, so the keys name whose draft it is, as the editor writes them. They once did not: nobody knows whose.
for (const key of readKeys()) if (/^draft:(?![^:/]+:)/.test(key)) localStorage.removeItem(key)
const ownKeys = `draft:${document.body.dataset['reader']}:`
const drafts = document.querySelector<HTMLElement>('[data-drafts]')
for (const key of drafts ? readKeys() : []) {
  const href = key.startsWith(ownKeys) ? findPath(key.slice(ownKeys.length)) : undefined
  const draft = href && readDraft(key)
  if (!drafts || !draft) continue
  const textContent = draft.title || (drafts.dataset['drafts'] ?? '')
  const link = Object.assign(document.createElement('a'), { href, dir: 'auto', textContent })
  const row = document.createElement('li')
  row.append(link)
  drafts.querySelector('ul')?.append(row)
  drafts.hidden = false
}
