import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { changes } from '../../contracts/facts/changes.ts'
import { factTexts, inEnglish, withFacts } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'
import { templateProblems } from '../../contracts/facts/template-problems.ts'

// Real facts: those that a test defines would join the texts that must have translations.
const { field } = changes

test.each([
  ['as it is', failures.tokenRefused.meaning(), 'WhatsApp rejected the access token.'],
  ['with values', templateProblems.length({ limit: 60, length: 61 }), 'must have at most 60 characters; it has 61'],
  [
    'with quoted braces',
    templateProblems.variableCase({ right: 'name', wrong: 'Name' }),
    'must name variables in lower case: {{name}}, not {{Name}}',
  ],
  [
    'with a fact in it',
    changes.updateEndpoint({ fields: field.url(), endpointId: 'ep_1' }),
    'changed the URL of the webhook endpoint ep_1',
  ],
  [
    'with a list of facts in it',
    changes.updateEndpoint({ fields: [field.url(), field.events()], endpointId: 'ep_1' }),
    'changed the URL and the events of the webhook endpoint ep_1',
  ],
  [
    'with a value that looks like a placeholder',
    changes.updateEndpoint({ fields: '{endpointId}', endpointId: 'ep_1' }),
    'changed {endpointId} of the webhook endpoint ep_1',
  ],
])('says a fact in English %s', (_how, fact, english) => {
  expect(inEnglish(fact)).toBe(english)
})

test('names a fact by the path to its text', () => {
  expect(field.url()).toEqual({ code: 'change.field.url' })
  expect(field.urlAt({ host: 'example.com' })).toEqual({ code: 'change.field.urlAt', params: { host: 'example.com' } })
})

test('adds the facts to the sentences of an answer', () => {
  expect(withFacts({ message: failures.tokenRefused.meaning() })).toEqual({
    message: 'WhatsApp rejected the access token.',
    facts: { message: { code: 'failure.tokenRefused.meaning' } },
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
