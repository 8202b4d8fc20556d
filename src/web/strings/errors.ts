/** Errors that only pages, forms and pictures report. */
export const ERROR_WORDS = {
  notHere: 'Page not found.',
  signInFirst: 'Sign in first.',
  wrongLogin: 'Wrong username or password.',
  noFile: 'File not found.',
  noDocument: 'Page not found in the docs.',
  noDocsFolder: 'The docs folder is missing next to the program.',
  noVersion: 'Version not found.',
  noPerson: 'User not found.',
  noTag: 'Nothing has this tag.',
  noSitemap: 'Sitemap not found.',
  noPicture: 'Picture not found.',
  noCategory: 'Category not found.',
  noButton: 'This page has no such action. Reload it and try again.',
  notYourPrompt: 'Only the owner can edit this prompt. Save it to your library to change a copy.',
  notYourSkill: 'Only the owner can edit this skill. Save it to your library to change a copy.',
  oneZip: 'Upload one zip at a time.',
  fileExists: (name: string) => `The skill has a file ${name} already.`,
  noUpload: 'Choose a file first.',
  urlRequired: 'url is required.',
  notEmbeddable: 'Nothing at this address can be embedded.',
  onlyJson: 'Only format=json is supported.',
  notPixels: (name: string) => `${name} must be a whole number of pixels.`,
  repeated: (times: number) => `is given ${times} times; only the first is used`,
  notTool: (lines: string, more: number, count: number) =>
    `must be server:tool on each line; ${count === 1 ? 'line' : 'lines'} ${lines}${more > 0 ? ` and ${more} more` : ''} ${count === 1 ? 'is' : 'are'} not`,
  notBoolean: 'must be true or false',
  notOneOf: (values: string) => `must be one of: ${values}`,
  notValid: 'is not valid',
  notAChoice: (name: string, options: string) => `${name} must be one of: ${options}.`,
  notAForm: 'Submit this form from its page.',
  unreadableForm: 'The form could not be read. Reload the page and try again.',
  tooManyFields: (most: number) => `A form can have at most ${most} fields.`,
  fieldTooLong: (most: number) => `A field can have at most ${most} characters.`,
  formNotUtf8: 'The form is not valid UTF-8.',
  foreignForm: 'This form was submitted from another site. Open the page here and submit it again.',
  tooManyPicturesOfYours: (most: number) => `You already have ${most} pictures waiting. Try again in a moment.`,
  tooManyPictures: 'Too many pictures are being rendered. Try again in a moment.',
  noPng: 'PNG images are not available on this server. Use the SVG instead.',
}

/** The SKILL.md that a new skill starts from. */
export const SKILL_TEMPLATE = `---
name: my-skill
description: What it does and when to use it.
---

# My skill

1. The first step.
`
