import type { Severity } from '../domain/check/findings.ts'
import type { FileView, SearchedText } from './file-view.ts'

/** A match of a rule: where its evidence stands in the text of a file. */
export interface Match {
  readonly at: number
  readonly length: number
  /** Where the match itself says how grave it is. */
  readonly severity?: Severity
}

/**
 * How the surroundings change a severity. `words` weigh less in code, quotes and texts about attacks, and more where readers do not see them;
 * `orders` are words that a user may say, so that they weigh less in a prompt. `command` weighs less in texts about attacks and in prompts, which
 * nobody executes; `data` is what it is everywhere.
 */
type Weight = 'words' | 'orders' | 'command' | 'data'

/** A rule of the check. Rules are data: `pattern` finds, `except` takes back, `find` is for what no pattern says. */
export interface Rule {
  /** `family/name`, which stays. */
  readonly id: string
  /** Raised when the rule finds other things than before: waivers of an older one end. Default: 1. */
  readonly major?: number
  readonly severity: Severity
  /** The risk in the OWASP Agentic Skills Top 10. */
  readonly owasp: `AST${number}`
  readonly weight: Weight
  /** Default: every text file, and prompts. */
  readonly only?: 'markdown' | 'skill' | 'script' | 'frontmatter'
  /** Whether it is about files alone, and says nothing about what a person asks of a model. */
  readonly isOfFiles?: boolean
  readonly title: string
  readonly why: string
  readonly fix: string
  /** Global, and linear in the text: gaps are bounded. It matches something. */
  readonly pattern?: RegExp
  /** Default: lines. */
  readonly on?: SearchedText
  /** Global. It matches in the file, too. */
  readonly given?: RegExp
  /** Tested on the match. */
  readonly except?: RegExp
  /** The severity of a match at a place in the text, instead of `severity`; null: it is no finding. */
  readonly weigh?: (match: RegExpExecArray, file: FileView, at: number) => Severity | null
  readonly find?: (file: FileView) => Iterable<Match>
  /** Whether the evidence is a secret. */
  readonly isSecret?: boolean
  /** A text that the rule finds; `file` defaults to SKILL.md. */
  readonly example: string | { readonly file: string; readonly text: string }
}

/** Fields that the rules of a family share unless they have their own. Default of `severity`: medium. */
type Shared = Pick<Rule, 'owasp' | 'weight'> & Partial<Pick<Rule, 'severity' | 'isOfFiles' | 'only'>>
type Own = Omit<Rule, 'id' | 'owasp' | 'weight' | 'severity'> & Partial<Rule>

/** The rules of a family by their names. */
export function ruleFamily(shared: Shared, family: string, rules: Readonly<Record<string, Own>>): Rule[] {
  return Object.entries(rules).map(([name, rule]) => ({ severity: 'medium', ...shared, ...rule, id: `${family}/${name}` }))
}
