// Values that were typed into a prompt, kept for this tab alone: they are never sent, and end with the tab.

const PREFIX = 'filling:'

/** The values of a prompt's blanks, by name. What is stored is read with care, for other pages of this service share it. */
export function readValues(id: string, names: ReadonlySet<string>): Map<string, string> {
  const values = new Map<string, string>()
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(PREFIX + id) ?? '{}')
    for (const [name, value] of Object.entries(stored ?? {})) {
      if (names.has(name) && typeof value === 'string' && value !== '') values.set(name, value)
    }
  } catch {
    // A browser that keeps nothing: the page works without.
  }
  return values
}

/** Keeps the values of a prompt. Those of other prompts make room when there is none. */
export function storeValues(id: string, values: ReadonlyMap<string, string>): void {
  const write = () => {
    if (values.size === 0) sessionStorage.removeItem(PREFIX + id)
    else sessionStorage.setItem(PREFIX + id, JSON.stringify(Object.fromEntries(values)))
  }
  try {
    try {
      write()
    } catch {
      for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
      write()
    }
  } catch {
    // As above.
  }
}

/** Set by the palette before it opens a prompt, which is to be filled in at once. */
const ARRIVAL = 'fill-in'

/** Whether the palette led here. */
export function takeArrival(): boolean {
  try {
    const isSet = sessionStorage.getItem(ARRIVAL) === location.pathname
    sessionStorage.removeItem(ARRIVAL)
    return isSet
  } catch {
    return false
  }
}
