import { z } from 'zod'

/** An SMTP server and how to sign in to it. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte (`smtps://`); otherwise the connection is upgraded (STARTTLS). */
  implicitTls: boolean
  /** False only on the loopback interface, where traffic cannot be intercepted. */
  requireTls: boolean
  auth: { user: string; pass: string } | undefined
}

const explanation = 'must look like smtps://user:password@smtp.example.com:465, or smtp:// with port 587 for STARTTLS'
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

/** `smtps://` uses port 465, `smtp://` port 587 with STARTTLS (RFC 8314, 3.3). */
export const SmtpUrl = z.string().transform((text, context): SmtpServer => {
  const server = parse(text)
  if (server) return server
  context.addIssue(explanation)
  return z.NEVER
})

function parse(text: string): SmtpServer | undefined {
  const url = URL.parse(text)
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol)) return undefined
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return undefined
  const host = decode(url.hostname.replace(/^\[|\]$/g, ''))
  const [user, pass] = [decode(url.username), decode(url.password)]
  if (host === undefined || !/^[\w.:-]+$/.test(host) || user === undefined || pass === undefined) return undefined
  const implicitTls = url.protocol === 'smtps:'
  return {
    host,
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    requireTls: !loopback.test(host),
    auth: user === '' ? undefined : { user, pass },
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
