import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Words } from '../site.ts'

/**
 * When something happened: a date in UTC, with the time of day if `hasTime`, which a script
 * turns into "3 days ago" or, with the time of day, into the reader's own time. A cached page stays right.
 */
export const Ago: FC<{ words: Pick<Words, 'language'>; at: string; hasTime?: boolean }> = ({ words, at, hasTime = false }) => {
  const formats = formatsOf(words.language)
  const exact = formats.moment(at)
  return (
    <time datetime={at} title={exact} data-ago={hasTime ? 'exact' : 'true'}>
      {hasTime ? exact : formats.day(at)}
    </time>
  )
}
