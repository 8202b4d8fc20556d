import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { AppError } from '../../../errors.ts'
import { createOpenApi } from '../../../http/openapi.ts'
import { OPERATIONS } from '../../../operations/index.ts'
import {
  type ApiGroup,
  type ApiRoute,
  describeField,
  listFields,
  type RouteAnswer,
  readApi,
  type SchemaField,
  writeCurl,
} from '../../api-reference.ts'
import { readDocument } from '../../documents.ts'
import { markEnglish } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { Details, Link, LinkItem, Sample, Section } from '../../parts/controls.tsx'
import { DocumentFrame, DocumentHead } from '../../parts/page-frames.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site, Words } from '../../site.ts'

/** Bodies already rendered, by what they depend on: the same for every reader, as long as the service runs. */
const rendered = new Map<string, string>()

/** The REST interface, made from its OpenAPI document: every route by its title, and what all have in common. */
export async function showApiReference({ site }: PageRequest) {
  return await showPart(site, null)
}

/** The routes of one group. @throws AppError `not_found` */
export async function showApiGroup({ site, param }: PageRequest) {
  return await showPart(site, param('group'))
}

async function showPart(site: Site, group: string | null) {
  const { words, baseUrl, hasMcp } = site
  const key = [baseUrl, hasMcp, words.language, group].join(' ')
  const body = rendered.get(key) ?? String(await (<Reference site={site} group={group} />))
  rendered.set(key, body)
  const { title } = readDocument('api', site)
  const heading = isGroup(group, words) ? `${words.api.groups[group]} · ${title}` : title
  return (
    <Layout site={site} title={heading} description={words.aboutDocuments.api} path={pathOf(group)} search={{ list: 'docs' }}>
      <DocumentFrame site={site} name="api">
        <article class="document api">
          <DocumentHead site={site} title={title} />
          {raw(body)}
        </article>
      </DocumentFrame>
    </Layout>
  )
}

function isGroup(group: string | null, { api }: Words): group is keyof typeof api.groups {
  return group !== null && Object.hasOwn(api.groups, group)
}

function pathOf(group: string | null): string {
  return group === null ? '/docs/api' : `/docs/api/${group}`
}

const Reference: FC<{ site: Site; group: string | null }> = ({ site, group }) => {
  const { words, baseUrl, hasMcp } = site
  const { api } = words
  const { groups, error } = readApi(createOpenApi(OPERATIONS, { version: '', baseUrl, hasMcp }), baseUrl)
  const shown = groups.find(({ name }) => name === group)
  if (group !== null && !shown) throw new AppError('not_found', words.errors.noDocument)
  return (
    <>
      <Contents words={words} groups={groups} shown={group} />
      <div class="routes">
        {shown ? (
          <Section title={api.groups[shown.name]}>
            {shown.routes.map((route) => (
              <Route words={words} route={route} baseUrl={baseUrl} />
            ))}
          </Section>
        ) : (
          <>
            <p class="prose">
              {api.keyLead}{' '}
              <Link to="/docs/keys-and-visibility" lang={markEnglish(words)} text={readDocument('keys-and-visibility', site).title} />
            </p>
            <p class="prose">{api.inputLead}</p>
            <p class="prose">
              <a href="/api/openapi.json">{api.document}</a> · <a href="/docs/self-hosting#health">{api.healthLead}</a>
            </p>
            {groups.map((one) => (
              <Titles words={words} group={one} />
            ))}
            <section>
              <h2 id="errors">{api.errors}</h2>
              <p>
                {api.errorsLead} <a href="/docs/errors">{api.errorsMore}</a>
              </p>
              <SchemaTable words={words} caption={api.answer} isAnswer fields={listFields(error, api)} />
            </section>
          </>
        )}
      </div>
    </>
  )
}

/** The routes of a group by title. Each has the anchor that a link to the reference of routes may have. */
const Titles: FC<{ words: Words; group: ApiGroup }> = ({ words, group: { name, routes } }) => (
  <section>
    <h2 id={name}>
      <a href={pathOf(name)}>{words.api.groups[name]}</a>
    </h2>
    <ul>
      {routes.map(({ anchor, method, path, title }) => (
        <li id={anchor}>
          <Link to={`${pathOf(name)}#${anchor}`} lang={markEnglish(words)} text={title} />{' '}
          <span class="quiet">
            {method} {path}
          </span>
        </li>
      ))}
    </ul>
  </section>
)

