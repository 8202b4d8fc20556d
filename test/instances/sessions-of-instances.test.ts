// The tests of sessions again, with the service as two processes that share a database behind a proxy which knows no sessions.
process.env['TEST_ENGINE'] = 'postgresql'
process.env['TEST_INSTANCES'] = '2'
await import('./sessions.test.ts')
