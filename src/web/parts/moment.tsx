import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Words } from '../site.ts'

/** A day with its time, in UTC where no script runs; the island shows the reader's own, and UTC on hover: what people compare with logs. */
export const Moment: FC<{ words: Pick<Words, 'language'>; at: string }> = ({ words, at }) => (
  <time datetime={at} data-moment>
    {formatsOf(words.language).moment(at)}
  </time>
)
