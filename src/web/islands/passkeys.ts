import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser'

// Signing in with a passkey, and adding one: forms that are hidden without this script.

/** The answer of the service. @throws Error with its sentence */
async function send(path: string, fields: object): Promise<unknown> {
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) })
  const told: unknown = await answer.json().catch(() => null)
  if (answer.ok) return told
  const { error } = Object(told)
  throw new Error(String(Object(error).message ?? answer.status), { cause: 'service' })
}

const steps = {
  'sign-in': async ({ to }: Record<string, FormDataEntryValue>) => {
    const optionsJSON = Object(await send('/sign-in/passkey/options', {}))
    return Object(await send('/sign-in/passkey', { answer: await startAuthentication({ optionsJSON }), to }))
  },
  add: async ({ password, name, to }: Record<string, FormDataEntryValue>) => {
    const optionsJSON = Object(await send('/settings/passkeys/options', { password }))
    return Object(await send('/settings/passkeys/add', { answer: await startRegistration({ optionsJSON }), name, to }))
  },
}

/** Passkeys belong to a host name: browsers refuse them for an IP address (WebAuthn, section 5.1.3). */
const hasName = !/^[\d.]+$|:/.test(location.hostname)

for (const form of hasName && browserSupportsWebAuthn() ? document.querySelectorAll<HTMLFormElement>('form[data-passkey]') : []) {
  const step = form.dataset['passkey'] === 'add' ? steps.add : steps['sign-in']
  const fault = form.querySelector<HTMLElement>('[data-fault]')
  form.hidden = false
  const instead = document.querySelector<HTMLElement>('[data-without-passkeys]')
  if (instead) instead.hidden = true
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (fault) fault.hidden = true
    const button = form.querySelector('button')
    if (button) button.disabled = true
    try {
      const { to } = await step(Object.fromEntries(new FormData(form)))
      location.assign(String(to))
    } catch (error) {
      if (button) button.disabled = false
      if (!fault) return
      fault.textContent = error instanceof Error && error.cause === 'service' ? error.message : (form.dataset['failed'] ?? '')
      fault.hidden = false
    }
  })
}
