import { readFileSync } from 'node:fs'
import { z } from 'zod'

const packageJson = z.object({ name: z.string(), version: z.string() })

/** What the service is called and which version it is: the version stands in package.json alone. */
export function readProduct(): { title: string; name: string; version: string } {
  return { title: 'Commonplace', ...packageJson.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))) }
}
