import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // End-to-end files build the program and start servers and clients in processes of their own.
    globalSetup: ['test/support/build.ts', 'test/support/postgres.ts'],
    // No property test shrinks for ever.
    setupFiles: ['test/support/bound-shrinking.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
