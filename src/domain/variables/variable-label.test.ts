import { expect, it } from 'vitest'
import { labelVariable } from './variable-label.ts'

it.each([
  ['clientName', 'Client name'],
  ['client_name', 'Client name'],
  ['client-name', 'Client name'],
  ['ClientName', 'Client name'],
  ['CLIENT_NAME', 'Client name'],
  ['first name', 'First name'],
  ['baseURL', 'Base URL'],
  ['HTTPServer', 'HTTP server'],
  ['fieldB', 'Field B'],
  ['step2Name', 'Step2 name'],
  ["author's-name", "Author's name"],
  ['and/or', 'And/or'],
  ['__proto__', 'Proto'],
  ['_', '_'],
  ['имяКлиента', 'Имя клиента'],
  ['名前', '名前'],
  ['𐐨name', '𐐀name'],
])('%s is read as "%s"', (name, label) => {
  expect(labelVariable(name)).toBe(label)
})
