import { createServer, type Server, type Socket } from 'node:net'
import { base32 } from '@better-auth/utils/base32'
import { afterEach, expect, it } from 'vitest'
import { ADMIN_RIGHTS } from '../../src/domain/people/actor.ts'
import { codeAt } from '../support/codes.ts'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, visit } from '../support/visitor.ts'

/** A mail server that takes every mail, or none. */
function mailServer(behaviour: 'takes' | 'refuses' | 'says nothing') {
  const mails: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    if (behaviour === 'says nothing') return
    socket.write('220 mail.example.org\r\n')
    let data: string | null = null
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\r\n')) {
        if (data !== null) {
          if (line === '.') {
            mails.push(data)
            data = null
            socket.write('250 kept\r\n')
          } else data += `${line}\n`
        } else if (/^(EHLO|HELO)/.test(line)) socket.write('250 mail.example.org\r\n')
        else if (/^MAIL/.test(line)) socket.write(behaviour === 'refuses' ? '550 not from you\r\n' : '250 fine\r\n')
        else if (/^RCPT/.test(line)) socket.write('250 fine\r\n')
        else if (/^DATA/.test(line)) {
          data = ''
          socket.write('354 go on\r\n')
        } else if (/^QUIT/.test(line)) socket.end('221 bye\r\n')
      }
    })
  })
  return {
    mails,
    async listen() {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const address = server.address()
      return `smtp://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}?ignoreTLS=true`
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function start(behaviour: Parameters<typeof mailServer>[0]): Promise<{ test: TestApp; mails: string[] }> {
  const server = mailServer(behaviour)
  const url = await server.listen()
  const test = await testApp({}, {}, null, { mail: { url, from: 'Commonplace <prompts@example.org>' } })
  open.push(() => test.close(), server.close)
  return { test, mails: server.mails }
}

it('sends a link that sets a new password', async () => {
  const { test, mails } = await start('takes')
  const ada = await signUp(test, 'ada')
  await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
  const visitor = visit(test)
  expect((await visitor.post('/forgot-password', { name: 'ADA' })).to).toBe('/forgot-password?asked=mail')
  await expect.poll(() => mails.length).toBe(1)
  const mail = (mails[0] ?? '').replaceAll('=\n', '').replaceAll('=3D', '=')
  expect(mail).toMatch(/^To: ada@example\.org$/m)
  expect(mail).toMatch(/^From: Commonplace <prompts@example\.org>$/m)
  const token = /http:\/\/127\.0\.0\.1:3000\/reset-password\?token=([\w-]+)/.exec(mail)?.[1] ?? ''
  expect((await visitor.post('/reset-password', { token, password: 'a new good one' })).to).toBe('/sign-in?done=password-set')
  expect((await visitor.post('/sign-in', { name: 'ada', password: 'a new good one' })).status).toBe(303)
})

it('answers the same at once for who has no account or no address, and sends nothing', async () => {
  const { test, mails } = await start('takes')
  await signUp(test, 'ada')
  for (const name of ['ada', 'nobody', 'x@example.org', `a\r\nBcc: eve@example.org`]) {
    expect((await visit(test).post('/forgot-password', { name })).to).toBe('/forgot-password?asked=mail')
  }
  // real time: nothing more must happen
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(mails).toEqual([])
})

it.each(['refuses', 'says nothing'] as const)('answers at once when the mail server %s', async (behaviour) => {
  const { test } = await start(behaviour)
  const ada = await signUp(test, 'ada')
  await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
  expect((await visit(test).post('/forgot-password', { name: 'ada' })).to).toBe('/forgot-password?asked=mail')
})

it('makes only a few links for one account in an hour', async () => {
  const { test, mails } = await start('takes')
  const ada = await signUp(test, 'ada')
  await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
  for (let n = 0; n < 8; n++) await visit(test).post('/forgot-password', { name: 'ada' })
  await expect.poll(() => mails.length).toBe(5)
  // real time: nothing more must happen
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(mails).toHaveLength(5)
})

it('tells the owner of a sign-in from a new browser, and of factors that were reset, once each', async () => {
  const { test, mails } = await start('takes')
  const ada = await signUp(test, 'ada')
  await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
  // The browser of the sign-up is known.
  await ada.post('/sign-out', {})
  await ada.post('/sign-in', { name: 'ada', password: PASSWORD })
  const other = visit(test)
  await other.post('/sign-in', { name: 'ada', password: PASSWORD }, { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' })
  await expect.poll(() => mails.length).toBe(1)
  expect(mails[0]).toContain('Subject: New sign-in')
  expect(mails[0]).toContain('Firefox on Linux')
  expect(mails[0]).toContain('/settings/security')
  const id = (await test.app.store.people.findPersonByName('ada'))?.id ?? ''
  const { token, secret } = test.app.logins.factors.startCodes(id, 'ada', '')
  const code = await codeAt(new TextDecoder().decode(base32.decode(secret)), test.app.clock())
  await test.app.logins.factors.confirmCodes(id, token, code)
  await test.call({ kind: 'user', userId: id, username: 'ada', scopes: new Set(ADMIN_RIGHTS) }, 'reset_factors', { username: 'ada' })
  await expect.poll(() => mails.length).toBe(2)
  expect(mails[1]).toContain('Subject: Your passkeys and codes were removed')
  expect(mails.join()).not.toContain(secret)
})
