// Shows what the form of the designer makes as it is typed: the page that the form leads to, without leaving this one.
const form = document.querySelector<HTMLFormElement>('form[data-embeds]')
if (form) {
  let waiting: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const live = (page: Document) => [...page.querySelectorAll('[data-live]')]
  const show = async () => {
    asking?.abort()
    asking = new AbortController()
    const fields = [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
    const body = new URLSearchParams([...fields, ['do', 'show']])
    const answer = await fetch(form.action, { method: 'POST', body, signal: asking.signal, headers: { Accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
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
  }
  const later = () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      // What was overtaken by the next, or by leaving, is no fault.
      show().catch(() => {})
    }, 300)
  }
  // It shows by itself what the button would.
  const update = form.querySelector<HTMLButtonElement>('button[value="show"]')
  if (update) update.hidden = true
  form.addEventListener('input', ({ target }) => {
    // Who writes a colour of their own has left the chosen pair, and the other way round.
    const preset = form.querySelector<HTMLSelectElement>('select[name="preset"]')
    if (preset && target instanceof HTMLInputElement && /Color$/.test(target.name)) preset.value = ''
    later()
  })
}

export {}
