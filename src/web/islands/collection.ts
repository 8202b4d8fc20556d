// Items of a collection are dragged to another place. Without it, the buttons of each row move them.
import { make, post } from './shared.ts'

const order = document.querySelector<HTMLElement>('[data-order]')
const list = order?.querySelector('ol')
if (order && list) {
  const said = order.querySelector<HTMLElement>('[data-said]')
  const idOf = (row: Element) => row.querySelector<HTMLElement>('[data-item]')?.dataset['item'] ?? ''
  const clear = () => {
    for (const row of list.children) row.classList.remove('drop-before', 'drop-after')
  }
  /** The row under a point, and whether the point is in its upper half. */
  const findPlace = (y: number, dragged: Element) => {
    for (const row of list.children) {
      const { top, bottom } = row.getBoundingClientRect()
      if (row !== dragged && y >= top && y < bottom) return { row, isBefore: y < (top + bottom) / 2 }
    }
    return null
  }
  const move = async (dragged: Element, place: { readonly row: Element; readonly isBefore: boolean }) => {
    const { row, isBefore } = place
    if ((isBefore ? row.previousElementSibling : row.nextElementSibling) === dragged) return
    const next = dragged.nextElementSibling
    if (isBefore) row.before(dragged)
    else row.after(dragged)
    number()
    try {
      const fields = { do: isBefore ? 'before' : 'after', item: idOf(dragged), beside: idOf(row) }
      const answer = await post(order.dataset['order'] ?? '', fields)
      if (!answer.ok) throw new Error('The move was refused.')
      if (said) said.textContent = (order.dataset['moved'] ?? '').replace('{title}', dragged.querySelector('h3')?.textContent ?? '')
    } catch {
      list.insertBefore(dragged, next)
      number()
      if (said) {
        said.textContent = order.dataset['failed'] ?? ''
        said.className = 'fault notice'
      }
    }
  }
  /** The ends of the list have no way on. */
  const number = () => {
    const rows = [...list.children]
    for (const [at, row] of rows.entries()) {
      for (const button of row.querySelectorAll<HTMLButtonElement>('[data-item] button[value]')) {
        if (order.dataset['first'] && button.value === 'up') button.disabled = at === 0
        if (order.dataset['last'] && button.value === 'down') button.disabled = at === rows.length - 1
      }
    }
  }

  for (const row of list.children) {
    const handle = make('span', { className: 'button quiet handle', ariaHidden: 'true', title: order.dataset['drag'] ?? '' }, '⠿')
    row.querySelector('[data-item]')?.prepend(handle)
    handle.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return
      event.preventDefault()
      handle.setPointerCapture(event.pointerId)
      row.classList.add('dragged')
      const follow = ({ clientY }: PointerEvent) => {
        clear()
        const place = findPlace(clientY, row)
        place?.row.classList.add(place.isBefore ? 'drop-before' : 'drop-after')
        // Near an edge of the window, what is beyond it comes into view.
        if (clientY < 48) scrollBy(0, -16)
        else if (clientY > innerHeight - 48) scrollBy(0, 16)
      }
      const end = ({ clientY, type }: PointerEvent) => {
        handle.removeEventListener('pointermove', follow)
        for (const name of ['pointerup', 'pointercancel'] as const) handle.removeEventListener(name, end)
        clear()
        row.classList.remove('dragged')
        const place = type === 'pointerup' ? findPlace(clientY, row) : null
        if (place) void move(row, place)
      }
      handle.addEventListener('pointermove', follow)
      for (const name of ['pointerup', 'pointercancel'] as const) handle.addEventListener(name, end)
    })
  }
}
