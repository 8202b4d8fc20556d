import type { Child, FC } from 'hono/jsx'
import { listFindings, type SkillRef } from '../../../check/set/report.ts'
import type { Severity } from '../../../domain/check/findings.ts'
import { SKILL_MD } from '../../../domain/skills/skill.ts'
import { invalidInput } from '../../../errors.ts'
import { checkSet } from '../../../operations/check/check-set.ts'
import { endWaiver, showCheckPage, waiveFinding } from '../../../operations/check/waivers.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { markEnglish } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { HiddenFields, Section, Submit } from '../../parts/controls.tsx'
import { On } from '../../parts/facts.tsx'
import { Done, Fault, Field } from '../../parts/field.tsx'
import { ConfirmedAction, Form, sentWith } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { actBy, doing, done, type PageRequest } from '../../request.ts'
import { textOf, type Words } from '../../site.ts'
import { RuleLink } from './rules.tsx'
import { type Collection, readVersionNumber } from './versions.tsx'

type Shown = Output<typeof showCheckPage>
type Place = Pick<Shown['findings'][number], 'rule' | 'file' | 'line'>

/** Id of the form that accepts findings: the boxes are outside of it. */
const ACCEPT_FORM = 'accept'

/** The findings of an item by file, and what was accepted of them for those who may. */
export function showFindings(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, words, call, ref, query, sent } = request
    const asked = query.get('version')
    const version = asked === null ? {} : { version: readVersionNumber(asked, words) }
    const found = await call(showCheckPage, { collection, id: ref, ...version })
    const path = new URL(found.url).pathname
    const isServed = found.version === found.servedVersion
    const toFile = (file: string) =>
      collection === 'prompts' || file === 'description' || file.includes('!')
        ? undefined
        : isServed
          ? `${path}?${file === SKILL_MD ? '' : `file=${encodeURIComponent(file)}&`}view=raw`
          : `${path}/versions/${found.version}?file=${encodeURIComponent(file)}`
    const mayAccept = found.hidden.length > 0 || found.findings.some((one) => one.mayAccept)
    const hasOthers = found.findings.some(({ severity, waived, mayAccept: mayDo }) => severity === 'high' && !waived && !mayDo)
    return (
      <Layout site={site} title={words.findings.findingsOf(found.title)} styles={['admin.css']}>
        <p class="quiet">
          <a href={path} dir="auto">
            {found.title}
          </a>
        </p>
        <h1>{words.findings.findings}</h1>
        <p class="lead">
          {words.findings.ofVersion(found.version)} <a href="/rules">{words.findings.rules}</a>
        </p>
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sentWith(sent, 'end')} words={words} />
        <Blocked words={words} path={path} found={found} isOther={asked !== null} />
        {found.findings.length === 0 ? <p>{words.findings.none}</p> : null}
        {[...Map.groupBy(found.findings, ({ file }) => file)].map(([file, findings]) => (
          <section>
            <h2 class={toFile(file) && 'filename'}>
              {toFile(file) === undefined ? (textOf(words.findings.files, file) ?? file) : <a href={toFile(file)}>{file}</a>}
            </h2>
            <Entries
              of={findings}
              row={(finding) => (
                <Entry
                  title={<Title words={words} {...finding} />}
                  note={words.findings.ruleAt(finding.rule, finding.line)}
                  state={finding.waived ? words.findings.accepted : null}
                  more={
                    <>
                      <p>
                        <code class="key">{finding.evidence}</code>
                      </p>
                      <p lang={markEnglish(words)}>{finding.why}</p>
                      <p lang={markEnglish(words)}>{finding.fix}</p>
                    </>
                  }
                >
                  {finding.mayAccept ? <Box request={request} place={finding} /> : null}
                </Entry>
              )}
            />
          </section>
        ))}
        {found.repeated.slice(0, 1).map(({ rule, why, fix }) => (
          <section>
            <h2>
              <RuleLink words={words} rule={rule} />
            </h2>
            <p class="quiet" lang={markEnglish(words)}>
              {why} {fix}
            </p>
            <Entries of={found.repeated} row={({ evidence }) => <Entry title={evidence} />} />
          </section>
        ))}
        {found.hidden.length === 0 ? null : (
          <Section title={words.findings.hidden} lead={words.findings.hiddenLead}>
            <Entries
              of={found.hidden}
              row={(finding) => (
                <Entry
                  title={<Title words={words} {...finding} />}
                  note={words.findings.ruleAt(finding.rule, finding.line)}
                  facts={[finding.file]}
                >
                  <Box request={request} place={finding} />
                </Entry>
              )}
            />
          </Section>
        )}
        {mayAccept ? (
          <Section title={words.findings.acceptTitle}>
            <p class="quiet">
              {words.findings.acceptLead} {hasOthers ? words.findings.highIsForAdmins : null}
            </p>
            <Form
              request={request}
              does="accept"
              id={ACCEPT_FORM}
              of={waiveFinding}
              fields={{
                reason: { label: words.findings.reason, autocomplete: 'off' },
                days: { label: words.findings.days, hint: words.findings.daysHint, type: 'number' },
              }}
              submit={words.findings.acceptTicked}
            />
          </Section>
        ) : null}
        {found.waivers.length === 0 ? null : (
          <Section title={words.findings.acceptedTitle} lead={words.findings.acceptedLead}>
            <Entries
              of={found.waivers}
              row={({ waiver, rule, file, reason, by, until, createdAt }) => (
                <Entry
                  title={<RuleLink words={words} rule={rule} />}
                  note={textOf(words.findings.files, file) ?? file}
                  facts={[
                    words.reading.by(by ?? words.findings.formerMember),
                    <On label={words.since} words={words} at={createdAt} />,
                    until === null ? null : <On label={words.findings.until} words={words} at={until} />,
                  ]}
                  more={<p dir="auto">{reason}</p>}
                >
                  <ConfirmedAction
                    does="end"
                    values={{ waiver: String(waiver) }}
                    label={words.findings.end}
                    name={words.findings.endOf(rule)}
                    means={words.findings.endMeans}
                  />
                </Entry>
              )}
            />
          </Section>
        )}
      </Layout>
    )
  }
}

