import type { Messages } from '@lingui/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
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

test.each([['must have at most 60 characters', 'debe tener 60 caracteres como máximo']])(
  'says "%s" in Spanish',
  (english, spanish) => {
    expect(translateServerText(english)).toBe(spanish)
  },
)

test('leaves an untranslated text unchanged', () => {
  expect(translateServerText('Message undeliverable')).toBe('Message undeliverable')
})

test('leaves a text that is longer than every known text unchanged', () => {
  const long = `changed the role of ${'a'.repeat(100_000)} to viewer`

  expect(translateServerText(long)).toBe(long)
})
