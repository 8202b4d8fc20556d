import type { FC } from 'hono/jsx'
import { labelName } from '../../../domain/items/labels.ts'
import { invalidInput } from '../../../errors.ts'
import { listKeys } from '../../../operations/account/keys.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listGates, setGate } from '../../../operations/evals/gate.ts'
import type { listVersions } from '../../../operations/items/item-page.ts'
import { listLabelRules, listLabels, removeLabel, setLabel, setLabelRule, undoLabel } from '../../../operations/items/labels.ts'
import { Link, Submit } from '../../parts/controls.tsx'
import { Ago } from '../../parts/facts.tsx'
import { ActionButton, Fault, Field } from '../../parts/field.tsx'
import { Confirm, Form, sentWith, Tick } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Acting, type Action, actBy, type PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

type Shown = Output<typeof listLabels>
type Targets = Shown['labels'][number]['targets']

/** The versions of a label in words. */
function nameTargets({ labels, reading }: Site['words'], targets: Targets | null): string {
  if (targets === null) return labels.nowhere
  return targets.map(({ version, weight }) => (weight === 100 ? reading.version(version) : labels.shared(version, weight))).join(', ')
}

/** The labels at a version, as facts of its row. */
export const LabelNames: FC<{ labels: Shown['labels']; version: number }> = ({ labels, version }) => (
  <>
    {labels.map(({ name, targets }) => {
      const share = targets.find((target) => target.version === version)?.weight
      if (share === undefined) return null
      return (
        <li>
          <span class="label-name">{share === 100 ? name : `${name} ${share} %`}</span>
        </li>
      )
    })}
  </>
)

interface LabelsProps {
  readonly request: PageRequest
  /** Path of the item. */
  readonly path: string
  readonly shown: Shown
  readonly versions: Output<typeof listVersions>['versions']
  /** Versions at labels that others than members of the owner do not see. */
  readonly unseen: readonly number[]
  readonly mayMove: boolean
  /** The team that owns the item. */
  readonly team: string | null
}

/** A field for the name of a label. */
const LabelField: FC<{ request: PageRequest; name: string }> = ({ request: { site, sent }, name }) => (
  <Field
    sent={sent}
    name={name}
    label={site.words.labels.name}
    hint={site.words.labels.nameHint}
    maxlength={36}
    autocomplete="off"
    isRequired
  />
)

