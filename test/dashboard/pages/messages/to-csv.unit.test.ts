import { expect, test } from 'vitest'
import { toCsv } from '../../../../src/dashboard/pages/messages/to-csv.ts'

test.each([
  { value: 'order-1', cell: 'order-1' },
  { value: 'a, "b"', cell: '"a, ""b"""' },
  { value: 'two\nlines', cell: '"two\nlines"' },
  { value: '=1+1', cell: "'=1+1" },
  { value: '-1', cell: "'-1" },
  { value: '＝1+1', cell: "'＝1+1" },
  { value: '\t=1+1', cell: "'\t'=1+1" },
  { value: 'a;=1+1', cell: "a;'=1+1" },
  { value: '\r\n@SUM(A1)', cell: '"\'\r\n\'@SUM(A1)"' },
  { value: undefined, cell: '' },
])('escapes $value so that a spreadsheet shows it and runs no formula', ({ value, cell }) => {
  expect(toCsv([[value, 'next']])).toBe(`${cell},next\r\n`)
})
