import type { FC } from 'hono/jsx'

const MOMENT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' })

/** A day with its time, in UTC, as a text. */
export function formatMoment(at: string): string {
  return `${MOMENT.format(new Date(at))} UTC`
}

/** A day with its time, in UTC: what people compare with logs. */
export const Moment: FC<{ at: string }> = ({ at }) => <time datetime={at}>{formatMoment(at)}</time>
