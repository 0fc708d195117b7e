import path from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openPGlite } from '../../src/platform/db/database.ts'
import { emitPastEvents } from '../support/endpoints.ts'
import { forFile } from '../support/lifetime.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { createEmbeddedInstallation } from '../cli/installation.ts'

const receiver = await forFile(startWebhookReceiver())
const waybill = await forFile(createEmbeddedInstallation({ WEBHOOK_ALLOW_PRIVATE: 'true' }))
/** Requires that no process of this installation uses the database. */
async function emit(accountId: string, count: number): Promise<void> {
  const db = openPGlite(path.join(waybill.dataDir, 'pgdata'))
  await emitPastEvents(db, accountId, count)
  await db.destroy()
}

test("uses the server's WEBHOOK_ALLOW_PRIVATE while a server runs, and reports its progress", async () => {
  const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
  await emit(accountId, 6000)
  const args = ['webhook', 'add', accountId, '--url', receiver.url]
  const strict = await waybill.serve({ env: { WEBHOOK_ALLOW_PRIVATE: 'false' } })
  expect(await waybill.run(args)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('public host') })
  await strict.stop()

  const server = await waybill.serve()
  const added: object = await waybill.json(args, { env: { WEBHOOK_ALLOW_PRIVATE: 'false' } })
  const { endpointId } = z.object({ endpointId: z.string() }).parse(added)
  expect(await waybill.json(['webhook', 'test', endpointId])).toMatchObject({ delivered: true })
  await waybill.json(['webhook', 'disable', endpointId])
  expect(await waybill.run(['webhook', 'recover', endpointId, '--since', '1h'])).toEqual({
    exitCode: 0,
    stdout: `Queued for ${endpointId}: 6000 deliveries.\n`,
    stderr: '5000 deliveries queued so far …\n',
  })
  expect(await waybill.json(['webhook', 'remove', endpointId])).toEqual({ endpointId, dropped: 6000 })
  await server.stop()
})
