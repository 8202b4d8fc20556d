// The menu of services that a prompt can be opened in.
import { isApplication, linkText, SERVICES, type Service } from '../../open-in.ts'
import { readStored, writeStored } from '../stored.ts'

const LAST_USED = 'open-in'

/** The parts of the page that the menu uses. */
interface Taking {
  text(): string
  /** Whether nothing is missing, or the reader goes on without it. Otherwise names what is missing. */
  mayGoOn(): boolean
  /** Called when the text is opened somewhere. */
  onTaken(): void
  /** Copies the text, and says where to paste it. */
  copyFor(service: Service): Promise<void>
}

/** Opens the text with the values in it, and puts the service that was used last first. */
export function mountOpenInMenu(menu: HTMLDetailsElement, { text, mayGoOn, onTaken, copyFor }: Taking): void {
  const links = [...menu.querySelectorAll<HTMLAnchorElement>('a[data-service]')].flatMap((link) => {
    const service = SERVICES.find(({ name }) => name === link.dataset['service'])
    return service ? [{ link, service }] : []
  })
  const putFirst = (name: string | null) => {
    const item = links.find(({ service }) => service.name === name)?.link.closest('li')
    item?.parentElement?.prepend(item)
  }
  putFirst(readStored(LAST_USED))
  menu.addEventListener('toggle', () => {
    if (!menu.open) return
    const taken = text()
    for (const { link, service } of links) {
      const address = linkText(service, taken)
      link.href = address ?? service.home
      link.querySelector<HTMLElement>('[data-copied-first]')?.toggleAttribute('hidden', address !== null)
    }
  })
  for (const { link, service } of links) {
    link.addEventListener('click', async (event) => {
      menu.open = false
      if (!mayGoOn()) {
        event.preventDefault()
        return
      }
      onTaken()
      writeStored(LAST_USED, service.name)
      putFirst(service.name)
      const address = linkText(service, text())
      link.href = address ?? service.home
      if (address !== null) return
      event.preventDefault()
      await copyFor(service)
      if (isApplication(service)) location.assign(service.home)
      else open(service.home, '_blank', 'noopener')
    })
  }
}
