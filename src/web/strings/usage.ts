import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

const count = (n: number, one: string, many = `${one}s`) => (n === 0 ? `no ${many}` : `${number(n)} ${n === 1 ? one : many}`)

/** Counts of uses and their charts. */
export const USAGE_WORDS = {
  title: 'Last 30 days',
  use: 'Use',
  usedHint: 'Copied from its page, or read by programs. Only you see this.',
  ways: (copies: number, reads: number, views: number) =>
    `Last 30 days: ${count(views, 'view')}, ${count(copies, 'copy', 'copies')}, ${count(reads, 'API read')}`,
  wayNames: { copies: 'Copies', reads: 'Reads', views: 'Views' },
  calls: (count: number) => (count === 1 ? '1 call in 30 days' : `${number(count)} calls in 30 days`),
  callsOf: (name: string) => `Calls with ${name} by day`,
  charts: {
    newItems: 'New items',
    searches: 'Searches',
    mcpCalls: 'MCP calls',
    restCalls: 'REST calls',
    views: 'Views',
    copies: 'Copies',
    signIns: 'Sign-ins',
    errors: 'Errors',
  },
  emptySearches: 'found nothing',
  emptyCount: (count: number) => `${number(count)} found nothing`,
  byDay: (what: string) => `${what} by day`,
  most: (count: number, day: string) => `Most on ${day}: ${number(count)}.`,
  none: 'None.',
  day: 'Day (UTC)',
  asTable: 'As a table',
  off: 'Nothing is counted: USAGE_COUNTS is off.',
  lag: 'Days are in UTC. The last minute is not counted yet.',
}
