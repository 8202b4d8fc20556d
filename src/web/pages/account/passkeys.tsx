import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { renderSVG } from 'uqr'
import { z } from 'zod'
import { AppError } from '../../../errors.ts'
import {
  confirmCodes,
  removeCodes,
  removePasskey,
  renewRecoveryCodes,
  showFactors,
  startCodes,
} from '../../../operations/account/factors.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { localPath } from '../../forms.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { ERROR_WORDS } from '../../strings/errors.ts'
import { SettingsPage } from './settings.tsx'

const PATH = '/settings/passkeys'
const flashShape = z.object({ recoveryCodes: z.array(z.string()) })
type Shown = Output<typeof showFactors>

/** The factors of the reader beside a password. Whoever has to set one up is led here, and goes on from here. */
export async function showPasskeys(request: PageRequest) {
  const { site, query, call, sent, takeFlash } = request
  const { words } = site
  const shown = await call(showFactors, {})
  const flash = takeFlash(flashShape)
  const hasNone = shown.codes === null && shown.passkeys.length === 0
  const asked = query.get('to')
  const to = asked === null ? null : localPath(asked)
  return (
    <SettingsPage request={request} at={PATH} styles={['admin.css']} scripts={['passkeys.js']}>
      {to !== null && hasNone ? <p class="notice">{words.factors.required}</p> : null}
      <Fault sent={sent} fields={['code', 'password']} words={words} />
      {flash ? <RecoveryCodes words={words} codes={flash.recoveryCodes} /> : null}
      {to !== null && !hasNone ? (
        <p>
          <a class="button first" href={to}>
            {words.factors.goOn}
          </a>
        </p>
      ) : null}
      <Passkeys words={words} shown={shown} to={to} />
      <section>
        <h2>{words.factors.codes}</h2>
        <p class="quiet">{words.factors.codesLead}</p>
        {shown.codes !== null ? (
          <Codes words={words} codes={shown.codes} />
        ) : shown.hasPassword ? (
          <NewCodes words={words} sent={sent} made={await call(startCodes, { token: sent?.form.text('token') ?? '' })} />
        ) : (
          <p>{words.factors.codesNeedPassword}</p>
        )}
      </section>
    </SettingsPage>
  )
}

const RecoveryCodes: FC<{ words: Site['words']; codes: readonly string[] }> = ({ words, codes }) => (
  <section class="new-key" role="status" data-prompt>
    <h2>{words.factors.recoveryCodes}</h2>
    <p>{words.factors.recoveryCodesOnce}</p>
    <pre data-text tabindex={0}>
      {codes.join('\n')}
    </pre>
    <button class="button first" type="button" data-copy={words.copied} hidden>
      {words.copy}
    </button>
  </section>
)

const Password: FC<{ words: Site['words']; name: string }> = ({ words, name }) => (
  <div class="field">
    <label for={name}>{words.factors.password}</label>
    <input id={name} type="password" name="password" autocomplete="current-password" required />
  </div>
)

