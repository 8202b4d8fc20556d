import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { listSettings } from '../../src/config/settings.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const { services, volumes } = parse(read('compose.yaml'))
const { commonplace, postgres } = services

it('passes every setting of .env on', () => {
  expect(commonplace.env_file).toEqual([{ path: '.env', required: false }])
  // These go before .env: what else stood here would be lost there.
  expect(commonplace.environment).toEqual({
    HOST: '0.0.0.0',
    PORT: '3000',
    BASE_URL: '${BASE_URL:-http://127.0.0.1:${PORT:-3000}}',
  })
  expect(commonplace.ports).toEqual(['127.0.0.1:${PORT:-3000}:3000'])
})

it('has every setting in .env.example, to be uncommented', () => {
  const lines = read('.env.example').split('\n')
  const named = lines.flatMap((line) => /^# ([A-Z_]+)=/.exec(line)?.[1] ?? [])
  expect(named).toEqual(listSettings().flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name])))
  expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
})

it('lets the service write to its volume alone, without rights', () => {
  expect(commonplace).toMatchObject({
    init: true,
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    mem_limit: expect.stringMatching(/^\d+[mg]$/),
    volumes: ['data:/data'],
  })
  expect(commonplace).not.toHaveProperty('tmpfs')
})

it('waits for PostgreSQL where there is one', () => {
  expect(commonplace.depends_on).toEqual({ postgres: { condition: 'service_healthy', required: false } })
  expect(postgres).toMatchObject({ profiles: ['postgres'], healthcheck: { test: expect.arrayContaining(['pg_isready']) } })
  // A required variable would stop those who keep the library in a file, too.
  expect(read('compose.yaml')).not.toMatch(/\$\{\w+:?\?/)
  expect(Object.keys(volumes)).toEqual(['data', 'postgres', 'models'])
})
