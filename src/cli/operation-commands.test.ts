import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { addOperationCommands } from './operation-commands.ts'

/** Runs a command on a server that gives this answer: what it was asked, and what was written. */
async function runCommand(args: readonly string[], answer: Record<string, unknown>, isTTY = false) {
  const calls: unknown[] = []
  let stdout = ''
  let stderr = ''
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += text
    return true
  })
  const program = new Command()
  const invoke = async (name: string, input: unknown) => {
    calls.push([name, input])
    return answer
  }
  const screen = {
    isTTY,
    columns: 40,
    write(text: string) {
      stdout += text
    },
  }
  addOperationCommands(program, OPERATIONS, async (_, work) => await work(invoke, () => {}), screen)
  try {
    await program.parseAsync(args, { from: 'user' })
  } finally {
    spy.mockRestore()
  }
  return { calls, stdout, stderr }
}

it.each([
  ['improve', {}, false],
  ['improve', { improved: 1 }, false],
  ['search', { prompts: [{ title: 'no slug' }] }, true],
])('%s tells in a sentence that another server answered %j', async (command, answer, isTTY) => {
  const message = 'Unexpected response: not from a Commonplace server. Use --json to see it.'
  await expect(runCommand([command, 'x'], answer, isTTY)).rejects.toMatchObject({ code: 'upstream_failed', message })
})

describe('search', () => {
  const answer = { prompts: [{ slug: 'walrus', type: 'TEXT', title: 'A walrus \u001b[31m of many many words' }] }

  it('takes words without quotes', async () => {
    expect((await runCommand(['search', 'code', 'review', '--limit', '3'], answer)).calls).toEqual([
      ['search_prompts', { query: 'code review', limit: 3 }],
    ])
    expect((await runCommand(['search-skills', 'a b', 'c'], { skills: [] })).calls).toEqual([['search_skills', { query: 'a b c' }]])
    expect((await runCommand(['improve', 'write', 'a', 'poem'], { improved: 'x' })).calls).toEqual([
      ['improve_prompt', { prompt: 'write a poem' }],
    ])
  })

  it('shows columns on a terminal, and JSON elsewhere or when asked', async () => {
    const json = `${JSON.stringify(answer, null, 2)}\n`
    expect((await runCommand(['search', 'x'], answer)).stdout).toBe(json)
    expect((await runCommand(['search', 'x', '--json'], answer)).stdout).toBe(json)
    const { stdout } = await runCommand(['search', 'x'], answer, true)
    expect(stdout).toBe('slug    type  title\nwalrus  TEXT  A walrus ⟨U+001B⟩[31m of …\n')
    expect(JSON.parse((await runCommand(['search', 'x', '--json'], answer, true)).stdout)).toEqual(answer)
  })
})

describe('get-prompt', () => {
  const variables = [
    { name: 'product', required: true },
    { name: 'tone', required: false, default: 'calm' },
  ]
  const answer = { content: 'About ${product}.', variables }

  it('takes values one by one', async () => {
    const args = ['get-prompt', 'x', '--variables', '{"product":"a","tone":"b"}', '--var', 'product=c=d', '--var', ' tone = ']
    expect((await runCommand(args, answer)).calls).toEqual([['get_prompt', { id: 'x', variables: { product: 'c=d', tone: ' ' } }]])
    expect((await runCommand(['get-prompt', 'x'], answer)).calls).toEqual([['get_prompt', { id: 'x' }]])
    await expect(runCommand(['get-prompt', 'x', '--var', 'product'], answer)).rejects.toMatchObject({
      message: '--var must be NAME=VALUE; got "product".',
    })
  })

  it('prints the text alone, and names what is missing in it', async () => {
    expect(await runCommand(['get-prompt', 'x', '--text'], answer)).toMatchObject({
      stdout: 'About ${product}.\n',
      stderr: 'Missing values: product. Set them with --var NAME=VALUE.\n',
    })
    const filled = { content: 'About it.\n', variables }
    expect(await runCommand(['get-prompt', 'x', '--text', '--var', 'product=it'], filled)).toMatchObject({
      stdout: 'About it.\n',
      stderr: '',
    })
    expect((await runCommand(['get-prompt', 'x', '--var', 'prodcut=it'], answer)).stderr).toBe(
      'The prompt has no variable "prodcut"; it has: product, tone.\n',
    )
  })
})

describe('get-skill --out', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-out-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const files = [
    { filename: 'SKILL.md', content: '# Tidy\n' },
    { filename: 'assets/deep/dot.bin', content: '/w==', encoding: 'base64' },
  ]

  it('writes the files byte for byte into a folder that is new or empty', async () => {
    mkdirSync(join(folder, 'empty'))
    for (const out of [join(folder, 'new', 'tidy'), join(folder, 'empty')]) {
      const { stdout } = await runCommand(['get-skill', 'tidy', '--out', out], { files })
      expect(stdout).toBe(`Wrote 2 files to ${out}.\n`)
      expect(readFileSync(join(out, 'SKILL.md'), 'utf8')).toBe('# Tidy\n')
      expect([...readFileSync(join(out, 'assets/deep/dot.bin'))]).toEqual([255])
    }
    expect(readdirSync(folder).toSorted()).toEqual(['empty', 'new'])
  })

  it('overwrites nothing and follows no link', async () => {
    mkdirSync(join(folder, 'full'))
    writeFileSync(join(folder, 'full', 'SKILL.md'), 'mine')
    writeFileSync(join(folder, 'file'), 'mine')
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'))
    const rows = [
      ['full', 'full is not empty. Choose a new or empty folder.'],
      ['file', 'file exists and is not a folder. Choose another name.'],
      ['link', 'link is a symbolic link, which is not followed. Choose another name.'],
    ] as const
    for (const [name, message] of rows) {
      const out = join(folder, name)
      await expect(runCommand(['get-skill', 'x', '--out', out], { files })).rejects.toMatchObject({
        code: 'invalid_input',
        message: join(folder, message),
      })
    }
    expect([readFileSync(join(folder, 'full', 'SKILL.md'), 'utf8'), readFileSync(join(folder, 'file'), 'utf8')]).toEqual(['mine', 'mine'])
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })

  it.each(['../outside.md', '/tmp/outside.md', 'a/../../outside.md', 'C:\\outside.md', 'SKILL.md/inside.md', 'skill.md'])(
    'writes nothing when another server names a file %j',
    async (filename) => {
      const out = join(folder, 'out')
      const answer = { files: [...files, { filename, content: 'x' }] }
      await expect(runCommand(['get-skill', 'x', '--out', out], answer)).rejects.toMatchObject({ code: 'invalid_input' })
      expect([existsSync(out), readdirSync(folder)]).toEqual([false, []])
    },
  )
})
