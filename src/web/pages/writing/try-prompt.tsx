import type { Output } from '../../../operations/core/procedure.ts'
import { keepCase, showTryPage } from '../../../operations/evals/results.ts'
import { tryPrompt } from '../../../operations/evals/run-tests.ts'
import { toBlanks } from '../../filling.ts'
import type { SentForm } from '../../forms.ts'
import { CHART_STYLES } from '../../parts/charts.tsx'
import { HiddenFields, Link, Section, Submit } from '../../parts/controls.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import { Tick } from '../../parts/form.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'

/** Prefix of a variable's field name. */
const BLANK = 'v.'

type Answers = Output<typeof tryPrompt>['answers']

const valuesOf = (form: SentForm, variables: readonly { readonly name: string }[]) =>
  Object.fromEntries(variables.flatMap(({ name }) => (form.text(BLANK + name) === '' ? [] : [[name, form.text(BLANK + name)]])))

/** A prompt with fields for its variables, and the answers of models side by side. */
export async function showTryPrompt(request: PageRequest) {
  return await draw(request, request.sent?.form ?? null, [])
}

/** Asks the models that were ticked, or keeps the values as a case. */
export const submitTryPrompt: Action = async (request) => {
  const { call, ref, form, path } = request
  const { variables } = await call(showTryPage, { id: ref })
  const values = valuesOf(form, variables)
  if (form.text('do') === 'keep') {
    await call(keepCase, { id: ref, name: form.text('name'), contains: form.text('contains'), variables: values })
    return done(path.replace(/try$/, 'tests'), 'case-kept')
  }
  const models = form.all('models')
  const { answers } = await call(tryPrompt, { id: ref, variables: values, ...(models.length > 0 && { models }) })
  return { html: await draw(request, form, answers) }
}

async function draw(request: PageRequest, form: SentForm | null, answers: Answers) {
  const { words, call, ref, sent } = request
  const { tests } = words
  const page = await call(showTryPage, { id: ref })
  const path = new URL(page.url).pathname
  const asked = form?.all('models') ?? page.models.slice(0, 1)
  return (
    <TitledPage
      request={request}
      title={tests.tryOf(page.title)}
      heading={tests.try}
      above={
        <>
          <Link to={path} dir="auto" text={page.title} /> › <Link to={`${path}/tests`} text={tests.tests} />
        </>
      }
      lead={tests.tryLead}
      styles={CHART_STYLES}
    >
      <Fault sent={sent} fields={['name', 'contains']} words={words} />
      {page.models.length === 0 ? (
        <p class="notice">{tests.noModels}</p>
      ) : (
        <form method="post" class="fields">
          {toBlanks(page.variables).map(({ name, label, preset }) => (
            <Field
              sent={sent}
              name={BLANK + name}
              label={label}
              rows={2}
              value={form?.text(BLANK + name) ?? ''}
              {...(preset !== undefined && { placeholder: preset })}
            />
          ))}
          {page.models.map((model) => (
            <Tick sent={null} name="models" value={model} label={model} isTicked={asked.includes(model)} />
          ))}
          <Submit look="button first" does="ask" text={tests.ask} />
        </form>
      )}
      {answers.length === 0 && sent === null ? null : (
        <>
          <div class="side-by-side">
            {answers.map(({ model, answer, error, durationMs, tokens, costUsd }) => (
              <Section title={model}>
                {error === null ? (
                  <pre tabindex={0} dir="auto">
                    {answer}
                  </pre>
                ) : (
                  <p class="fault">{error}</p>
                )}
                {durationMs === null ? null : (
                  <p class="quiet">
                    {tests.took((durationMs / 1000).toFixed(1), tokens ?? 0)}
                    {costUsd === null ? null : `, ${costUsd.toFixed(4)} USD`}
                  </p>
                )}
              </Section>
            ))}
          </div>
          <form method="post" class="fields">
            <HiddenFields values={Object.fromEntries(page.variables.map(({ name }) => [BLANK + name, form?.text(BLANK + name) ?? '']))} />
            <Field sent={sent} name="name" label={tests.caseName} maxlength={200} autocomplete="off" />
            <Field sent={sent} name="contains" label={tests.contains} rows={2} />
            <Submit does="keep" text={tests.keep} />
          </form>
        </>
      )}
    </TitledPage>
  )
}
