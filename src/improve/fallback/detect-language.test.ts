import { expect, it } from 'vitest'
import { isOtherLanguage } from './detect-language.ts'

it.each([
  'write blog post about cats',
  'logo for coffee shop',
  'résumé for a café',
  'Explain the word 猫 to me',
  '${имя} write a letter to the bank',
  '12345',
  '',
])('%j counts as English', (text) => {
  expect(isOtherLanguage(text)).toBe(false)
})

it.each([
  'ein Gedicht über den Herbst',
  'Escribe un correo para mi jefe pidiendo vacaciones',
  'Écris une lettre à la banque',
  '写一篇关于猫的博客文章',
  '请用 Python 写一个脚本 rename files',
  'Напиши статью о кошках',
  'اكتب مقالا عن القطط',
  'Bana bir şiir yaz',
])('%j does not', (text) => {
  expect(isOtherLanguage(text)).toBe(true)
})
