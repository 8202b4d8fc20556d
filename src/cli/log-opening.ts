import type { OpeningProgress } from '../app.ts'

/** Interval between lines of one step. */
const LOG_EVERY_MS = 5_000

const SENTENCES: Readonly<Record<OpeningProgress['step'], string>> = {
  copying: 'Backing up the library before the upgrade',
  migrating: 'Upgrading the library',
  'reading words': 'Indexing items for search',
  'finishing removals': 'Finishing account deletions',
}

/** Logs each step of opening a library, at most one line per five seconds. @param clock monotonic, in milliseconds */
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
