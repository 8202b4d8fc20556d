import type { OpeningProgress } from '../app.ts'

/** Longest silence of a step that goes on. */
const LOG_EVERY_MS = 5_000

const SENTENCES: Readonly<Record<OpeningProgress['step'], string>> = {
  copying: 'Copying the library before its upgrade',
  migrating: 'Bringing the library up to date',
  'reading words': 'Reading the words of items for search',
  'finishing removals': 'Removing what deleted accounts left',
}

/** Writes what opening a library is at: a line when a step begins, and one every five seconds of it. @param clock milliseconds of a clock that only goes on */
export function logOpening(
  write: (fields: Omit<OpeningProgress, 'step'>, text: string) => void,
  clock: () => number = () => performance.now(),
): (progress: OpeningProgress) => void {
  let last: { readonly step: string; readonly at: number } | null = null
  return ({ step, ...fields }) => {
    const at = clock()
    if (last?.step === step && at - last.at < LOG_EVERY_MS) return
    last = { step, at }
    write(fields, SENTENCES[step])
  }
}
