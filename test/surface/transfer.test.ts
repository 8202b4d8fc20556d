import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, type Place } from '../support/processes.ts'
import { STARTER } from '../support/real-data.ts'

let place: Place

beforeEach(() => {
  place = createPlace()
})
afterEach(() => place.remove())

const importPrompts = (file: string, ...flags: string[]) => place.commonplace(['import', 'prompts', file, '--user', 'demo', ...flags])
const write = (name: string, text: string) => {
  const path = join(place.folder, name)
  writeFileSync(path, text)
  return path
}
const search = async (query: string) =>
  JSON.parse((await place.commonplace(['search', query, '--user', 'demo', '--json', '--limit', '50'])).stdout).prompts
/** The prompts of the starter library. */
const readStarter = (): { title: string; content: string }[] => JSON.parse(readFileSync(STARTER.promptsFile, 'utf8'))

describe('a whole library', () => {
  it('is imported, found unchanged, and exported', async () => {
    const first = await importPrompts(STARTER.promptsFile, '--public')
    expect(first.code, first.stderr).toBe(0)
    const total = Number(/(\d+) read/.exec(first.stdout)?.[1])
    expect(first.stdout).toBe(
      `Created user "demo" (owner of the imported items).\n${total} read: ${total} created, 0 updated, 0 unchanged, 0 kept, 0 refused.\n`,
    )
    expect(total).toBe(readStarter().length)
    expect((await importPrompts(STARTER.promptsFile, '--public')).stdout).toBe(
      `${total} read: 0 created, 0 updated, ${total} unchanged, 0 kept, 0 refused.\n`,
    )
    const skills = await place.commonplace(['import', 'skills', STARTER.skillsFolder, '--user', 'demo', '--public'])
    expect(skills.code, skills.stderr).toBe(0)
    const skillCount = Number(/(\d+) read/.exec(skills.stdout)?.[1])
    expect(skillCount).toBe(readdirSync(STARTER.skillsFolder).length)
    expect((await place.commonplace(['import', 'skills', STARTER.skillsFolder, '--user', 'demo'])).stdout).toContain(
      `${skillCount} unchanged`,
    )

    const one = join(place.folder, 'one')
    expect((await place.commonplace(['export', one])).stdout).toBe(`Wrote ${total} prompts and ${skillCount} skills to ${one}.\n`)
  })
})

