/**
 * `npm run trace` prints the files of this repository that a send, a status callback and a delivery execute, in the order
 * of their first call. Uses the PostgreSQL server in `DATABASE_URL` or starts one.
 */
import { createSecretKey } from 'node:crypto'
import { request } from 'undici'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { signCallback } from '../bench/callbacks.ts'
import { appSecret, createCustomer, phoneNumberId } from '../bench/customer.ts'
import { varying } from '../bench/example.ts'
import { queueDeliveries } from '../bench/our-deliverer.ts'
import { openStage } from '../bench/stage.ts'
import { startProcess, until } from '../bench/start-process.ts'
import { startReceiver } from '../bench/start-receiver.ts'
import { startTraced } from './traced-process.ts'

await using stage = await openStage({ quick: true, databaseUrl: process.env['DATABASE_URL'] })
await using upstream = await startProcess('test/bench/upstream.ts')
await using receiver = await startReceiver()
await using customer = await createCustomer(stage, upstream.url)
const { deps, accountId, environment } = customer
const endpoint = await addEndpoint(deps, accountId, { url: `${receiver.url}/trace/0` })

{
  await using api = await startTraced(['serve', '--role', 'api'], environment)
  const send = customer.sendThrough(api.url)
  let number = 1_000_000
  const sendOne = async () => {
    const body = send.body.replaceAll(varying, String(number++))
    return post(api.url + send.path, send.headers, body)
  }
  print('A send', await api.trace(sendOne))

  const key = createSecretKey(Buffer.from(appSecret))
  const sent: Sent[] = []
  const takeSent = async () => {
    const { data } = JSON.parse(await sendOne())
    sent.push(data)
  }
  print(
    'A status callback',
    await api.trace(
      async () => {
        const message = sent.pop()
        if (!message) throw new Error('no message was prepared')
        const { headers, body } = signCallback([deliveredStatus(message)], { phoneNumberId, key })
        await post(`${api.url}/webhooks/whatsapp`, headers, body)
      },
      { prepare: takeSent },
    ),
  )
}
// The statuses above queued deliveries that no worker was there to send.
await deps.db.deleteFrom('webhook_deliveries').execute()

await using worker = await startTraced(['serve', '--role', 'worker'], environment)
const isDelivered = async () => (await deps.db.selectFrom('webhook_deliveries').selectAll().execute()).length === 0
print(
  'A delivery',
  await worker.trace(async () => {
    await receiver.receive('trace', 1, async () => {
      await queueDeliveries(customer, [endpoint.endpointId], 1)
      deps.notifications.notify('deliveries')
    })
    await until(isDelivered)
  }),
)

interface Sent {
  messageId: string
  waMessageId: string
}

function deliveredStatus({ messageId, waMessageId }: Sent): object {
  return {
    id: waMessageId,
    status: 'delivered',
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: '34600111222',
    biz_opaque_callback_data: messageId,
  }
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  const response = await request(url, { method: 'POST', headers, body, headersTimeout: 30_000 })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${text}`)
  return text
}

function print(title: string, files: readonly string[]): void {
  console.log(`\n${title} executes ${files.length} files:\n`)
  for (const [index, file] of files.entries()) console.log(`${String(index + 1).padStart(3)}  ${file}`)
}
