import { showControls } from '../domain/text/controls.ts'

/** A text as XML holds it, in an attribute too: control characters are marked, and what XML 1.0 has no place for (section 2.2) is left out. */
export function escapeXml(text: string): string {
  return showControls(text.toWellFormed())
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
