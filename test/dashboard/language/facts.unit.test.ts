import type { Messages } from '@lingui/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { factTexts } from '../../../contracts/facts/catalogue.ts'
import { failures } from '../../../contracts/facts/failures.ts'
import { findings } from '../../../contracts/facts/findings.ts'
import { alertFacts, timeOf } from '../../../contracts/facts/alerts.ts'
import { inEnglish, withFacts } from '../../../contracts/facts/fact.ts'
import { say } from '../../../src/dashboard/language/facts.ts'
import { activate, i18n } from '../../../src/dashboard/language/i18n.ts'
import { adviseOnFailure, explainedCodes } from '../../../src/whatsapp/failure-advice.ts'

beforeEach(async () => {
  const file = '../../../src/dashboard/language/catalogues/es.po'
  // Compiled by the plugin of the dashboard.
  const { messages } = (await import(file)) as { messages: Messages }
  activate('es', messages)
})
afterEach(() => activate('en', {}))

test('the catalogue has every fact under its code', () => {
  // Without the facts that a test file of the same worker defines.
  const codes = [...factTexts.keys()].filter((code) => !code.startsWith('test.'))

  expect(codes.length).toBeGreaterThan(80)
  expect(codes.filter((code) => (i18n.messages[code] ?? '') === '')).toEqual([])
})

test('says the explanation of every code of WhatsApp in Spanish', () => {
  const untranslated = explainedCodes
    .map((code) => adviseOnFailure({ code: String(code), message: '' }))
    .filter((failure) => say(failure, 'meaning') === failure.meaning || say(failure, 'advice') === failure.advice)

  expect(explainedCodes.length).toBeGreaterThan(40)
  expect(untranslated).toEqual([])
})

test('says the facts in a fact', () => {
  const { sending, entity } = findings
  const message = sending.blocked({ entity: entity.phoneNumber(), reason: sending.noReason() })

  expect(say(withFacts({ message }), 'message')).toBe(
    'WhatsApp bloquea los envíos por el número de teléfono: WhatsApp no dio ningún motivo.',
  )
})

test('says the values of a fact', () => {
  const failure = withFacts({ meaning: failures.unknown.meaning({ code: '4711' }) })

  expect(say(failure, 'meaning')).toBe('WhatsApp devolvió el código de error 4711.')
})

test.each([
  ['without a fact', { message: 'Message undeliverable' }],
  ['whose fact this version does not know', { message: 'Later', facts: { message: { code: 'later.unknown' } } }],
])('shows a sentence %s as it is', (_which, answer) => {
  expect(say(answer, 'message')).toBe(answer.message)
})

test('shows the English sentence to an English reader', () => {
  activate('en', {})

  expect(say(withFacts({ meaning: failures.noReason() }), 'meaning')).toBe('WhatsApp gave no reason.')
})

test.each([
  ['en', /^Deliveries to crm have failed since Nov \d\d, 2020, \d+:\d8:00\s[AP]M\.$/],
  ['es', /^Las entregas a crm fallan desde el \d\d nov 2020, \d+:\d8:00\.$/],
])('says times in the language (%s) and the time zone of the reader', (language, reads) => {
  if (language === 'en') activate('en', {})
  const body = alertFacts.endpoint.failsSince({ name: 'crm', since: timeOf(new Date('2020-11-19T14:08:00Z')) })

  expect(inEnglish(body)).toBe('Deliveries to crm have failed since 2020-11-19 14:08 UTC.')
  expect(say(withFacts({ body }), 'body')).toMatch(reads)
})

test('shows the English sentence if the page has no text of a part of it', () => {
  activate('en', {})
  const unknown = alertFacts.inactive.byWhatsApp({ number: '1', reason: { code: 'later.unknown' } })

  expect(say({ body: 'As the server says', facts: { body: unknown } }, 'body')).toBe('As the server says')
})
