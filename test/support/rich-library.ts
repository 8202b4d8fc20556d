import type { LibraryStore } from '../../src/storage/store.ts'

/** What must be in no export: each lets somebody in, or says where to reach them. */
export const SECRETS = {
  passwordHash: 'HASH-OF-A-PASSWORD',
  email: 'ben.private@example.org',
  keyHash: 'a5'.repeat(32),
  keyName: 'name-of-a-key',
  inviteHash: 'b6'.repeat(32),
  sealingKey: 'SEALING-KEY-OF-THE-SERVICE',
  draft: 'a-form-that-is-still-written',
} as const

const bytes = (text: string) => new TextEncoder().encode(text)
const file = (filename: string, text: string) => ({ filename, bytes: bytes(text) })

/**
 * A small library in which everything has happened: versions under several visibilities, slugs of earlier, trash, votes, holds, categories that
 * came and went, people who sign in, stand for contributors, and were removed.
 */
export async function makeRichLibrary(store: LibraryStore) {
  const ada = await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })
  const ben = await store.people.createLogin(
    { username: 'ben', email: SECRETS.email, passwordHash: SECRETS.passwordHash, inviteSha256: null },
    () => 'admin',
  )
  const gone = await store.people.createUser({ username: 'gone', defaultVisibility: 'public' })
  const ghost = await store.people.ensurePlaceholder('Ghöst, the 2nd')
  await store.people.changeProfile(ada.id, {
    displayName: 'Ada 𝒳',
    bio: 'Line one\u2028line two',
    website: 'https://ada.example.org/',
    language: 'de',
  })
  await store.keys.createKey({ name: SECRETS.keyName, userId: ada.id, sha256: SECRETS.keyHash, scopes: ['read'], expiresAt: null })
  await store.people.createInvite({ sha256: SECRETS.inviteHash, username: 'Ada', role: 'user', expiresAt: '2099-01-01T00:00:00.000Z' })
  await store.service.ensureSecret(() => SECRETS.sealingKey)
  await store.formDrafts.saveFormDraft(ada.id, 'form', SECRETS.draft)

  const team = await store.teams.createTeam(
    { userId: ada.id, isAdmin: false },
    { name: 'First-Name', displayName: 'The team', description: 'Line one\u2028', defaultVisibility: 'members' },
  )
  const byAda = { userId: ada.id, isAdmin: false }
  await store.teams.setMember(byAda, team.id, 'ben', 'editor')
  await store.teams.changeTeam(byAda, team.id, { name: 'The.Team' })
  const ended = await store.teams.createTeam(byAda, { name: 'ended', displayName: null, description: null, defaultVisibility: 'private' })
  await store.teams.deleteTeam(byAda, ended.id)

  await store.categories.createCategory({ slug: 'ours', name: 'Ours', parent: null })
  await store.categories.createCategory({ slug: 'below', name: 'Below', parent: 'ours' })
  await store.categories.createCategory({ slug: 'passing', name: 'Passing', parent: null })
  await store.categories.renameCategory('coding', 'Code & more')

  const by = (user: { id: string }, note: string | null = null) => ({ userId: user.id, note })
  const prompt = { description: null, category: null, tags: [], type: 'TEXT' as const, visibility: 'public' as const }
  const published = await store.items.createItem(by(ada, 'first'), {
    kind: 'prompt',
    ...prompt,
    title: 'Quiet walrus',
    content: 'Once ${name:the dé faut}\u2028\r\n',
    category: 'passing',
    tags: ['C++', 'Unit Tests'],
    visibility: 'private',
  })
  await store.items.changeItem('prompt', published.id, by(ada), () => ({ visibility: 'public', category: 'below', description: '' }))
  await store.items.changeItem('prompt', published.id, by(ada, 'new address'), () => ({
    slug: 'walrus-anew',
    content: 'Twice ${name}',
    type: 'IMAGE',
  }))
  await store.categories.deleteCategory('passing')
  const unlisted = await store.items.createItem(by(ben), {
    kind: 'prompt',
    ...prompt,
    title: '北京',
    content: 'marmot',
    visibility: 'unlisted',
  })
  const held = await store.items.createItem(by(ada), { kind: 'prompt', ...prompt, title: 'Held back', content: 'A text that was held' })
  await store.marks.setHeld('prompt', held.id, true)
  const featured = await store.items.createItem(
    by(ada),
    { kind: 'prompt', ...prompt, title: 'On the first page', content: 'Featured' },
    { authorId: ghost.id, contributors: ['Zoë', 'a,b'], createdAt: '2020-01-01T00:00:00Z' },
  )
  await store.marks.setFeatured('prompt', featured.id, true)
  const symbols = await store.items.createItem(
    { ...by(ben), copies: published.id },
    { kind: 'prompt', ...prompt, title: '!!!', content: 'Its slug is its id' },
  )
  const trashed = await store.items.createItem(by(ada), { kind: 'prompt', ...prompt, title: 'Thrown away', content: 'capybara' })
  await store.items.changeItem('prompt', trashed.id, by(ada), () => ({ content: 'capybara, twice' }))
  const skill = await store.items.createItem(by(ada), {
    kind: 'skill',
    ...prompt,
    title: 'A skill',
    category: 'ours',
    files: [
      file('SKILL.md', '---\nname: a-skill\ndescription: d\n---\nfirst'),
      file('old/gone.txt', 'gone since'),
      file('same.txt', 'same'),
    ],
  })
  await store.items.changeItem('skill', skill.id, by(ada, 'fewer files'), () => ({
    files: [file('SKILL.md', '---\nname: a-skill\ndescription: d\n---\nsecond'), file('same.txt', 'same')],
  }))
  const binary = await store.items.createItem(by(ben), {
    kind: 'skill',
    ...prompt,
    title: 'Bytes',
    files: [file('SKILL.md', 'x'), { filename: '.env', bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte) }, file('empty', '')],
  })
  const thrownSkill = await store.items.createItem(by(ben), {
    kind: 'skill',
    ...prompt,
    title: 'Old skill',
    files: [file('SKILL.md', 'thrown')],
  })
  const as = ({ id, username }: { id: string; username: string }) =>
    ({ kind: 'user', scopes: new Set(['read', 'write'] as const), userId: id, username }) as const
  const [asAda, asBen, asGone] = [as(ada), as(ben), as(gone)]
  await store.marks.setVote(asAda, 'prompt', featured.id, ada.id, true)
  await store.marks.setVote(asBen, 'prompt', featured.id, ben.id, true)
  await store.marks.setVote(asBen, 'skill', skill.id, ben.id, true)
  await store.marks.setVote(asAda, 'prompt', trashed.id, ada.id, true)
  await store.marks.setFavourite(asBen, 'prompt', featured.id, ben.id, true, 9)
  await store.marks.setFavourite(asBen, 'skill', skill.id, ben.id, true, 9)
  const shared = await store.items.createItem(by(team), {
    kind: 'prompt',
    ...prompt,
    title: 'Of the team',
    content: 'dugong',
    visibility: 'private',
  })
  const named = { ownerId: ada.id, description: null, visibility: 'public' as const }
  const kept = await store.collections.createCollection(asAda, { ...named, title: 'Kept together', visibility: 'private' })
  await store.collections.changeCollection(asAda, kept.id, { visibility: 'public', description: 'In an order of its own' }, undefined)
  await store.collections.changeCollection(asAda, kept.id, { visibility: 'members', slug: 'kept-elsewhere' }, undefined)
  await store.collections.addToCollection(asAda, kept.id, [skill.id, published.id, trashed.id, featured.id], null)
  await store.collections.moveInCollection(asAda, kept.id, featured.id, { before: published.id }, undefined)
  await store.collections.createCollection(asAda, { ...named, title: '!!!', visibility: 'unlisted' })
  const passing = await store.collections.createCollection(asAda, { ...named, title: 'Passing collection' })
  await store.collections.deleteCollection(asAda, passing.id)
  await store.collections.createCollection(asGone, { ...named, ownerId: gone.id, title: 'Gone with its owner' })
  await store.items.setDeleted('prompt', trashed.id, ada.id, true)
  await store.items.setDeleted('skill', thrownSkill.id, ben.id, true)
  const lost = await store.items.createItem(by(gone), { kind: 'prompt', ...prompt, title: 'Lost for good', content: 'pangolin' })
  await store.people.deletePerson(gone.id)
  return { ada, ben, ghost, published, unlisted, held, featured, symbols, trashed, skill, binary, thrownSkill, lost, team, shared }
}
