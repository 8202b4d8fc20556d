import { type TextChange, takeChanges } from '../../library/text-changes.ts'

/**
 * Improves the text without leaving the page: the form is sent as its button would send it, and the suggested version is taken from the
 * page that answers. While it takes time, the button stops it.
 */
export function mountImprove(form: HTMLFormElement, button: HTMLButtonElement): void {
  const label = button.textContent
  const status = document.createElement('p')
  status.className = 'quiet'
  status.setAttribute('role', 'status')
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
    try {
      const body = new URLSearchParams(
        [...new FormData(form, button)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      )
      const response = await fetch(form.action, { method: 'POST', body, signal: asking.signal, headers: { accept: 'text/html' } })
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const improved = page.querySelector('#improved')
      if (improved) showImproved(improved)
      else say(page.querySelector('[role="alert"]')?.textContent?.trim() || (button.dataset['failed'] ?? ''))
    } catch {
      say((asking.signal.aborted ? button.dataset['stopped'] : button.dataset['failed']) ?? '')
    } finally {
      clearInterval(timer)
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
    const back = document.createElement('button')
    back.type = 'button'
    back.className = 'link'
    back.textContent = undo
    back.addEventListener('click', () => {
      write(before)
      say('')
    })
    write(text)
    say(`${replaced} `, back)
  }

  button.addEventListener('click', (event) => {
    event.preventDefault()
    if (underWay) underWay.abort()
    else void improve()
  })
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
