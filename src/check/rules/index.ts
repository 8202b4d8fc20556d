import type { Rule } from '../rule.ts'
import { COMMAND_RULES } from './commands.ts'
import { DATA_RULES } from './data.ts'
import { ORDER_RULES } from './orders.ts'
import { PAYLOAD_RULES } from './payloads.ts'
import { RIGHT_RULES } from './rights.ts'
import { SECRET_RULES } from './secrets.ts'
import { UNSEEN_RULES } from './unseen.ts'
import { WHOLE_RULES } from './whole.ts'

/** Raised with every change of a rule: items are checked again, and what changed is listed. */
export const RULE_SET = 3

/** Rules that look at one text. */
export const TEXT_RULES: readonly Rule[] = [
  ...UNSEEN_RULES,
  ...ORDER_RULES,
  ...DATA_RULES,
  ...COMMAND_RULES,
  ...SECRET_RULES,
  ...PAYLOAD_RULES,
  ...RIGHT_RULES,
]

/** All rules, by family. */
export const RULES: readonly Rule[] = [...TEXT_RULES, ...Object.values(WHOLE_RULES)]

/** Finds a rule. */
const byId = new Map(RULES.map((rule) => [rule.id, rule]))
export const ruleOf = (id: string): Rule | undefined => byId.get(id)
