// Shows what the form of the designer makes as it is typed: the page that the form leads to, without leaving this one.
import { post, readFields, readPage, takeLast } from './shared.ts'

const form = document.querySelector<HTMLFormElement>('form[data-embeds]')
if (form) {
  const live = (page: Document) => [...page.querySelectorAll('[data-live]')]
  const show = takeLast(async (signal) => {
    const page = await readPage(await post(form.action, [...readFields(form), ['do', 'show']], signal))
    const fresh = live(page)
    // A chosen pair of colours shows in the fields for colours of one's own.
    for (const field of form.querySelectorAll<HTMLInputElement>('input[type="color"]')) {
      const chosen = page.querySelector<HTMLInputElement>(`input[name="${field.name}"]`)
      if (chosen && document.activeElement !== field) field.value = chosen.value
    }
    for (const [place, old] of live(document).entries()) {
      const next = fresh[place]
      if (!next || next.outerHTML === old.outerHTML) continue
      old.className = next.className
      old.replaceChildren(...next.childNodes)
    }
  }, 300)
  // It shows by itself what the button would.
  const update = form.querySelector<HTMLButtonElement>('button[value="show"]')
  if (update) update.hidden = true
  form.addEventListener('input', ({ target }) => {
    // Who writes a colour of their own has left the chosen pair, and the other way round.
    const preset = form.querySelector<HTMLSelectElement>('select[name="preset"]')
    if (preset && target instanceof HTMLInputElement && /Color$/.test(target.name)) preset.value = ''
    show()
  })
}
