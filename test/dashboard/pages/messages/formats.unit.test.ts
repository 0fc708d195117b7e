import { expect, test, vi } from 'vitest'
import { activate } from '../../../../src/dashboard/language/i18n.ts'
import { describeSeparator, toCsv } from '../../../../src/dashboard/pages/messages/to-csv.ts'
import { type Message, SendMessageRequest } from '../../../../contracts/api/message.ts'

test.each([
  { value: 'order-1', cell: 'order-1' },
  { value: 'a, "b"', cell: '"a, ""b"""' },
  { value: 'two\nlines', cell: '"two\nlines"' },
  { value: '=1+1', cell: "'=1+1" },
  { value: '-1', cell: "'-1" },
  { value: '＝1+1', cell: "'＝1+1" },
  { value: '\t=1+1', cell: "'\t'=1+1" },
  { value: 'a;=1+1', cell: `"a;'=1+1"` },
  { value: 'a,=1+1,b', cell: `"a,'=1+1,b"` },
  { value: '\r\n@SUM(A1)', cell: '"\'\r\n\'@SUM(A1)"' },
  { value: undefined, cell: '' },
])('escapes $value so that a spreadsheet shows it and runs no formula', ({ value, cell }) => {
  expect(toCsv([[value, 'next']])).toBe(`${cell},next\r\n`)
})

test.each([
  { locale: 'en-GB', row: 'a,"b;c","d,e"', says: 'Columns are separated by commas.' },
  { locale: 'es-MX', row: 'a,"b;c","d,e"', says: 'Columns are separated by commas.' },
  { locale: 'es-ES', row: 'a;"b;c";"d,e"', says: 'Columns are separated by semicolons.' },
  { locale: 'de-DE', row: 'a;"b;c";"d,e"', says: 'Columns are separated by semicolons.' },
])('separates cells as the spreadsheets of a reader with $locale expect', ({ locale, row, says }) => {
  vi.stubGlobal('navigator', { languages: [locale] })
  activate(locale.slice(0, 2), {})
  const [csv, described] = [toCsv([['a', 'b;c', 'd,e']]), describeSeparator()]
  vi.unstubAllGlobals()
  activate('en', {})

  expect(csv).toBe(`${row}\r\n`)
  expect(described).toBe(says)
})

/** Loads a module by a name that `tsc` does not follow, since the dashboard is typed for browsers. */
async function loadToCurl() {
  const name = '../../../../src/dashboard/pages/messages/message/to-curl.ts'
  return ((await import(name)) as { toCurl: (message: Message, of: object, origin: string) => string }).toCurl
}

const sent: Omit<Message, 'to'> = {
  messageId: 'msg_1',
  accountId: 'wa_1',
  template: 'order_ready',
  language: 'en',
  externalId: "Ada's order",
  status: 'sent',
  createdAt: '2026-11-27T10:00:00.000Z',
}

test.each([
  { to: '34600111222', names: { to: '34600111222' } },
  { to: 'ES.1234567890123', names: { recipient: 'ES.1234567890123' } },
])('writes a request that the API accepts for $to', async ({ to, names }) => {
  const toCurl = await loadToCurl()
  const command = toCurl({ ...sent, to }, { template: undefined, values: undefined }, 'http://127.0.0.1:3000')

  const [, quoted = ''] = /-d '(.*)'$/s.exec(command) ?? []
  const body: unknown = JSON.parse(quoted.replaceAll(String.raw`'\''`, "'"))
  expect(SendMessageRequest.safeParse(body).error).toBeUndefined()
  expect(body).toMatchObject({ ...names, template: 'order_ready', externalId: "Ada's order" })
})