/** Why others do not see the version, and the way to the findings of another one. */
const Blocked: FC<{ words: Words; path: string; found: Shown; isOther: boolean }> = ({ words, path, found, isOther }) => {
  const { version, servedVersion, visibility, blockedBy } = found
  const rules = blockedBy.join(', ')
  if (version > servedVersion)
    return (
      <p class="notice">
        {words.findings.blockedHere(version, rules, servedVersion)}{' '}
        <a href={`${path}/check?version=${servedVersion}`}>{words.findings.ofServed(servedVersion)}</a>
      </p>
    )
  if (visibility === 'private' && rules !== '') return <p class="notice">{words.findings.blockedPrivate(rules)}</p>
  return isOther ? (
    <p>
      <a href={`${path}/check`}>{words.findings.ofNewest}</a>
    </p>
  ) : null
}

const Title: FC<{ words: Words; rule: string; severity: Severity }> = ({ words, rule, severity }) => (
  <>
    <strong>{words.checking.levels[severity]}</strong> <RuleLink words={words} rule={rule} />
  </>
)

/** A place as a box sends it: a file has any characters but a line end. */
const writePlace = ({ rule, file, line }: Place) => `${rule}\n${line}\n${file}`

function readPlace(text: string): Place {
  const [rule = '', line = '', file = ''] = text.split('\n')
  return { rule, line: Number(line), file }
}

const Box = ({ request: { site, sent }, place }: { request: PageRequest; place: Place }): Child => (
  <label class="tick">
    <input
      type="checkbox"
      form={ACCEPT_FORM}
      name="finding"
      value={writePlace(place)}
      checked={sent?.form.all('finding').includes(writePlace(place))}
      aria-label={site.words.findings.acceptOf(place.rule, place.line)}
    />{' '}
    {site.words.findings.accept}
  </label>
)

