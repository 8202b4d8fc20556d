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

/** A date with what happened on it. */
export const On: FC<{ label: string; words: Language; at: string }> = ({ label, words, at }) => (
  <>
    {label} <Day words={words} at={at} />
  </>
)

/** A day with its time, in UTC where no script runs; the island shows the reader's own, and UTC on hover: what people compare with logs. */
export const Moment: FC<{ words: Language; at: string }> = ({ words, at }) => (
  <time datetime={at} data-moment>
    {formatsOf(words.language).moment(at)}
  </time>
)

/** A day that is known by its date alone, such as 2026-01-31 in UTC. */
export const UtcDay: FC<{ words: Language; day: string }> = ({ words, day }) => (
  <time datetime={day}>{formatsOf(words.language).day(day)}</time>
)

/**
 * When something happened: a date in UTC, with the time of day if `hasTime`, which a script
 * turns into "3 days ago" or, with the time of day, into the reader's own time. A cached page stays right.
 */
export const Ago: FC<{ words: Language; at: string; hasTime?: boolean }> = ({ words, at, hasTime = false }) => {
  const formats = formatsOf(words.language)
  const exact = formats.moment(at)
  return (
    <time datetime={at} title={exact} data-ago={hasTime ? 'exact' : 'true'}>
      {hasTime ? exact : formats.day(at)}
    </time>
  )
}
