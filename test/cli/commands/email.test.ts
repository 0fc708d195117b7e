import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { loopbackCertificate } from '../../support/certificate.ts'
import { folderForFile, forFile } from '../../support/lifetime.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { createInstallation } from '../installation.ts'
import { eventually } from '../../support/eventually.ts'

const folder = await folderForFile()
const simulator = await forFile(startSimulator())
const waybill = await forFile(createInstallation(simulator.url))
const smtp = await forFile(startSmtpServer({ tls: 'implicit', auth: { user: 'waybill', pass: 'p/ss' } }))
const accountId = (await waybill.json(['account', 'create', '--name', 'Shop'])).accountId

const invite = (email: string) => ['owner', 'invite', accountId, '--email', email, '--send']

test('refuses to send without an SMTP server', async () => {
  const { exitCode, stderr } = await waybill.run(invite('ada@example.com'))

  expect(exitCode).not.toBe(0)
  expect(stderr).toContain('set SMTP_URL')
})

test('sends an invitation over TLS with a private certificate authority, and checks the server', async () => {
  const authority = path.join(folder, 'authority.pem')
  await writeFile(authority, loopbackCertificate.cert)
  const env = {
    WAYBILL_PUBLIC_URL: 'https://waybill.example.com',
    SMTP_URL: `smtps://waybill:p%2Fss@localhost:${smtp.config.port}`,
    SMTP_FROM: 'alerts@example.com',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const server = await waybill.serve({ env })

  const { url } = (await waybill.json(invite('ada@example.com'), { env })) as unknown as { url: string }
  await eventually(() => expect(smtp.received).toHaveLength(1))
  const { stdout } = await waybill.run(['doctor', '--json'], { env, ownProcess: true })

  expect(smtp.received[0]).toMatchObject({ from: 'alerts@example.com', to: ['ada@example.com'], link: url })
  expect(smtp.received[0]?.body).toContain('You have been invited to the account “Shop”')
  expect(JSON.parse(stdout)).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ check: 'email', ok: true })]),
  })
  const { stdout: printed, stderr } = await server.stop()
  expect(printed + stderr).not.toContain(url.split('/').at(-1))
})
