import { expect, test, vi } from 'vitest'
import { activate } from '../../../../src/dashboard/language/i18n.ts'
import { describeSeparator, toCsv } from '../../../../src/dashboard/pages/messages/to-csv.ts'

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
