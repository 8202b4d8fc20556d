import type { Severity } from '../domain/check/finding.ts'
import type { FileView } from './file-view.ts'

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
  /** In lower case. The pattern is tried on lines that hold one of them: at the head of a word, or the whole of a word of up to four letters. */
  readonly needs?: readonly string[]
  /** Global, and linear in the text: gaps are bounded. With `needs`, within a line. Tried on the text as its readers see it. */
  readonly pattern?: RegExp
  /** Tested on the match. */
  readonly except?: RegExp
  readonly find?: (file: FileView) => Iterable<Match>
  /** Whether the evidence is a secret. */
  readonly isSecret?: boolean
  /** A text that the rule finds; `file` defaults to SKILL.md. */
  readonly example: string | { readonly file: string; readonly text: string }
}
