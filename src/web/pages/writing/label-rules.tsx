import { listLabelRules, setLabelRule } from '../../../operations/items/labels.ts'
import { Layout } from '../../layout.tsx'
import { ActionButton, Choice, Done, Fault } from '../../parts/field.tsx'
import { LabelField } from '../../parts/labels.tsx'
import type { Action, PageRequest } from '../../request.ts'

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
  const title = owner === undefined ? words.labels.rules : words.labels.rulesOf(owner)
  const here = owner === undefined ? '/labels' : `/labels?owner=${encodeURIComponent(owner)}`
  return (
    <Layout site={site} title={title} current="library" isIndexed={false}>
      <h1>{title}</h1>
      <p class="lead">
        {words.labels.rulesLead} <a href="/docs/labels">{words.labels.about}</a>
      </p>
      <Done words={words} query={query} sent={sent} />
      <Fault sent={sent} fields={['name', 'rule']} words={words} />
      {rules.length === 0 ? <p>{words.labels.rulesNone}</p> : null}
      <ul class="entries">
        {rules.map(({ name, isProtected }) => (
          <li>
            <div>
              <strong>{name}</strong>
              <p class="quiet">{words.labels.kinds[isProtected ? 'protected' : 'automatic']}</p>
            </div>
            {canChange ? (
              <ActionButton action={here} does="rule" values={{ name, rule: 'none' }} label={words.labels.removeOf(name)}>
                {words.labels.remove}
              </ActionButton>
            ) : null}
          </li>
        ))}
      </ul>
      {canChange ? (
        <form method="post" action={here} class="fields">
          <LabelField request={request} name="name" />
          <Choice
            sent={sent}
            name="rule"
            label={words.labels.rule}
            value="protected"
            options={RULES.map((rule) => [rule, words.labels.kinds[rule]])}
          />
          <button class="button first" type="submit" name="do" value="rule">
            {words.labels.saveRule}
          </button>
        </form>
      ) : null}
    </Layout>
  )
}

/** Sets the rule of a label. */
export const changeLabelRules: Action = async ({ call, form, query, path }) => {
  const rule = form.choice('rule', RULES)
  const owner = readOwner(query)
  await call(setLabelRule, { ...owner, name: form.text('name'), isProtected: rule === 'protected', isAutomatic: rule === 'automatic' })
  const search = new URLSearchParams({ ...owner, done: 'rule-saved' })
  return { to: `${path}?${search}` }
}
