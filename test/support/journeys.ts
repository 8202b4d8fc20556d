import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { findSetupPath, launchOptions, signUp } from './browser.ts'
import { startModelServer } from './model-server.ts'
import { OIDC_CLIENT } from './oidc-client.ts'
import { startOidcServer } from './oidc-server.ts'
import { createPlace } from './processes.ts'

/** The service, its browsers and what they talk to, which all journeys share. */
export interface SharedService {
  readonly baseUrl: string
  /** A folder that goes when the journeys end. */
  readonly folder: string
  /** Where Playwright reaches the browser of each test process. They have one clipboard each. */
  readonly browserUrls: readonly string[]
  /** The model that improves, see `by-text` in model-stub.ts. */
  readonly modelsUrl: string
  /** Cookies of the administrator's session. */
  readonly administrator: string
  /** A sign-in provider called Corp. */
  readonly issuer: string
}

declare module 'vitest' {
  interface ProvidedContext {
    journeys: SharedService | undefined
  }
}

/** No machine needs more: each test process takes one, and there are fewer journeys than that. */
const MAX_BROWSERS = 10

/** Starts one service for all journeys, and a browser for each test process. */
export default async function startJourneys(project: TestProject): Promise<() => Promise<void>> {
  const started: (() => unknown)[] = []
  const stop = async () => {
    for (const end of started.splice(0).toReversed()) await end()
  }
  try {
    project.provide('journeys', await start(Math.min(MAX_BROWSERS, project.config.maxWorkers), (end) => started.push(end)))
  } catch (error) {
    // Vitest calls no teardown of a setup that failed.
    await stop()
    throw error
  }
  return stop
}

async function start(browsers: number, atEnd: (end: () => unknown) => void): Promise<SharedService> {
  const place = createPlace()
  atEnd(() => place.remove())
  const models = await startModelServer()
  atEnd(() => models.stop())
  const provider = await startOidcServer('http://localhost/sign-in/with/oidc')
  atEnd(() => provider.stop())
  const browserUrls: string[] = []
  for (let count = 0; count < browsers; count++) {
    const browser = await chromium.launchServer(launchOptions())
    atEnd(() => browser.close())
    browserUrls.push(browser.wsEndpoint())
  }
  const env = {
    HOST: 'localhost', // Passkeys need a name.
    ALLOW_SIGNUP: 'true',
    IMPROVE_MODEL: 'by-text',
    OPENAI_BASE_URL: models.baseUrl,
    OPENAI_API_KEY: 'sk-test',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: OIDC_CLIENT.id,
    OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
    OIDC_NAME: 'Corp',
    OIDC_GROUPS: 'engineering=acme:editor, staff=everyone:reader',
  }
  const running = await place.serve({ args: ['--starter'], env })
  const administrator = await signUp(running.url, { username: 'root', setupCode: findSetupPath(running).split('=')[1] ?? '' })
  return {
    baseUrl: running.url,
    folder: place.folder,
    browserUrls,
    modelsUrl: models.baseUrl,
    administrator: administrator.cookies(),
    issuer: provider.issuer,
  }
}
