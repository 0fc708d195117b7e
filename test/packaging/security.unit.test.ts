import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const repository = path.resolve(import.meta.dirname, '../..')
const text = await readFile(path.join(repository, 'docs/SECURITY.md'), 'utf8')
const threatModel = text.slice(text.indexOf('## Threat model'), text.indexOf('## Software bill'))

/** The cells of each row below the headings. */
const rows = threatModel
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').slice(1, -1))

test('every test that SECURITY.md names exists', () => {
  const named = [...text.matchAll(/`(test\/[^`]+)`/g)].flatMap(([, file]) => file ?? [])

  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((file) => !file.endsWith('.test.ts') || !existsSync(path.join(repository, file)))).toEqual([])
})

test('every row of the threat model has an attacker, entry, defence and test', () => {
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell.trim() === ''))).toEqual([])
  expect(rows.filter(([, , , tests]) => !/`test\/[^`]+`/.test(tests ?? ''))).toEqual([])
})
