/** Whether a host, as `URL.hostname` has it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** A part of an address without its percent-encoding; one that has no right encoding stays as it is. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The form of every id: a random UUID (version 4, RFC 9562), lower case: 122 random bits, no time in it. */
const ID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The parts of an address of prompts.chat: an id and a slug in one, of which the id counts where it is one of here. */
export function readIdAndSlug(ref: string): string {
  const [id = '', slug] = ref.split('_', 2)
  return slug === undefined || isId(id) ? id : slug
}

/** Whether `text` has the form of an id. A slug never has. */
export function isId(text: string): boolean {
  return ID_FORM.test(text)
}