const Passkeys: FC<{ words: Site['words']; shown: Shown; to: string | null }> = ({ words, shown, to }) => {
  const { factors } = words
  const { passkeys, hasPassword } = shown
  return (
    <section>
      <h2>{factors.passkeys}</h2>
      <p class="quiet">
        {factors.passkeysLead} {hasPassword ? factors.passkeysBesidePassword : ''}
      </p>
      {passkeys.length === 0 ? <p>{factors.noPasskeys}</p> : null}
      <ul class="entries">
        {passkeys.map(({ id, name, createdAt, usedAt }) => (
          <li>
            <div>
              <strong>{name ?? factors.passkeyWithoutName}</strong>
              <p class="quiet">
                {createdAt === null ? null : (
                  <>
                    {factors.added} <Day words={words} at={createdAt} /> ·{' '}
                  </>
                )}
                {usedAt === null ? (
                  factors.neverUsed
                ) : (
                  <>
                    {factors.lastUsed} <Day words={words} at={usedAt} />
                  </>
                )}
              </p>
            </div>
            <Confirm label={factors.remove} name={factors.removeNamed(name ?? factors.passkeyWithoutName)} means={factors.removeMeans}>
              <form method="post">
                <input type="hidden" name="id" value={id} />
                {hasPassword ? <Password words={words} name={`password-${id}`} /> : null}
                <button class="button" type="submit" name="do" value="remove-passkey">
                  {factors.remove}
                </button>
              </form>
            </Confirm>
          </li>
        ))}
      </ul>
      <p class="quiet" data-without-passkeys>
        {factors.needsScript}
      </p>
      <form class="fields" hidden data-passkey="add" data-failed={factors.passkeyNotAdded}>
        <input type="hidden" name="to" value={to ?? ''} />
        <Field
          sent={null}
          name="name"
          label={factors.passkeyName}
          hint={factors.passkeyNameHint}
          maxlength={100}
          autocomplete="off"
          isRequired
        />
        {hasPassword ? <Password words={words} name="password-of-passkey" /> : null}
        <p>
          <button class="button" type="submit">
            {factors.addPasskey}
          </button>
        </p>
        <p class="fault notice" role="alert" data-fault hidden></p>
      </form>
    </section>
  )
}

const NewCodes: FC<{ words: Site['words']; sent: PageRequest['sent']; made: Output<typeof startCodes> }> = ({ words, sent, made }) => {
  const { factors } = words
  const { secret, uri, token } = made
  return (
    <form method="post" class="fields">
      <p>{factors.scan}</p>
      <div class="qr" role="img" aria-label={factors.picture}>
        {raw(renderSVG(uri, { ecc: 'M', border: 3, pixelSize: 5 }))}
      </div>
      <p>
        {factors.orType} <code class="key">{secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code>
      </p>
      <p>
        <a href={uri}>{factors.orOpen}</a>
      </p>
      <input type="hidden" name="token" value={token} />
      <Field sent={sent} name="code" label={factors.firstCode} autocomplete="one-time-code" maxlength={10} isRequired />
      <Field sent={sent} name="password" label={factors.password} type="password" autocomplete="current-password" isRequired />
      <p>
        <button class="button" type="submit" name="do" value="codes-on">
          {factors.turnOn}
        </button>
      </p>
    </form>
  )
}

const Codes: FC<{ words: Site['words']; codes: NonNullable<Shown['codes']> }> = ({ words, codes }) => {
  const { factors } = words
  const ways = [
    ['renew', factors.renew, factors.renewMeans],
    ['codes-off', factors.turnOff, factors.turnOffMeans],
  ] as const
  return (
    <>
      <p>
        {factors.codesAreOn} <Day words={words} at={codes.since} />. {factors.recoveryCodesLeft(codes.recoveryCodesLeft)}
      </p>
      <div class="controls">
        {ways.map(([does, label, means]) => (
          <Confirm label={label} means={means}>
            <form method="post">
              <Password words={words} name={`password-${does}`} />
              <button class="button" type="submit" name="do" value={does}>
                {label}
              </button>
            </form>
          </Confirm>
        ))}
      </div>
    </>
  )
}

/** Turns codes on and off, and takes passkeys away. */
export const changePasskeys: Action = async ({ call, form, query }) => {
  const password = form.text('password')
  const asked = query.get('to')
  const done = (what: string) => `${PATH}?${new URLSearchParams({ done: what, ...(asked === null ? {} : { to: asked }) })}`
  switch (form.text('do')) {
    case 'codes-on': {
      const flash = await call(confirmCodes, { token: form.text('token'), code: form.text('code'), password })
      return { to: done('codes-on'), flash }
    }
    case 'codes-off':
      await call(removeCodes, { password })
      return { to: done('codes-off') }
    case 'renew':
      return { to: done('codes-renewed'), flash: await call(renewRecoveryCodes, { password }) }
    case 'remove-passkey':
      await call(removePasskey, { id: form.text('id'), password })
      return { to: done('passkey-removed') }
    default:
      throw new AppError('invalid_input', ERROR_WORDS.noButton)
  }
}
