/** A new element with its properties and contents. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...contents: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...contents)
  return element
}

/** A button that sends no form. */
export function makeButton(text: string | undefined, act: () => void, className = 'button'): HTMLButtonElement {
  const button = make('button', { type: 'button', className }, text ?? '')
  button.addEventListener('click', act)
  return button
}

/** A dialog in the page, not shown yet. A click beside it closes it; it is removed when it closes, and returns the focus. */
export function makeDialog(className: string, ariaLabel: string): HTMLDialogElement {
  const dialog = make('dialog', { className, ariaLabel })
  document.body.append(dialog)
  dialog.addEventListener('close', () => dialog.remove())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  return dialog
}

const ACCEPT = { accept: 'text/html' }

/** An answer of this service as a document. */
export async function readPage(answer: Response): Promise<Document> {
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

/** A page of this service as a document. Bounded in time. @throws Error when it was not answered, or refused */
export async function fetchPage(path: string, signal?: AbortSignal): Promise<Document> {
  const answer = await fetch(path, { headers: ACCEPT, signal: within(signal) })
  if (!answer.ok) throw new Error(String(answer.status))
  return await readPage(answer)
}

/** Sends fields as a form does. Bounded in time. @throws Error when it was not answered */
export async function post(path: string, fields: string[][] | Record<string, string>, signal?: AbortSignal): Promise<Response> {
  return await fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers: ACCEPT, signal: within(signal) })
}

function within(signal?: AbortSignal): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(10_000), ...(signal ? [signal] : [])])
}

/** The fields of a form without its files, as they are sent by a button. */
export function readFields(form: HTMLFormElement, button?: HTMLElement | null): [name: string, value: string][] {
  return [...new FormData(form, button)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
}

/** Gives each call a signal that the next call aborts, and waits until typing pauses. */
export function takeLast(work: (signal: AbortSignal) => Promise<void>, pauseMs: number): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined
  let running: AbortController | undefined
  return () => {
    clearTimeout(waiting)
    running?.abort()
    const own = new AbortController()
    running = own
    waiting = setTimeout(() => {
      // Work that was overtaken is no fault, and a later call tries again.
      work(own.signal).catch(() => {})
    }, pauseMs)
  }
}

type Storage = 'localStorage' | 'sessionStorage'

/** The value this browser keeps under a key; null for none, and where storage is blocked. */
export function readStored(key: string, storage: Storage = 'localStorage'): string | null {
  try {
    return window[storage].getItem(key)
  } catch {
    return null
  }
}

/** Keeps a value, or removes it for null. False where storage is blocked or full: pages work without. */
export function writeStored(key: string, value: string | null, storage: Storage = 'localStorage'): boolean {
  try {
    if (value === null) window[storage].removeItem(key)
    else window[storage].setItem(key, value)
    return true
  } catch {
    return false
  }
}

/** The keys of what this browser keeps, in order; none where storage is blocked. */
export function listStored(storage: Storage = 'localStorage'): string[] {
  try {
    return Object.keys(window[storage]).sort()
  } catch {
    return []
  }
}
