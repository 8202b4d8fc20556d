import type { SendMail } from '../domain/sign-in/logins.ts'
import { AppError } from '../errors.ts'

/** Longest time a mail server may take for one mail. */
const TIMEOUT_MS = 15_000

/** How mail leaves the service. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with user and password in it where the server wants them. */
  readonly url: string
  readonly from: string
}

/** Sends mail through an SMTP server. */
export function createMailer({ url, from }: MailSettings): SendMail {
  return async ({ to, subject, text }) => {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(url, { from, disableFileAccess: true, disableUrlAccess: true })
    const timer = setTimeout(() => transport.close(), TIMEOUT_MS)
    try {
      await transport.sendMail({ to, subject, text })
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      throw new AppError('upstream_failed', `The mail server rejected the message (${reason}).`, { cause: error })
    } finally {
      clearTimeout(timer)
      transport.close()
    }
  }
}
