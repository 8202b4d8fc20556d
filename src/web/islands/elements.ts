/** A new element with its properties and contents. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...contents: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...contents)
  return element
}

/** A button that sends no form. */
export function makeButton(text: string | undefined, act: () => void, className = 'button'): HTMLButtonElement {
  const button = make('button', { type: 'button', className }, text ?? '')
  button.addEventListener('click', act)
  return button
}

/** A dialog in the page, not shown yet. A click beside it closes it; it is removed when it closes, and returns the focus. */
export function makeDialog(className: string, ariaLabel: string): HTMLDialogElement {
  const dialog = make('dialog', { className, ariaLabel })
  document.body.append(dialog)
  dialog.addEventListener('close', () => dialog.remove())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  return dialog
}
