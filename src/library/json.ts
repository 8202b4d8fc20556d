/** Deepest nesting of arrays and objects taken from outside. */
const MAX_JSON_DEPTH = 64

export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string }

/** Parses JSON from outside: refuses what is malformed or nested deeper than {@link MAX_JSON_DEPTH}, before building any of it. */
export function parseJson(text: string): ParsedJson {
  if (nestingDepth(text) > MAX_JSON_DEPTH) return { ok: false, reason: `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.` }
  try {
    const value: unknown = JSON.parse(text)
    return { ok: true, value }
  } catch {
    return { ok: false, reason: 'The body is not valid JSON.' }
  }
}

/** Deepest nesting of a JSON text, in one scan; stops counting just over the limit. */
function nestingDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isInString) {
      if (unit === 0x5c) i++
      else if (unit === 0x22) isInString = false
    } else if (unit === 0x22) isInString = true
    else if (unit === 0x5b || unit === 0x7b) {
      depth++
      if (depth > deepest) deepest = depth
      if (deepest > MAX_JSON_DEPTH) return deepest
    } else if (unit === 0x5d || unit === 0x7d) depth--
  }
  return deepest
}
