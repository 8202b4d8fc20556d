import type { FC } from 'hono/jsx'
import { CASE_LAYOUTS } from '../../../domain/evals/evals.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { convertTestCases, getCases, listCases } from '../../../operations/evals/cases.ts'
import { compareTestRuns, getRun, listRuns, removeRun, showTestsPage } from '../../../operations/evals/results.ts'
import { cancelRun, runTests } from '../../../operations/evals/run-tests.ts'
import { CHART_STYLES, TrendBars } from '../../parts/charts.tsx'
import { Details, Link, LinkLine, Section, Submit } from '../../parts/controls.tsx'
import { Ago } from '../../parts/facts.tsx'
import { ActionButton, Fault, Field } from '../../parts/field.tsx'
import { ConfirmedAction, Tick } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Acting, actBy, doing, type PageRequest } from '../../request.ts'
import type { Site, Words } from '../../site.ts'
import { type Collection, readVersionNumber } from './versions.tsx'

type Shown = Output<typeof showTestsPage>
type Run = Output<typeof listRuns>['runs'][number]

const MARKS = { true: '✓', false: '✗', null: '–' } as const
const markOf = (passed: boolean | null) => MARKS[`${passed}`]

/** A number of an address; undefined without one. */
function readNumber({ query, site }: PageRequest, name: string): number | undefined {
  const text = query.get(name)
  return text === null ? undefined : readVersionNumber(text, site.words)
}

/** The cases of an item for everybody who sees it; its runs, their trend, and what starts one for those who own it. */
export function showTests(collection: Collection) {
  return async (request: PageRequest) => {
    const { words, call, ref, sent } = request
    const after = readNumber(request, 'after')
    const before = readNumber(request, 'before')
    const found = await call(listCases, { collection, id: ref, ...(after !== undefined && { after }) })
    const page = await call(showTestsPage, { collection, id: ref, cases: found.cases.map(({ id }) => id) })
    const listed = page.isOwn ? await call(listRuns, { collection, id: ref, ...(before !== undefined && { before }) }) : null
    const path = new URL(page.url).pathname
    const here = `${path}/tests`
    return (
      <TitledPage
        request={request}
        title={words.tests.testsOf(page.title)}
        heading={words.tests.tests}
        above={<Link to={path} dir="auto" text={page.title} />}
        lead={words.tests.lead}
        about={<Link to="/docs/evals" text={words.tests.about} />}
        styles={['admin.css', ...CHART_STYLES]}
      >
        <Fault sent={sent} fields={['models']} words={words} />
        {page.trend.length > 0 ? (
          <Section title={words.tests.trend}>
            <TrendBars words={words} trend={page.trend} />
          </Section>
        ) : null}
        {listed === null ? null : <Runs request={request} page={page} runs={listed.runs} here={here} />}
        {listed?.nextBefore ? <LinkLine to={`${here}?before=${listed.nextBefore}`} rel="next" text={words.tests.older} /> : null}
        {page.mayEdit && collection === 'prompts' ? <Start request={request} page={page} path={path} hasCases={found.total > 0} /> : null}
        <h2>{words.tests.cases}</h2>
        <Cases words={words} found={found} page={page} />
        {found.nextAfter === null ? null : <LinkLine to={`${here}?after=${found.nextAfter}`} rel="next" text={words.tests.next} />}
        {found.problems.length === 0 ? null : (
          <Section title={words.tests.problems}>
            <Entries
              of={found.problems}
              row={(one) => <Entry title={one.case ?? one.file} note={one.case && one.file} more={<p lang="en">{one.problem}</p>} />}
            />
          </Section>
        )}
        {page.mayEdit ? await drawKept(request, collection) : null}
        {found.total === 0 ? null : await drawConverted(request, collection)}
      </TitledPage>
    )
  }
}

