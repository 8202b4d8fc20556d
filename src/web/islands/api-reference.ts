// The browsable reference of the REST interface, in place of the list of routes that the page has without it.
// First, for the reference writes styles as soon as it is loaded.
import './styles-as-objects.ts'
import { createApiReference } from '@scalar/api-reference'

/** Waits until the reference's own sheet is there: without it nothing could be read. */
function loadSheet(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sheet = document.createElement('link')
    sheet.rel = 'stylesheet'
    sheet.href = address
    sheet.addEventListener('load', () => resolve())
    sheet.addEventListener('error', () => reject(new Error(`${address} was not loaded`)))
    document.head.append(sheet)
  })
}

const place = document.querySelector<HTMLElement>('[data-api-reference]')
if (place) {
  const { apiReference: url = '', sheet = '', theme } = place.dataset
  const isDark = theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
  await loadSheet(sheet)
  // The list of routes and its table of contents.
  for (const element of document.querySelectorAll<HTMLElement>('.document > .written, .document > .contents')) element.hidden = true
  place.hidden = false
  createApiReference(place, {
    url,
    theme: 'none',
    // Nothing is asked of anybody else, and nothing leads to their services.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    forceDarkModeState: isDark ? 'dark' : 'light',
    hideDarkModeToggle: true,
    persistAuth: false,
  })
}
