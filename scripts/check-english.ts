import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Rejects private words and constructions in sources and documents: identifiers, comments and texts (docs/decisions/0033-plain-english.md).
 * `src` includes the texts of the command line help, which docs/reference/cli.md repeats.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** Fewer files mean that the check looks in the wrong place. */
const MIN_FILES = 100

/** A pattern, and what to write instead. Patterns match within a line and ignore case. */
const BANNED: readonly (readonly [pattern: RegExp, suggestion: string])[] = [
  // Docstrings
  [/^\s*(?:\/\*\*|\*) (?:Who|Whom|Whose|What)\b/, 'the noun first, such as "The owner of"'],
  // Verbs of speech without a speaker
  [/\b(?:is|are|was|were|be|been) told(?! apart)\b/i, 'is notified, is shown, gets'],
  [/\btold of\b|\btell(?:s|ing)? of\b/i, 'reports, notifies, reveals'],
  [/\bhears? of\b/i, 'is called with, is notified of'],
  [/\bis said (?:at|of|to|below|above|outright)\b/i, 'name what shows it, and where'],
  [/\bsays? of (?:itself|themselves)\b/i, 'the profile, the description'],
  // Relative clauses that stand for a noun
  [/\bfor who (?:is|has|asks|knows|comes|may)\b/i, 'for anonymous callers, for callers who …'],
  [/\bwho is not signed in\b/i, 'anonymous'],
  [/\bwho has none\b/i, 'without one'],
  [/\b(?:what|that) is kept of\b|\bkept of (?:one|a) person\b/i, 'the stored data of'],
  [/\bwhat is known of\b/i, 'the metadata of'],
  [/\bwhat became of\b/i, 'the result of, an upsert or delete of'],
  [/\bwhat stands (?:for|at|beside)\b/i, 'the placeholder for, the page at'],
  [/\bof who (?:is|has|may|can)\b/i, 'of callers who …'],
  // Phrases of this code base
  [/\bgoes by (?!name\b)|\bgo by what\b/i, 'uses, ranks with, is based on'],
  [/\bas the system (?:of the reader )?has it\b/i, 'match system'],
  [/\bas (?:settings|your settings) say\b/i, 'default from your settings'],
  [/\bmade the user\b/i, 'created user'],
  [/\bmade when missing\b/i, 'created if missing'],
  [/\bgone on with\b|\bto go on with\b/i, 'resumed, to resume'],
  [/\b(?:begins|begin|starts|opens|embedded|hashed|made|started|written|hashes) anew\b/i, 'again, restarts, re-…'],
  [/\bin front of it stand/i, 'preceded by, behind'],
  [/\bcomes? to stand\b/i, 'moves to, is placed at'],
  [/\bcome by\b/i, 'reached, obtained'],
  [/\blooks? (?:whether|after itself)\b/i, 'checks whether'],
  [/\blook at (?:the path|DATABASE_URL)\b/i, 'check'],
  [/\bfrom anywhere else than\b/i, 'from outside'],
  [/\bno (?:administrator|longer administrator) any ?more\b|\bno longer administrator\b/i, 'remove admin role'],
  [/\b(?:is|are) no more\b/i, 'has been deleted'],
  [/\bnot good any ?more\b/i, 'no longer valid'],
  [/\bthrow it away\b/i, 'discard'],
  [/\btakes? the (?:draft|vote back)\b|\btake the vote back\b/i, 'restore draft, remove vote'],
  [/\bpasswords? as it is\b/i, 'current password'],
  [/\bin a sentence\b(?=['"])/i, 'description'],
  [/\bsaid at the field\b/i, 'please correct the marked fields'],
  [/\bdid not work\b/i, 'something went wrong, failed'],
  [/\bto the first page\b/i, 'go to home page'],
  [/\bto look up\b(?=['"])/i, 'reference'],
  [/\btakes? out of the lists\b|\bput back into the lists\b|\bout of the lists\b(?=['"])/i, 'unlist, relist, unlisted'],
  [/\bto be sure\b/i, 'to confirm'],
  [/\bmake an account\b/i, 'create an account'],
  [/\bmake (?:a|an|the) (?:key|user|invite|category)\b/i, 'create …'],
  [/\bas it (?:is|was) at (?:one|this|that) moment\b/i, 'a snapshot'],
  [/\bat this moment; try again\b/i, 'Too many …. Try again in a moment.'],
  [/\bthere is no such\b/i, '… not found'],
  [/\bis not (?:there|here any ?more)\b(?=['".])/i, '… not found'],
  [/\bis for an administrator\b/i, 'only administrators can do this'],
  [/\bare not known here\b|\bis not known here\b/i, 'unknown …'],
  [/\bstranger(?:s|'s)? (?:may|can|cause)\b|\bisForStrangers\b|\bisOfStranger\b/, 'allowsAnonymous, isAnonymous'],
  [/\bhalf of a surrogate\b/i, 'unpaired surrogate'],
  [/\be-mail/i, 'email'],
  // Identifiers
  [/\bpatiently\b|Patiently\b/, 'withRetry'],
  [/\bbelieved?\b|\bisBelieved/, 'trusted, sessionCache'],
  [/\btakesOver\b/, 'stealsClaims'],
  [/\btellOf[A-Z]?|\btell(?:s|ing)Of[A-Z]?|\btellsChanges\b/, 'notify…, warn…'],
  [/\bhearOf[A-Z]?|\bhearOthers\b/, 'subscribe…'],
  [/\b[A-Z]?[a-z]*Keeper\b/, '…Cache, …Store'],
  [/\btransactBeside\b/, 'sideTransaction'],
  [/\bisTold\b|\bwasTold\b/, 'isNotified, showsOwner'],
]

interface Hit {
  readonly place: string
  readonly phrase: string
  readonly suggestion: string
}

function findHits(file: string, text: string): Hit[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) =>
    BANNED.flatMap(([pattern, suggestion]) => {
      const phrase = pattern.exec(line)?.[0]
      return phrase === undefined ? [] : [{ place: `${file}:${at + 1}`, phrase, suggestion }]
    }),
  )
}

function listFiles(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) =>
      relative(root, join(root, folder, name))
        .split(sep)
        .join('/'),
    )
    .filter((file) => ending.test(file))
}

const files = [
  // Migrations are never edited, and folders of src/web/strings are other languages, whose texts languages.test.ts checks.
  ...listFiles('src', /(?<!\.test)\.tsx?$/).filter((file) => !/\/migrations\/\d|\/web\/strings\/[a-z]+\//.test(file)),
  // Decision 33 shows phrases as they were.
  ...listFiles('docs', /\.md$/).filter((file) => !file.includes('/0033-')),
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
]
const hits = files.flatMap((file) => findHits(file, readFileSync(join(root, file), 'utf8')))
for (const { place, phrase, suggestion } of hits) process.stderr.write(`${place}: "${phrase}": write ${suggestion}\n`)
if (files.length < MIN_FILES) process.stderr.write(`only ${files.length} files were read: the check itself is broken\n`)
if (hits.length > 0 || files.length < MIN_FILES) process.exit(1)
process.stdout.write(`${files.length} files in plain English\n`)