const Runs: FC<{ request: PageRequest; page: Shown; runs: readonly Run[]; here: string }> = ({ request, page, runs, here }) => {
  const { words } = request
  const { tests } = words
  return (
    <Section title={tests.runs}>
      <Entries
        of={runs}
        none={tests.noRuns}
        row={({ run, version, model, runner, passed, failed, total, done, state, isPartial, by, reportedAt }) => (
          <Entry
            title={<Link to={`${here}/${run}`} text={tests.run(run)} />}
            note={[words.reading.version(version), model ?? runner].filter(Boolean).join(' · ')}
            state={state ? tests.states[state] : isPartial ? tests.partial : null}
            facts={[
              tests.passes(passed, passed + failed),
              state === 'running' && total !== null ? tests.progress(done, total) : null,
              by === null ? null : words.reading.by(by),
              <Ago words={words} at={reportedAt} hasTime />,
            ]}
          >
            {page.mayEdit && state === 'running' ? (
              <ActionButton does="cancel" values={{ run: String(run) }} label={tests.cancelOf(run)} text={words.cancel} />
            ) : null}
            {page.mayEdit && state !== 'running' && (page.mayManage || by === request.site.reader?.username) ? (
              <ConfirmedAction
                does="remove"
                values={{ run: String(run) }}
                label={words.remove}
                name={tests.removeOf(run)}
                means={tests.removeMeans}
              />
            ) : null}
          </Entry>
        )}
      />
    </Section>
  )
}

const Start: FC<{ request: PageRequest; page: Shown; path: string; hasCases: boolean }> = ({ request, page, path, hasCases }) => {
  const { sent, site } = request
  const { tests } = site.words
  if (page.models.length === 0) return <p class="quiet">{tests.noModels}</p>
  return (
    <form method="post" class="fields">
      {hasCases ? (
        <>
          <Field
            sent={sent}
            name="models"
            label={tests.model}
            value={page.models[0] ?? ''}
            options={page.models.map((model) => [model, model])}
          />
          <Tick sent={sent} name="replay" label={tests.replay} />
          <Submit look="button first" does="run" text={tests.start} />{' '}
        </>
      ) : null}
      <Link look="button quiet" to={`${path}/try`} text={tests.try} />
    </form>
  )
}

const Cases: FC<{ words: Words; found: Output<typeof listCases>; page: Shown }> = ({ words: { tests }, found, page }) => (
  <Entries
    of={found.cases}
    none={tests.noCases}
    row={({ name, file, layout, graders, isHoldout }, place) => (
      <Entry
        title={<span dir="auto">{name}</span>}
        state={isHoldout ? tests.heldOut : null}
        facts={[file, layout, tests.graders(graders)]}
        more={
          <p class="verdicts">
            {page.strips[place]?.map(({ version, passed }) => (
              <span class={passed === false ? 'failed' : 'quiet'} title={tests.verdict(version, passed)}>
                <span aria-hidden="true">{markOf(passed)}</span>
                <span class="visually-hidden">{tests.verdict(version, passed)}</span>{' '}
              </span>
            ))}
          </p>
        }
      />
    )}
  />
)

/** The files with cases that are kept beside the newest version, for those who may change it. */
async function drawKept({ site, call, ref }: PageRequest, collection: Collection) {
  const { files } = await call(getCases, { collection, id: ref })
  if (files.length === 0) return null
  return (
    <Details summary={site.words.tests.kept}>
      <Files files={files} />
    </Details>
  )
}

const Files: FC<{ files: readonly { readonly filename: string; readonly content: string }[] }> = ({ files }) => (
  <>
    {files.slice(0, MAX_FILES).map(({ filename, content }) => (
      <>
        <h3 class="filename">{filename}</h3>
        <pre tabindex={0}>{content.slice(0, MAX_SHOWN)}</pre>
      </>
    ))}
  </>
)

/** The form that shows the cases as files of another layout, and those files once one is chosen. */
async function drawConverted(request: PageRequest, collection: Collection) {
  const { site, call, ref, query } = request
  const { tests } = site.words
  const layout = CASE_LAYOUTS.find((one) => one === query.get('layout'))
  const made = layout && (await call(convertTestCases, { collection, id: ref, layout }))
  return (
    <Details open={made !== undefined} id="layouts" summary={tests.convert}>
      <form method="get" action="#layouts" class="fields">
        <Field
          sent={null}
          name="layout"
          label={tests.layout}
          value={layout ?? CASE_LAYOUTS[0]}
          options={CASE_LAYOUTS.map((one) => [one, one])}
        />
        <Submit text={tests.show} />
      </form>
      {made && made.lost.length > 0 ? <p class="notice">{tests.lost(made.lost.join(', '))}</p> : null}
      {made ? <Files files={made.files} /> : null}
    </Details>
  )
}

/** Files, and characters of one, that a page shows of another layout. */
const MAX_FILES = 50
const MAX_SHOWN = 100_000

