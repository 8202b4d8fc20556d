import { describe, expect, it } from 'vitest'
import { chooseTaskKind, TASK_KINDS, writeRole } from './choose-task-kind.ts'
import { findTopic } from './find-topic.ts'

it.each([
  ['write blog post about cats', 'article'],
  ['email to landlord about broken heater', 'message'],
  ['write a poem about python', 'poem'],
  ['make python script rename files', 'code'],
  ['write a script for a youtube video about bread', 'speech'],
  ['explain quantum computing to kids', 'explanation'],
  ['Could you please summarize this article', 'summary'],
  ['translate this to Spanish', 'translation'],
  ['plan a 3 day trip to Lisbon', 'travel'],
  ['create a marketing plan', 'plan'],
  ['names for a bakery', 'brainstorm'],
  ['fix this bug in my code', 'debug'],
  ['Act as a Code Review Expert. You are an experienced software developer.', 'code review'],
  ['act as a linux terminal. I will type commands', 'simulation'],
  ['make a landing page in html', 'interface'],
  ['compare react and vue', 'comparison'],
  ['summary of the french revolution', 'explanation'],
  ['bloop the fnord', 'general'],
  ['', 'general'],
])('%j is a task of kind %s', (request, id) => {
  expect(chooseTaskKind(request).id).toBe(id)
})

it('every kind has an id of its own and something to be recognised by', () => {
  expect(new Set(TASK_KINDS.map((kind) => kind.id)).size).toBe(TASK_KINDS.length)
  for (const kind of TASK_KINDS) expect(kind.starts.length + kind.cues.length, kind.id).toBeGreaterThan(0)
})

describe('the role', () => {
  it.each([
    ['make python script rename files', 'You are an experienced Python developer.'],
    ['write code that renames files', 'You are an experienced software developer.'],
    ['write blog post about cats', 'You are an experienced writer and editor of articles, with sound knowledge of cats.'],
  ])('of %j', (request, role) => {
    expect(writeRole(chooseTaskKind(request), request, findTopic(request))).toBe(role)
  })
})

it.each([
  ['write blog post about cats for children', 'cats'],
  ['explain quantum computing to kids', 'quantum computing'],
  ['Write an article about the French Revolution.', 'the French Revolution'],
  ['write about my dog', null],
  ['write about it', null],
  ['write about ${topic}', null],
  ['write a poem', null],
  ['write about how to bake bread', null],
])('the topic of %j is %j', (request, topic) => {
  expect(findTopic(request)).toBe(topic)
})
