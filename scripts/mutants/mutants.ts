import { DATA_MUTANTS } from './data-mutants.ts'
import { ITEM_MUTANTS } from './item-mutants.ts'
import type { Mutant } from './mutant.ts'
import { PEOPLE_MUTANTS } from './people-mutants.ts'
import { SURFACE_MUTANTS } from './surface-mutants.ts'

/** All mutants, five of each group. */
export const MUTANTS: readonly Mutant[] = [...PEOPLE_MUTANTS, ...ITEM_MUTANTS, ...SURFACE_MUTANTS, ...DATA_MUTANTS]
