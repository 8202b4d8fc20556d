import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, type Place } from '../support/processes.ts'
import { readTree } from '../support/read-tree.ts'
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
  it('is imported, found unchanged, exported, and read back as the same library', async () => {
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
    const other = createPlace()
    const back = await other.commonplace(['import', 'library', one])
    expect(back.stdout).toContain(`${total + skillCount} read: ${total + skillCount} created, 0 updated, 0 unchanged, 0 kept, 0 refused.`)
    expect((await other.commonplace(['import', 'library', one])).stdout).toContain(`${total + skillCount} unchanged`)
    const two = join(other.folder, 'two')
    await other.commonplace(['export', two])
    const [before, after] = [readTree(one), readTree(two)]
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted())
    for (const [name, bytes] of before) expect(after.get(name) === bytes, name).toBe(true)
    await other.remove()
  })

  it('has teams that stay teams, whom nobody can be invited as', async () => {
    const must = async (at: Place, ...args: string[]) => {
      const { code, stdout, stderr } = await at.commonplace(args)
      expect(code, stderr).toBe(0)
      return stdout
    }
    const file = write('team.json', JSON.stringify([{ title: 'Of the team', content: 'Ours.' }]))
    await must(place, 'users', 'create', 'ann')
    await must(place, 'create-team', 'acme', '--user', 'ann')
    await must(place, 'import', 'prompts', file, '--user', 'acme')
    const out = join(place.folder, 'out')
    await must(place, 'export', out)
    expect(await must(place, 'import', 'library', out)).toBe('1 read: 0 created, 0 updated, 1 unchanged, 0 kept, 0 refused.\n')
    const other = createPlace()
    expect(await must(other, 'import', 'library', out)).toBe(
      'Created team "acme", without members.\n1 read: 1 created, 0 updated, 0 unchanged, 0 kept, 0 refused.\n',
    )
    expect(await must(other, 'users', 'list')).not.toContain('acme')
    expect((await other.commonplace(['users', 'invite', 'acme'])).stderr).toContain('"acme" is, or was, the name of a team')
    await other.remove()
  })
})

