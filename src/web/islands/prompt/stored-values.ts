// Values that were typed into a prompt, kept for this tab alone: they are never sent, and end with the tab.
import { listStored, readStored, writeStored } from '../stored.ts'

const PREFIX = 'filling:'

/** The values of a prompt's blanks, by name. What is stored is read with care, for other pages of this service share it. */
export function readValues(id: string, names: ReadonlySet<string>): Map<string, string> {
  const values = new Map<string, string>()
  try {
    const stored: unknown = JSON.parse(readStored(PREFIX + id, 'sessionStorage') ?? '{}')
    for (const [name, value] of Object.entries(stored ?? {})) {
      if (names.has(name) && typeof value === 'string' && value !== '') values.set(name, value)
    }
  } catch {
    // Another page wrote something else.
  }
  return values
}

/** Keeps the values of a prompt. Those of other prompts make room when there is none. */
export function storeValues(id: string, values: ReadonlyMap<string, string>): void {
  const write = (key: string, kept: string | null) => writeStored(key, kept, 'sessionStorage')
  const kept = values.size === 0 ? null : JSON.stringify(Object.fromEntries(values))
  if (write(PREFIX + id, kept)) return
  for (const key of listStored('sessionStorage')) if (key.startsWith(PREFIX)) write(key, null)
  write(PREFIX + id, kept)
}

/** Set by the palette before it opens a prompt, which is to be filled in at once. */
const ARRIVAL = 'fill-in'

/** Whether the palette led here. */
export function takeArrival(): boolean {
  const isSet = readStored(ARRIVAL, 'sessionStorage') === location.pathname
  writeStored(ARRIVAL, null, 'sessionStorage')
  return isSet
}
