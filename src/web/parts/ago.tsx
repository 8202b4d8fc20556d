import type { FC } from 'hono/jsx'

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' })

/** When something happened: a date in UTC, which a script turns into "3 days ago". The exact time shows on hover. A cached page stays right. */
export const Ago: FC<{ at: string }> = ({ at }) => {
  const date = new Date(at)
  return (
    <time datetime={at} title={`${EXACT.format(date)} UTC`} data-ago>
      {DAY.format(date)}
    </time>
  )
}
