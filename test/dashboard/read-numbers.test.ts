import { expect, test } from 'vitest'
import { readNumbers } from '../../src/dashboard/pages/suppressions/read-numbers.ts'

test.each([
  ['34600111222', ['34600111222']],
  ['+34 600 111 222', ['34600111222']],
  ['+34 (600) 111-222\n', ['34600111222']],
  ['34 600 111 222\n34 600 111 333', ['34600111222', '34600111333']],
  ['34600111222 34600111333', ['34600111222', '34600111333']],
  ['+34 600 111 222 +49 30 5550 1234', ['34600111222', '493055501234']],
  ['+1 555.013.1026; 34600111222,\t34600111333', ['15550131026', '34600111222', '34600111333']],
  ['', []],
])('reads %j', (text, numbers) => {
  expect(readNumbers(text)).toEqual({ numbers, malformed: undefined })
})

test.each([
  ['+34 600', '+34 600'],
  ['34600111222\nAda', 'Ada'],
  ['0034600111222', '0034600111222'],
  ['600 111 222 333 444 555', '600 111 222 333 444 555'],
])('reports invalid numbers in %j', (text, malformed) => {
  expect(readNumbers(text).malformed).toBe(malformed)
})
