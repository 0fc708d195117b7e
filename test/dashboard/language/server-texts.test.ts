import type { Messages } from '@lingui/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defaultAlertRules, nameAlertRules } from '../../../contracts/dashboard/alert.ts'
import { nameEndpointFields } from '../../../contracts/dashboard/webhook.ts'
import { activate } from '../../../src/dashboard/language/i18n.ts'
import { loadServerTexts, translateServerText } from '../../../src/dashboard/language/server-text.ts'
import { serverTexts } from '../../../src/dashboard/language/server-texts.ts'

/** Compiled by the plugin of the dashboard. */
async function loadCatalogue(file: string): Promise<Messages> {
  return ((await import(file)) as { messages: Messages }).messages
}

beforeEach(async () => {
  const messages = await loadCatalogue('../../../src/dashboard/language/catalogues/es.po')
  loadServerTexts(serverTexts)
  activate('es', messages)
})
afterEach(() => {
  vi.useRealTimers()
  activate('en', {})
})

test.each([
  [
    'changed the URL to a.example, the events, the deliveries per second to no limit of the webhook endpoint whe_1',
    'cambió la URL (a.example), los eventos y las entregas por segundo (sin límite) del endpoint de webhook whe_1',
  ],
  [
    'changed failure rate, minimum of messages, and quiet hours of alerts',
    'cambió la tasa de fallos, el mínimo de mensajes y el horario de silencio de las alertas',
  ],
  ['revoked the operator access of ada@example.com', 'revocó el acceso de operador de ada@example.com'],
  ['revoked that ada@example.com is an operator of this server', 'revocó el acceso de operador de ada@example.com'],
  ['replaced the access token and WABA of wa_1', 'reemplazó datos de wa_1: token de acceso y WABA'],
  ['changed the role of ada@example.com to viewer', 'cambió el rol de ada@example.com a lector'],
  ['must have at most 60 characters; it has 61', 'debe tener 60 caracteres como máximo; tiene 61'],
])('says "%s" in Spanish', (english, spanish) => {
  expect(translateServerText(english)).toBe(spanish)
})

test('translates the name of every field of an endpoint and of every alert rule that the audit log names', () => {
  const fields = nameEndpointFields({
    url: 'not a URL',
    events: [],
    description: '',
    headers: [],
    maxPerSecond: '1',
    maxConcurrent: '1',
  })
  const rules = nameAlertRules(defaultAlertRules)

  expect(fields).toHaveLength(6)
  expect(rules.length).toBeGreaterThan(3)
  expect([...fields, ...rules].filter((text) => translateServerText(text) === text)).toEqual([])
})

test('leaves an untranslated text unchanged', () => {
  expect(translateServerText('Message undeliverable')).toBe('Message undeliverable')
})

test('leaves a text that is longer than every known text unchanged', () => {
  const long = `changed the role of ${'a'.repeat(100_000)} to viewer`

  expect(translateServerText(long)).toBe(long)
})
