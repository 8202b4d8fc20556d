// Imports: takes what is dropped.
import { readPage } from './shared.ts'

const form = document.querySelector<HTMLFormElement>('form[data-import]')
if (form) mountChoice(form)

interface Chosen {
  readonly path: string
  readonly file: File
}

/** Sends files that are dropped anywhere on the page, those of folders with their paths. */
function mountChoice(form: HTMLFormElement): void {
  const said = form.querySelector('[data-said]')
  const say = (text: string | undefined) => {
    if (said) said.textContent = text ?? ''
  }
  form.querySelector('[data-drop]')?.removeAttribute('hidden')
  form.addEventListener('submit', (event) => {
    const isEmpty = [...form.querySelectorAll<HTMLInputElement>('input[type="file"]')].every(({ files }) => files?.length === 0)
    if (isEmpty) event.preventDefault()
    say(isEmpty ? form.dataset['choose'] : form.dataset['reading'])
  })
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    document.body.classList.add('is-dropping')
  })
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('is-dropping')
  })
  document.addEventListener('drop', (event) => {
    document.body.classList.remove('is-dropping')
    // Entries must be taken before anything is awaited; what has none is a file of its own.
    const entries = [...(event.dataTransfer?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? [])
    const files = entries.length > 0 ? [] : [...(event.dataTransfer?.files ?? [])].map((file) => ({ path: file.name, file }))
    if (entries.length + files.length === 0) return
    event.preventDefault()
    say(form.dataset['reading'])
    Promise.all(entries.map(readEntry))
      .then((read) => send([...files, ...read.flat()]))
      .catch(() => say(form.dataset['failed']))
  })
  const send = async (chosen: readonly Chosen[]): Promise<void> => {
    const body = new FormData()
    for (const { path, file } of chosen) body.append('files', file, path)
    body.append('visibility', form.querySelector('select')?.value ?? '')
    body.append('do', 'check')
    const response = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } })
    if (response.redirected) location.assign(response.url)
    else say((await readPage(response)).querySelector('[role="alert"]')?.textContent ?? form.dataset['failed'])
  }
}

async function readEntry(entry: FileSystemEntry): Promise<Chosen[]> {
  const path = entry.fullPath.replace(/^\//, '')
  if (isFile(entry)) return [{ path, file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) }]
  if (!isFolder(entry)) return []
  const reader = entry.createReader()
  const chosen: Chosen[] = []
  for (;;) {
    // A call gives some of the entries, and none once all were given.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return chosen
    for (const one of some) chosen.push(...(await readEntry(one)))
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
