import { isIP } from 'node:net'
import { z } from 'zod'
import { DEFAULT_QUOTA, NO_QUOTA, type OwnerQuota, USAGE_PARTS } from '../domain/people/usage.ts'
import { parseGroupMap } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'

/** Texts separated by commas. */
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)
/** Host names, separated by commas. */
export const hostNames = list.refine(
  (names) => names.every((name) => name === '*' || (/^[^/*@\s]+$/.test(name) && URL.parse(`http://${name}`) !== null)),
  'must be host names such as prompts.example.org, without a scheme or a pattern, or *',
)
/** IP addresses, separated by commas. */
export const ipAddresses = list.refine((texts) => texts.every((text) => isIP(text) !== 0), 'must be IP addresses such as 10.0.0.7')
/** Web origins, separated by commas. */
export const origins = list.refine(
  (texts) => texts.every((text) => text === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/*\s]+\/?$/i.test(text)),
  'must be origins such as https://app.example.org, or *',
)
/** Costs of password hashes. */
export const PASSWORD_HASHES = ['standard', 'owasp'] as const
/** The rules for second factors: those of `src/domain/sign-in/logins.ts`. */
export const SECOND_FACTOR_RULES = ['optional', 'admins', 'everybody'] as const
/** true or false. */
export const onOff = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
/** on or off. */
export const onOrOff = z.enum(['on', 'off'], 'must be on or off').transform((text) => text === 'on')
/** An http or https origin. */
export const httpUrl = z
  .string()
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http or https address, such as https://prompts.example.org',
  )
  .refine(
    (text) => URL.parse(text)?.pathname === '/' && !/[?#@]/.test(text),
    'must be an origin: no path, query, fragment, user or password',
  )
  .transform((text) => new URL(text).origin)
const isPostgresUrl = (text: string) => /^postgres(ql)?:\/\/[^/]/.test(text) && URL.canParse(text)
/** The address of a library. */
export const databaseUrl = z
  .string()
  .refine(
    (text) => isPostgresUrl(text) || (/^sqlite:.+/.test(text) && !/^sqlite:(\/\/)?:memory:/.test(text)),
    'must be sqlite:PATH, such as sqlite:./data/commonplace.db, or postgres://USER:PASSWORD@HOST/DATABASE (with # / ? @ in the password written as %23 %2F %3F %40)',
  )
/** The address of a PostgreSQL database. */
export const postgresUrl = z.string().refine(isPostgresUrl, 'must be postgres://USER:PASSWORD@HOST/DATABASE')

/** A whole number of at least 1, or `off` for no limit. */
export const countOrOff = (what: string) =>
  z
    .string()
    .regex(/^(off|[1-9]\d{0,11})$/, `must be off or a number of ${what}`)
    .transform((text) => (text === 'off' ? null : Number(text)))
const QUOTA_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_000, M: 1_000_000, G: 1_000_000_000 }
/** `off`, or the most of each part, such as items=5000 bytes=2G; what is not named keeps its default. */
export const ownerQuota = z
  .string()
  .regex(
    new RegExp(`^(off|(?:${USAGE_PARTS.join('|')})=[1-9]\\d{0,5}[kMG]?(?: +(?:${USAGE_PARTS.join('|')})=[1-9]\\d{0,5}[kMG]?)*)$`),
    `must be off or limits such as items=5000 bytes=2G, of ${USAGE_PARTS.join(', ')}`,
  )
  .transform((text): OwnerQuota => {
    if (text === 'off') return NO_QUOTA
    const named = text.split(/ +/).map((pair) => {
      const [part = '', digits = '', unit = ''] = pair.split(/=(\d+)/)
      return [part, Number(digits) * (QUOTA_UNITS[unit] ?? 1)]
    })
    return { ...DEFAULT_QUOTA, ...Object.fromEntries(named) }
  })
const UNITS_MS: Partial<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
/** A time such as 24h, as milliseconds. */
export const interval = z
  .string()
  .regex(/^[1-9]\d{0,3}[mhd]$/, 'must be a duration such as 30m, 24h or 7d')
  .transform((text) => Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] ?? Number.NaN))
/** A whole number from 1 to `most`. */
export const countUpTo = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,6}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .refine((count) => count <= most, `must be a whole number from 1 to ${most}`)
/** The address of a server of models; its key stands in a setting of its own. */
export const modelServerUrl = (keySetting: string) =>
  z
    .string()
    .refine(
      (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
      'must be an http or https address, such as http://127.0.0.1:11434/v1',
    )
    .refine((text) => !/[?#@]/.test(text), `must have no query, fragment, user or password; set the key in ${keySetting}`)
    .transform((text) => text.replace(/\/+$/, ''))
/** The address of a mail server. */
export const smtpUrl = z
  .string()
  .refine((text) => /^smtps?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an smtp or smtps address, such as smtps://mail.example.org')
/** A language model. */
export const modelName = z.string().regex(/^[^\s]{1,200}$/, 'must be a model name without spaces, such as openai/gpt-5')
/** Models for tests, each with its prices in US dollars per million tokens of input and output, where known: `openai/gpt-5=1.25/10`. */
export const pricedModels = list
  .refine(
    (models) => models.every((one) => /^[^\s=]{1,200}(?:=\d{1,6}(?:\.\d{1,6})?\/\d{1,6}(?:\.\d{1,6})?)?$/.test(one)),
    'must be models separated by commas, such as openai/gpt-5=1.25/10',
  )
  .transform((models) =>
    models.map((one) => {
      const [name = '', prices] = one.split('=')
      const [input = 0, output = 0] = (prices ?? '').split('/').map(Number)
      return { name, price: prices === undefined ? null : { input, output } }
    }),
  )
/** A model of embeddings. */
export const embeddingModelName = z.string().regex(/^[^\s]{1,200}$/, 'must be a model name without spaces, such as nomic-embed-text')
/** A key of a provider. */
export const providerKey = z.string().regex(/^[\x21-\x7e]+$/, 'must be a key without spaces')

/** The sources of a content policy's `frame-ancestors`: nothing that could end the directive. */
export const frameAncestors = z
  .string()
  .refine(
    (text) =>
      text === 'none' ||
      text
        .split(/ +/)
        .every((part) => part === '*' || part === 'file:' || /^https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::\d{1,5}|:\*)?$/i.test(part)),
    'must be origins such as https://blog.example.org, separated by spaces, or *, file: or none',
  )
  .transform((text) => (text === 'none' ? '' : text))

/** Whether a text is an address or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}
/** Addresses and networks, separated by commas. */
export const networks = list.refine(
  (texts) => texts.every(isNetwork),
  'must be addresses or networks such as 127.0.0.1, 10.0.0.0/8 or fd00::/8, separated by commas',
)
/** Headers that say something else already, or that any client may send. */
const TAKEN_HEADERS = /^(?:authorization|cookie|host|origin|referer|user-agent|content-.*|accept.*|sec-.*|prompts[_-]api[_-]key|x-api-key)$/
/** The name of a header, in lower case. */
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header, such as Remote-User')
  .transform((name) => name.toLowerCase())
  .refine((name) => !TAKEN_HEADERS.test(name), 'must not be a header with a meaning of its own')
/** Any http or https address. */
export const webUrl = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https address')
/** Teams and roles by groups. */
export const groupMap = z.string().transform((text, issues) => {
  try {
    return parseGroupMap(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    issues.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
})
