import type { App } from '../app.ts'
import { printError } from './print.ts'

/** Warns on stderr when links use a guessed address. */
export function warnOfGuessedUrl(app: Pick<App, 'baseUrl' | 'isBaseUrlGuessed'>): void {
  if (!app.isBaseUrlGuessed) return
  printError(`The address of the service is unknown, so links start with ${app.baseUrl}. Start the service once or set BASE_URL.\n`)
}
