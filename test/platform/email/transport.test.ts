import { createServer } from 'node:net'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { composeEmail } from '../../../src/platform/email/compose.ts'
import { SmtpUrl } from '../../../src/platform/email/smtp-url.ts'
import { createMailTransport, type Email, MailError } from '../../../src/platform/email/transport.ts'
import { loopbackCertificate } from '../../support/certificate.ts'
import { startSmtpServer, type TestSmtpServer } from '../../support/smtp.ts'

const servers: TestSmtpServer[] = []
const trusted = tls.getCACertificates('default')

async function open(options?: Parameters<typeof startSmtpServer>[0]): Promise<TestSmtpServer> {
  const smtp = await startSmtpServer(options)
  servers.push(smtp)
  return smtp
}

beforeAll(() => {
  tls.setDefaultCACertificates([...trusted, loopbackCertificate.cert])
})

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

afterAll(() => {
  tls.setDefaultCACertificates(trusted)
})

const email: Email = {
  to: 'ada@example.com',
  ...composeEmail({
    subject: 'Join "Zürich Café" on Waybill',
    paragraphs: ['Hello.'],
    link: { label: 'Accept', url: 'https://waybill.example.com/settings/invitation/abc' },
  }),
}

async function failureOf(work: Promise<unknown>): Promise<MailError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof MailError) return error
  throw new Error('expected a MailError', { cause: error })
}

test.each([
  { tls: 'implicit', auth: { user: 'waybill', pass: 'p:ss/w@rd' } },
  { tls: 'starttls', auth: { user: 'waybill', pass: 'p:ss/w@rd' } },
  { tls: 'none', auth: undefined },
] as const)('sends an email with TLS $tls', async ({ tls, auth }) => {
  const smtp = await open({ tls, ...(auth && { auth }) })
  const transport = createMailTransport(smtp.config)

  await transport.verify()
  await transport.send(email)

  expect(smtp.received).toMatchObject([
    {
      from: 'waybill@example.com',
      to: ['ada@example.com'],
      subject: 'Join "Zürich Café" on Waybill',
      link: 'https://waybill.example.com/settings/invitation/abc',
    },
  ])
  expect(smtp.received[0]?.raw).toMatch(/^From: Waybill <waybill@example\.com>\r$/m)
  expect(smtp.received[0]?.raw).toMatch(/^Content-Type: multipart\/alternative/m)
})

test('rejects an untrusted certificate, and sends nothing', async () => {
  const smtp = await open({ tls: 'implicit' })
  tls.setDefaultCACertificates(trusted)

  const failure = await failureOf(createMailTransport(smtp.config).send(email))

  tls.setDefaultCACertificates([...trusted, loopbackCertificate.cert])
  expect(failure).toMatchObject({ permanent: false, message: expect.stringContaining('self-signed') })
  expect(smtp.received).toEqual([])
})

test('rejects a server without STARTTLS before it sends the password', async () => {
  const smtp = await open({ tls: 'none', auth: { user: 'waybill', pass: 'secret' } })

  const failure = await failureOf(createMailTransport({ ...smtp.config, requireTls: true }).send(email))

  expect(failure).toMatchObject({ code: 'ETLS', permanent: false })
  expect(smtp.received).toEqual([])
})

test('reports wrong credentials as a failure that a new configuration fixes', async () => {
  const smtp = await open({ tls: 'implicit', auth: { user: 'waybill', pass: 'right' } })

  const failure = await failureOf(
    createMailTransport({ ...smtp.config, auth: { user: 'waybill', pass: 'wrong' } }).verify(),
  )

  expect(failure).toMatchObject({ code: 'EAUTH', permanent: false })
  expect(failure.message).not.toContain('wrong\n')
})

