import { createParser } from 'eventsource-parser'
import { type TextChange, takeChanges } from '../../domain/text/text-changes.ts'
import { fetchPage, make, makeButton, readFields } from './shared.ts'

/**
 * Improves the text without leaving the page: the form is sent, the text is shown while it is written, and the suggested version is taken
 * from the page that has it. While it takes time, the button stops it.
 */
export function mountImprove(form: HTMLFormElement, button: HTMLButtonElement): void {
  const label = button.textContent
  const status = make('p', { className: 'quiet', role: 'status' })
  button.closest('.actions')?.before(status)
  const say = (...content: (string | Node)[]) => status.replaceChildren(...content)
  let underWay: AbortController | null = null

  const improve = async (): Promise<void> => {
    const asking = new AbortController()
    underWay = asking
    form.querySelector('#improved')?.remove()
    const started = performance.now()
    const showTime = () => {
      button.textContent = (button.dataset['improving'] ?? '').replace('{n}', String(Math.round((performance.now() - started) / 1000)))
    }
    showTime()
    const timer = setInterval(showTime, 1000)
    say('')
    const coming = showComing(form, button.dataset['coming'] ?? '')
    try {
      const outcome = await askToImprove(form, asking.signal, coming)
      const improved = 'to' in outcome ? (await fetchPage(outcome.to, asking.signal)).querySelector('#improved') : null
      if (improved) showImproved(improved)
      else say(('message' in outcome && outcome.message) || (button.dataset['failed'] ?? ''))
    } catch {
      say((asking.signal.aborted ? button.dataset['stopped'] : button.dataset['failed']) ?? '')
    } finally {
      clearInterval(timer)
      coming.remove()
      underWay = null
      button.textContent = label
    }
  }
  const showImproved = (improved: Element): void => {
    const section = document.importNode(improved, true)
    const use = section.querySelector<HTMLButtonElement>('button[value="use"]')
    const keep = section.querySelector<HTMLButtonElement>('button[data-keep]')
    const readChosen = use ? mountChanges(section, use) : null
    use?.addEventListener('click', (event) => {
      event.preventDefault()
      const { text, replaced } = readChosen?.() ?? { text: readField(section, 'improved'), replaced: use.dataset['replaced'] ?? '' }
      section.remove()
      replaceText(text, replaced, use.dataset['undo'] ?? '')
    })
    keep?.removeAttribute('hidden')
    keep?.addEventListener('click', () => {
      section.remove()
      button.focus()
    })
    form.append(section)
    section.scrollIntoView({ block: 'nearest' })
    use?.focus({ preventScroll: true })
  }
  const replaceText = (text: string, replaced: string, undo: string): void => {
    const field = form.querySelector<HTMLTextAreaElement>('textarea[name="content"]')
    if (!field) return
    const before = field.value
    const write = (value: string) => {
      field.value = value
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.focus()
    }
    const takeBack = () => {
      write(before)
      say('')
    }
    const back = makeButton(undo, takeBack, 'link')
    write(text)
    say(`${replaced} `, back)
  }

  button.addEventListener('click', (event) => {
    event.preventDefault()
    if (underWay) underWay.abort()
    else void improve()
  })
}

/** The place where a text appears while it is written; it is not there before its first words. */
function showComing(form: HTMLFormElement, title: string) {
  const text = make('div', { className: 'text' })
  const section = make('section', {}, make('h2', {}, title), text)
  return {
    add(piece: string) {
      text.append(piece)
      if (section.isConnected) return
      form.append(section)
      section.scrollIntoView({ block: 'nearest' })
    },
    clear: () => text.replaceChildren(),
    remove: () => section.remove(),
  }
}

/** Sends the form, and shows the text as it comes. Gives the page that has the suggestion, or what is wrong. */
async function askToImprove(
  form: HTMLFormElement,
  signal: AbortSignal,
  coming: ReturnType<typeof showComing>,
): Promise<{ to: string } | { message: string }> {
  const body = new URLSearchParams(readFields(form))
  const headers = { accept: 'text/event-stream, application/json' }
  const response = await fetch(`${form.action}/improve`, { method: 'POST', body, signal, headers })
  if (!response.ok || !response.body) return await response.json()
  let outcome: { to: string } | { message: string } = { message: '' }
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'delta') coming.add(JSON.parse(data).text)
      else if (event === 'restart') coming.clear()
      else outcome = JSON.parse(data)
    },
  })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) parser.feed(part.value)
  return outcome
}

function readField(section: Element, name: string): string {
  return section.querySelector<HTMLTextAreaElement>(`textarea[name="${name}"]`)?.value ?? ''
}

/** The button says how many changes are ticked. Gives a function that reads them; null when no page sent any to choose from. */
function mountChanges(section: Element, use: HTMLButtonElement): (() => { text: string; replaced: string } | null) | null {
  const boxes = [...section.querySelectorAll<HTMLInputElement>('input[name="take"]')]
  if (boxes.length === 0) return null
  const label = use.textContent
  const ticked = () => boxes.filter((box) => box.checked)
  const count = (text = '') => text.replace('{n}', String(ticked().length)).replace('{count}', String(boxes.length))
  section.addEventListener('change', () => {
    const isAll = ticked().length === boxes.length
    use.textContent = isAll ? label : count(use.dataset['some'])
    use.disabled = ticked().length === 0
  })
  return () => {
    if (ticked().length === boxes.length) return null
    const parts: (string | TextChange)[] = JSON.parse(readField(section, 'changes'))
    return { text: takeChanges(parts, new Set(ticked().map(({ value }) => Number(value)))), replaced: count(use.dataset['replacedSome']) }
  }
}
