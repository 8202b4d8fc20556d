import { base32 } from '@better-auth/utils/base32'
import { createOTP } from '@better-auth/utils/otp'

/** The key of an app, as the page of the settings shows it. */
export function readSecret(html: string): string {
  const shown = /<code class="key">([^<]+)<\/code>/.exec(html)?.[1]
  if (shown === undefined) throw new Error('The page shows no key')
  return new TextDecoder().decode(base32.decode(shown.replaceAll(' ', '')))
}

/** What the app shows at a time, or some steps of 30 seconds later. */
export async function codeAt(secret: string, nowMs: number, later = 0): Promise<string> {
  return await createOTP(secret).hotp(Math.floor(nowMs / 30_000) + later)
}