const Contents: FC<{ words: Words; groups: readonly ApiGroup[]; shown: string | null }> = ({ words, groups, shown }) => (
  <nav class="contents" aria-label={words.onThisPage}>
    <ul>
      {groups.map(({ name, routes }) => (
        <li>
          <Link to={pathOf(name)} current={name === shown && 'page'} text={words.api.groups[name]} />
          {name === shown ? (
            <ul>
              {routes.map(({ anchor, title }) => (
                <LinkItem to={`#${anchor}`} lang={markEnglish(words)} text={title} />
              ))}
            </ul>
          ) : null}
        </li>
      ))}
      <LinkItem to="/docs/api#errors" text={words.api.errors} />
    </ul>
  </nav>
)

const Route: FC<{ words: Words; route: ApiRoute; baseUrl: string }> = ({ words, route, baseUrl }) => {
  const { api } = words
  const { anchor, method, path, title, description, access, inputs, body, answers } = route
  const scope = OPERATIONS.find(({ name }) => name === route.name)?.scope
  const isFile = answers.every(({ status, types }) => !status.startsWith('2') || !types.includes('application/json'))
  const curl = writeCurl(method, route.example, { baseUrl, hasKey: access === 'required', isFile })
  return (
    <section class="route">
      <h3 id={anchor}>
        <Link to={`#${anchor}`} lang={markEnglish(words)} text={title} />
      </h3>
      <p class="call">
        <strong>{method}</strong> {path}
      </p>
      {description === '' ? null : (
        <p class="prose" lang={markEnglish(words)}>
          {description}
        </p>
      )}
      <p class="quiet">{access === 'required' && scope && scope !== 'any' ? api.scope(scope) : api.access[access]}</p>
      <SchemaTable
        words={words}
        caption={api.parameters}
        fields={inputs.map((input) => ({
          ...describeField(input.name, input.schema, input.required, api),
          isInPath: input.in === 'path',
        }))}
      />
      <SchemaTable words={words} caption={api.body} fields={body === null ? [] : listFields(body, api)} />
      {answers.map((answer) => (
        <Answer words={words} answer={answer} />
      ))}
      <Sample words={words} text={curl} />
    </section>
  )
}

const Answer: FC<{ words: Words; answer: RouteAnswer }> = ({ words, answer: { status, types, description, schema, stream } }) => {
  const { api } = words
  const fields = schema && status.startsWith('2') ? listFields(schema, api) : []
  const head = (
    <>
      {api.answer} <code>{status}</code> <span class="quiet">{types.join(', ')}</span>
    </>
  )
  if (fields.length === 0)
    return (
      <p class="answer">
        {head}
        {status.startsWith('2') ? null : <span lang={markEnglish(words)}>: {description}</span>}
      </p>
    )
  return (
    <Details class="answer" summary={head}>
      <SchemaTable words={words} caption={api.answer} fields={fields} isAnswer />
      {stream === null ? null : (
        <p class="prose">
          <code>text/event-stream</code>: <span lang={markEnglish(words)}>{stream}</span>
        </p>
      )}
    </Details>
  )
}

interface SchemaTableProps {
  readonly words: Words
  readonly caption: string
  readonly fields: readonly (SchemaField & { readonly isInPath?: boolean })[]
  /** Of an answer, readers want to know what may be missing; of a request, what must not be. */
  readonly isAnswer?: boolean
}

/** Fields of a request or an answer; nothing where there are none. */
const SchemaTable: FC<SchemaTableProps> = ({ words, caption, fields, isAnswer = false }) => {
  const { api } = words
  return fields.length === 0 ? null : (
    <table class="schema" aria-label={isAnswer ? caption : undefined}>
      {isAnswer ? null : <caption>{caption}</caption>}
      <tbody>
        {fields.map(({ name, kind, choices, isRequired, isInPath, description, bounds }) => (
          <tr>
            <th scope="row">
              <code>
                {name.split('.').map((part, at) => (
                  <>
                    {at === 0 ? null : (
                      <>
                        .<wbr />
                      </>
                    )}
                    {part}
                  </>
                ))}
              </code>
            </th>
            <td>
              <span class="quiet">
                {kind}
                {choices.map((choice, at) => (
                  <>
                    {at === 0 ? '' : ', '}
                    <code>{choice}</code>
                  </>
                ))}
                {[
                  ...(isInPath ? [api.inPath] : []),
                  ...(isRequired && !isAnswer ? [words.required] : []),
                  ...(!isRequired && isAnswer ? [api.optional] : []),
                  ...(bounds === '' || isAnswer ? [] : [bounds]),
                ].map((fact) => ` · ${fact}`)}
              </span>
              {description === '' ? null : <div lang={markEnglish(words)}>{description}</div>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
