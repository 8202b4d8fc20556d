// What those who are signed in do in place. Nothing here is needed to use the pages.

/** Forms that are sent as they are, since sending them in place failed: the page that answers says why. */
const failed = new WeakSet<HTMLFormElement>()

/** A star is set or removed without leaving the list. */
addEventListener('submit', (event) => {
  const { target: form, submitter: button } = event
  if (!(form instanceof HTMLFormElement && button instanceof HTMLButtonElement && form.matches('.star')) || failed.has(form)) return
  event.preventDefault()
  const isMarked = button.value === 'favourite'
  fetch(form.action, { method: 'POST', body: new URLSearchParams({ do: button.value }), signal: AbortSignal.timeout(10_000) })
    .then(({ ok }) => {
      if (!ok) throw new Error('The star was refused.')
      button.value = isMarked ? 'unfavourite' : 'favourite'
      button.ariaPressed = String(isMarked)
    })
    .catch(() => {
      failed.add(form)
      form.requestSubmit(button)
    })
})
