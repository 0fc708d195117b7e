import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createInstallation } from '../cli/installation.ts'
import { forTest } from '../support/lifetime.ts'

/** An SMTP server whose response to a client never ends, so that neither silence nor the client ends a connection. */
async function startEndlessSmtp() {
  const clients: string[] = []
  const smtp = createServer((socket) => {
    socket.write('220 smtp.example.com\r\n')
    socket.once('data', (greeting) => {
      clients.push(String(greeting))
      const timer = setInterval(() => socket.write('250-smtp.example.com\r\n'), 1_000)
      socket.on('close', () => clearInterval(timer))
    })
    socket.on('error', () => {})
  })
  await once(smtp.listen(0, '127.0.0.1'), 'listening')
  return { clients, port: (smtp.address() as AddressInfo).port, close: () => void smtp.close() }
}

test('a server ends although an SMTP server never ends its response', async () => {
  const smtp = await forTest(startEndlessSmtp())
  const waybill = await createInstallation()
  await forTest({ close: () => waybill.remove() })
  await waybill.run(['migrate'])
  const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
  const env = {
    WAYBILL_PUBLIC_URL: 'https://waybill.example.com',
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'alerts@example.com',
  }
  const server = await waybill.serve({ env })
  await waybill.json(['owner', 'invite', accountId, '--email', 'ada@example.com', '--send'], { env })
  await expect.poll(() => smtp.clients).toHaveLength(1)

  expect(await server.stop()).toMatchObject({ exitCode: 0 })
})
