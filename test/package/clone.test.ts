import path from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../support/postgres.ts'
import { repository, run } from './run.ts'
import { startServer } from './server.ts'
import { folderForFile } from '../support/lifetime.ts'

const folder = await folderForFile()
await run(folder, 'git', ['clone', '--quiet', '--depth=1', `file://${repository}`, 'waybill'])

test('a clone without development dependencies serves from source', async () => {
  const clone = path.join(folder, 'waybill')
  await run(clone, 'npm', ['ci', '--omit=dev'])

  const server = await startServer(clone, ['npm', 'run', 'waybill', '--', 'serve'], {
    PORT: String(await freePort()),
    WAYBILL_DATA_DIR: path.join(folder, 'data'),
  })

  expect(server.output()).toContain('Waybill is listening')
  await server.stop()
})
