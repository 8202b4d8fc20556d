import { hasPhrase, splitPhrases } from './read-words.ts'

/** `doubtful` are cues that mean other things as well, such as chicken stock; they count beside one of `confirming`. */
interface Caution {
  readonly cues: readonly string[]
  readonly doubtful?: readonly string[]
  readonly confirming?: readonly string[]
  readonly requirement: string
}

/** Subjects in which a wrong answer does harm, and what a prompt on them should ask for. */
const CAUTIONS: readonly Caution[] = [
  {
    cues: splitPhrases(`
      doctor, symptom, medical, medication, disease, diagnosis, therapy, therapist, depression, anxiety, pregnancy, dentist,
      psychologist, mental health, dietitian, pain
    `),
    requirement: 'Say when a doctor or therapist should be asked, and which signs need help at once.',
  },
  {
    cues: ['legal', 'lawyer', 'lawsuit', 'court', 'tenant', 'divorce', 'visa', 'immigration'],
    doubtful: ['contract'],
    confirming: splitPhrases(`
      law, clause, party, parties, landlord, employer, employee, employment, rental, rent, lease, agreement, breach, terminate, sign,
      freelance, freelancer, client, liability, nda, service
    `),
    requirement: 'Name the country or law a statement depends on, and do not cite a paragraph you are not sure of.',
  },
  {
    cues: ['invest', 'investment', 'stock market', 'crypto', 'tax', 'mortgage', 'loan', 'retirement', 'trading', 'financial advisor'],
    doubtful: ['stock'],
    confirming: splitPhrases(`
      market, share, portfolio, broker, dividend, trade, trader, etf, fund, investor, investing, price, earnings, nasdaq, ticker, financial
    `),
    requirement: 'Name the risks and the assumptions behind every figure, and promise no returns.',
  },
]

/** What the subject of a request asks for in care; at most one requirement for each subject. */
export function findCautions(words: string): string[] {
  return CAUTIONS.filter(
    ({ cues, doubtful = [], confirming = [] }) => hasPhrase(words, cues) || (hasPhrase(words, doubtful) && hasPhrase(words, confirming)),
  ).map(({ requirement }) => requirement)
}