/** Accepts findings, or ends that. */
export function changeFindings(collection: Collection) {
  return actBy({
    async accept({ site, call, form, ref, path }) {
      const ticked = form.all('finding')
      if (ticked.length === 0) throw invalidInput('finding', site.words.findings.nothingTicked)
      const days = form.text('days').trim()
      for (const place of ticked) {
        const about = { reason: form.text('reason'), ...(days !== '' && { days: Number(days) }) }
        await call(waiveFinding, { collection, id: ref, ...readPlace(place), ...about })
      }
      return done(path, 'accepted')
    },
    end: doing(endWaiver, ({ form, ref }) => ({ collection, id: ref, waiver: Number(form.text('waiver')) }), 'acceptance-ended'),
  })
}

const PROGRAMS = { 'claude-code': 'Claude Code', codex: 'Codex' }

/** The page that checks the skills of a scope. */
export const checkPath = (scope: string) => `/check?scope=${encodeURIComponent(scope)}`

/** The check of the skills of a scope: the cost of their listing, and all findings. */
export async function showSet({ site, words, call, query }: PageRequest) {
  const { checking } = words
  const scope = query.get('scope') ?? ''
  const characters = /^[1-9]\d{0,5}$/.exec(query.get('characters') ?? '')?.[0]
  const found = await call(checkSet, { scope, ...(characters !== undefined && { characters: Number(characters) }) })
  const { counts, budgets, unlisted, routing, pending } = found
  const left = [found.isCut ? checking.cut : null, pending === 0 ? null : pending === null ? checking.noEncoder : checking.pending(pending)]
  return (
    <Layout site={site} title={checking.title} styles={['admin.css']}>
      <h1>{checking.title}</h1>
      <p class="lead">
        {scope === '' ? null : (
          <>
            <a href={scope} dir="auto">
              {scope}
            </a>{' '}
            ·{' '}
          </>
        )}
        {words.find.counts.skills(found.skills)} · {checking.counts(counts.high, counts.medium, counts.low)}
      </p>
      {left.map((text) => (text === null ? null : <p class="notice">{text}</p>))}
      <Section title={checking.listing} lead={checking.listingLead}>
        <Entries
          of={budgets}
          row={({ profile, unit, cost, limit, shortened, dropped, omitted, level }) => (
            <Entry
              title={profile === 'custom' ? checking.custom : PROGRAMS[profile]}
              note={checking.used[unit](cost, limit)}
              state={level && checking.levels[level]}
              facts={[
                shortened > 0 ? checking.shortened(shortened) : null,
                dropped.length > 0 ? checking.dropped(dropped.length) : null,
                omitted.length > 0 ? checking.omitted(omitted.length) : null,
              ]}
              more={
                dropped.length + omitted.length === 0 ? null : (
                  <details>
                    <summary>{checking.inOrder}</summary>
                    <Skills of={[...omitted.toReversed(), ...dropped]} />
                  </details>
                )
              }
            />
          )}
        />
        <form method="get" class="fields">
          <HiddenFields values={{ scope }} />
          <Field sent={null} name="characters" type="number" label={checking.budget} value={characters} />
          <Submit text={checking.check} />
        </form>
      </Section>
      <Section title={words.findings.findings}>
        {routing === null ? null : <p>{checking.routing(routing.hits, routing.queries)}</p>}
        <Entries
          of={listFindings(found)}
          row={({ level, rule, skills, evidence }) => (
            <Entry title={<Skills of={skills} />} note={checking.levels[level]} facts={[checking.rules[rule], evidence.join(', ')]} />
          )}
          none={checking.none}
        />
        <Entries of={unlisted} row={({ id, title, fault }) => <Entry title={<Skills of={[{ id, name: title }]} />} facts={[fault]} />} />
      </Section>
    </Layout>
  )
}

/** Skills by name, with a link to each. */
const Skills: FC<{ of: readonly SkillRef[] }> = ({ of }) => (
  <>
    {of.map(({ id, name }, place) => (
      <>
        {place === 0 ? '' : ', '}
        <a href={`/skills/${id}`}>{name}</a>
      </>
    ))}
  </>
)
