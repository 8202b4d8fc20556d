import { hasSingleKeys, header } from './page.ts'
import { openPalette, openShortcuts } from './palette.ts'

/** Whether keys go into a field, also into one of an editor in a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0]
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

/** Ctrl+K or Cmd+K opens the palette anywhere; single keys act when nothing is typed into. @param onRow see `moveInRows` */
export function listenForKeys(onRow: (key: string) => boolean): void {
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event
    if (event.defaultPrevented || isComposing || altKey) return
    if (ctrlKey || metaKey) {
      if (key.toLowerCase() !== 'k' || shiftKey) return
      event.preventDefault()
      openPalette()
      return
    }
    if (isTyping(event) || document.querySelector('dialog[open]') || !hasSingleKeys()) return
    if (key === '/') findField()?.focus()
    else if (key === '?') openShortcuts()
    else if (shiftKey || !onRow(key)) return
    event.preventDefault()
  })
}

/** The field of this page's own search, or that of the header. */
function findField(): HTMLInputElement | null | undefined {
  return document.querySelector<HTMLInputElement>('form[data-search] input[type=search]') ?? header?.querySelector('input')
}
