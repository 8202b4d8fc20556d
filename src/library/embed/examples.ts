import { z } from 'zod'
import { embedConfig, isMcpField } from './config.ts'

/** What examples are grouped by (specification, section 2.4). */
export const EMBED_CATEGORIES = ['coding', 'chat', 'planning', 'research', 'quick actions', 'MCP tools', 'image and video'] as const

/** A configuration to begin with. */
export const embedExample = z.object({
  value: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  label: z.string().min(1),
  category: z.enum(EMBED_CATEGORIES),
  config: embedConfig.strict(),
})

/** A configuration to begin with. */
export type EmbedExample = z.infer<typeof embedExample>

const BLUE = { lightColor: '#2563eb', darkColor: '#7aa2ff' } as const
const GREEN = { lightColor: '#15803d', darkColor: '#5fd38a' } as const
const PURPLE = { lightColor: '#7c3aed', darkColor: '#b79bff' } as const
const ORANGE = { lightColor: '#c2410c', darkColor: '#ffa26b' } as const
const TEAL = { lightColor: '#0f766e', darkColor: '#4fd1c5' } as const
const ROSE = { lightColor: '#be185d', darkColor: '#ff8fbf' } as const

/** Every example, by category. */
export const EMBED_EXAMPLES: readonly EmbedExample[] = [
  {
    value: 'split-a-module',
    label: 'Split a module that has grown',
    category: 'coding',
    config: {
      prompt:
        'Split @src/orders/service.ts into one file for each use case. Keep the exports as they are, so that no caller changes, and move each test beside the code it is about.\n\nStop and ask when two use cases share state.',
      context: '@src/orders/service.ts, @src/orders/service.test.ts, src/orders/',
      model: 'Claude Sonnet 4.5',
      mode: 'code',
      thinking: true,
      filetree:
        'src/orders/service.ts\nsrc/orders/service.test.ts\nsrc/orders/types.ts\nsrc/orders/http/routes.ts\nsrc/shared/clock.ts\npackage.json\nREADME.md',
      showFiletree: true,
      ...BLUE,
    },
  },
  {
    value: 'fix-a-race',
    label: 'Fix a race, and accept the change',
    category: 'coding',
    config: {
      prompt:
        'Two requests can spend the last credit at the same moment. Make the check and the write one statement, and add a test that fails without it.',
      context: '@src/credits.ts',
      model: 'GPT-5',
      mode: 'code',
      reasoning: true,
      showDiff: true,
      diffFilename: 'src/credits.ts',
      diffOldText:
        'export async function spend(db: Db, user: string) {\n  const { left } = await db.credits.find(user)\n  if (left < 1) throw new NoCredit(user)\n  await db.credits.set(user, left - 1)\n}',
      diffNewText:
        "export async function spend(db: Db, user: string) {\n  const spent = await db.run(\n    'update credits set amount = amount - 1 where user = ? and amount > 0',\n    user,\n  )\n  if (spent.changes === 0) throw new NoCredit(user)\n}",
      flashButton: 'accept',
      ...GREEN,
    },
  },
  {
    value: 'tests-first',
    label: 'Write the tests before the code',
    category: 'coding',
    config: {
      prompt:
        'Write the tests for ${function:parseDuration} before its code. It reads texts such as "1h 30m", and refuses ${bad input:negative numbers, unknown units}.\nShow me the tests, then wait.',
      context: '@src/time/, @docs/style.md',
      model: 'Gemini 2.5 Pro',
      mode: 'code',
      planning: true,
      filetree: 'src/time/duration.ts\nsrc/time/duration.test.ts\nsrc/time/zones.ts\ndocs/style.md',
      showFiletree: true,
      ...TEAL,
    },
  },
  {
    value: 'review-a-change',
    label: 'Review a change to a login form',
    category: 'coding',
    config: {
      prompt:
        'Review this change as somebody who will be called at night when it breaks. Name what can go wrong, the worst first, each with the line it is on.',
      context: '@web/sign-in.html',
      model: 'Claude Opus 4.1',
      mode: 'ask',
      thinking: true,
      showDiff: true,
      diffFilename: 'web/sign-in.html',
      diffOldText: '<form action="/sign-in">\n  <input name="name">\n  <input name="password">\n  <button>Go</button>\n</form>',
      diffNewText:
        '<form action="/sign-in" method="post">\n  <label>Name <input name="name" autocomplete="username" required></label>\n  <label>Password <input name="password" type="password" required></label>\n  <button>Sign in</button>\n</form>',
      ...PURPLE,
    },
  },
  {
    value: 'port-a-script',
    label: 'Port a script, quickly',
    category: 'coding',
    config: {
      prompt: 'Port @scripts/rotate-logs.sh to ${language:Python}, with the standard library alone. Same flags, same exit codes.',
      context: '@scripts/rotate-logs.sh',
      model: 'Claude Haiku 4.5',
      mode: 'code',
      fast: true,
      filetree: 'scripts/rotate-logs.sh\nscripts/lib/\nMakefile',
      showFiletree: true,
      ...ORANGE,
    },
  },
  {
    value: 'explain-like-a-colleague',
    label: 'Explain it like a colleague',
    category: 'chat',
    config: {
      prompt:
        'Explain ${topic:database indexes} to me as a patient colleague would. Begin with what goes wrong without it, use one example from ${field:a lending library} all the way through, and end with three questions that show whether I have understood.',
      model: 'Claude Sonnet 4.5',
      mode: 'chat',
      ...BLUE,
    },
  },
  {
    value: 'interview-me',
    label: 'Interview me before you answer',
    category: 'chat',
    config: {
      prompt:
        'I want to ${goal:learn enough Spanish for a month in Valencia}. Ask me one question at a time until you could advise a friend in my place. Then give me a plan that fits on one page.',
      model: 'GPT-5',
      mode: 'chat',
      thinking: true,
      ...ROSE,
    },
  },
  {
    value: 'rewrite-a-message',
    label: 'Rewrite a message, kindly and short',
    category: 'chat',
    config: {
      prompt:
        'Rewrite this message to ${recipient:a supplier}: firm about the date, kind about the rest, no longer than five sentences.\n\n"${message}"',
      model: 'Gemini 2.5 Flash',
      mode: 'chat',
      fast: true,
      themeMode: 'light',
      ...GREEN,
    },
  },
  {
    value: 'plan-a-migration',
    label: 'Plan a migration without downtime',
    category: 'planning',
    config: {
      prompt:
        'Plan how to move the column orders.total from cents as text to an integer, while both versions of the service run. Give each step its own deployment, and for each one: what is checked, and how it is taken back.',
      context: '@db/schema.sql, @docs/deployments.md',
      model: 'Claude Opus 4.1',
      mode: 'plan',
      planning: true,
      thinking: true,
      filetree: 'db/schema.sql\ndb/migrations/0041-orders.sql\ndb/migrations/0042-totals.sql\ndocs/deployments.md\nsrc/orders/store.ts',
      showFiletree: true,
      ...PURPLE,
    },
  },
  {
    value: 'week-of-work',
    label: 'Turn a wish list into a week of work',
    category: 'planning',
    config: {
      prompt:
        'Here is everything we would like to have. Choose what ${team:two people} can finish by Friday, put it in an order in which each day ends with something that works, and say plainly what is left out and why.\n\n${list}',
      context: '#whiteboard.jpg, @notes/retro.md',
      model: 'GPT-5',
      mode: 'plan',
      planning: true,
      ...ORANGE,
    },
  },
  {
    value: 'before-the-launch',
    label: 'Imagine that it failed',
    category: 'planning',
    config: {
      prompt:
        'It is three months after the launch, and it failed. Write down the five most likely stories of how that happened. Then turn each into one thing we do this week.',
      context: '@docs/launch.md, https://status.example.org/history',
      model: 'Gemini 2.5 Pro',
      mode: 'plan',
      reasoning: true,
      planning: true,
      themeMode: 'dark',
      ...TEAL,
    },
  },
  {
    value: 'compare-sources',
    label: 'Compare what sources say',
    category: 'research',
    config: {
      prompt:
        'What do these sources say about ${question:how long passwords should live}? Make a table: who says it, when, on what evidence. Below it, say where they disagree, and which you would follow and why.',
      context: '@web, https://pages.nist.gov/800-63-4/, https://www.ncsc.gov.uk/collection/passwords',
      model: 'Claude Opus 4.1',
      mode: 'ask',
      reasoning: true,
      ...BLUE,
    },
  },
  {
    value: 'read-a-paper',
    label: 'Read a paper with a sceptic',
    category: 'research',
    config: {
      prompt:
        'Read @paper.pdf as a friendly sceptic. In one paragraph each: what it claims, what it measured, what would have to be true for the claim to follow, and which experiment would change your mind.',
      context: '@paper.pdf, #figure-3.png',
      model: 'Gemini 2.5 Pro',
      mode: 'ask',
      thinking: true,
      reasoning: true,
      ...ROSE,
    },
  },
  {
    value: 'map-a-field',
    label: 'Map a field that is new to you',
    category: 'research',
    config: {
      prompt:
        'I know nothing about ${field:soil carbon}. Draw me a map: the ten ideas everybody there shares, the three quarrels, the people on each side, and what to read first.\n\nMark what you are not sure of.',
      context: '@web',
      model: 'GPT-5',
      mode: 'ask',
      reasoning: true,
      ...GREEN,
    },
  },
  {
    value: 'name-this',
    label: 'Name this',
    category: 'quick actions',
    config: {
      prompt: 'Give me ten names for this ${thing:function}. The shortest that a stranger would understand comes first.',
      context: '@src/report.ts',
      model: 'Claude Haiku 4.5',
      mode: 'ask',
      fast: true,
      ...ORANGE,
    },
  },
  {
    value: 'commit-message',
    label: 'A message for this commit',
    category: 'quick actions',
    config: {
      prompt: 'Write the commit message: what changes for who uses it, in one line. Say why below, if the line does not.',
      model: 'GPT-5 mini',
      mode: 'code',
      fast: true,
      showDiff: true,
      diffFilename: 'src/retry.ts',
      diffOldText: 'const WAIT_MS = 100\nconst TRIES = 10',
      diffNewText: 'const WAIT_MS = 250\nconst TRIES = 4\nconst MAX_WAIT_MS = 5_000',
      flashButton: 'accept',
      ...BLUE,
    },
  },
  {
    value: 'half-as-long',
    label: 'Half as long',
    category: 'quick actions',
    config: {
      prompt: 'Say the same in half the words. Keep every number and every name.',
      context: '@draft.md',
      model: 'Gemini 2.5 Flash',
      fast: true,
      lightColor: '#fde047',
      darkColor: '#fde047',
    },
  },
  {
    value: 'issues-to-release-notes',
    label: 'From closed issues to release notes',
    category: 'MCP tools',
    config: {
      prompt:
        'Collect what was closed since the tag ${tag:v2.3.0}, group it by what a user notices, and draft the release notes. Leave out what only we see. Do not publish anything.',
      context: '@CHANGELOG.md',
      model: 'Claude Sonnet 4.5',
      mode: 'code',
      planning: true,
      mcpTools: 'github:list_issues\ngithub:get_tag\ngithub:create_draft_release',
      showMcpTools: true,
      ...PURPLE,
    },
  },
  {
    value: 'ask-the-library',
    label: 'Find a prompt, and use it',
    category: 'MCP tools',
    config: {
      prompt:
        'Look in our library for a prompt that reviews ${what:SQL migrations}. Fill in its blanks from @db/migrations/0042-totals.sql, and run it.',
      context: '@db/migrations/0042-totals.sql',
      model: 'Claude Opus 4.1',
      mode: 'chat',
      mcpTools: 'commonplace:search_prompts\ncommonplace:get_prompt',
      showMcpTools: true,
      ...ROSE,
    },
  },
  {
    value: 'find-the-slow-query',
    label: 'Find the slow query',
    category: 'MCP tools',
    config: {
      prompt: 'Checkout became slow around ${time:nine this morning}. Find the query, explain its plan, and propose one change. Read only.',
      context: '@runbooks/database.md, #dashboard.png',
      model: 'GPT-5',
      mode: 'ask',
      thinking: true,
      reasoning: true,
      mcpTools: 'postgres:explain\npostgres:list_slow_queries\ngrafana:query_range\ngrafana:get_dashboard',
      showMcpTools: true,
      themeMode: 'dark',
      ...TEAL,
    },
  },
  {
    value: 'product-photograph',
    label: 'A photograph of a product',
    category: 'image and video',
    config: {
      prompt:
        'A ${product:stoneware mug} on a windowsill, early light from the left, steam rising, out of focus garden behind. 50 mm, f/2, soft shadows, no text, room at the top for a headline.',
      context: '#mug-front.png, #palette.png',
      model: 'GPT Image 1',
      mode: 'image',
      ...ORANGE,
    },
  },
  {
    value: 'one-figure-many-scenes',
    label: 'One figure in many scenes',
    category: 'image and video',
    config: {
      prompt:
        'Draw the same fox as in #fox-sheet.png in ${count:four} scenes: packing, on the train, lost in the rain, home. Ink and two washes, the red of the scarf the only bright colour. Same ears, same scar, every time.',
      context: '#fox-sheet.png',
      model: 'Gemini 2.5 Flash Image',
      mode: 'image',
      thinking: true,
      ...ROSE,
    },
  },
  {
    value: 'eight-second-shot',
    label: 'A shot of eight seconds',
    category: 'image and video',
    config: {
      prompt:
        'Eight seconds, one shot: the camera follows a paper boat down a gutter after rain, low and close. At second five it passes under a bicycle and the light changes from grey to gold.\nSound: water, a bell, no music.',
      context: '#storyboard.jpg, https://example.org/light-study',
      model: 'Veo 3',
      mode: 'video',
      planning: true,
      ...BLUE,
    },
  },
]

/** The examples that may be shown: without those about MCP where the service says nothing of it. */
export function listEmbedExamples(hasMcp: boolean, category?: string): EmbedExample[] {
  const wanted = category?.trim().toLowerCase() ?? ''
  return EMBED_EXAMPLES.filter((example) => hasMcp || !isAboutMcp(example)).filter(
    (example) => wanted === '' || example.category.toLowerCase() === wanted,
  )
}

/** The categories that may be shown. */
export function listEmbedCategories(hasMcp: boolean): EmbedExample['category'][] {
  return EMBED_CATEGORIES.filter((category) => hasMcp || category !== 'MCP tools')
}

function isAboutMcp({ category, config }: EmbedExample): boolean {
  return category === 'MCP tools' || Object.keys(config).some(isMcpField)
}
