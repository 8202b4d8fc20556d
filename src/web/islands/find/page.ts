/** The search form in the header, which carries the texts of the script. */
export const header = document.querySelector<HTMLFormElement>('form.find')

let status: HTMLElement | undefined
let hiding: ReturnType<typeof setTimeout> | undefined

/** Says shortly what was done, also to readers who cannot see it. */
export function announce(text = ''): void {
  const place = status ?? document.body.appendChild(Object.assign(document.createElement('div'), { className: 'toast', role: 'status' }))
  status = place
  clearTimeout(hiding)
  place.textContent = ''
  // The place must be there before its text is, and the same text again would announce nothing.
  hiding = setTimeout(() => {
    place.textContent = text
    hiding = setTimeout(() => place.replaceChildren(), 3000)
  }, 50)
}

/** A page of this service as a document. Bounded in time. @throws Error when it was not answered, or refused */
export async function fetchPage(path: string, signal: AbortSignal = new AbortController().signal): Promise<Document> {
  const answer = await fetch(path, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]), headers: { Accept: 'text/html' } })
  if (!answer.ok) throw new Error(String(answer.status))
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
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

const SINGLE_KEYS = 'single-keys'

/** Whether the reader wants single-key shortcuts; everybody does who has not turned them off here. */
export function hasSingleKeys(): boolean {
  try {
    return localStorage.getItem(SINGLE_KEYS) !== 'off'
  } catch {
    // Storage is blocked.
    return true
  }
}

/** Turns single-key shortcuts on or off in this browser. @throws DOMException where storage is blocked */
export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(SINGLE_KEYS, isOn ? 'on' : 'off')
}
