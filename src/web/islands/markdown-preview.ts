/** Where there is room for a preview; the sheet of the editors says the same. */
const HAS_ROOM = '(min-width: 1100px)'
/** How long typing must rest before the service is asked. */
const REST_MS = 800

/** Shows a Markdown text as it will be, rendered by the service like the page of the skill. Gives a function to call when it changed. */
export function mountMarkdownPreview(section: HTMLElement, field: HTMLTextAreaElement): () => void {
  const room = matchMedia(HAS_ROOM)
  const shown = section.querySelector<HTMLElement>('.prose')
  let drawn: string | null = null
  let asking: AbortController | undefined
  let resting: ReturnType<typeof setTimeout> | undefined

  const draw = async (): Promise<void> => {
    const text = field.value
    if (text === drawn || !room.matches) return
    asking?.abort()
    asking = new AbortController()
    const body = new URLSearchParams({ do: 'live', filename: section.dataset['liveFile'] ?? '', content: text })
    const answer = await fetch(location.pathname, { method: 'POST', body, signal: asking.signal, headers: { accept: 'text/html' } })
    // The last preview stays when there is none: the service may be busy.
    if (!answer.ok) return
    const made = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-preview]')
    if (!made || !shown) return
    drawn = text
    shown.replaceChildren(...made.childNodes)
    section.hidden = false
  }
  const drawSoon = () => {
    clearTimeout(resting)
    resting = setTimeout(() => draw().catch(() => {}), REST_MS)
  }
  room.addEventListener('change', drawSoon)
  draw().catch(() => {})
  return drawSoon
}
