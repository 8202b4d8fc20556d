import type { FC } from 'hono/jsx'
import { spellOut } from '../../../check/check-files.ts'
import type { Rule } from '../../../check/rule.ts'
import { RULES, ruleOf } from '../../../check/rules/index.ts'
import { LEVELS } from '../../../domain/check/findings.ts'
import { confirmBlocks, dismissCheckChanges, listCheckChanges, listLevels, setLevel } from '../../../operations/check/waivers.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { markEnglish } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { Options, Section, Submit } from '../../parts/controls.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { ConfirmedAction } from '../../parts/form.tsx'
import { Entries, Entry, List } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { type Action, actBy, doing, done, type PageRequest, readListPage } from '../../request.ts'
import type { Words } from '../../site.ts'

/** Rules or what is about them, by the family of the rule, in the order of the families. */
function byFamily<T>(of: readonly T[], ruleOf: (one: T) => string): (readonly [family: string, of: readonly T[]])[] {
  return [...Map.groupBy(of, (one) => ruleOf(one).split('/')[0] ?? '')]
}

/** The place of a rule on the page of all rules. */
const rulePath = (rule: string) => `/rules#${rule}`

/** The title of a rule, which leads to it. */
export const RuleLink: FC<{ words: Words; rule: string }> = ({ words, rule }) => (
  <a href={rulePath(rule)} lang={markEnglish(words)}>
    {ruleOf(rule)?.title ?? rule}
  </a>
)

/** The levels of all rules in one form, by family. */
export const CheckLevels: FC<{ words: Words; levels: Output<typeof listLevels> }> = ({ words, levels }) => (
  <form method="post">
    {byFamily(levels, ({ rule }) => rule).map(([family, rules]) => (
      <details open={rules.some(({ isSet }) => isSet)}>
        <summary lang={markEnglish(words)}>
          {family} ({rules.length})
        </summary>
        <Entries
          of={rules}
          row={({ rule, title, severity, level, levels: options }) => (
            <Entry title={<RuleLink words={words} rule={rule} />} note={words.checking.levels[severity]}>
              <select name={rule} aria-label={words.findings.levelOf(title)}>
                <Options of={options.map((one) => [one, words.findings.levelNames[one]] as const)} chosen={level} />
              </select>
            </Entry>
          )}
        />
      </details>
    ))}
    <p>
      <Submit look="button first" does="levels" text={words.findings.saveLevels} />
    </p>
  </form>
)

/** Sets the levels that a form changes. @param owner the team it is about; the service without one */
export function saveLevels(owner: (request: Parameters<Action>[0]) => { readonly owner?: string }): Action {
  return async (request) => {
    const { call, form, path } = request
    for (const { rule, level } of await call(listLevels, owner(request))) {
      if (!form.has(rule)) continue
      const asked = form.choice(rule, LEVELS)
      if (asked !== level) await call(setLevel, { ...owner(request), rule, level: asked })
    }
    return done(path, 'levels-saved')
  }
}

/** All rules of the check by family, each with its example. */
export async function showRules({ site, words }: PageRequest) {
  const families = byFamily(RULES, ({ id }) => id)
  return (
    <Layout site={site} title={words.findings.rules} description={words.findings.rulesLead} path="/rules">
      <h1>{words.findings.rules}</h1>
      <p class="lead">{words.findings.rulesLead}</p>
      <nav aria-label={words.onThisPage}>
        <ul class="tags">
          {families.map(([family, rules]) => (
            <li>
              <a href={`#${family}`} lang={markEnglish(words)}>
                {family}
              </a>{' '}
              <span class="quiet">{rules.length}</span>
            </li>
          ))}
        </ul>
      </nav>
      {families.map(([family, rules]) => (
        <section>
          <h2 id={family} lang={markEnglish(words)}>
            {family}
          </h2>
          {rules.map((rule) => (
            <OneRule words={words} rule={rule} />
          ))}
        </section>
      ))}
    </Layout>
  )
}

const OneRule: FC<{ words: Words; rule: Rule }> = ({ words, rule: { id, title, severity, owasp, why, fix, example } }) => {
  const { file, text } = typeof example === 'string' ? { file: 'SKILL.md', text: example } : example
  return (
    <article class="prose">
      <h3 id={id} lang={markEnglish(words)}>
        {title}
      </h3>
      <p class="quiet">
        <a href={`#${id}`}>
          <code>{id}</code>
        </a>{' '}
        · {words.checking.levels[severity]} · OWASP Agentic Skills {owasp}
      </p>
      <p lang={markEnglish(words)}>
        {why} {fix}
      </p>
      <p class="quiet">{words.findings.exampleIn(file)}</p>
      <pre tabindex={0}>{spellOut(text)}</pre>
    </article>
  )
}

const PATH = '/admin/check'

type Change = Output<typeof listCheckChanges>['changes'][number]

/** Items whose verdict changed, and the levels of all rules. */
export async function showAdminCheck(request: PageRequest) {
  const { words, call } = request
  const found = await readListPage(request, (page) => call(listCheckChanges, { page }))
  if ('to' in found) return found
  const due = found.changes.filter(({ isDue }) => isDue)
  return (
    <SectionPage request={request} at={PATH}>
      <Section title={words.findings.changes} lead={words.findings.changesLead}>
        <List
          request={request}
          path={PATH}
          found={found}
          of={found.changes}
          none={words.findings.noChanges}
          row={(change) => <Row words={words} change={change} />}
        />
        {found.total === 0 ? null : (
          <div class="controls">
            {due.length < 2 ? null : (
              <ConfirmedAction
                does="block"
                values={{ items: due.map(nameItem).join(' ') }}
                label={words.findings.blockAll(due.length)}
                means={words.findings.blockMeans}
              />
            )}
            <ActionButton does="dismiss" text={words.findings.dismiss} />
            <p class="quiet">{words.findings.dismissHint}</p>
          </div>
        )}
      </Section>
      <Section title={words.findings.levels}>
        <p class="quiet">
          {words.findings.levelsLead} <a href="/rules">{words.findings.rules}</a>
        </p>
        <CheckLevels words={words} levels={await call(listLevels, {})} />
      </Section>
    </SectionPage>
  )
}

const nameItem = ({ item }: Change) => `${item.kind}s/${item.id}`

const Row: FC<{ words: Words; change: Change }> = ({ words, change }) => {
  const { item, found, before, isDue } = change
  const list = (rules: readonly string[]) => rules.join(', ') || words.findings.nothing
  return (
    <Entry
      title={
        <a href={`/${nameItem(change)}/check`} dir="auto">
          {item.title}
        </a>
      }
      note={item.author}
      state={isDue ? words.findings.due : null}
      facts={[words.findings.now(list(found)), before.length === 0 ? null : words.findings.before(list(before))]}
    >
      {isDue ? (
        <ConfirmedAction
          does="block"
          values={{ items: nameItem(change) }}
          label={words.findings.levelNames.block}
          name={words.findings.blockOf(item.title)}
          means={words.findings.blockMeans}
        />
      ) : null}
    </Entry>
  )
}

/** The items that a button names. */
function readItems(text: string) {
  return text.split(' ').map((name) => {
    const [collection, id = ''] = name.split('/')
    return { collection: collection === 'skills' ? ('skills' as const) : ('prompts' as const), id }
  })
}

/** Blocks what is served, clears the list, or sets levels. */
export const changeAdminCheck = actBy({
  block: doing(confirmBlocks, ({ form }) => ({ items: readItems(form.text('items')) }), 'blocked'),
  dismiss: doing(dismissCheckChanges, () => ({}), 'dismissed'),
  levels: saveLevels(() => ({})),
})
