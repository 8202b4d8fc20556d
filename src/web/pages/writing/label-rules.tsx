import { listKeys } from '../../../operations/account/keys.ts'
import { listGates, setGate } from '../../../operations/evals/gate.ts'
import { listLabelRules, setLabelRule } from '../../../operations/items/labels.ts'
import { Link, Submit } from '../../parts/controls.tsx'
import { Entries, Entry } from '../../parts/entries.tsx'
import { ActionButton, Fault, Field } from '../../parts/field.tsx'
import { Form, sentWith, Tick } from '../../parts/form.tsx'
import { LabelField } from '../../parts/labels.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { type Action, actBy, type PageRequest } from '../../request.ts'

/** The numbers that a gate asks for. */
const NUMBERS = ['minPercent', 'maxDays', 'maxDrop'] as const
const RULES = ['protected', 'automatic', 'none'] as const

function readOwner(query: URLSearchParams): { owner?: string } {
  const owner = query.get('owner')
  return owner ? { owner } : {}
}

/** The rules of the reader, or of a team of theirs, for labels. */
export async function showLabelRules(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const { owner } = readOwner(query)
  const { rules, canChange } = await call(listLabelRules, readOwner(query))
  const { gates } = await call(listGates, readOwner(query))
  const { keys: ownKeys } = await call(listKeys, {})
  const reporting = ownKeys.filter(({ state, scopes }) => state === 'active' && scopes.includes('results'))
  const nameOf = (id: string) => ownKeys.find((key) => key.id === id)?.name ?? words.labels.otherKey(id)
  const title = owner === undefined ? words.labels.rules : words.labels.rulesOf(owner)
  const here = owner === undefined ? '/labels' : `/labels?owner=${encodeURIComponent(owner)}`
  return (
    <TitledPage
      request={request}
      title={title}
      lead={words.labels.rulesLead}
      about={<Link to="/docs/labels" text={words.labels.about} />}
      current="library"
      isIndexed={false}
    >
      <Fault sent={sentWith(sent, 'rule')} fields={['name', 'rule']} words={words} />
      <Entries
        of={rules}
        none={words.labels.rulesNone}
        row={({ name, isProtected }) => (
          <Entry title={<strong>{name}</strong>} facts={[words.labels.kinds[isProtected ? 'protected' : 'automatic']]}>
            {canChange ? (
              <ActionButton
                action={here}
                does="rule"
                values={{ name, rule: 'none' }}
                label={words.labels.removeOf(name)}
                text={words.remove}
              />
            ) : null}
          </Entry>
        )}
      />
      {canChange ? (
        <form method="post" action={here} class="fields">
          <LabelField request={request} name="name" />
          <Field
            sent={sent}
            name="rule"
            label={words.labels.rule}
            value="protected"
            options={RULES.map((rule) => [rule, words.labels.kinds[rule]])}
          />
          <Submit look="button first" does="rule" text={words.labels.saveRule} />
        </form>
      ) : null}
      <h2 id="gates">{words.labels.gates}</h2>
      <p class="quiet">{words.labels.gatesLead}</p>
      <Entries
        of={gates}
        row={({ label, needsCheck, keys, ...numbers }) => (
          <Entry
            title={<strong>{label}</strong>}
            facts={[
              ...NUMBERS.map((name) => (numbers[name] === null ? null : `${words.labels.gate[name]}: ${numbers[name]}`)),
              needsCheck ? words.labels.needsCheck : null,
              keys.length > 0 ? `${words.labels.keys}: ${keys.map((id) => nameOf(id)).join(', ')}` : null,
            ]}
          >
            {canChange ? (
              <ActionButton action={here} does="gate" values={{ label }} label={words.labels.removeOf(label)} text={words.remove} />
            ) : null}
          </Entry>
        )}
      />
      {canChange ? (
        <Form
          request={request}
          does="gate"
          of={setGate}
          action={here}
          isMain={false}
          fields={{
            label: { label: words.labels.name, hint: words.labels.nameHint, maxlength: 36, autocomplete: 'off' },
            ...Object.fromEntries(NUMBERS.map((name) => [name, { label: words.labels.gate[name], type: 'number' as const }])),
          }}
          submit={words.labels.saveGate}
        >
          <Tick sent={sentWith(sent, 'gate')} name="needsCheck" label={words.labels.needsCheck} />
          <fieldset>
            <legend>{words.labels.keys}</legend>
            <p class="quiet">{words.labels.keysHint}</p>
            {reporting.map(({ id, name }) => (
              <label class="tick">
                <input type="checkbox" name="keys" value={id} checked={sentWith(sent, 'gate')?.form.all('keys').includes(id) ?? false} />{' '}
                {name}
              </label>
            ))}
          </fieldset>
        </Form>
      ) : null}
    </TitledPage>
  )
}

const changeGate: Action = async ({ call, form, query, path }) => {
  const numbers = Object.fromEntries(NUMBERS.flatMap((name) => (form.text(name) === '' ? [] : [[name, Number(form.text(name))]])))
  const keys = form.all('keys')
  const owner = readOwner(query)
  await call(setGate, {
    ...owner,
    label: form.text('label'),
    ...numbers,
    needsCheck: form.has('needsCheck'),
    ...(keys.length > 0 && { keys }),
  })
  return { to: `${path}?${new URLSearchParams({ ...owner, done: 'gate-saved' })}` }
}

const changeRule: Action = async ({ call, form, query, path }) => {
  const rule = form.choice('rule', RULES)
  const owner = readOwner(query)
  await call(setLabelRule, { ...owner, name: form.text('name'), isProtected: rule === 'protected', isAutomatic: rule === 'automatic' })
  const search = new URLSearchParams({ ...owner, done: 'rule-saved' })
  return { to: `${path}?${search}` }
}

/** Sets the rule or the gate of a label. */
export const changeLabelRules = actBy({ rule: changeRule, gate: changeGate })
