import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Words } from '../site.ts'

type Language = Pick<Words, 'language'>

/** A date, in UTC where no script runs; the island shows the reader's own. */
export const Day: FC<{ words: Language; at: string }> = ({ words, at }) => (
  <time datetime={at} data-day>
    {formatsOf(words.language).day(at)}
  </time>
)

/** A day that is known by its date alone, such as 2026-01-31 in UTC. */
export const UtcDay: FC<{ words: Language; day: string }> = ({ words, day }) => (
  <time datetime={day}>{formatsOf(words.language).day(day)}</time>
)
