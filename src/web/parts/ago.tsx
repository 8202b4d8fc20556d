import type { FC } from 'hono/jsx'
import { formatMoment } from './moment.tsx'

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/**
 * When something happened: a date in UTC, with the time of day if `hasTime`, which a script turns into "3 days ago". The exact time shows on
 * hover. A cached page stays right.
 */
export const Ago: FC<{ at: string; hasTime?: boolean }> = ({ at, hasTime = false }) => {
  const exact = formatMoment(at)
  return (
    <time datetime={at} title={exact} data-ago>
      {hasTime ? exact : DAY.format(new Date(at))}
    </time>
  )
}
