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
