import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Words } from '../site.ts'

/** A day with its time, in UTC: what people compare with logs. */
export const Moment: FC<{ words: Pick<Words, 'language'>; at: string }> = ({ words, at }) => (
  <time datetime={at}>{formatsOf(words.language).moment(at)}</time>
)