/** The labels of an item where its history is: where they point, how they are moved, and by whom they were. */
export const Labels: FC<LabelsProps> = ({ request, path, shown: { labels, moves }, versions, unseen, mayMove, team }) => {
  const { words, sent } = request
  const newest = versions[0]?.version ?? 0
  const action = `${path}/versions`
  if (labels.length === 0 && !mayMove) return null
  return (
    <section id="labels">
      <h2>{words.labels.labels}</h2>
      <p class="quiet">
        {words.labels.lead} <a href="/docs/labels">{words.labels.about}</a>
      </p>
      {labels.length === 0 ? <p>{words.labels.none}</p> : null}
      <ul class="entries">
        {labels.map(({ name, targets }) => (
          <li>
            <div>
              <strong>{name}</strong> {nameTargets(words, targets)}
              {targets.some(({ version }) => version !== newest) ? (
                <p>
                  <a href={`${path}/versions/${newest}?against=${targets[0]?.version ?? newest}`} rel="nofollow">
                    {words.reading.compareWithNewest}
                  </a>
                </p>
              ) : null}
            </div>
            {mayMove ? (
              <div>
                <ActionButton action={action} does="undo-label" values={{ label: name }} label={words.labels.undoOf(name)}>
                  {words.undo}
                </ActionButton>{' '}
                <Confirm label={words.remove} name={words.labels.removeOf(name)} means={words.labels.removeMeans}>
                  <ActionButton action={action} does="remove-label" values={{ label: name }} text={words.remove} />
                </Confirm>
              </div>
            ) : null}
          </li>
        ))}
      </ul>
      {unseen.length === 0 ? null : <p class="notice">{words.labels.unseen(unseen.map(words.reading.version).join(', '))}</p>}
      {mayMove ? (
        <details open={sent !== null}>
          <summary>{words.labels.set}</summary>
          <Fault sent={sent} fields={sent?.fault.code === 'conflict' ? [] : ['label', 'version', 'share', 'reason']} words={words} />
          <form method="post" action={action} class="fields">
            <LabelField request={request} name="label" />
            <Field
              sent={sent}
              name="version"
              label={words.labels.atVersion}
              value={String(newest)}
              options={versions.map(({ version, note }) => [
                String(version),
                note === null ? words.reading.version(version) : `${words.reading.version(version)}: ${note}`,
              ])}
            />
            <Field sent={sent} name="share" label={words.labels.share} type="number" value="100" hint={words.labels.shareHint} />
            <Field sent={sent} name="reason" label={words.labels.reason} maxlength={500} autocomplete="off" />
            {sent?.fault.code === 'conflict' ? <Tick sent={sent} name="overrides" label={words.labels.override} /> : null}
            <Submit look="button first" does="set-label" text={words.labels.move} />{' '}
            <a href={team === null ? '/labels' : `/labels?owner=${encodeURIComponent(team)}`}>{words.labels.rules}</a>
          </form>
        </details>
      ) : null}
      {moves.length === 0 ? null : (
        <details>
          <summary>{words.labels.history}</summary>
          <ol class="rows">
            {moves.map(({ label, from, to, reason, author, createdAt, isOverride }) => (
              <li>
                {words.labels.moved(label, nameTargets(words, from), nameTargets(words, to))}
                {isOverride ? <strong class="state"> {words.labels.overridden}</strong> : null}
                {reason === null ? null : <p>{reason}</p>}
                <p class="quiet">
                  {author === null ? words.labels.byPurge : words.reading.by(author)}, <Ago words={words} at={createdAt} hasTime />
                </p>
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  )
}

/** Moves, removes or takes back a label of an item, and shows its history again. */
export function changeLabels(collection: 'prompts' | 'skills'): Action {
  const targetOf = ({ form, ref }: Acting) => ({ collection, id: ref, label: form.text('label') })
  const moving =
    (move: (request: Acting) => Promise<unknown>): Action =>
    async (request) => {
      await move(request)
      return { to: `${request.path}?done=label-moved#labels` }
    }
  return actBy({
    'undo-label': moving((request) => request.call(undoLabel, targetOf(request))),
    'remove-label': moving((request) => request.call(removeLabel, targetOf(request))),
    'set-label': moving(async (request) => {
      const { words, call, form, ref } = request
      const target = targetOf(request)
      // Said of the field; the operation says it of its input.
      const name = labelName.safeParse(target.label)
      if (!name.success) throw invalidInput('label', `${words.labels.name} ${name.error.issues[0]?.message}.`)
      const version = Number(form.text('version'))
      const share = Number(form.text('share') || '100')
      const reason = form.text('reason')
      const targets = share === 100 ? [{ version, weight: 100 }] : [{ version, weight: share }, await findRest()]
      await call(setLabel, { ...target, targets, overrides: form.has('overrides'), ...(reason !== '' && { reason }) })
      async function findRest() {
        const { labels } = await call(listLabels, { collection, id: ref, limit: 1 })
        const now = labels.find((label) => label.name === target.label)?.targets[0]
        if (!now) throw invalidInput('share', words.labels.nothingToShare)
        return { version: now.version, weight: 100 - share }
      }
    }),
  })
}

/** The numbers that a gate asks for. */
const NUMBERS = ['minPercent', 'maxDays', 'maxDrop'] as const
const RULES = ['protected', 'automatic', 'none'] as const

function readOwner(query: URLSearchParams): { owner?: string } {
  const owner = query.get('owner')
  return owner ? { owner } : {}
}

/** The rules of the reader, or of a team of theirs, for labels. */
export async function showLabelRules(request: PageRequest) {
  const { words, call, query, sent } = request
  const { owner } = readOwner(query)
  const { rules, canChange } = await call(listLabelRules, readOwner(query))
  const { gates } = await call(listGates, readOwner(query))
  const { keys: ownKeys } = await call(listKeys, {})
  const reporting = ownKeys.filter(({ state, scopes }) => state === 'active' && scopes.includes('results'))
  const nameOf = (id: string) => ownKeys.find((key) => key.id === id)?.name ?? words.labels.otherKey(id)
  const title = owner === undefined ? words.labels.rules : words.labels.rulesOf(owner)
  const here = owner === undefined ? '/labels' : `/labels?owner=${encodeURIComponent(owner)}`
  return (
    <TitledPage request={request} title={title} lead={words.labels.rulesLead} about={<Link to="/docs/labels" text={words.labels.about} />}>
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
