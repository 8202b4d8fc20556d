import { hasPhrase, splitPhrases } from './read-words.ts'

/** Subjects in which a wrong answer does harm, and what a prompt on them should ask for. */
const CAUTIONS: readonly { readonly cues: readonly string[]; readonly requirement: string }[] = [
  {
    cues: splitPhrases(`
      doctor, symptom, medical, medication, disease, diagnosis, therapy, therapist, depression, anxiety, pregnancy, dentist,
      psychologist, mental health, dietitian, pain
    `),
    requirement: 'Say when a doctor or therapist should be asked, and which signs need help at once.',
  },
  {
    cues: ['legal', 'lawyer', 'contract', 'lawsuit', 'court', 'tenant', 'divorce', 'visa', 'immigration'],
    requirement: 'Name the country or law a statement depends on, and do not cite a paragraph you are not sure of.',
  },
  {
    cues: ['invest', 'investment', 'stock', 'crypto', 'tax', 'mortgage', 'loan', 'retirement', 'trading', 'financial advisor'],
    requirement: 'Name the risks and the assumptions behind every figure, and promise no returns.',
  },
]

/** What the subject of a request asks for in care; at most one requirement for each subject. */
export function findCautions(words: string): string[] {
  return CAUTIONS.filter(({ cues }) => hasPhrase(words, cues)).map(({ requirement }) => requirement)
}
