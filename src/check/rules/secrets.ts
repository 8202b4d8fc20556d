import type { FileView } from '../file-view.ts'
import type { Rule } from '../rule.ts'

/** Words of placeholders. */
const PLACEHOLDER =
  /example|placeholder|your|x{4,}|dummy|sample|fake|redacted|changeme|change[-_]me|\.\.\.|0{6,}|1234567|abcdefg|<|\*{3,}|\$\{|\{\{|insert|replace|todo|foobar|secret_?key|test_?(?:key|token)|my[-_]?(?:key|token|secret|password)/i

/** Shannon entropy of the characters of a text, in bits. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** Least entropy of a random key of some length: texts and patterns repeat themselves. */
function isRandom(text: string): boolean {
  return entropyOf(text) >= Math.min(3.6, Math.log2(Math.max(2, text.length)) * 0.72)
}

/** Whether a match is no placeholder, and its first group, or all of it, looks drawn at random. */
function isKey(match: RegExpExecArray): boolean {
  return !PLACEHOLDER.test(match[0]) && isRandom(match.slice(1).find((group) => group !== undefined) ?? match[0])
}

const WHY = 'A key in an item is read by everybody who sees the item, and stays in its versions.'
const FIX = 'Revoke the key, remove it here, and read it from the environment.'

/** A rule for keys of a form that their provider publishes. */
function keyOf(name: string, title: string, pattern: RegExp, example: Rule['example']): Rule {
  const common = { severity: 'high', owasp: 'AST01', weight: 'data', isSecret: true, why: WHY, fix: FIX } as const
  return { ...common, id: `secrets/${name}`, title, pattern, weigh: (match) => (isKey(match) ? 'high' : null), example }
}

const ASSIGNED =
  /\b([A-Za-z0-9_.-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credential|pwd|\bpass)[A-Za-z0-9_-]{0,20})["'`]?\s{0,4}(?::=|=>|[:=])\s{0,4}(["'`]?)([^\s"'`,;(){}<>$]{10,200})(?=["'`\s,;)}<]|$)/gim

