import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { useMemoryForFiles } from './test/support/temporary-folder.ts'

const BUILD = 'test/support/build.ts'
const JOURNEYS = 'test/support/journeys.ts'
const TOOLS = 'test/support/tools.ts'
const POSTGRES = 'test/support/postgres.ts'
/** What only PostgreSQL has. */
const POSTGRES_ALONE = 'test/engine/{migrate-data,postgres-plans}.test.ts'
/** What only SQLite has. */
const SQLITE_ALONE = 'test/engine/sqlite.test.ts'
const SMOKE = 'test/journeys/smoke.test.ts'
/** Of the long tests, those that run for a few rounds with every change. */
const SAMPLE = ['test/long/{attacks,backups,conformance,faults}.test.ts']

useMemoryForFiles()
// Each of the processes compiles the same modules, those of the program under test too.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))

export default defineConfig({
  test: {
    // Node loads the modules itself, as it does for users: wrapped by Vite they start and run slower.
    experimental: { viteModuleRunner: false },
    // Pages for the loader; how often property tests run, and how long they shrink.
    setupFiles: ['scripts/jsx.ts', 'test/support/property-runs.ts'],
    // A slow machine is no fault: what is waited for comes, or the test fails in the end.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['default', './test/support/slowest-files.ts'],
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Much of the time goes into waiting for processes, hence two even on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Files of a project share their processes: importing the program for each file would take longer than most of their tests.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { extends: true, test: { name: 'operations', include: ['test/operations/*.test.ts'], globalSetup: [BUILD] } },
      { extends: true, test: { name: 'surface', include: ['test/surface/*.test.ts'], globalSetup: [BUILD] } },
      {
        extends: true,
        test: {
          name: 'engine',
          include: ['test/engine/*.test.ts'],
          exclude: [POSTGRES_ALONE],
          globalSetup: [BUILD],
          env: { TEST_ENGINES: 'sqlite' },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: ['test/engine/*.test.ts'],
          exclude: [SQLITE_ALONE],
          globalSetup: [BUILD, TOOLS, POSTGRES],
          env: { TEST_ENGINES: 'postgresql', TEST_ENGINE: 'postgresql' },
        },
      },
      { extends: true, test: { name: 'walks', include: ['test/walks/*.test.ts'], globalSetup: [BUILD] } },
      {
        extends: true,
        // Each request goes to the next of two processes on one database.
        test: {
          name: 'instances',
          isolate: true,
          include: ['test/instances/*.test.ts'],
          globalSetup: [BUILD, TOOLS, POSTGRES],
          env: { TEST_ENGINE: 'postgresql', TEST_INSTANCES: '2' },
        },
      },
      { extends: true, test: { name: 'smoke', include: [SMOKE], globalSetup: [BUILD, JOURNEYS] } },
      {
        extends: true,
        test: {
          name: 'journeys',
          include: ['test/journeys/*.test.ts'],
          exclude: [SMOKE],
          globalSetup: [BUILD, TOOLS, JOURNEYS],
        },
      },
      {
        extends: true,
        test: {
          name: 'sample',
          include: SAMPLE,
          globalSetup: [BUILD, TOOLS, POSTGRES],
          env: { IS_SAMPLE: 'true', ATTACK_SECONDS: '2', FAULT_ROUNDS: '2' },
          isolate: true,
        },
      },
      {
        extends: true,
        // Attacks measure what is left for others, so nothing else may run beside them.
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: [BUILD, TOOLS, POSTGRES, JOURNEYS],
          isolate: true,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
