import type { FC } from 'hono/jsx'
import { spellOut } from '../../../check/check-files.ts'
import type { Rule } from '../../../check/rule.ts'
import { RULES } from '../../../check/rules/index.ts'
import { markEnglish } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { byFamily } from '../../parts/check-rules.tsx'
import type { PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

/** All rules of the check by family, each with its example. */
export async function showRules({ site }: PageRequest) {
  const { words } = site
  const families = byFamily(RULES, ({ id }) => id)
  return (
    <Layout site={site} title={words.findings.rules} description={words.findings.rulesLead} path="/rules" current="docs">
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
