import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findSkillFolders, readSkillFolder } from './skill-folder.ts'

const SKILL_MD = '---\nname: pdf-tools\ndescription: Reads PDF files\n---\n# PDF\n'
/** Made up here, so that no scanner takes this file for a leak. */
const KEY_BLOCK = (kind: string) => `-----BEGIN ${kind}-----\nMIIB\n-----END ${kind}-----\n`

let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'commonplace-skills-'))
})
afterEach(async () => {
  await rm(root, { recursive: true })
})

/** Writes files below the test's folder. */
async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), content)
  }
}
const found = async () => (await findSkillFolders(root)).map((path) => path.slice(root.length + 1))
const namesOf = (skill: { files: readonly { filename: string }[] }) => skill.files.map((file) => file.filename).toSorted()

describe('findSkillFolders', () => {
  it('finds each folder with a SKILL.md, in order of name', async () => {
    await write({ 'b/SKILL.md': '', 'a/SKILL.md': '', 'group/c/SKILL.md': '', 'no/skill.md': '', 'README.md': '' })
    expect(await found()).toEqual(['a', 'b', 'group/c'])
  })

  it('names files that are nearly spelled so', async () => {
    await write({ 'a/SKILL.md': '', 'a/skill.md.txt': '', 'b/skill.md': '', 'group/c/Skill.MD': '' })
    const misspelled: string[] = []
    await findSkillFolders(root, (path) => misspelled.push(path.slice(root.length + 1)))
    expect(misspelled).toEqual(['b/skill.md', 'group/c/Skill.MD'])
  })

  it('takes a SKILL.md below another for a file of the outer skill', async () => {
    await write({ 'a/SKILL.md': SKILL_MD, 'a/templates/inner/SKILL.md': 'inner' })
    expect(await found()).toEqual(['a'])
    expect(namesOf(await readSkillFolder(join(root, 'a')))).toEqual(['SKILL.md', 'templates/inner/SKILL.md'])
  })

  it('is the folder itself when it is a skill', async () => {
    await write({ 'SKILL.md': '' })
    expect(await findSkillFolders(root)).toEqual([root])
  })

  it('looks neither into .git and node_modules nor behind links', async () => {
    await write({ '.git/a/SKILL.md': '', 'node_modules/b/SKILL.md': '', 'real/SKILL.md': '', 'c/readme': '' })
    await symlink(join(root, 'real'), join(root, 'linked'))
    await symlink(join(root, 'real/SKILL.md'), join(root, 'c/SKILL.md'))
    expect(await found()).toEqual(['real'])
  })

  it('refuses what is no folder, and a link to one', async () => {
    await write({ 'real/SKILL.md': '' })
    await symlink(join(root, 'real'), join(root, 'linked'))
    for (const name of ['missing', 'real/SKILL.md', 'linked']) {
      await expect(findSkillFolders(join(root, name))).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })
})

describe('readSkillFolder', () => {
  it('reads every file byte for byte, with title and description from the frontmatter', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a])
    const text = '\ufeffa\r\nb \n'
    await write({ 'pdf-tools/SKILL.md': SKILL_MD, 'pdf-tools/assets/x.bin': bytes, 'pdf-tools/a.md': text, 'pdf-tools/.hidden': 'h' })
    const skill = await readSkillFolder(join(root, 'pdf-tools'))
    expect(skill).toMatchObject({ title: 'pdf-tools', description: 'Reads PDF files', remarks: [] })
    expect(namesOf(skill)).toEqual(['.hidden', 'SKILL.md', 'a.md', 'assets/x.bin'])
    const content = new Map(skill.files.map((file) => [file.filename, Buffer.from(file.bytes)]))
    expect(content.get('assets/x.bin')).toEqual(bytes)
    expect(content.get('a.md')).toEqual(Buffer.from(text))
    expect(content.get('SKILL.md')).toEqual(Buffer.from(SKILL_MD))
  })

  const SKIPPED = [
    '.git',
    'sub/.git',
    '.env',
    '.env.production',
    '.envrc',
    'sub/.env',
    'id_rsa',
    'keys/id_ed25519',
    'server.key',
    'server.pem',
    '.git>/config',
    'node_modules>/x/index.js',
    'sub/node_modules>/x.js',
    '.env.d>/secrets',
  ]
  it.each(SKIPPED)('skips %s and names it, up to the sign', async (marked) => {
    const [named = '', rest = ''] = marked.split('>')
    await write({ 'pdf-tools/SKILL.md': SKILL_MD, [`pdf-tools/${named}${rest}`]: 'x' })
    const skill = await readSkillFolder(join(root, 'pdf-tools'))
    expect(namesOf(skill)).toEqual(['SKILL.md'])
    expect(skill.remarks).toEqual([expect.stringContaining(named)])
  })

  it.each(['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'])(
    'skips a file with a %s in it under any name, and names it',
    async (kind) => {
      await write({ 'pdf-tools/SKILL.md': SKILL_MD, 'pdf-tools/notes.txt': KEY_BLOCK(kind) })
      const skill = await readSkillFolder(join(root, 'pdf-tools'))
      expect(namesOf(skill)).toEqual(['SKILL.md'])
      expect(skill.remarks).toEqual([expect.stringContaining('notes.txt')])
    },
  )

  it('keeps what only looks like a secret', async () => {
    await write({
      'pdf-tools/SKILL.md': SKILL_MD,
      'pdf-tools/id_rsa.pub': 'ssh-rsa AAAA',
      'pdf-tools/env.md': 'x',
      'pdf-tools/.gitignore': 'x',
      'pdf-tools/cert.txt': KEY_BLOCK('CERTIFICATE'),
      'pdf-tools/keys.md': 'how private keys work',
    })
    expect(namesOf(await readSkillFolder(join(root, 'pdf-tools')))).toEqual([
      '.gitignore',
      'SKILL.md',
      'cert.txt',
      'env.md',
      'id_rsa.pub',
      'keys.md',
    ])
  })

  it('skips links to files and folders, inside and outside, and names them', async () => {
    await write({ 'outside/secret.txt': 'secret', 'pdf-tools/SKILL.md': SKILL_MD, 'pdf-tools/a.md': 'a' })
    await symlink(join(root, 'outside/secret.txt'), join(root, 'pdf-tools/file-link'))
    await symlink(join(root, 'outside'), join(root, 'pdf-tools/folder-link'))
    await symlink('a.md', join(root, 'pdf-tools/inner-link'))
    await symlink('nowhere', join(root, 'pdf-tools/broken-link'))
    const skill = await readSkillFolder(join(root, 'pdf-tools'))
    expect(namesOf(skill)).toEqual(['SKILL.md', 'a.md'])
    for (const name of ['file-link', 'folder-link', 'inner-link', 'broken-link']) expect(skill.remarks.join('\n')).toContain(name)
  })

  it('refuses a skill whose SKILL.md is a link', async () => {
    await write({ 'real.md': SKILL_MD, 'pdf-tools/a.md': 'a' })
    await symlink(join(root, 'real.md'), join(root, 'pdf-tools/SKILL.md'))
    await expect(readSkillFolder(join(root, 'pdf-tools'))).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('takes the name of the folder when there is no other, and reports it', async () => {
    await write({ 'my-skill/SKILL.md': '# No frontmatter' })
    const skill = await readSkillFolder(join(root, 'my-skill'))
    expect(skill).toMatchObject({ title: 'my-skill', description: null, remarks: [expect.stringContaining('frontmatter')] })
  })

  it('cuts a long description at a word for the record and reports it; the file keeps it', async () => {
    const text = `---\nname: pdf-tools\ndescription: ${'word '.repeat(200)}\n---\n`
    await write({ 'pdf-tools/SKILL.md': text })
    const skill = await readSkillFolder(join(root, 'pdf-tools'))
    expect(skill.description).toMatch(/^(word )+word…$/)
    expect((skill.description ?? '').length).toBeLessThanOrEqual(500)
    expect(skill.remarks).toEqual([expect.stringContaining('500')])
    expect(skill.files.map((file) => Buffer.from(file.bytes).toString())).toEqual([text])
  })

  it('holds to the limits of a skill', async () => {
    await write({ 'big/SKILL.md': SKILL_MD, 'big/x': Buffer.alloc(2 ** 20 + 1) })
    await write({ 'fits/SKILL.md': SKILL_MD, 'fits/x': Buffer.alloc(2 ** 20) })
    await write({
      'heavy/SKILL.md': SKILL_MD,
      ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`heavy/${i}`, Buffer.alloc(2 ** 20)])),
    })
    await write({ 'many/SKILL.md': SKILL_MD, ...Object.fromEntries(Array.from({ length: 512 }, (_, i) => [`many/${i}`, ''])) })
    await write({ 'odd/SKILL.md': SKILL_MD, 'odd/a:b': '' })
    await write({ 'twins/SKILL.md': SKILL_MD, 'twins/a.md': '', 'twins/A.md': '' })
    for (const name of ['big', 'heavy', 'many', 'odd', 'twins']) {
      await expect(readSkillFolder(join(root, name))).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect(namesOf(await readSkillFolder(join(root, 'fits')))).toEqual(['SKILL.md', 'x'])
  })

  it('stores names in NFC', async () => {
    await write({ 'pdf-tools/SKILL.md': SKILL_MD, 'pdf-tools/cafe\u0301.md': '' })
    expect(namesOf(await readSkillFolder(join(root, 'pdf-tools')))).toEqual(['SKILL.md', 'caf\u00e9.md'])
  })
})
