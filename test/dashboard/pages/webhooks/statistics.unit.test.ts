import type { Messages } from '@lingui/core'
import { afterEach, expect, test } from 'vitest'
import { activate } from '../../../../src/dashboard/language/i18n.ts'
import { describeSince } from '../../../../src/dashboard/pages/webhooks/statistics.ts'

afterEach(() => activate('en', {}))

const now = new Date(2026, 10, 27, 15, 42)
const times = {
  today: new Date(2026, 10, 27, 9, 5).toISOString(),
  yesterday: new Date(2026, 10, 26, 18, 4).toISOString(),
  earlier: new Date(2026, 10, 3, 18, 4).toISOString(),
}

test.each([
  { when: 'today', en: /^9:05\sAM$/, es: 'hoy, 9:05' },
  { when: 'yesterday', en: /^yesterday, 6:04\sPM$/, es: 'ayer, 18:04' },
  { when: 'earlier', en: /^Nov 3, 6:04\sPM$/, es: 'el 3 nov, 18:04' },
] as const)('says since when, if it was $when, in words that follow "since" and "desde"', async ({ when, en, es }) => {
  expect(describeSince(times[when], now)).toMatch(en)

  const file = '../../../../src/dashboard/language/catalogues/es.po'
  // Compiled by the plugin of the dashboard.
  activate('es', ((await import(file)) as { messages: Messages }).messages)
  expect(describeSince(times[when], now)).toBe(es)
})
