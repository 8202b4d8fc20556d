import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { renderSVG } from 'uqr'
import { z } from 'zod'
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
import { Details, HiddenFields, LinkLine, Section, ShownOnce, Submit } from '../../parts/controls.tsx'
import { Day, On } from '../../parts/facts.tsx'
import { Field } from '../../parts/field.tsx'
import { Confirm, type ConfirmedProps, Form, sentWith } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { type Action, actBy, doing, done, type PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

const SECURITY = '/settings/security'
const flashShape = z.object({ recoveryCodes: z.array(z.string()) })
type Shown = Output<typeof showFactors>

/** Where whoever has to set up a second factor is led, and goes on from. They reach nothing else. */
export async function showFactorsPage(request: PageRequest) {
  const { query, call, site } = request
  const asked = query.get('to')
  if (asked === null) return { to: query.size === 0 ? SECURITY : `${SECURITY}?${query}` }
  const { codes, passkeys } = await call(showFactors, {})
  const isSet = codes !== null || passkeys.length > 0
  const { factors } = site.words
  return (
    <SectionPage request={request} at={SECURITY} forms={['codes-on']} scripts={['passkeys.js']}>
      {isSet ? <LinkLine to={localPath(asked)} look="button first" text={factors.goOn} /> : <p class="notice">{factors.required}</p>}
      <Factors request={request} to={localPath(asked)} />
    </SectionPage>
  )
}

/** Passkeys and codes of the reader. `to` is where they go on to. */
export async function Factors({ request, to }: { readonly request: PageRequest; readonly to: string | null }) {
  const { words, call, sent, takeFlash } = request
  const shown = await call(showFactors, {})
  const made = takeFlash(flashShape)
  return (
    <>
      {made ? (
        <ShownOnce
          words={words}
          title={words.factors.recoveryCodes}
          lead={words.factors.recoveryCodesOnce}
          texts={[made.recoveryCodes.join('\n')]}
        />
      ) : null}
      <Passkeys words={words} shown={shown} to={to} />
      <Section id="codes" title={words.factors.codes} lead={words.factors.codesLead}>
        {shown.codes !== null ? (
          <Codes words={words} codes={shown.codes} />
        ) : shown.hasPassword ? (
          <Details open={to !== null || sentWith(sent, 'codes-on') !== null} summary={words.factors.setUp}>
            <NewCodes request={request} made={await call(startCodes, { token: sent?.form.text('token') ?? '' })} />
          </Details>
        ) : (
          <p>{words.factors.codesNeedPassword}</p>
        )}
      </Section>
    </>
  )
}

/** The field for a password that confirms what its form does. */
const Password: FC<{ words: Words; id: string }> = ({ words, id }) => (
  <Field sent={null} form={id} name="password" label={words.factors.password} type="password" autocomplete="current-password" isRequired />
)

interface ProvenProps extends Omit<ConfirmedProps, 'action'> {
  readonly words: Words
  /** Without one, a session that was begun just now will do. */
  readonly hasPassword: boolean
}

/** An action that is confirmed with the password. */
export const ProvenAction: FC<ProvenProps> = ({ words, does, label, name, means, values = {}, hasPassword }) => (
  <Confirm label={label} name={name} means={means}>
    <form method="post">
      <HiddenFields values={values} />
      {hasPassword ? (
        <Password words={words} id={[does, ...Object.values(values)].join('-')} />
      ) : (
        <p class="quiet">{words.signingIn.confirmFresh}</p>
      )}
      <Submit does={does} text={label} />
    </form>
  </Confirm>
)

const Passkeys: FC<{ words: Words; shown: Shown; to: string | null }> = ({ words, shown: { passkeys, hasPassword }, to }) => {
  const { factors } = words
  return (
    <Section id="passkeys" title={factors.passkeys}>
      <p class="quiet">
        {factors.passkeysLead} {hasPassword ? factors.passkeysBesidePassword : ''}
      </p>
      <Entries
        none={factors.noPasskeys}
        of={passkeys}
        row={({ id, name, createdAt, usedAt }) => (
          <Entry
            title={<strong>{name ?? factors.passkeyWithoutName}</strong>}
            facts={[
              createdAt === null ? null : <On label={factors.added} words={words} at={createdAt} />,
              usedAt === null ? words.neverUsed : <On label={words.lastUsed} words={words} at={usedAt} />,
            ]}
          >
            <ProvenAction
              words={words}
              does="remove-passkey"
              label={words.remove}
              name={factors.removeNamed(name ?? factors.passkeyWithoutName)}
              means={factors.removeMeans}
              values={{ id }}
              hasPassword={hasPassword}
            />
          </Entry>
        )}
      />
      <p class="quiet" data-without-passkeys>
        {factors.needsScript}
      </p>
      <form class="fields" hidden data-passkey="add" data-failed={factors.passkeyNotAdded}>
        <input type="hidden" name="to" value={to ?? ''} />
        <Field
          sent={null}
          form="passkey"
          name="name"
          label={factors.passkeyName}
          hint={factors.passkeyNameHint}
          maxlength={100}
          autocomplete="off"
          isRequired
        />
        {hasPassword ? <Password words={words} id="passkey" /> : null}
        <p>
          <Submit text={factors.addPasskey} />
        </p>
        <p class="fault notice" role="alert" data-fault hidden></p>
      </form>
    </Section>
  )
}

const NewCodes: FC<{ request: PageRequest; made: Output<typeof startCodes> }> = ({ request, made: { secret, uri, token } }) => {
  const { factors } = request.words
  return (
    <>
      <p>{factors.scan}</p>
      <div class="qr" role="img" aria-label={factors.picture}>
        {raw(renderSVG(uri, { ecc: 'M', border: 3, pixelSize: 5 }))}
      </div>
      <p>
        {factors.orType} <code class="key">{secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code>
      </p>
      <LinkLine to={uri} text={factors.orOpen} />
      <Form
        request={request}
        does="codes-on"
        of={confirmCodes}
        fields={{
          code: { label: factors.firstCode, autocomplete: 'one-time-code', maxlength: 10 },
          password: { label: factors.password, type: 'password', autocomplete: 'current-password', isRequired: true },
        }}
        submit={factors.turnOn}
        isMain={false}
      >
        <input type="hidden" name="token" value={token} />
      </Form>
    </>
  )
}

const Codes: FC<{ words: Words; codes: NonNullable<Shown['codes']> }> = ({ words, codes }) => {
  const { factors } = words
  return (
    <>
      <p>
        {factors.codesAreOn} <Day words={words} at={codes.since} />. {factors.recoveryCodesLeft(codes.recoveryCodesLeft)}
      </p>
      <div class="controls">
        <ProvenAction words={words} does="renew" label={factors.renew} means={factors.renewMeans} hasPassword />
        <ProvenAction words={words} does="codes-off" label={factors.turnOff} means={factors.turnOffMeans} hasPassword />
      </div>
    </>
  )
}

/** Where a form leads: the page it was on, from which those who had to set up a factor go on. */
function backFrom({ query }: PageRequest): string {
  const asked = query.get('to')
  return asked === null ? SECURITY : `/settings/passkeys?${new URLSearchParams({ to: asked })}`
}

/** Turns codes on and off, and takes passkeys away. */
export const changeFactors = {
  async 'codes-on'(request) {
    const [token, code, password] = [request.form.text('token'), request.form.text('code'), request.form.text('password')]
    return { ...done(backFrom(request), 'codes-on'), flash: await request.call(confirmCodes, { token, code, password }) }
  },
  'codes-off': doing(removeCodes, ({ form }) => ({ password: form.text('password') }), 'codes-off', backFrom),
  async renew(request) {
    const flash = await request.call(renewRecoveryCodes, { password: request.form.text('password') })
    return { ...done(backFrom(request), 'codes-renewed'), flash }
  },
  'remove-passkey': doing(
    removePasskey,
    ({ form }) => ({ id: form.text('id'), password: form.text('password') }),
    'passkey-removed',
    backFrom,
  ),
} satisfies Readonly<Record<string, Action>>

/** The same for those who reach nothing else. */
export const changeFactorsAlone = actBy(changeFactors)
