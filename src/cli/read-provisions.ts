import { parse } from 'csv-parse/sync'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { ROLES } from '../library/account.ts'
import { PASSWORD_PROVIDER } from '../library/ports/arrivals.ts'
import { TEAM_ROLES, type TeamRole } from '../library/teams.ts'
import { usernameFault } from '../library/username.ts'

/** Accounts of one list. */
const MAX_ACCOUNTS = 10_000

/** An account as a list wants it. */
export interface Provision {
  /** Line or number of the entry, for messages. */
  readonly at: number
  readonly name: string
  readonly displayName: string | null
  readonly email: string | null
  /** Who this is at a sign-in provider; null: the account of this name. */
  readonly identity: { readonly provider: string; readonly subject: string } | null
  /** Null: the list says nothing of it. */
  readonly role: (typeof ROLES)[number] | null
  readonly teams: ReadonlyMap<string, TeamRole> | null
  readonly state: 'active' | 'suspended' | 'removed'
  readonly handOverTo: string | null
}

const optional = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .optional()
    .transform((text) => (text === undefined || text === '' ? null : text))

const teamList = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given, context): ReadonlyMap<string, TeamRole> | null => {
    if (given === undefined) return null
    const teams = new Map<string, TeamRole>()
    for (const part of typeof given === 'string' ? given.split(/[\s;]+/) : given) {
      if (part.trim() === '') continue
      const [name = '', role = 'reader'] = part.trim().split(':')
      const known = TEAM_ROLES.find((one) => one === role)
      const fault = usernameFault(name)
      if (!known || fault !== null) {
        const message = known
          ? `the team "${name.slice(0, 80)}" ${fault}`
          : `"${part.slice(0, 80)}" is no TEAM:ROLE; the roles are ${TEAM_ROLES.join(', ')}`
        context.addIssue({ code: 'custom', message })
        return z.NEVER
      }
      teams.set(name, known)
    }
    return teams
  })

const entry = z
  .strictObject({
    name: z.string().trim().min(1, 'is required').max(300),
    displayName: optional(100),
    email: optional(320).transform((text) => text?.toLowerCase() ?? null),
    provider: optional(1_000),
    subject: optional(500),
    role: z
      .union([z.enum(ROLES), z.literal('')])
      .optional()
      .transform((role) => (role === undefined || role === '' ? null : role)),
    teams: teamList,
    state: z
      .union([z.enum(['active', 'suspended', 'removed']), z.literal('')])
      .optional()
      .transform((state) => (state === undefined || state === '' ? 'active' : state)),
    handOverTo: optional(300),
  })
  .refine(({ provider, subject }) => (provider === null) === (subject === null), 'provider and subject go together')
  .refine(({ provider }) => provider !== PASSWORD_PROVIDER, 'provider must be the address of an issuer, or proxy')
  .refine(({ handOverTo, state }) => handOverTo === null || state !== 'active', 'handOverTo is for accounts that are suspended or removed')

/**
 * Reads a list of accounts: CSV with a header, or JSON.
 * @throws AppError `invalid_input` that names the entry and the field
 */
export function readProvisions(text: string): Provision[] {
  const rows = /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text)
  if (rows.length > MAX_ACCOUNTS) throw new AppError('invalid_input', `The list has ${rows.length} accounts; the most are ${MAX_ACCOUNTS}.`)
  const seen = new Set<string>()
  return rows.map((row, index) => {
    const at = index + 1
    const parsed = entry.safeParse(row)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      const field = issue?.path.join('.') ?? ''
      throw new AppError('invalid_input', `Account ${at}: ${field === '' ? '' : `${field} `}${issue?.message ?? 'is not valid'}.`)
    }
    const { provider, subject, ...rest } = parsed.data
    const identity = provider === null || subject === null ? null : { provider, subject }
    const fault = identity === null ? usernameFault(rest.name) : null
    if (fault !== null) throw new AppError('invalid_input', `Account ${at}: the name "${rest.name.slice(0, 80)}" ${fault}.`)
    const key = identity === null ? `name ${rest.name.toLowerCase()}` : JSON.stringify([provider, subject])
    if (seen.has(key)) throw new AppError('invalid_input', `Account ${at}: ${rest.name} is in the list twice.`)
    seen.add(key)
    return { at, identity, ...rest }
  })
}

function readJson(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch (error) {
    throw new AppError('invalid_input', 'The list is not valid JSON.', { cause: error })
  }
  throw new AppError('invalid_input', 'The list must be an array of accounts, or CSV with a header.')
}

function readCsv(text: string): unknown[] {
  try {
    return parse(text, { columns: (header: string[]) => header.map((name) => name.trim()), bom: true, skip_empty_lines: true, trim: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new AppError('invalid_input', `The list is not valid CSV: ${reason}.`, { cause: error })
  }
}
