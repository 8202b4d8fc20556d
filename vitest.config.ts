import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

const BUILD = 'test/support/build.ts'
const TOOLS = 'test/support/tools.ts'
const POSTGRES = 'test/support/postgres.ts'
/** The suites that cross rooms, in the test's own process. */
const INTEGRATION = ['test/*.test.ts']
/** Suites whose state crosses processes: on PostgreSQL they run behind two instances. `npm run test:instances` runs the others that way too. */
const SHARED_STATE =
  'test/{closed-library,collections-page,item-actions,library,mcp,purge,revoked-keys,search,team-items,teams,transfers,visibility}.test.ts'

/** No database is opened there, or the engine makes no difference. */
const ON_NO_ENGINE =
  'test/{api-reference,compose,dependencies,dockerfile,document-search,documents,executable,growth-plots,highlighting,languages,make-encoder,marked-pages,packaging,property-tests}.test.ts'
/** The longest on PostgreSQL. Most of the store that they use is in `test/contract` too, which always runs on both engines. */
const ON_WHOLE_RUNS = [
  'test/{accounts,administration,audit,git-remote,hostile-forms,import-page,improve,item-encoding,oauth,second-factor,sync}.test.ts',
  'test/e2e/{command-line,people,transfer}.test.ts',
]
/** `npm run test:postgresql` and `npm run test:instances`. */
const isWholeRun = process.env['TEST_ENGINE'] === 'postgresql' || process.env['TEST_INSTANCES'] !== undefined

export default defineConfig({
  test: {
    // No property test shrinks for ever.
    setupFiles: ['test/support/bound-shrinking.ts'],
    // A slow machine is no fault: what is waited for comes, or the test fails in the end.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    // Much of the time goes into waiting for processes, hence two even on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        // One process for many files: they share no state, and starting a process for each would take longer than their tests.
        test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: [...INTEGRATION, 'test/contract/*.test.ts'],
          globalSetup: [BUILD],
          env: { TEST_ENGINES: 'sqlite' },
        },
      },
      {
        extends: true,
        test: { name: 'smoke', include: ['test/smoke/*.test.ts'], globalSetup: [BUILD] },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/e2e/*.test.ts', 'test/browser/*.test.ts', 'test/contract/*.test.ts'],
          globalSetup: [BUILD, TOOLS, POSTGRES],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: [...INTEGRATION, 'test/e2e/{command-line,opening,people,transfer}.test.ts'],
          exclude: [...configDefaults.exclude, SHARED_STATE, ON_NO_ENGINE, ...(isWholeRun ? [] : ON_WHOLE_RUNS)],
          globalSetup: [BUILD, TOOLS, POSTGRES],
          env: { TEST_ENGINE: 'postgresql' },
        },
      },
      {
        extends: true,
        // Each request of a test goes to the next of two instances.
        test: {
          name: 'instances',
          include: [SHARED_STATE],
          globalSetup: [BUILD, TOOLS, POSTGRES],
          env: { TEST_ENGINE: 'postgresql', TEST_INSTANCES: '2' },
        },
      },
      {
        extends: true,
        // Attacks measure what is left for others, so nothing else may run beside them.
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: [BUILD, TOOLS, POSTGRES],
          maxWorkers: 1,
          testTimeout: 600_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
