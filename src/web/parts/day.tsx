import type { FC } from 'hono/jsx'

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** A date, in UTC where no script runs; the island shows the reader's own. */
export const Day: FC<{ at: string }> = ({ at }) => (
  <time datetime={at} data-day>
    {DAY.format(new Date(at))}
  </time>
)

/** A day that is known by its date alone, such as 2026-01-31 in UTC. */
export const UtcDay: FC<{ day: string }> = ({ day }) => <time datetime={day}>{DAY.format(new Date(day))}</time>
