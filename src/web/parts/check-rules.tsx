import type { FC } from 'hono/jsx'
import { ruleOf } from '../../check/rules/index.ts'
import { LEVELS } from '../../domain/check/policy.ts'
import { listLevels, setLevel } from '../../operations/check/waivers.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { markEnglish } from '../language.ts'
import { type Action, done } from '../request.ts'
import type { Words } from '../site.ts'
import { Entries, Entry } from './entries.tsx'

/** Rules or what is about them, by the family of the rule, in the order of the families. */
export function byFamily<T>(of: readonly T[], ruleOf: (one: T) => string): (readonly [family: string, of: readonly T[]])[] {
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
                {options.map((one) => (
                  <option value={one} selected={one === level}>
                    {words.findings.levelNames[one]}
                  </option>
                ))}
              </select>
            </Entry>
          )}
        />
      </details>
    ))}
    <p>
      <button class="button first" type="submit" name="do" value="levels">
        {words.findings.saveLevels}
      </button>
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
