import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { MailConfig } from '../../src/platform/email/transport.ts'
import { loopbackCertificate } from './certificate.ts'

/** A real SMTP server on this machine. */
export interface TestSmtpServer {
  config: MailConfig
  /** Every accepted email, oldest first. */
  received: ReceivedEmail[]
  /** While set, the server responds to the recipient or the content of every email with this reply code and text. */
  refuse: { recipient?: number; content?: number; text?: string }
  /** While true, it accepts the content of an email and never responds. */
  stalls: boolean
  close(): Promise<void>
}

export interface ReceivedEmail {
  from: string
  to: string[]
  raw: string
  subject: string
  /** The text and HTML parts, decoded. */
  body: string
  /** The first link in the text. */
  link: string
}

interface SmtpOptions {
  tls?: 'none' | 'starttls' | 'implicit'
  /** The credentials that a client must present; without them, any client may send. */
  auth?: { user: string; pass: string }
  /** By default, any free port. */
  port?: number
}

export async function startSmtpServer({ tls = 'none', auth, port = 0 }: SmtpOptions = {}): Promise<TestSmtpServer> {
  const disabledCommands = [...(tls === 'none' ? ['STARTTLS'] : []), ...(auth ? [] : ['AUTH'])]
  const server = new SMTPServer({
    ...loopbackCertificate,
    secure: tls === 'implicit',
    disabledCommands,
    authOptional: auth === undefined,
    // Lets a test stop it while a client waits for a response.
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, done) =>
      username === auth?.user && password === auth?.pass
        ? done(null, { user: username })
        : done(Object.assign(new Error('wrong credentials'), { responseCode: 535 })),
    onRcptTo: (_address, _session, done) => done(toError(smtp.refuse.recipient, smtp.refuse.text)),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (smtp.stalls) return
        const refusal = toError(smtp.refuse.content)
        const { mailFrom, rcptTo } = session.envelope
        if (!refusal)
          smtp.received.push(
            read(Buffer.concat(chunks).toString('latin1'), {
              from: mailFrom === false ? '' : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
            }),
          )
        done(refusal)
      })
    },
  })
  // Clients that reject the certificate close the connection.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const smtp: TestSmtpServer = {
    config: {
      host: 'localhost',
      port: (server.server.address() as AddressInfo).port,
      implicitTls: tls === 'implicit',
      requireTls: tls !== 'none',
      auth,
      from: 'waybill@example.com',
    },
    received: [],
    refuse: {},
    stalls: false,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return smtp
}

function toError(responseCode: number | undefined, text = 'not now'): Error | null {
  return responseCode === undefined ? null : Object.assign(new Error(text), { responseCode })
}

function read(raw: string, envelope: { from: string; to: string[] }): ReceivedEmail {
  const subject = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(raw)?.[1] ?? ''
  const body = decodeQuotedPrintable(raw.slice(raw.indexOf('\r\n\r\n')))
  return {
    ...envelope,
    raw,
    subject: decodeWords(subject.replaceAll(/\r\n[ \t]/g, ' ')),
    body,
    link: /https?:\/\/[^\s"<]+/.exec(body)?.[0] ?? '',
  }
}

/** RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_word, encoding: string, content: string) =>
      encoding.toUpperCase() === 'B'
        ? Buffer.from(content, 'base64').toString()
        : decodeQuotedPrintable(content.replaceAll('_', ' ')),
    )
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
