import type { App } from '../app.ts'

/** Says on stderr that links are a guess, where they are. */
export function tellOfGuessedUrl(app: Pick<App, 'baseUrl' | 'isBaseUrlGuessed'>): void {
  if (!app.isBaseUrlGuessed) return
  process.stderr.write(
    `The address of the service is not known yet, so links begin with ${app.baseUrl}. Start the service once, or set BASE_URL.\n`,
  )
}
