import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'

const when = z.string().meta({ format: 'date-time' })
const count = z.number().int()

/** How the service does. No secret, path, user or password is in it. */
const serviceStatus = z.object({
  version: z.string(),
  startedAt: when,
  schema: z.string(),
  prompts: count,
  skills: count,
  inTrash: count,
  users: count,
  logins: count,
  running: count,
  streams: count,
  waiting: z.object({ admission: count, turns: count }),
  database: z.object({
    engine: z.string(),
    place: z.string(),
    bytes: z.number(),
    logBytes: z.number().nullable(),
    beside: z.array(z.object({ name: z.string(), bytes: z.number() })).readonly(),
  }),
  search: z.object({ isReady: z.boolean(), items: count }),
  owners: z.array(z.object({ username: z.string(), items: count, versions: count, bytes: count, words: count })).readonly(),
  embeddings: z.enum(['ok', 'degraded', 'off']),
  encoder: z.object({ state: z.enum(['embedding', 'ready', 'fallback']), embedded: count, total: count }).nullable(),
  backups: z.object({ lastAt: when.nullable(), failures: count }).nullable(),
  faults: z.array(z.object({ message: z.string(), times: count, lastAt: when })).readonly(),
  settings: z.array(z.object({ name: z.string(), isDefault: z.boolean(), value: z.string().nullable(), isSecret: z.boolean() })).readonly(),
})

/** What an operator wants to know at a glance. */
export const showServiceStatus = defineOperation({
  name: 'show_service_status',
  title: 'Status',
  summary: 'Status of this process and its library: sizes, counts, errors of the last day, backups and current settings without secrets.',
  scope: 'admin',
  cost: 5,
  surfaces: {},
  input: z.object({}),
  output: serviceStatus,
  async run({ readStatus }: Needs<never, 'readStatus'>) {
    if (!readStatus) throw new AppError('unavailable', 'Only a running service has a status.')
    return { ...(await readStatus()) }
  },
})
