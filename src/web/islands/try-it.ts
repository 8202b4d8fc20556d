// Sends requests from the API reference. Without this script the page shows examples alone.

/** Response headers worth showing. */
const SHOWN_HEADERS = ['content-type', 'location', 'etag', 'warning', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id']
/** In UTF-16 units. */
const MAX_SHOWN = 100_000

const words = document.querySelector<HTMLElement>('[data-sending]')?.dataset ?? {}
const keys = [...document.querySelectorAll<HTMLInputElement>('input[data-key]')]
for (const field of keys) {
  // Typed once, it is in every form of this page; it goes with the page.
  field.addEventListener('input', () => {
    for (const other of keys) other.value = field.value
  })
}

for (const part of document.querySelectorAll<HTMLDetailsElement>('details[data-try]')) {
  const form = part.querySelector('form')
  const status = part.querySelector('output')
  const shown = part.querySelector<HTMLElement>('[data-answer]')
  if (!form || !status || !shown) continue
  part.hidden = false
  let asking: AbortController | undefined
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    asking?.abort()
    const own = new AbortController()
    asking = own
    shown.hidden = true
    status.textContent = words['sending'] ?? ''
    try {
      const started = performance.now()
      const answer = await fetch(...toRequest(form, own.signal))
      const text = await readText(answer)
      if (own.signal.aborted) return
      const took = Math.round(performance.now() - started)
      status.textContent = `${answer.status} ${answer.statusText} · ${took} ms`
      const headers = SHOWN_HEADERS.flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [`${name}: ${value}`]
      })
      shown.textContent = [...headers, '', text].join('\n')
      shown.hidden = false
    } catch {
      if (!own.signal.aborted) status.textContent = words['failed'] ?? ''
    }
  })
}

/** The request that a form says. */
function toRequest(form: HTMLFormElement, signal: AbortSignal): [string, RequestInit] {
  const query = new URLSearchParams()
  let path = form.dataset['path'] ?? ''
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')) {
    const name = field.dataset['name'] ?? ''
    if (field.dataset['in'] === 'path') path = path.replace(`{${name}}`, encodeURIComponent(field.value))
    else if (field.value !== '') query.set(name, field.value)
  }
  const headers = new Headers({ Accept: 'application/json, */*' })
  const key = form.querySelector<HTMLInputElement>('[data-key]')?.value.trim() ?? ''
  if (key !== '') headers.set('X-API-Key', key)
  const body = form.querySelector<HTMLTextAreaElement>('[data-body]')?.value
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  return [query.size > 0 ? `${path}?${query}` : path, { method: form.dataset['method'] ?? '', headers, body: body ?? null, signal }]
}

/** What is shown of an answer's body: JSON with line breaks, and of what is no text a sentence. */
async function readText(answer: Response): Promise<string> {
  const type = answer.headers.get('content-type') ?? ''
  if (!/^text\/|json|xml/.test(type)) {
    await answer.body?.cancel()
    return words['notText'] ?? ''
  }
  const text = await answer.text()
  const shown = /json/.test(type) ? JSON.stringify(JSON.parse(text), null, 2) : text
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n\n${words['cut'] ?? ''}` : shown
}

export {}
