import { setTimeout as delay } from 'node:timers/promises'
import type { EmailContent } from './compose.ts'
import type { SmtpServer } from './smtp-url.ts'

export interface Email extends EmailContent {
  to: string
}

/** Hands emails to an SMTP server. */
export interface MailTransport {
  /** Resolves once the server has accepted the email; throws a `MailError` otherwise. */
  send(email: Email): Promise<void>
  /** Connects and signs in without sending anything; throws a `MailError` if that fails. */
  verify(): Promise<void>
}

export interface MailConfig extends SmtpServer {
  /** Email address of the sender. */
  from: string
}

/** Why the SMTP server did not accept an email. The message may quote the server, so it is for operators only. */
export class MailError extends Error {
  /** True if the server works but refused this email, for example because of its recipient. */
  readonly isRefusal: boolean
  /** True if the server would refuse this email again. */
  readonly permanent: boolean
  /** The kind of failure, such as `ETIMEDOUT`, and the reply code of the server, if it gave one. */
  readonly code: string
  readonly replyCode: number | undefined

  constructor(message: string, facts: Pick<MailError, 'isRefusal' | 'permanent' | 'code' | 'replyCode'>) {
    super(message)
    this.name = 'MailError'
    this.isRefusal = facts.isRefusal
    this.permanent = facts.permanent
    this.code = facts.code
    this.replyCode = facts.replyCode
  }
}

interface Timeouts {
  /** For each of: name lookup, connection, greeting. */
  connectMs: number
  /** Longest time without a byte from the server. */
  idleMs: number
  /** For the whole exchange, because a server could keep a connection alive byte by byte. */
  totalMs: number
}

const defaultTimeouts: Timeouts = { connectMs: 10_000, idleMs: 20_000, totalMs: 60_000 }

/** Uses one connection per email: they are few, and a server closes idle connections. */
export function createMailTransport(config: MailConfig, timeouts = defaultTimeouts): MailTransport {
  const open = async () => {
    // Imported here because most processes and commands send no email.
    const { createTransport } = await import('nodemailer')
    return createTransport(toOptions(config, timeouts))
  }
  return {
    send: async ({ to, unsubscribeUrl, ...content }) => {
      const transport = await open()
      const message = {
        from: { name: 'Waybill', address: config.from },
        to: { name: '', address: to },
        // Asks recipients to send no automatic reply (RFC 3834).
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe': `<${unsubscribeUrl}>` }),
        },
        ...content,
      }
      await withDeadline((signal) => transport.sendMail({ ...message, signal }), timeouts.totalMs)
    },
    verify: async () => {
      const transport = await open()
      await withDeadline(() => transport.verify(), timeouts.totalMs)
    },
  }
}

function toOptions({ host, port, implicitTls, requireTls, auth }: MailConfig, { connectMs, idleMs }: Timeouts) {
  return {
    host,
    port,
    secure: implicitTls,
    requireTLS: requireTls,
    // On the loopback interface, a certificate could not match the name.
    ignoreTLS: !requireTls,
    ...(auth && { auth }),
    tls: { minVersion: 'TLSv1.2' as const },
    dnsTimeout: connectMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: idleMs,
    // Content must never be read from a file or fetched from a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Aborts the signal of `run` once the work or its time is over, which closes a connection that is still open. */
async function withDeadline(run: (signal: AbortSignal) => Promise<unknown>, milliseconds: number): Promise<void> {
  const over = new AbortController()
  const work = run(over.signal)
  const deadline = delay(milliseconds, undefined, { signal: over.signal, ref: false }).then(
    () => {
      const facts = { isRefusal: false, permanent: false, code: 'ETIMEDOUT', replyCode: undefined }
      throw new MailError('the SMTP server took too long', facts)
    },
    () => {},
  )
  // If the deadline comes first, a later failure must not become an unhandled rejection.
  work.catch(() => {})
  try {
    await Promise.race([work, deadline])
  } catch (error) {
    throw toMailError(error)
  } finally {
    over.abort()
  }
}

/**
 * Enhanced status codes (RFC 3463) of a sender or a policy. Postfix, for example, checks the sender only when it gets the
 * recipient.
 */
const aboutSender = /^5\d\d[ -]5\.(?:1\.[78]|7\.\d+)\b/

/**
 * Only a refused recipient or content concerns the email itself. Wrong credentials, a missing STARTTLS or a refused
 * sender are configuration errors, so the email can still be sent later.
 */
function toMailError(error: unknown): MailError {
  if (error instanceof MailError) return error
  const {
    message = '',
    code = 'UNKNOWN',
    command,
    response = '',
    responseCode,
    permanent,
  } = (error ?? {}) as Partial<NodemailerFailure>
  const isRefusal =
    (code === 'EENVELOPE' && command === 'RCPT TO' && !aboutSender.test(response)) || code === 'EMESSAGE'
  return new MailError(message, {
    isRefusal,
    permanent: isRefusal && permanent === true,
    code,
    replyCode: responseCode,
  })
}

/** Fields that nodemailer adds to its errors. */
interface NodemailerFailure {
  message: string
  code: string
  /** The SMTP command that was refused. */
  command: string
  /** All lines of the server's reply. */
  response: string
  responseCode: number
  permanent: boolean
}
