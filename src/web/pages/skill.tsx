import { Layout } from '../layout.tsx'
import { Day } from '../parts/day.tsx'
import { type PageRequest, shownSkill } from '../request.ts'

/** How much of a file the page shows, in UTF-16 units; the whole is a download away. */
const MAX_SHOWN = 100_000

/** A skill: its files as an index, one of them open, SKILL.md first. */
export async function showSkillPage({ site, call, ref, query }: PageRequest) {
  const skill = await call('get_skill', { id: ref }, shownSkill)
  const { words } = site
  const wanted = query.get('file')
  const open = skill.files.find((file) => file.filename === wanted) ?? skill.files[0]
  const path = new URL(skill.url).pathname
  return (
    <Layout
      site={site}
      title={skill.title}
      description={skill.description ?? undefined}
      path={path}
      current="skills"
      isIndexed={skill.visibility === 'public' && wanted === null}
    >
      <article class="leaf">
        <header>
          <h1>{skill.title}</h1>
          {skill.description === null ? null : <p class="lead">{skill.description}</p>}
        </header>
        <aside class="facts">
          <dl>
            <div>
              <dt>{words.author}</dt>
              <dd>
                <a href={`/skills?author=${encodeURIComponent(skill.author)}`}>{skill.author}</a>
              </dd>
            </div>
            {skill.category === null ? null : (
              <div>
                <dt>{words.category}</dt>
                <dd>{skill.category}</dd>
              </div>
            )}
            {skill.tags.length === 0 ? null : (
              <div>
                <dt>{words.tags}</dt>
                <dd>{skill.tags.join(', ')}</dd>
              </div>
            )}
            <div>
              <dt>{words.updated}</dt>
              <dd>
                <Day at={skill.updatedAt} />
              </dd>
            </div>
          </dl>
          <nav aria-label={words.files}>
            <h2 class="kind">{words.files}</h2>
            <ul class="files">
              {skill.files.map(({ filename }) => (
                <li>
                  <a href={`${path}?file=${encodeURIComponent(filename)}`} aria-current={filename === open?.filename ? 'true' : undefined}>
                    {filename}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </aside>
        {open ? (
          <section data-prompt>
            <h2>{open.filename}</h2>
            {open.encoding === 'base64' ? (
              <p class="quiet">{words.binaryFile}</p>
            ) : (
              <pre data-text tabindex={0}>
                {open.content.slice(0, MAX_SHOWN).toWellFormed()}
              </pre>
            )}
            {open.content.length > MAX_SHOWN ? <p class="quiet">{words.fileCut}</p> : null}
            <div class="actions">
              {open.encoding === 'base64' ? null : (
                <button class="button first" type="button" data-copy={words.copied} hidden>
                  {words.copy}
                </button>
              )}
              <a
                class="button"
                href={`/api/skills/${skill.id}/files/${open.filename.split('/').map(encodeURIComponent).join('/')}`}
                download
              >
                {words.download}
              </a>
            </div>
          </section>
        ) : null}
      </article>
    </Layout>
  )
}