/** Whether something that looks drawn at random is assigned to what is called a secret. */
function isAssigned([whole, , quote = '', value = '']: RegExpExecArray, { kind }: FileView): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((form) => form.test(value)).length
  const isReference =
    /^(?:process\.|os\.|env[.[]|self\.|this\.|config\.|settings\.|args\.|https?:|\/|\.|~|[A-Z][A-Z0-9_]+$|[a-z]+(?:[._-][a-z]+)*$|[a-z]+(?:[A-Z][a-z]+)+$|[a-z]+:\w)/.test(
      value,
    )
  // Words are no secrets, whatever the variable is called.
  const isWordy = classes < 3 && !/^[0-9a-f]{20,}$|^[0-9a-z]{20,}$/i.test(value)
  if (isReference || isWordy || PLACEHOLDER.test(whole) || !isRandom(value) || /\.\w+\(|\[\w/.test(value)) return false
  return quote !== '' || kind === 'text' || /^[\w.-]*\s{0,4}=/.test(whole) || classes >= 3
}

/** Secrets by their form, and by their entropy. Variables and placeholders are none. */
export const SECRET_RULES: readonly Rule[] = [
  keyOf(
    'aws',
    'Key of Amazon Web Services',
    /\b((?:AKIA|ASIA)[A-Z2-7]{16})\b|aws[\w]{0,20}secret[\w]{0,20}["'`]?\s{0,3}[:=]\s{0,3}["'`]?([A-Za-z0-9/+]{40})\b/gi,
    'AKIAQ3ZT7WBN5KXE2MLD',
  ),
  keyOf('github', 'Token of GitHub', /\b(?:gh[pousr]_|github_pat_)(\w{30,255})\b/g, 'ghp_9aKf3LmQ7xTz2VbN8cRw5YhJ4dGs6PuE1oXi'),
  keyOf('gitlab', 'Token of GitLab', /\bgl(?:pat|dt|rt|ptt|agent)-([\w-]{20,64})\b/g, 'glpat-7Qm2xKz9Vt4LbW8nRcY3'),
  keyOf(
    'slack',
    'Token or webhook of Slack',
    /\bx(?:ox[abeprs]|app)-([\w-]{20,255})|hooks\.slack\.com\/services\/(T\w{6,14}\/B\w{6,14}\/\w{16,40})/g,
    'xoxb-2847561930-4719283746-Qw8Er5Ty2Ui9Op3As6Df',
  ),
  keyOf('stripe', 'Secret key of Stripe', /\b(?:[sr]k_live_|whsec_)([A-Za-z0-9]{16,128})\b/g, 'sk_live_8Hs2Kd9Lw4Zx7Cv1Bn6Mq3Tr'),
  keyOf(
    'model-provider',
    'Key of a model provider',
    /\b(?:sk-(?:ant-(?:api\d\d-|admin\d\d-)?|proj-|svcacct-|or-v1-|None-)?|gsk_|hf_|pplx-|xai-|r8_)([A-Za-z0-9_-]{24,200})/g,
    'sk-ant-api03-Zr7Yq2Xw9Vt4Us6Rp1Oo8Nm3Ll5Kk',
  ),
  keyOf('google', 'Key of Google', /\b(?:AIza|GOCSPX-|ya29\.)([\w-]{24,200})/g, 'AIzaSyD4k9Fq2Lw7Xz8Vb3Nm6Qr1Tt5Yu0Io9Pa'),
  keyOf(
    'package-registry',
    'Token of a package registry',
    /\b(?:npm_|pypi-|dckr_pat_|rubygems_)([\w-]{24,255})/g,
    'npm_Zx8Cv2Bn7Mq4Ws9Ed3Rf6Tg1Yh5Uj0IkL2',
  ),
  keyOf(
    'service',
    'Key of a service',
    /\bSG\.([\w-]{16,32}\.[\w-]{30,64})|\bAC[0-9a-f]{32}\b[^\n]{0,80}\b([0-9a-f]{32})\b|\b(?:dop_v1_|shpat_|shpss_|lin_api_|ntn_|glsa_|hvs\.|dapi|NRAK-|sq0(?:atp|csp)-|sbp_|sntrys_|figd_|xkeysib-|EAACEdEose0cBA)([\w-]{20,160})|AccountKey=([A-Za-z0-9+/]{60,100}={0,2})|\bbot(\d{8,10}:[\w-]{35})\b|\b(\d{8,10}:AA[\w-]{33})\b|\b([MN][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38})\b|\bSK([0-9a-f]{32})\b/g,
    'dop_v1_4f9a2c7e8b1d6053f4a9e2c7b8d1605f4e9a2c7b8d16053f4a9e2c7b8d16053f',
  ),
  {
    ...keyOf(
      'private-key',
      'Private key',
      /-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----\s{1,4}(?:[\w-]{2,30}: [^\n]{0,80}\n){0,4}\s{0,2}[A-Za-z0-9+/=\s]{40}/g,
      '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n',
    ),
    on: 'text',
    weigh: ([found]) => (/\.\.\.|xxxx|(?:AAAA){6}/i.test(found) ? null : 'high'),
  },
  keyOf(
    'signed-token',
    'Signed token (JWT)',
    /\beyJ[\w-]{14,400}\.eyJ[\w-]{14,2000}\.([\w-]{20,700})/g,
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJ3cml0ZSJ9.Qw8Er5Ty2Ui9Op3As6Df1Gh4Jk7Lz0XcVb2Nm5',
  ),
  {
    ...keyOf(
      'address-password',
      'Password in an address',
      /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>{}$[\]]{0,64}:([^\s:/@"'`<>{}$*[\]]{6,128})@([^\s/"'`]{3,120})/gi,
      'postgres://app:Zt7Qk2Vw9@db.corp-data.net/main',
    ),
    severity: 'medium',
    weigh: ([whole, password = '', host = '']) => {
      const isLocal = /^(?:localhost|127\.|0\.0\.0\.0|(?:host|db|postgres|mysql|redis|mongo|rabbitmq)(?=[:/]|$))/i.test(host)
      const isWord = /^(?:pass\w*|pwd|secret\w*|admin|root|postgres|user|guest|test\w*|token|[a-z]{4,12}|[A-Z_]+)$/i.test(password)
      return isWord || isLocal || PLACEHOLDER.test(whole.replace(host, '')) ? null : 'medium'
    },
  },
  {
    ...keyOf('assigned', 'Secret in an assignment', ASSIGNED, { file: 'a.py', text: 'password = "vK9#mQ2xL7@pR4w"' }),
    severity: 'medium',
    weigh: (match, file) => (isAssigned(match, file) ? 'medium' : null),
  },
]
