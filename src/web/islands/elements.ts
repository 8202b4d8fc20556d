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
