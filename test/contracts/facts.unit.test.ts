import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { defineFacts, factTexts, inEnglish, withFacts } from '../../contracts/facts/fact.ts'

const facts = defineFacts('test', {
  plain: 'The access token has expired.',
  limit: 'must have at most {limit} characters; it has {length}',
  quoted: "is required: WhatsApp reviews an example value of '{{'{key}'}}', as in '{{1}}'",
  changed: 'changed {what} of {endpoint}',
  field: { url: 'the URL', events: 'the events' },
})

test.each([
  ['as it is', facts.plain(), 'The access token has expired.'],
  ['with values', facts.limit({ limit: 60, length: 61 }), 'must have at most 60 characters; it has 61'],
  [
    'with quoted braces',
    facts.quoted({ key: 'name' }),
    'is required: WhatsApp reviews an example value of {{name}}, as in {{1}}',
  ],
  ['with a fact in it', facts.changed({ what: facts.field.url(), endpoint: 'whe_1' }), 'changed the URL of whe_1'],
  [
    'with a list of facts in it',
    facts.changed({ what: [facts.field.url(), facts.field.events()], endpoint: 'whe_1' }),
    'changed the URL and the events of whe_1',
  ],
  [
    'with a value that looks like a placeholder',
    facts.changed({ what: '{endpoint}', endpoint: 'x' }),
    'changed {endpoint} of x',
  ],
])('says a fact in English %s', (_how, fact, english) => {
  expect(inEnglish(fact)).toBe(english)
})

test('names a fact by the path to its text', () => {
  expect(facts.field.url()).toEqual({ code: 'test.field.url' })
  expect(facts.limit({ limit: 1, length: 2 })).toEqual({ code: 'test.limit', params: { limit: 1, length: 2 } })
})

test('adds the facts to the sentences of an answer', () => {
  expect(withFacts({ message: facts.plain() })).toEqual({
    message: 'The access token has expired.',
    facts: { message: { code: 'test.plain' } },
  })
})

test('the catalogue loads every module that defines facts', async () => {
  const folder = path.resolve(import.meta.dirname, '../../contracts/facts')
  const defining = globSync('*.ts', { cwd: folder })
    .map((file) => /defineFacts\('(\w+)'/.exec(readFileSync(path.join(folder, file), 'utf8'))?.[1])
    .filter((group) => group !== undefined)
  await import('../../contracts/facts/catalogue.ts')
  const loaded = new Set([...factTexts.keys()].map((code) => code.split('.')[0]))

  expect(defining.length).toBeGreaterThan(0)
  expect(defining.filter((group) => !loaded.has(group))).toEqual([])
})