test.each([
  { refuse: { recipient: 550 }, permanent: true },
  { refuse: { recipient: 550, text: '5.1.1 <ada@example.com>: Recipient address rejected' }, permanent: true },
  { refuse: { recipient: 553, text: '5.7.1 <waybill@example.com>: Sender address rejected' }, permanent: false },
  { refuse: { recipient: 451 }, permanent: false },
  { refuse: { content: 554 }, permanent: true },
  { refuse: { content: 452 }, permanent: false },
])('distinguishes permanent from temporary rejections: $refuse', async ({ refuse, permanent }) => {
  const smtp = await open()
  smtp.refuse = refuse

  const failure = await failureOf(createMailTransport(smtp.config).send(email))

  expect(failure.permanent).toBe(permanent)
})

test('reports a server that is down', async () => {
  const smtp = await startSmtpServer()
  await smtp.close()

  expect(await failureOf(createMailTransport(smtp.config).send(email))).toMatchObject({ permanent: false })
})

test.each([
  { what: 'never greets', greeting: undefined, timeouts: { connectMs: 100, idleMs: 5_000, totalMs: 5_000 } },
  { what: 'stops answering', greeting: '220 ready\r\n', timeouts: { connectMs: 5_000, idleMs: 100, totalMs: 5_000 } },
  {
    what: 'drips',
    greeting: '220 ready\r\n',
    drips: true,
    timeouts: { connectMs: 5_000, idleMs: 5_000, totalMs: 300 },
  },
])('gives up on a server that $what', async ({ greeting, drips = false, timeouts }) => {
  const timers: NodeJS.Timeout[] = []
  const slow = createServer((socket) => {
    socket.on('error', () => {}).resume()
    if (greeting !== undefined) socket.write(greeting)
    if (drips) timers.push(setInterval(() => socket.write('2'), 20))
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as { port: number }
  const config = {
    host: '127.0.0.1',
    port,
    implicitTls: false,
    requireTls: false,
    auth: undefined,
    from: 'a@b.example',
  }

  const failure = await failureOf(createMailTransport(config, timeouts).send(email))

  // Ends once every connection is closed.
  await new Promise((resolve) => slow.close(resolve))
  for (const timer of timers) clearInterval(timer)
  expect(failure).toMatchObject({ code: 'ETIMEDOUT', permanent: false })
})

test('adds no header field and no markup from a name', async () => {
  const smtp = await open()
  const name = 'Ada\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>'

  await createMailTransport(smtp.config).send({
    to: 'ada@example.com',
    ...composeEmail({ subject: `Join ${name}`, paragraphs: [`Join ${name}`] }),
  })

  const [received] = smtp.received
  expect(received?.to).toEqual(['ada@example.com'])
  expect(received?.raw).not.toMatch(/^Bcc:/im)
  expect(received?.subject).toBe('Join Ada Bcc: eve@example.com <script>alert(1)</script>')
  expect(received?.body).toContain('<p>Join Ada Bcc: eve@example.com &lt;script&gt;alert(1)&lt;/script&gt;</p>')
})

test.each([
  ['smtps://u%2F:p%3Ass@smtp.example.com', { port: 465, implicitTls: true, auth: { user: 'u/', pass: 'p:ss' } }],
  ['smtp://smtp.example.com', { port: 587, implicitTls: false, requireTls: true, auth: undefined }],
  ['smtp://ada@example.com:p@smtp.example.com:2525', { port: 2525, auth: { user: 'ada@example.com', pass: 'p' } }],
  ['smtp://localhost:1025', { port: 1025, requireTls: false }],
  ['smtp://127.0.0.1:1025', { requireTls: false }],
  ['smtp://[::1]:1025', { host: '::1', requireTls: false }],
  // A host name that only looks local.
  ['smtp://127.0.0.1.example.com', { host: '127.0.0.1.example.com', requireTls: true }],
  ['smtp://localhost.example.com', { requireTls: true }],
])('reads %s', (url, server) => {
  expect(SmtpUrl.parse(url)).toMatchObject(server)
})

test.each(['https://smtp.example.com', 'smtp.example.com', 'smtp://', 'smtp://a b', 'smtp://h?tls=no', 'smtp://%zz@h'])(
  'rejects %s',
  (url) => {
    expect(SmtpUrl.safeParse(url).success).toBe(false)
  },
)
