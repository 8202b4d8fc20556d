/** The form of every id: a random UUID (version 4, RFC 9562), lower case: 122 random bits, no time in it. */
const ID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether `text` has the form of an id. A slug never has. */
export function isId(text: string): boolean {
  return ID_FORM.test(text)
}
