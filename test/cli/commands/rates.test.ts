import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createInstallation } from '../installation.ts'
import { folderForFile, forFile } from '../../support/lifetime.ts'

const waybill = await forFile(createInstallation('http://127.0.0.1:9'))
const folder = await folderForFile()
async function write(name: string, ...lines: string[]): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(file, lines.join('\n'))
  return file
}

const header = 'valid_from,currency,market,countries,marketing,utility'

test('imports, lists, shows, replaces and removes rate cards', async () => {
  const rates = [header, '2026-07-01,EUR,Spain,ES,0.05,0.02', '2026-10-01,EUR,Spain,ES,0.06,n/a']
  const file = await write('rates.csv', ...rates, '2026-10-01,EUR,Other,*,0.0709,0.01')

  expect(await waybill.run(['rates', 'import', file])).toEqual({
    exitCode: 0,
    stdout:
      'Imported rates in EUR from 2026-07-01 on: 1 market.\nImported rates in EUR from 2026-10-01 on: 2 markets.\n',
    stderr: '',
  })
  expect(await waybill.json(['rates', 'list'])).toEqual({
    items: [
      { validFrom: '2026-07-01', validUntil: '2026-09-30', currency: 'EUR', importedAt: expect.any(String) },
      { validFrom: '2026-10-01', currency: 'EUR', importedAt: expect.any(String) },
    ],
  })
  const { stdout } = await waybill.run(['rates', 'show', '2026-10-01'])
  expect(stdout).toBe(
    [
      'Rates in EUR from 2026-10-01 on',
      '',
      'MARKET  MARKETING  UTILITY  COUNTRIES',
      'Other   0.0709     0.01     all others',
      'Spain   0.06                ES',
      '',
    ].join('\n'),
  )

  const again = await waybill.run(['rates', 'import', file])
  expect(again).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('--replace') })
  expect((await waybill.run(['rates', 'import', file, '--replace'])).exitCode).toBe(0)
  expect(await waybill.run(['rates', 'remove', '2026-07-01'])).toMatchObject({
    stdout: 'Removed the rates from 2026-07-01 on.\n',
  })
  for (const date of ['2026-07-01', 'yesterday', "2026-01-01'; drop table rates --"])
    expect(await waybill.run(['rates', 'remove', date])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`There is no rate card that is valid from ${JSON.stringify(date)} on.`),
    })
})

test('rejects an invalid file with the line and the reason', async () => {
  const before = await waybill.json(['rates', 'list'])
  const file = await write('wrong.csv', header, '2027-01-01,EUR,Spain,ES,0.05,0.02', '2027-01-01,EUR,France,FR,zero,1')

  expect(await waybill.run(['rates', 'import', file])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(
      'nothing was imported:\n  line 3: the rate "zero" of marketing is not a decimal such as 0.0509',
    ),
  })
  expect(await waybill.json(['rates', 'list'])).toEqual(before)
})

test.each([
  { what: 'a missing file', name: 'missing.csv', says: 'There is no file' },
  { what: 'a folder', name: '.', says: 'There is no file' },
  { what: 'a file that is too large', name: 'large.csv', says: 'is larger than 1 MB' },
])('rejects $what as a usage error', async ({ name, says }) => {
  await write('large.csv', '#'.repeat(1_000_001))

  const ended = await waybill.run(['rates', 'import', path.join(folder, name)])

  expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(says) })
})
