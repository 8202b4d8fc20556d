// What pages do beyond what they are: nothing here is needed to use them.
import { splitControls } from '../../library/controls.ts'

/** The day by the reader's own calendar instead of UTC's. */
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-day]')) {
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium' }).format(new Date(time.dateTime))
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const text = button.closest('[data-prompt]')?.querySelector('[data-text]')
  if (!text || !navigator.clipboard) continue
  button.hidden = false
  const label = button.textContent
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.textContent ?? '')
    button.textContent = button.dataset['copy'] ?? ''
    setTimeout(() => {
      button.textContent = label
    }, 1500)
  })
}

/** Fills the text in as it is typed; what is copied or opened elsewhere has the defaults in it from the start. */
const form = document.querySelector<HTMLFormElement>('form[data-blanks]')
const target = document.querySelector<HTMLElement>('[data-text][data-names]')
const fields = form ? [...form.querySelectorAll<HTMLTextAreaElement>('textarea[data-blank]')] : []
if (form && target) {
  const names = (target.dataset['names'] ?? '').split('\n')
  const marks = [...target.querySelectorAll('mark')].map((mark, place) => ({ mark, name: names[place] ?? '', raw: mark.textContent ?? '' }))
  const fill = () => {
    const values = new Map(fields.map((field) => [field.dataset['blank'] ?? '', field.value || field.dataset['default']]))
    for (const { mark, name, raw } of marks) mark.replaceChildren(...showText(values.get(name) ?? raw))
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-open-in]')) {
      link.href = (link.dataset['openIn'] ?? '') + encodeURIComponent(target.textContent ?? '')
    }
  }
  form.addEventListener('input', fill)
  // Enter is a line of the value, so copying has a key of its own.
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.closest('[data-prompt]')?.querySelector<HTMLButtonElement>('button[data-copy]')?.click()
  })
  for (const button of form.querySelectorAll<HTMLButtonElement>('button[data-without-script]')) button.hidden = true
  // Browsers put values back into the fields when a reader returns.
  fill()
  addEventListener('pageshow', fill)
}

/** Lets fields grow where the sheet's `field-sizing` does not. */
if (!CSS.supports('field-sizing', 'content')) {
  for (const field of fields) {
    const grow = () => {
      field.style.height = 'auto'
      field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`
    }
    field.addEventListener('input', grow)
    grow()
  }
}

/** A text with its control characters marked, as the service marks them. */
function showText(text: string): (string | HTMLElement)[] {
  return splitControls(text).map((piece) => {
    if (typeof piece === 'string') return piece
    const mark = document.createElement('bdi')
    mark.dataset['controls'] = piece.name
    mark.textContent = piece.controls
    return mark
  })
}