describe('importing prompts', () => {
  it('refuses bad rows by number and reason, and takes the others', async () => {
    const file = write(
      'mixed.csv',
      [
        'act,prompt,for_devs,type,contributor',
        'Good,Text one,TRUE,TEXT,"some one,second"',
        `${'x'.repeat(201)},Text,FALSE,TEXT,`,
        ',No title,FALSE,TEXT,',
        'No content,,FALSE,TEXT,',
        'Bad type,Text,FALSE,POEM,',
        'Too,many,columns,TEXT,x,y',
        'Last,"Text ""two""\nlines",FALSE,IMAGE,demo',
      ].join('\n'),
    )
    const { code, stdout, stderr } = await importPrompts(file)
    expect(code).toBe(1)
    expect(stdout).toContain('7 read: 2 created, 0 updated, 0 unchanged, 0 kept, 5 refused.')
    for (const row of [
      /^Row 2 refused: title.*201.*200/m,
      /^Row 3 refused: title.*blank/m,
      /^Row 4 refused: content.*blank/m,
      /^Row 5 refused: type "POEM"/m,
      /^Row 6 refused: near line 7/m,
    ])
      expect(stderr).toMatch(row)
    const [good] = await search('good')
    expect(good).toMatchObject({ title: 'Good', author: 'some-one', category: 'Coding', type: 'TEXT' })
    expect((await search('last'))[0]).toMatchObject({ content: 'Text "two"\nlines', author: 'demo', type: 'IMAGE' })
  })

  it('gives entries without a visibility the one that was asked for', async () => {
    const file = write(
      'for-us.jsonl',
      [
        { title: 'Ours', content: 'c' },
        { title: 'Mine', content: 'd', isPrivate: true },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
    )
    expect((await importPrompts(file, '--visibility', 'members')).stdout).toContain('2 created')
    const { prompts } = JSON.parse((await place.commonplace(['list-prompts', '--user', 'demo', '--json', '--per-page', '100'])).stdout)
    const visibilityOf = (title: string) => prompts.find((prompt: { title: string }) => prompt.title === title)?.visibility
    expect([visibilityOf('Ours'), visibilityOf('Mine')]).toEqual(['members', 'private'])
    for (const flags of [
      ['--visibility', 'everybody'],
      ['--visibility', 'members', '--public'],
    ]) {
      const { code, stderr } = await importPrompts(file, ...flags)
      expect([code, stderr], stderr).toEqual([expect.any(Number), expect.stringMatching(/visibility/)])
      expect(code).not.toBe(0)
    }
  })

  it('reads our own CSV, JSON and JSONL, with tags, category, description and visibility', async () => {
    const rows = [
      { title: 'One', content: 'c1', description: 'd', category: 'editing', tags: ['A', 'b'], author: 'x', visibility: 'public' },
      { title: 'Two', content: 'c2', isPrivate: true },
    ]
    const csv = write(
      'own.csv',
      '\uFEFFtitle,content,description,category,tags,author,visibility\nOne,c1,d,editing,"A, b",x,public\nTwo,c2,,,,,private\n',
    )
    expect((await importPrompts(csv)).stdout).toContain('2 created')
    expect((await importPrompts(write('own.json', JSON.stringify({ prompts: rows })))).stdout).toContain('2 unchanged')
    expect((await importPrompts(write('own.jsonl', rows.map((row) => JSON.stringify(row)).join('\n')))).stdout).toContain('2 unchanged')
    expect((await search('one'))[0]).toMatchObject({ description: 'd', category: 'Editing', tags: ['A', 'b'], author: 'x' })
    expect(JSON.parse((await place.commonplace(['list-prompts'])).stdout).prompts.map((prompt: { title: string }) => prompt.title)).toEqual(
      ['One'],
    )
  })

  it('brings up to date what changed, and keeps what was edited here or thrown away', async () => {
    const rows = ['A', 'B', 'C', 'D'].map((title) => ({ title, content: `${title} one` }))
    await importPrompts(write('v1.json', JSON.stringify(rows)))
    const refOf = async (title: string) => (await search(title)).find((prompt: { title: string }) => prompt.title === title).id
    await place.commonplace(['update-prompt', await refOf('B'), '--content', 'mine', '--user', 'demo'])
    await place.commonplace(['delete', 'prompts', await refOf('C'), '--user', 'demo'])
    const next = write(
      'v2.json',
      JSON.stringify(rows.map((row) => ({ ...row, content: row.title === 'D' ? row.content : `${row.title} two` }))),
    )
    const { stdout, stderr } = await importPrompts(next)
    expect(stdout).toBe('4 read: 0 created, 1 updated, 1 unchanged, 2 kept, 0 refused.\n')
    expect(stderr).toMatch(/Row 2 \(B\): it was edited here[\s\S]*Row 3 \(C\): it is in the trash/)
    expect((await search('A'))[0].content).toBe('A two')
    expect((await search('mine'))[0].content).toBe('mine')
  })

  it('takes entries of one owner, author and title as several prompts, and knows them again', async () => {
    const file = write(
      'twins.json',
      JSON.stringify([
        { title: 'Same', content: 'x' },
        { title: 'Same', content: 'y' },
        { title: 'Same', content: 'x' },
      ]),
    )
    expect((await importPrompts(file)).stdout).toContain('3 created')
    expect((await importPrompts(file)).stdout).toContain('3 unchanged')
  })

  it('makes nobody for the sake of what is not there', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    for (const kind of ['prompts', 'skills', 'library']) {
      expect((await place.commonplace(['import', kind, join(place.folder, 'none.csv'), '--user', 'demo'])).code).toBe(64)
    }
    expect((await place.commonplace(['users', 'list'])).stdout).toMatch(/^ada\t.*\n$/)
  })

  it('says clearly what is wrong with a whole file or an owner', async () => {
    const refusals: [string[], RegExp][] = [
      [['import', 'prompts', join(place.folder, 'none.csv'), '--user', 'demo'], /none\.csv does not exist\.\n$/],
      [['import', 'prompts', write('x.txt', 'x'), '--user', 'demo'], /\.csv, \.json or \.jsonl/],
      [['import', 'prompts', write('x.csv', 'a,b\n1,2\n'), '--user', 'demo'], /needs a header line/],
      [['import', 'prompts', write('x.json', '{'), '--user', 'demo'], /not valid JSON/],
      [['import', 'prompts', write('y.json', '[]'), '--user', 'no spaces'], /username "no spaces"/],
      [['import', 'skills', join(place.folder, 'none'), '--user', 'demo'], /none does not exist\.\n$/],
      [['import', 'library', join(place.folder, 'none')], /none does not exist\.\n$/],
      [['import', 'prompts', '-', '--user', 'demo'], /needs --format: csv, json, jsonl/],
      [['import', 'prompts', write('f.csv', ''), '--format', 'csv', '--user', 'demo'], /--format works with standard input only/],
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

  it('is read in place of a text', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const save = ['save-prompt', '--user', 'ada', '--title', 'Piped', '--content', '-']
    const saved = await place.commonplace(save, { input: 'From a pipe: ${x}\n' })
    const { slug, content } = JSON.parse(saved.stdout).prompt
    expect(content).toBe('From a pipe: ${x}\n')
    const text = await place.commonplace(['get-prompt', slug, '--user', 'ada', '--text', '--var', 'x=walrus'])
    expect([text.stdout, text.stderr]).toEqual(['From a pipe: walrus\n', ''])
  })
})

describe('what must not go wrong', () => {
  it('a row too long for a prompt is refused by itself', async () => {
    const file = write('long.csv', `act,prompt\nLong,${'x'.repeat(9 * 1024 * 1024)}\nM,ok\n`)
    const { stdout, stderr } = await importPrompts(file)
    expect(stdout).toContain('2 read: 1 created, 0 updated, 0 unchanged, 0 kept, 1 refused.')
    expect(stderr).toMatch(/^Row 1 refused: content has 9437184 characters; the limit is 200000/m)
  })

  it('a refused row leaves nobody behind', async () => {
    const file = write(
      'ghost.json',
      JSON.stringify([
        { title: 'T', content: 'c', category: 'nope', author: 'ghost' },
        { title: 'U', content: 'c', tags: ['!!!'], author: 'wraith' },
      ]),
    )
    expect((await importPrompts(file)).stdout).toContain('2 refused')
    const users = (await place.commonplace(['users', 'list'])).stdout
    expect(users).toContain('demo')
    expect(users).not.toMatch(/ghost|wraith/)
  })

  it('an export holds everything that was saved, and comes back whole', async () => {
    const save = write(
      'save.json',
      JSON.stringify([
        { filename: 'SKILL.md', content: '---\nname: odd\ndescription: d\n---\n' },
        { filename: '.env.example', content: 'A=1' },
        { filename: 'keys/server.pem', content: '-----BEGIN PRIVATE KEY-----' },
        { filename: `${'d/'.repeat(60)}deep.txt`, content: 'deep' },
        { filename: 'bin.dat', content: 'AP8B', encoding: 'base64' },
      ]),
    )
    await place.commonplace(['users', 'create', 'demo'])
    const skill = await place.commonplace(['save-skill', '--user', 'demo', '--title', 'Odd', '--files', `@${save}`, '--description', ''])
    expect(skill.code, skill.stderr).toBe(0)
    for (const visibility of ['public', 'unlisted', 'private']) {
      await place.commonplace([
        'save-prompt',
        '--user',
        'demo',
        '--title',
        `P ${visibility}`,
        '--content',
        'a\u2028b\r\n',
        '--description',
        '',
        '--visibility',
        visibility,
      ])
    }
    const one = join(place.folder, 'one')
    await place.commonplace(['export', one])
    const other = createPlace()
    const back = await other.commonplace(['import', 'library', one])
    // The prompts differ in a word of the title alone.
    expect([back.code, back.stderr]).toEqual([0, expect.stringMatching(/^[^\n]*nearly the same[^\n]*\n$/)])
    expect((await other.commonplace(['import', 'library', one])).stdout).toContain('4 unchanged')
    const two = join(other.folder, 'two')
    await other.commonplace(['export', two])
    expect(readTree(two)).toEqual(readTree(one))
    await other.remove()
  })

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
    for (const bad of [
      { title: 'y'.repeat(201) },
      { title: ' ' },
      { description: 'y'.repeat(501) },
      { tags: Array.from({ length: 11 }, (_, n) => `t${n}`) },
      { tags: ['a\0'] },
    ]) {
      index([
        { folder: 'a/x', title: 'Bad', ...bad },
        { folder: 'b/x', title: 'Good' },
      ])
      expect((await importLibrary()).stdout, JSON.stringify(bad).slice(0, 60)).toMatch(/2 read: .*1 refused/)
    }
  })
})