/** Starts, cancels or removes a run. */
export function changeTests(collection: Collection) {
  const runOf = ({ ref, form }: Acting) => ({ id: ref, run: Number(form.text('run')) })
  return actBy({
    run: doing(runTests, ({ ref, form }) => ({ id: ref, models: [form.text('models')], replay: form.has('replay') }), 'tests-started'),
    cancel: doing(cancelRun, runOf, 'run-cancelled'),
    remove: doing(removeRun, (request) => ({ collection, ...runOf(request) }), 'run-removed'),
  })
}

/** One run: its pass rates, and each case against an earlier run. */
export function showRun(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, words, call, ref } = request
    const { tests } = words
    const run = readVersionNumber(request.param('run'), words)
    const after = readNumber(request, 'after')
    const [page, shown] = await Promise.all([
      call(showTestsPage, { collection, id: ref }),
      call(getRun, { collection, id: ref, run, ...(after !== undefined && { after }) }),
    ])
    const path = new URL(page.url).pathname
    const before = readNumber(request, 'against') ?? page.trend.findLast((one) => one.run < run)?.run
    const compared = before === undefined ? null : await call(compareTestRuns, { collection, id: ref, before, run })
    const outcomes = new Map(compared?.cases.map(({ case: name, arms }) => [name, arms.find((one) => one.arm !== 'without')?.outcome]))
    return (
      <TitledPage
        request={request}
        title={tests.runOf(run, page.title)}
        heading={tests.run(run)}
        above={
          <>
            <Link to={path} dir="auto" text={page.title} /> › <Link to={`${path}/tests`} text={tests.tests} />
          </>
        }
        styles={['admin.css', ...CHART_STYLES]}
      >
        <p class="lead">
          {[words.reading.version(shown.run.version), shown.run.model ?? shown.run.runner].filter(Boolean).join(' · ')}{' '}
          <Ago words={words} at={shown.run.reportedAt} hasTime />
          {shown.run.state ? <strong class="state"> {tests.states[shown.run.state]}</strong> : null}
        </p>
        <ul>
          {shown.passRates.map(({ arm, passRate: { rate, lower, upper, isTooFew } }) => (
            <li>
              {tests.arms[arm ?? 'none']}:{' '}
              {rate === null
                ? tests.verdicts.none
                : tests.rate(tests.percent(rate), tests.percent(lower), tests.percent(upper)) + (isTooFew ? ` (${tests.tooFew})` : '')}
            </li>
          ))}
        </ul>
        {before === undefined || compared === null ? null : (
          <p class="quiet">
            <Link to={`${path}/tests/${before}`} text={tests.against(before)} />
            {compared.hasSameCases === false ? ` ${tests.otherCases}` : null}
          </p>
        )}
        {compared && compared.alwaysPassing.length > 0 ? (
          <p class="notice">
            {tests.alwaysPassing} {compared.alwaysPassing.map((one) => `${one.case}: ${one.text}`).join('; ')}
          </p>
        ) : null}
        <Results site={site} shown={shown} outcomes={outcomes} />
        {shown.nextAfter === null ? null : <LinkLine to={`${path}/tests/${run}?after=${shown.nextAfter}`} rel="next" text={tests.next} />}
      </TitledPage>
    )
  }
}

type Outcomes = ReadonlyMap<string, keyof Words['tests']['outcomes'] | undefined>

const Results: FC<{ site: Site; shown: Output<typeof getRun>; outcomes: Outcomes }> = ({ site: { words }, shown, outcomes }) => {
  const { tests } = words
  return (
    <Entries
      of={shown.results}
      none={tests.noRuns}
      row={({ case: name, arm, passed, assertions, error, durationMs, tokens }) => {
        const outcome = outcomes.get(name)
        return (
          <Entry
            title={<span dir="auto">{name}</span>}
            note={arm === null ? null : tests.arms[arm]}
            state={outcome === 'worse' ? tests.outcomes.worse : null}
            facts={[
              passed === null ? tests.verdicts.none : passed ? tests.verdicts.passed : tests.verdicts.failed,
              outcome && outcome !== 'worse' && arm !== 'without' ? tests.outcomes[outcome] : null,
              durationMs === null ? null : tests.took((durationMs / 1000).toFixed(1), tokens ?? 0),
            ]}
            more={
              <>
                {error === null ? null : <p class="fault">{error}</p>}
                <ul>
                  {assertions.map(({ text, passed: isMet, evidence }) => (
                    <li dir="auto">
                      {markOf(isMet)} {text}
                      {evidence === null ? null : <span class="quiet"> {evidence}</span>}
                    </li>
                  ))}
                </ul>
              </>
            }
          />
        )
      }}
    />
  )
}
