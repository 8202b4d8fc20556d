import type { FC } from 'hono/jsx'
import type { z } from 'zod'
import type { listedPrompt, listedSkill } from '../../operations/core/records.ts'
import type { Marks } from '../../search/analysis/mark-words.ts'
import type { Site } from '../site.ts'
import { Day } from './day.tsx'
import { authorPath } from './facts.tsx'
import { Highlight } from './highlight.tsx'

type ListedPrompt = z.infer<typeof listedPrompt>
type ListedSkill = z.infer<typeof listedSkill>

/** How much of a prompt's text a row shows, in UTF-16 units; the sheet cuts it at two lines. */
const FIRST_WORDS = 240

/** Prompts as rows, words of the query marked. */
export const PromptRows: FC<{ site: Site; prompts: readonly ListedPrompt[]; marks?: Marks | null }> = ({ site, prompts, marks = null }) => (
  <ol class="rows">
    {prompts.map((prompt) => (
      <li>
        <div>
          <h3>
            <a href={`/prompts/${prompt.slug}`}>
              <Highlight text={prompt.title} marks={marks} />
            </a>
          </h3>
          {prompt.description === null ? null : (
            <p>
              <Highlight text={prompt.description} marks={marks} />
            </p>
          )}
          <p class="first-words">
            <Highlight text={prompt.content.slice(0, FIRST_WORDS).toWellFormed()} marks={marks} />
          </p>
        </div>
        <div class="facts">
          <ul>
            <li class="kind">{site.words.types[prompt.type]}</li>
            {prompt.approximate ? <li>{site.words.nearInMeaning}</li> : null}
            {prompt.visibility === 'public' ? null : <li>{site.words.visibilities[prompt.visibility]}</li>}
            {prompt.category === null ? null : (
              <li>
                <a href={`/prompts?category=${prompt.categorySlug}`}>{prompt.category}</a>
              </li>
            )}
            <li>
              <a href={authorPath(prompt.author)}>{prompt.author}</a>
            </li>
            <li>
              <Day at={prompt.createdAt} />
            </li>
            {prompt.votes > 0 ? <li>{site.words.votes(prompt.votes)}</li> : null}
          </ul>
        </div>
      </li>
    ))}
  </ol>
)

/** Skills as rows. */
export const SkillRows: FC<{ site: Site; skills: readonly ListedSkill[]; marks?: Marks | null }> = ({ site, skills, marks = null }) => (
  <ol class="rows">
    {skills.map((skill) => (
      <li>
        <div>
          <h3>
            <a href={`/skills/${skill.slug}`}>
              <Highlight text={skill.title} marks={marks} />
            </a>
          </h3>
          {skill.description === null ? null : (
            <p>
              <Highlight text={skill.description} marks={marks} />
            </p>
          )}
        </div>
        <div class="facts">
          <ul>
            <li class="kind">{site.words.fileCount(skill.files.length)}</li>
            {skill.approximate ? <li>{site.words.nearInMeaning}</li> : null}
            {skill.visibility === 'public' ? null : <li>{site.words.visibilities[skill.visibility]}</li>}
            {skill.category === null ? null : (
              <li>
                <a href={`/skills?category=${skill.categorySlug}`}>{skill.category}</a>
              </li>
            )}
            <li>
              <a href={authorPath(skill.author)}>{skill.author}</a>
            </li>
            <li>
              <Day at={skill.createdAt} />
            </li>
            {skill.votes > 0 ? <li>{site.words.votes(skill.votes)}</li> : null}
          </ul>
        </div>
      </li>
    ))}
  </ol>
)
