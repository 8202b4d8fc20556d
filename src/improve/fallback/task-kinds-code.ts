import { splitPhrases } from './read-words.ts'
import type { TaskKind } from './task-kind.ts'

const ENVIRONMENT = { label: 'Environment', name: 'environment', value: 'current stable versions, no unusual libraries' }

/** Tasks whose result is a program, or a judgement of one. */
export const CODE_KINDS: readonly TaskKind[] = [
  {
    id: 'debug',
    starts: ['debug', 'fix this code', 'fix the bug', 'fix my code', 'fix this error', 'why does my code', 'fix bug', 'fix the error'],
    cues: ['bug', 'debug', 'error message', 'stack trace', 'exception', 'traceback', 'not working', 'crash', 'fix bug'],
    role: 'a {language} who debugs with method',
    blanks: [ENVIRONMENT, { label: 'Expected behaviour', name: 'expected behaviour', value: 'what the code is plainly meant to do' }],
    input: { label: 'Code and error', name: 'code', value: 'the code and the error message that I send next' },
    requirements: [
      'Find the cause before proposing a change.',
      'Make the smallest change that removes the cause.',
      'Say which other cases the change can touch.',
    ],
    output: 'The cause in one or two sentences, the corrected code, and how to confirm that it works.',
    steps: [
      'Reproduce the fault in thought, step by step.',
      'Name the cause.',
      'Change as little as possible.',
      'Show a test that fails before and passes after.',
    ],
    check: 'the change removes the cause and not only the symptom',
  },
  {
    id: 'code review',
    starts: splitPhrases(`
      review this code, review my code, review code, refactor, audit, review the code, optimize this code, review this pull request
    `),
    cues: ['code review', 'pull request', 'refactor', 'code reviewer', 'clean code', 'code quality', 'security audit', 'code smell'],
    role: 'a {language} who reviews code with care',
    blanks: [ENVIRONMENT],
    input: { label: 'Code', name: 'code', value: 'the code that follows or that I send next' },
    requirements: [
      'Put faults in behaviour and security before matters of taste.',
      'Quote the line each finding is about, and say what goes wrong and when.',
      'Propose a concrete change for every finding.',
      'Say so when something is good as it is.',
    ],
    output:
      'A list of findings, gravest first, each with place, problem, consequence and proposed change; then a verdict in two sentences.',
    steps: [
      'Say what the code is meant to do.',
      'Look for faults in behaviour.',
      'Look at security and at unusual input.',
      'Only then look at style.',
    ],
    check: 'every finding is real, can be located, and comes with a change',
  },
  {
    id: 'tests',
    starts: ['write tests', 'write unit tests', 'test', 'write test'],
    cues: ['unit test', 'test case', 'test suite', 'integration test', 'pytest', 'jest', 'test automation', 'qa'],
    role: 'a {language} who writes tests that find faults',
    blanks: [ENVIRONMENT],
    input: { label: 'Code under test', name: 'code', value: 'the code that follows or that I send next' },
    requirements: [
      'Test what callers rely on, not how it is done inside.',
      'Cover the ordinary case, the limits, empty input and failure.',
      'Give every test a name that states the expectation.',
    ],
    output: 'The test file in one code block, then a list of what is not covered and why.',
    steps: ['List the promises the code makes.', 'Find a case that would break each.', 'Write one test for each case.'],
    check: 'each test would fail if the code broke its promise',
  },
  {
    id: 'query',
    starts: ['write a query', 'write sql', 'write a regex', 'write a formula'],
    cues: splitPhrases(`
      sql, sql query, regex, regular expression, excel formula, formula, postgres, mysql, pivot, google sheets, excel, spreadsheet
    `),
    role: 'an expert in queries, patterns and formulas',
    blanks: [
      { label: 'System and version', name: 'system', value: 'the most common current one' },
      { label: 'Tables or sample data', name: 'sample data', value: 'assume plain names and state them' },
    ],
    requirements: [
      'Handle empty and missing values.',
      'Prefer the form that is easiest to read over the shortest one.',
      'State every assumption about names and types.',
    ],
    output: 'The expression in one code block, then what each part does and one worked example.',
    steps: ['State the input and the wanted result.', 'Build the expression part by part.', 'Try it on an ordinary and an unusual case.'],
    check: 'it gives the right result for empty and repeated values too',
  },
  {
    id: 'interface',
    starts: ['build a website', 'make a website', 'create a website', 'design a website', 'make website'],
    cues: splitPhrases(`
      website, web page, webpage, landing page, html, css, dashboard, ui, ux, frontend, front end, web app, web application, react,
      portfolio site, single page, html5, css3, interface, responsive, canvas, browser game, user interface
    `),
    role: 'a front-end developer and interface designer',
    blanks: [
      { label: 'Users', name: 'users', value: 'people on phones and desktops' },
      { label: 'Technology', name: 'technology', value: 'what is named above, else plain HTML, CSS and JavaScript' },
    ],
    requirements: [
      'Make it work on small and large screens, with keyboard and screen reader.',
      'Show what happens while loading, when there is nothing, and on failure.',
      'Use real-looking content, not filler text.',
      'Keep structure, style and behaviour apart.',
    ],
    output: 'The complete files, each in a code block with its name; then how to run them and which choices were made.',
    steps: [
      'List what a user does here.',
      'Lay out the screens.',
      'Build the structure, then style, then behaviour.',
      'Go through every state.',
    ],
    check: 'everything asked for can be done by keyboard and on a narrow screen',
  },
  {
    id: 'architecture',
    starts: ['design a system', 'architect', 'deploy'],
    cues: splitPhrases(`
      architecture, system design, microservice, devops, kubernetes, docker, terraform, ci cd, infrastructure, database schema, cloud,
      aws, azure, scalable, api design, data pipeline, software architect
    `),
    role: 'a software architect who has run systems in production',
    blanks: [{ label: 'Load and data', name: 'load', value: 'a small team and moderate traffic' }, ENVIRONMENT],
    requirements: [
      'Choose the simplest design that meets the needs, and say what would make it change.',
      'Name the trade-off behind each decision and the alternative left out.',
      'Cover failure, security, cost and operation.',
    ],
    output:
      'The needs as understood, the design with its parts and how data flows, the decisions with reasons, the risks, and the first steps.',
    steps: ['List the needs and the limits.', 'Sketch two designs.', 'Compare them.', 'Work out the better one.'],
    check: 'each part is needed, and its failure is dealt with',
  },
  {
    id: 'code',
    weight: 0.8,
    starts: ['code', 'program', 'write code', 'write a function', 'write a program', 'implement'],
    cues: splitPhrases(`
      code, script, function, program, algorithm, app, application, api, bot, scraper, cli, library, class, game, smart contract,
      developer, programmer, extension, plugin, automation, software, python, javascript, typescript, java, rust, golang, php, ruby,
      swift, kotlin, bash, powershell, c++, c#
    `),
    role: 'a {language}',
    blanks: [ENVIRONMENT, { label: 'Input and output', name: 'input and output', value: 'as the task suggests; state what you assume' }],
    requirements: [
      'Write complete code that runs as it is; leave nothing to be filled in.',
      'Handle wrong and empty input, and fail with a message that says what to do.',
      'Use clear names; comment on why, not on what.',
      'Prefer the standard library; name every package that must be installed.',
    ],
    output: 'The code in one block for each file, then how to run it with an example, and the assumptions made.',
    steps: [
      'Restate the task with its input and output.',
      'Settle the unusual cases.',
      'Write the code.',
      'Run through it with one ordinary and one unusual case.',
    ],
    check: 'the code runs as it is and covers the unusual cases',
  },
]

/** Names of languages as the prompt may write them, and how they are written in a role. */
export const LANGUAGES: readonly (readonly [cue: string, name: string])[] = [
  ['python', 'Python'],
  ['typescript', 'TypeScript'],
  ['javascript', 'JavaScript'],
  ['java', 'Java'],
  ['c++', 'C++'],
  ['c#', 'C#'],
  ['golang', 'Go'],
  ['rust', 'Rust'],
  ['php', 'PHP'],
  ['ruby', 'Ruby'],
  ['swift', 'Swift'],
  ['kotlin', 'Kotlin'],
  ['bash', 'shell script'],
  ['powershell', 'PowerShell'],
  ['react', 'React'],
  ['solidity', 'Solidity'],
]
