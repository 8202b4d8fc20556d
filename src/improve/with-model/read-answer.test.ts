import { describe, expect, it } from 'vitest'
import { MAX_IMPROVED, readAnswer } from './read-answer.ts'

const PLAIN = 'write about cats'

/** What is wrong with an answer; null when nothing is. */
function faultOf(answer: string, original: string, format: Parameters<typeof readAnswer>[2] = 'text'): string | null {
  const read = readAnswer(answer, original, format)
  return read.ok ? null : read.fault
}

describe('text', () => {
  it.each([
    ['Write well.', 'Write well.'],
    ['\n Write well. \n', 'Write well.'],
    ['<think>\nHm. </think>\n\nWrite well.', 'Write well.'],
    ['Use <think> tags </think>.', 'Use <think> tags </think>.'],
    ['```\nWrite well.\n```', 'Write well.'],
    ['```markdown\n# Role\nWrite well.\n```', '# Role\nWrite well.'],
    ['```\na\n```\nand\n```\nb\n```', '```\na\n```\nand\n```\nb\n```'],
    ['$(rm -rf /) `id` {{7*7}}', '$(rm -rf /) `id` {{7*7}}'],
  ])('%j is read as %j', (answer, improved) => {
    expect(readAnswer(answer, PLAIN, 'text')).toEqual({ ok: true, improved })
  })

  it.each([
    ['', /blank/],
    [' \n\t', /blank/],
    ['<think>all of it</think>', /blank/],
    ['<think>never closed', /never came to the end of its thinking/],
    ['<think>a</think>\n<think>b', /never came to the end of its thinking/],
    ['a\0b', /NUL/],
    ['a\ud800', /surrogate/],
    ['x'.repeat(MAX_IMPROVED + 1), /longer than 100000/],
  ])('%j is refused', (answer, fault) => {
    expect(faultOf(answer, PLAIN)).toMatch(fault)
  })

  it('keeps its code fence when the prompt has one', () => {
    expect(readAnswer('```\nls\n```', 'explain ```ls```', 'text')).toEqual({ ok: true, improved: '```\nls\n```' })
  })

  it('may have as many characters as the limit says', () => {
    expect(faultOf('😀'.repeat(MAX_IMPROVED), PLAIN)).toBeNull()
  })
})

describe('variables', () => {
  it.each([
    ['Hi ${who}', 'Dear ${who},'],
    ['Hi ${who:you}', 'Dear ${who},'],
    ['Hi ${who}', 'Dear ${who:you},'],
    ['Hi ${ who }', 'Dear ${who},'],
    ['Hi ${é}', 'Dear ${e\u0301}'],
    ['Hi ${f(x)} ${user.name}', 'Dear all'],
    ['no blanks', 'Dear ${new},'],
    ['${__proto__} ${constructor}', '${constructor} ${__proto__}'],
  ])('of %j all stand in %j', (original, answer) => {
    expect(faultOf(answer, original)).toBeNull()
  })

  it.each([
    ['Hi ${who}', 'Dear friend,', ['${who}']],
    ['Hi ${who:you} and ${who}', 'Dear friend,', ['${who:you}']],
    ['${a} ${b} ${c}', '${b} $a {c} ${ C }', ['${a}', '${c}']],
    ['Hi ${Who}', 'Dear ${who},', ['${Who}']],
    ['${toString}', 'Dear friend', ['${toString}']],
  ])('of %j some are gone in %j', (original, answer, missing) => {
    const read = readAnswer(answer, original, 'text')
    expect(read).toMatchObject({ ok: false, missing })
    // Names come from the prompt, so what is said to callers holds none of them.
    expect(read.ok ? '' : read.fault).toMatch(/^\d of the prompt's \$\{\.\.\.} blanks (is|are) gone$/)
  })

  it('must stand in structured answers, too', () => {
    expect(faultOf('{"task": "greet ${who}"}', 'Hi ${who}', 'structured_json')).toBeNull()
    expect(faultOf('{"task": "greet"}', 'Hi ${who}', 'structured_json')).toMatch(/gone/)
    expect(faultOf('task: greet ${who}', 'Hi ${who}', 'structured_yaml')).toBeNull()
    expect(faultOf('task: greet', 'Hi ${who}', 'structured_yaml')).toMatch(/gone/)
  })
})

describe('JSON', () => {
  it.each([
    ['{"a": 1}', '{"a": 1}'],
    ['```json\n{"a": 1}\n```', '{"a": 1}'],
    [' ```JSON\r\n{"a": 1}\r\n``` \n', '{"a": 1}'],
    ['<think>x</think>```\n{"a": "```"}\n```', '{"a": "```"}'],
  ])('%j is read as %j', (answer, improved) => {
    expect(readAnswer(answer, PLAIN, 'structured_json')).toEqual({ ok: true, improved })
  })

  it.each([
    'Sure! {"a": 1}',
    '{}',
    '[]',
    '[{"a": 1}]',
    '{"a": 1,}',
    '"a text"',
    '42',
    'null',
    '{"a": 1} {"b": 2}',
    '```json\n{"a": 1}\n``` There you are.',
    `${'['.repeat(65)}${']'.repeat(65)}`,
  ])('%j is refused', (answer) => {
    expect(faultOf(answer, PLAIN, 'structured_json')).toBe('it is not one valid JSON object with at least one member')
  })
})

describe('YAML', () => {
  it.each([
    ['role: writer\ntask: write', 'role: writer\ntask: write'],
    ['```yaml\nrole: writer\n```', 'role: writer'],
    ['a: &x 1\nb: *x', 'a: &x 1\nb: *x'],
  ])('%j is read as %j', (answer, improved) => {
    expect(readAnswer(answer, PLAIN, 'structured_yaml')).toEqual({ ok: true, improved })
  })

  it.each([
    'just a sentence',
    'role: "writer',
    'a: 1\na: 2',
    '42',
    'a: 1\n---\nb: 2',
    'a: *nothing',
    '{}',
    '[]',
    '- a\n- b',
    'a: !<tag:x,2020:y> 1',
    'a: !!js/function "function () {}"',
    'a: !!str 1',
    '%YAML 9.9\n---\na: 1',
    'a:\n  ? [b]\n  : c',
    'b: &x c\na:\n  *x : d',
    '[['.repeat(5000),
    `${'a: '.repeat(3300)}}`,
    `a:\n  ${'? '.repeat(400)}`,
  ])('%j is refused', (answer) => {
    expect(faultOf(answer, PLAIN, 'structured_yaml')).toBe('it is not one valid YAML mapping with at least one member')
  })

  it('is refused when its aliases would blow it up, and when it is long', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[i]}`)}]`),
    ]
    expect(faultOf(bomb.join('\n'), PLAIN, 'structured_yaml')).toBe('it is not one valid YAML mapping with at least one member')
    expect(faultOf(`a: ${'x'.repeat(30_000)}`, PLAIN, 'structured_yaml')).toMatch(/longer than 30000/)
  })

  it('makes nothing of names that mean more elsewhere', () => {
    expect(faultOf('a: b\n__proto__:\n  polluted: 1', PLAIN, 'structured_yaml')).toBeNull()
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})
