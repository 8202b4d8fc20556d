import { make, readStored, writeStored } from '../shared.ts'

/** The search form in the header, which carries the texts of the script. */
export const header = document.querySelector<HTMLFormElement>('form.find')

let status: HTMLElement | undefined
let hiding: ReturnType<typeof setTimeout> | undefined

/** Says shortly what was done, also to readers who cannot see it. */
export function announce(text = ''): void {
  const place = status ?? document.body.appendChild(make('div', { className: 'toast', role: 'status' }))
  status = place
  clearTimeout(hiding)
  place.textContent = ''
  // The place must be there before its text is, and the same text again would announce nothing.
  hiding = setTimeout(() => {
    place.textContent = text
    hiding = setTimeout(() => place.replaceChildren(), 3000)
  }, 50)
}

const SINGLE_KEYS = 'single-keys'

/** Whether the reader wants single-key shortcuts; everybody does who has not turned them off here. */
export function hasSingleKeys(): boolean {
  return readStored(SINGLE_KEYS) !== 'off'
}

/** Turns single-key shortcuts on or off in this browser. */
export function setSingleKeys(isOn: boolean): void {
  writeStored(SINGLE_KEYS, isOn ? 'on' : 'off')
}