describe('programs in skills', () => {
  const SKILL = '---\nname: tool\ndescription: Runs.\n---\nRun it.\n'
  const NAMES = ['SKILL.md', 'plain.sh', 'program', 'script.sh', 'added.sh'] as const
  /** As each file was given; the last one comes without a mode. */
  const GIVEN = { 'SKILL.md': 0o644, 'plain.sh': 0o644, program: 0o755, 'script.sh': 0o755, 'added.sh': 0o755 }
  const inFolder = (folder: string) =>
    Object.fromEntries(NAMES.map((name) => [name, (statSync(join(folder, name)).mode & 0o100) === 0 ? 0o644 : 0o755]))
  /** Modes by name in the directory of a zip (APPNOTE 4.3.12). */
  const inZip = async (url: string) => {
    const zip = Buffer.from(await (await fetch(url)).arrayBuffer())
    const modes: Record<string, number> = {}
    for (let at = zip.indexOf('PK\x01\x02'); at !== -1; at = zip.indexOf('PK\x01\x02', at + 46)) {
      const name = zip.toString('utf8', at + 46, at + 46 + zip.readUInt16LE(at + 28))
      if (/^(?:.*\btool\/)?[\w.]+$/.test(name)) modes[name.replace(/.*\//, '')] = (zip.readUInt32LE(at + 38) >>> 16) & 0o777
    }
    return modes
  }

  it('stay programs at every way out, and others do not become any', async () => {
    const source = join(place.folder, 'skills')
    mkdirSync(join(source, 'tool'), { recursive: true })
    mkdirSync(join(source, 'other'))
    writeFileSync(join(source, 'other/SKILL.md'), SKILL.replace('tool', 'other'))
    for (const name of NAMES.slice(0, -1)) {
      const text = name === 'SKILL.md' ? SKILL : name.endsWith('.sh') ? '#!/bin/sh\n' : '\x7fELF'
      writeFileSync(join(source, 'tool', name), text, { mode: GIVEN[name] })
    }
    expect((await place.commonplace(['import', 'skills', source, '--user', 'demo', '--public'])).code).toBe(0)
    await place.commonplace(['update-skill-file', 'tool', 'program', '--content', 'changed', '--user', 'demo'])
    await place.commonplace(['add-file-to-skill', 'tool', 'added.sh', '--content', '#!/bin/sh', '--user', 'demo'])
    await place.commonplace(['get-skill', 'tool', '--out', join(place.folder, 'out')])
    expect(inFolder(join(place.folder, 'out'))).toEqual(GIVEN)
    for (const command of ['export', 'sync']) {
      const folder = join(place.folder, command)
      if (command === 'sync') mkdirSync(folder)
      await place.commonplace([command, folder, '--user', 'demo'])
      expect(inFolder(join(folder, 'skills/tool')), command).toEqual(GIVEN)
    }
    await place.commonplace(['export', join(place.folder, 'again')])
    await place.commonplace(['import', 'library', join(place.folder, 'again'), '--user', 'demo'])
    const { url, stop } = await place.serveHere()
    try {
      for (const path of ['/api/skills/tool/zip', '/.well-known/agent-skills/tool.zip', '/@demo/marketplace/all-skills.zip']) {
        expect(await inZip(url + path), path).toEqual(GIVEN)
      }
      const clone = join(place.folder, 'clone')
      await promisify(execFile)('git', ['clone', '--quiet', `${url}/@demo.git`, clone])
      expect(inFolder(join(clone, 'plugins/tool/skills/tool'))).toEqual(GIVEN)
    } finally {
      await stop()
    }
  })
})

describe('importing prompts', () => {
  it('refuses bad rows by number and reason, and takes the others', async () => {
    const file = write(
      'mixed.csv',
      [
        'act,prompt,for_devs,type,contributor',
        'Good,Text one,TRUE,TEXT,"some one,second"',
        ',No title,FALSE,TEXT,',
        'Bad type,Text,FALSE,POEM,',
        'Last,"Text ""two""\nlines",FALSE,IMAGE,demo',
      ].join('\n'),
    )
    const { code, stdout, stderr } = await importPrompts(file)
    expect(code).toBe(1)
    expect(stdout).toContain('4 read: 2 created, 0 updated, 0 unchanged, 0 kept, 2 refused.')
    expect(stderr).toMatch(/^Row 2 refused: title is blank\.\nRow 3 refused: type "POEM"/)
    const [good] = await search('good')
    expect(good).toMatchObject({ title: 'Good', author: 'some-one', category: 'Coding', type: 'TEXT' })
    expect((await search('last'))[0]).toMatchObject({ content: 'Text "two"\nlines', author: 'demo', type: 'IMAGE' })
  })

  it('gives entries without a visibility the one that was asked for', async () => {
    const rows = [
      { title: 'Ours', content: 'c' },
      { title: 'Mine', content: 'd', isPrivate: true },
    ]
    const file = write('for-us.json', JSON.stringify(rows))
    expect((await importPrompts(file, '--visibility', 'members')).stdout).toContain('2 created')
    const { prompts } = JSON.parse((await place.commonplace(['list-prompts', '--user', 'demo', '--json', '--per-page', '100'])).stdout)
    const visibilityOf = (title: string) => prompts.find((prompt: { title: string }) => prompt.title === title)?.visibility
    expect([visibilityOf('Ours'), visibilityOf('Mine')]).toEqual(['members', 'private'])
  })

  it('brings up to date what changed, and keeps what was edited here or thrown away', async () => {
    const rows = ['A', 'B', 'C', 'D'].map((title) => ({ title, content: `${title} one` }))
    await importPrompts(write('v1.json', JSON.stringify(rows)))
    const refOf = async (title: string) => (await search(title)).find((prompt: { title: string }) => prompt.title === title).id
    await place.commonplace(['update-prompt', await refOf('B'), '--content', 'mine', '--user', 'demo'])
    await place.commonplace(['delete', 'prompts', await refOf('C'), '--user', 'demo'])
    const changed = rows.map((row) => (row.title === 'D' ? row : { ...row, content: `${row.title} two` }))
    const next = write('v2.json', JSON.stringify(changed))
    const { stdout, stderr } = await importPrompts(next)
    expect(stdout).toBe('4 read: 0 created, 1 updated, 1 unchanged, 2 kept, 0 refused.\n')
    expect(stderr).toMatch(/Row 2 \(B\): it was edited here[\s\S]*Row 3 \(C\): it is in the trash/)
    expect((await search('A'))[0].content).toBe('A two')
    expect((await search('mine'))[0].content).toBe('mine')
  })

  it('takes entries of one owner, author and title as several prompts, and knows them again', async () => {
    const same = { title: 'Same', content: 'x' }
    const file = write('twins.json', JSON.stringify([same, { ...same, content: 'y' }, same]))
    expect((await importPrompts(file)).stdout).toContain('3 created')
    expect((await importPrompts(file)).stdout).toContain('3 unchanged')
  })

  it('makes nobody for the sake of what is not there', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    for (const kind of ['prompts', 'skills', 'library']) {
      expect((await place.commonplace(['import', kind, join(place.folder, 'none.csv'), '--user', 'demo'])).code).toBe(64)
    }
    expect(JSON.parse((await place.commonplace(['users', 'list', '--all'])).stdout).users.length).toBe(1)
  })

  it('says clearly what is wrong with a whole file or an owner', async () => {
    const refusals: [string[], RegExp][] = [
      [['import', 'prompts', join(place.folder, 'none.csv'), '--user', 'demo'], /none\.csv does not exist\.\n$/],
      [['import', 'prompts', write('x.txt', 'x'), '--user', 'demo'], /\.csv, \.json or \.jsonl/],
      [['import', 'prompts', write('x.json', '{'), '--user', 'demo'], /not valid JSON/],
      [['import', 'prompts', '-', '--user', 'demo'], /needs --format: csv, json, jsonl/],
      [['import', 'library', place.folder], /No library found/],
      [['import', 'prompts', write('z.json', '[]')], /--user/],
    ]
    for (const [args, reason] of refusals) {
      const { code, stderr } = await place.commonplace(args)
      expect(code, args.join(' ')).not.toBe(0)
      expect(stderr).toMatch(reason)
      expect(stderr).not.toContain('    at ')
    }
    await importPrompts(write('p.json', JSON.stringify([{ title: 'T', content: 'c', author: 'ghost' }])))
    expect((await place.commonplace(['import', 'prompts', join(place.folder, 'p.json'), '--user', 'ghost'])).stderr).toMatch(
      /is an imported author without an account/,
    )
  })
})

describe('standard input', () => {
  it('is read like a file, in the format it is said to have', async () => {
    const inputs = { csv: 'act,prompt\nA,a\n', json: '[{"title":"B","content":"b"}]', jsonl: '{"title":"C","content":"c"}\n' }
    for (const [format, input] of Object.entries(inputs)) {
      const args = ['import', 'prompts', '-', '--format', format, '--user', 'demo']
      expect((await place.commonplace(args, { input })).stdout).toContain('1 read: 1 created')
    }
    const bad = await place.commonplace(['import', 'prompts', '-', '--format', 'json', '--user', 'demo'], { input: '{' })
    expect([bad.code, bad.stderr]).toEqual([64, 'standard input is not valid JSON.\n'])
  })
})

describe('what must not go wrong', () => {
  it('an index is held to the limits, matched exactly, and leads nowhere outside', async () => {
    const root = join(place.folder, 'library')
    for (const folder of ['a/x', 'b/x']) {
      mkdirSync(join(root, 'skills', folder), { recursive: true })
      writeFileSync(join(root, 'skills', folder, 'SKILL.md'), 'x')
    }
    mkdirSync(join(place.folder, 'outside'))
    writeFileSync(join(place.folder, 'outside', 'SKILL.md'), 'secret')
    const index = (entries: object[]) => writeFileSync(join(root, 'skills.json'), JSON.stringify(entries))
    const importLibrary = () => place.commonplace(['import', 'library', root, '--user', 'demo'])
    index([
      { folder: 'a/x', title: 'Pub', visibility: 'public' },
      { folder: '../../outside', title: 'Out' },
    ])
    const first = await importLibrary()
    expect(first.stdout).toContain('2 read: 1 created, 0 updated, 0 unchanged, 0 kept, 1 refused.')
    expect(first.stderr).toMatch(/b\/x refused: it is not in the index/)
    index([
      { folder: 'a/x', title: 'y'.repeat(201) },
      { folder: 'b/x', title: 'Good' },
    ])
    expect((await importLibrary()).stdout).toMatch(/2 read: .*1 refused/)
  })
})

describe('a whole library in a file', () => {
  it('says its digest on both sides, and is the same again', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    await place.commonplace(['save-prompt', '--user', 'ada', '--title', 'One', '--content', 'first'])
    const one = join(place.folder, 'one.db')
    const { code, stdout, stderr } = await place.commonplace(['export', one, '--full'])
    expect([code, stderr]).toEqual([0, ''])
    const what = '1 item with 1 version and 0 votes, 1 user, 31 categories.\n'
    expect(stdout).toMatch(/^Wrote .*one\.db: [^\n]*\nDigest: [0-9a-f]{64}\n$/)
    const digest = stdout.slice(stdout.indexOf('Digest: '))
    expect(stdout).toBe(`Wrote ${one}: ${what}${digest}`)
    expect(await place.commonplace(['export', one, '--full'])).toMatchObject({ code: 75, stderr: `${one} exists. Use another name.\n` })
    expect(await place.commonplace(['restore-backup', one])).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/has no logins and keys/),
    })

    const other = createPlace()
    const back = await other.commonplace(['import', 'library', one])
    expect([back.code, back.stdout]).toEqual([0, `Imported ${what}${digest}`])
    expect(back.stderr).toMatch(/(^|\n)No user can sign in yet\. .*users invite NAME --admin\n$/)
    expect((await other.commonplace(['import', 'library', one])).stdout).toBe(
      `Nothing changed: the library already has this content, ${what}${digest}`,
    )
    const two = join(other.folder, 'two.db')
    expect((await other.commonplace(['export', two, '--full'])).stdout).toContain(digest)
    await other.remove()
  })
})

describe('exporting', () => {
  it('refuses a folder that has something in it, and leaves nothing half-written', async () => {
    await importPrompts(write('p.json', JSON.stringify([{ title: 'T', content: 'c' }])))
    const target = join(place.folder, 'out')
    mkdirSync(target)
    writeFileSync(join(target, 'mine.txt'), 'x')
    expect((await place.commonplace(['export', target])).code).toBe(64)
    expect(readdirSync(target)).toEqual(['mine.txt'])
    expect((await place.commonplace(['export', join(place.folder, 'new')])).code).toBe(0)
    expect(readdirSync(place.folder).filter((name) => name.includes('partial'))).toEqual([])
  })
})