describe('importing skills', () => {
  it('reads regular files only, and names what it leaves out', async () => {
    const root = join(place.folder, 'skills')
    const skill = join(root, 'group', 'My Skill')
    mkdirSync(join(skill, 'nested'), { recursive: true })
    mkdirSync(join(skill, '.git'))
    writeFileSync(
      join(skill, 'SKILL.md'),
      `---\nname: my-skill\ndescription: >\n  Folded over\n  two lines, ${'long '.repeat(120)}\n---\r\n# Body  \n`,
    )
    writeFileSync(join(skill, 'nested', 'SKILL.md'), 'inner')
    writeFileSync(join(skill, 'bin.dat'), Buffer.from([0, 255, 1]))
    writeFileSync(join(skill, '.git', 'config'), 'secret')
    writeFileSync(join(skill, '.env.local'), 'SECRET=1')
    writeFileSync(join(skill, 'server.pem'), 'Bag Attributes\n-----BEGIN PRIVATE KEY-----\nabc')
    writeFileSync(join(skill, 'note.txt'), '-----BEGIN OPENSSH PRIVATE KEY-----\nabc')
    symlinkSync('/etc/passwd', join(skill, 'link.txt'))
    const { code, stdout, stderr } = await place.commonplace(['import', 'skills', root, '--user', 'demo'])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('1 read: 1 created')
    for (const remark of [
      'the folder .git',
      '.env.local',
      'server.pem',
      'note.txt: contains a private key',
      'link.txt: not a regular file',
      'does not match its folder',
      'description cut to 500',
    ])
      expect(stderr).toContain(remark)
    const found = JSON.parse((await place.commonplace(['search-skills', 'folded', '--user', 'demo', '--json'])).stdout).skills[0]
    expect(found.title).toBe('my-skill')
    expect(found.description).toMatch(/^Folded over two lines, long .*…$/)
    expect([...found.description].length).toBeLessThanOrEqual(500)
    const whole = JSON.parse((await place.commonplace(['get-skill', found.id, '--user', 'demo'])).stdout)
    expect(whole.files.map((file: { filename: string }) => file.filename)).toEqual(['SKILL.md', 'bin.dat', 'nested/SKILL.md'])
    expect(whole.files[0].content).toBe(readFileSync(join(skill, 'SKILL.md'), 'utf8'))
    expect(whole.files[1]).toEqual({ filename: 'bin.dat', content: 'AP8B', encoding: 'base64' })
  })
})

