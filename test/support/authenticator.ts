import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** What an authenticator may get wrong. */
interface Quirks {
  readonly origin?: string
  readonly rpId?: string
  readonly isVerified?: boolean
  readonly counter?: number
  readonly challenge?: string
  readonly id?: string
}

/** A passkey held by a test. */
export interface Authenticator {
  readonly id: string
  /** The answer to the options of a registration. */
  register(options: { challenge: string }, quirks?: Quirks): object
  /** The answer to the options of a sign-in; its counter goes up. */
  authenticate(options: { challenge: string }, quirks?: Quirks): object
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** The head of a CBOR item (RFC 8949, section 3). */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
const cborInteger = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value))
const cborBytes = (bytes: Uint8Array) => Buffer.concat([head(2, bytes.length), bytes])
const cborText = (value: string) => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
const cborMap = (entries: readonly (readonly [Buffer, Buffer])[]) => Buffer.concat([head(5, entries.length), ...entries.flat()])

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_CREDENTIAL = 64

/** An authenticator with one key (ES256), for the service at `origin`. */
export function createAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credential = randomBytes(16)
  const id = text(credential)
  let counter = 0
  const clientData = (type: string, challenge: string, { origin: other }: Quirks) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: other ?? origin, crossOrigin: false }))
  const authenticatorData = (quirks: Quirks, more: Uint8Array) => {
    const isVerified = quirks.isVerified ?? true
    const flags = USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | (more.length > 0 ? HAS_CREDENTIAL : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(quirks.counter ?? counter)
    return Buffer.concat([sha256(quirks.rpId ?? new URL(origin).hostname), Buffer.from([flags]), count, more])
  }
  const answer = (response: object, quirks: Quirks) => ({
    id: quirks.id ?? id,
    rawId: quirks.id ?? id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })
  return {
    id,
    register({ challenge }, quirks = {}) {
      const key = cborMap([
        [cborInteger(1), cborInteger(2)],
        [cborInteger(3), cborInteger(-7)],
        [cborInteger(-1), cborInteger(1)],
        [cborInteger(-2), cborBytes(Buffer.from(x, 'base64url'))],
        [cborInteger(-3), cborBytes(Buffer.from(y, 'base64url'))],
      ])
      const named = quirks.id === undefined ? credential : Buffer.from(quirks.id, 'base64url')
      const data = authenticatorData(quirks, Buffer.concat([Buffer.alloc(16), Buffer.from([0, named.length]), named, key]))
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(data)],
      ])
      const clientDataJSON = clientData('webauthn.create', quirks.challenge ?? challenge, quirks)
      return answer({ clientDataJSON: text(clientDataJSON), attestationObject: text(attestation), transports: ['internal'] }, quirks)
    },
    authenticate({ challenge }, quirks = {}) {
      counter++
      const data = authenticatorData(quirks, Buffer.alloc(0))
      const clientDataJSON = clientData('webauthn.get', quirks.challenge ?? challenge, quirks)
      const signature = sign('sha256', Buffer.concat([data, sha256(clientDataJSON)]), privateKey)
      return answer(
        { clientDataJSON: text(clientDataJSON), authenticatorData: text(data), signature: text(signature), userHandle: text(credential) },
        quirks,
      )
    },
  }
}
