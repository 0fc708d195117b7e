import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listMissing, run } from '../clients/tools.ts'
import { reportMissing } from '../support/process.ts'

const units = path.resolve(import.meta.dirname, '../../deploy/systemd')
const installed = '/opt/waybill/node_modules/.bin/waybill'
const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

const isMissing = listMissing(['systemd-analyze']).length > 0
if (isMissing) reportMissing('the test of systemd units', 'systemd-analyze (Debian: apt-get install systemd)')

describe.skipIf(isMissing)('the systemd unit', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-units-'))
    for (const name of ['waybill.service', 'waybill@.service']) {
      const unit = await readFile(path.join(units, name), 'utf8')
      // The verification looks for the program.
      await writeFile(path.join(folder, name), unit.replace(installed, entry))
    }
    for (const role of ['api', 'worker'])
      await copyFile(path.join(folder, 'waybill@.service'), path.join(folder, `waybill@${role}.service`))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each(['waybill.service', 'waybill@.service'])('%s starts the installed package', async (name) => {
    expect(await readFile(path.join(units, name), 'utf8')).toContain(`ExecStart=${installed} serve`)
  })

  test('all units share the user and the folder of the uploaded files', async () => {
    for (const name of ['waybill.service', 'waybill@.service'])
      expect((await readFile(path.join(units, name), 'utf8')).split('\n')).toEqual(
        expect.arrayContaining(['User=waybill', 'StateDirectory=waybill', 'Environment=WAYBILL_DATA_DIR=%S/waybill']),
      )
  })

  test.each(['waybill.service', 'waybill@api.service', 'waybill@worker.service'])('%s is valid', async (name) => {
    expect(await run(folder, 'systemd-analyze', ['verify', '--man=no', path.join(folder, name)])).toBe('')
  })

  test.each(['waybill.service', 'waybill@api.service'])('%s has little access to the system', async (name) => {
    const options = ['--offline=true', '--threshold=20', '--no-pager']
    const report = await run(folder, 'systemd-analyze', ['security', ...options, path.join(folder, name)])
    expect(report).toContain('Overall exposure level')
  })
})