describe('a whole export', () => {
  it('says its digest on both sides, and is the same folder again', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const save = async (...fields: string[]) =>
      JSON.parse((await place.commonplace(['save-prompt', '--user', 'ada', '--title', 'One', ...fields])).stdout).prompt
    const { id } = await save('--content', 'first', '--visibility', 'public')
    await place.commonplace(['update-prompt', id, '--content', 'second', '--user', 'ada'])
    const { id: gone } = await save('--content', 'thrown away')
    await place.commonplace(['delete', 'prompts', gone, '--user', 'ada'])
    const one = join(place.folder, 'one')
    const { code, stdout, stderr } = await place.commonplace(['export', one, '--full'])
    expect([code, stderr]).toEqual([0, ''])
    const what = '2 items (1 in the trash) with 3 versions and 0 votes, 1 user, 31 categories.\n'
    expect(stdout).toMatch(/^Wrote .*one: [^\n]*\nDigest: [0-9a-f]{64}\n$/)
    const digest = stdout.slice(stdout.indexOf('Digest: '))
    expect(stdout).toBe(`Wrote ${one}: ${what}${digest}`)

    const other = createPlace()
    const back = await other.commonplace(['import', 'library', one])
    expect([back.code, back.stdout]).toEqual([0, `Imported ${what}${digest}`])
    expect(back.stderr).toMatch(/^No user can sign in yet\. .*users invite NAME --admin\n$/)
    expect((await other.commonplace(['import', 'library', one])).stdout).toBe(
      `Nothing changed: the library already has this content, ${what}${digest}`,
    )
    const two = join(other.folder, 'two')
    expect((await other.commonplace(['export', two, '--full'])).stdout).toContain(digest)
    expect(readTree(two)).toEqual(readTree(one))
    expect((await other.commonplace(['restore', 'prompts', gone, '--user', 'ada'])).code).toBe(0)
    expect((await other.commonplace(['users', 'invite', 'ada', '--admin'])).stdout).toMatch(/\/sign-up\?invite=/)

    // There is something else now: the items alone come in, and what is there is kept.
    const refused = await other.commonplace(['import', 'library', one])
    expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringMatching(/--without-history\.\n$/)])
    expect(refused.code).not.toBe(0)
    expect((await other.commonplace(['import', 'library', one, '--without-history'])).stdout).toContain('1 read: 0 created')
    for (const flags of [['--user', 'ada'], ['--public']]) {
      expect((await other.commonplace(['import', 'library', one, ...flags])).stderr).toMatch(/need --without-history/)
    }
    expect((await other.commonplace(['export', join(other.folder, 'x'), '--full', '--user', 'ada'])).stderr).toMatch(
      /cannot be combined with --user/,
    )
    await other.remove()
  })
})

describe('exporting', () => {
  it('names folders whose skill.md is misspelled', async () => {
    const folder = join(place.folder, 'misspelled')
    mkdirSync(join(folder, 'lower'), { recursive: true })
    writeFileSync(join(folder, 'lower', 'skill.md'), '---\nname: lower\ndescription: d\n---\n')
    const remark = `Skipped ${join('lower', 'skill.md')}: the file must be spelled SKILL.md.`
    const none = await place.commonplace(['import', 'skills', folder, '--user', 'demo'])
    expect([none.code, none.stderr]).toEqual([64, `No skill found in ${folder}: no folder has a SKILL.md. ${remark}\n`])
    mkdirSync(join(folder, 'good'))
    writeFileSync(join(folder, 'good', 'SKILL.md'), '---\nname: good\ndescription: d\n---\n')
    const one = await place.commonplace(['import', 'skills', folder, '--user', 'demo'])
    expect([one.code, one.stderr.includes(remark), one.stdout.includes('1 read: 1 created')]).toEqual([0, true, true])
  })

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
