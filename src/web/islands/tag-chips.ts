import { make, makeButton } from './elements.ts'

/** Shows the tags of a field one by one, with a field to add another. The field of all tags stays, hidden: it is what is sent. */
export function mountTagChips(box: HTMLElement): void {
  const all = box.querySelector<HTMLInputElement>('input[name="tags"]')
  if (!all) return
  const chips = make('ul', { className: 'chips' })
  // What led to the field of all tags leads here.
  const adding = make('input', { type: 'text', autocomplete: 'off', id: all.id })
  adding.setAttribute('list', 'known-tags')
  all.removeAttribute('id')
  for (const name of ['aria-describedby', 'aria-invalid']) {
    const value = all.getAttribute(name)
    if (value !== null) adding.setAttribute(name, value)
  }

  const most = Number(box.dataset['most'])
  const read = () => splitTags(all.value)
  const write = (tags: readonly string[]) => {
    all.value = tags.join(', ')
    draw()
    all.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const add = () => {
    const added = splitTags(adding.value)
    adding.value = ''
    if (added.length > 0) write([...new Set([...read(), ...added])].slice(0, most))
  }
  const draw = () => {
    chips.replaceChildren(
      ...read().map((tag) => {
        const forget = () => {
          write(read().filter((other) => other !== tag))
          adding.focus()
        }
        const remove = makeButton('×', forget, '')
        remove.ariaLabel = (box.dataset['remove'] ?? '').replace('{name}', () => tag)
        return make('li', {}, make('span', {}, tag), remove)
      }),
    )
    chips.hidden = chips.childElementCount === 0
    const isFull = read().length >= most
    adding.disabled = isFull
    adding.placeholder = (isFull ? box.dataset['full'] : box.dataset['tags']) ?? ''
  }

  adding.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    if (event.key === 'Enter' && adding.value !== '') {
      // Not the form: the tag is what was finished.
      event.preventDefault()
      add()
    } else if (event.key === 'Backspace' && adding.value === '') write(read().slice(0, -1))
  })
  adding.addEventListener('input', () => {
    // A comma was typed, or several tags were pasted.
    if (SEPARATOR.test(adding.value)) add()
  })
  adding.addEventListener('change', add)
  // What was not finished is meant, too.
  all.form?.addEventListener('submit', add)
  all.form?.addEventListener('draft-restored', draw)
  const hasFocus = all.autofocus || document.activeElement === all
  all.hidden = true
  all.before(chips, adding)
  draw()
  if (hasFocus) adding.focus()
}

/** The separators of tags, as `readItemFields` has them. */
const SEPARATOR = /[,，、]/

function splitTags(text: string): string[] {
  return text
    .split(SEPARATOR)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}
