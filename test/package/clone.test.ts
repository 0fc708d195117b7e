import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/postgres.ts'
import { repository, run } from './run.ts'
import { startServer } from './server.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waybill-clone-'))
  await run(folder, 'git', ['clone', '--quiet', '--depth=1', `file://${repository}`, 'waybill'])
})

afterAll(() => rm(folder, { recursive: true, force: true }))

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
