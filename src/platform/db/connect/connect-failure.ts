import { NoWritableHostError } from './hosts.ts'
import { type ConnectionTarget, DatabasePasswordError } from './passwords.ts'

/** Why a connection could not be opened, and what to do about it. */
export interface ConnectProblem {
  message: string
  fix: string
}

/** Errors that occurred while a connection was opened. Errors of open connections can have the same codes. */
const failures = new WeakMap<Error, ConnectionTarget>()

export function recordConnectFailure(error: Error, target: ConnectionTarget): Error {
  failures.set(error, target)
  return error
}

/** Returns undefined unless the error, or its cause, prevented a connection to the database. */
export function findConnectProblem(error: unknown): ConnectProblem | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof NoWritableHostError) return describeHosts(error)
  const target = failures.get(error)
  if (target && timedOut.test(error.message)) return describeTimeout(target)
  if (target) return describeFailure(error, target)
  const causedBy = findConnectProblem(error.cause)
  return causedBy && error.message.includes('connection timeout') ? describeCauseOfTimeout(error.cause) : causedBy
}

function describeHosts({ errors }: NoWritableHostError): ConnectProblem {
  const problems = errors.map(findConnectProblem).filter((problem) => problem !== undefined)
  return {
    message: `no host in DATABASE_URL accepts writes: ${problems.map(({ message }) => message).join('; ')}`,
    fix: 'Wait until a standby has been promoted, or correct the hosts in DATABASE_URL.',
  }
}

const timedOut = /^timeout expired/

function describeCauseOfTimeout(cause: unknown): ConnectProblem | undefined {
  const target = cause instanceof Error ? failures.get(cause) : undefined
  return target && describeTimeout(target)
}

function describeTimeout({ host, port }: ConnectionTarget): ConnectProblem {
  return {
    message: `${formatAddress(host, port)} did not respond within 2 seconds`,
    fix: 'Check the host and port in DATABASE_URL, and that firewalls and security groups allow this machine to connect.',
  }
}

const certificateOptions =
  'Add sslrootcert=FILE with the certificate authority of your provider to DATABASE_URL, or sslmode=no-verify to encrypt without verifying the server.'

const untrusted = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
])

function describeFailure(error: Error, { host, port, database, user }: ConnectionTarget): ConnectProblem | undefined {
  const { message } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const server = formatAddress(host, port)
  if (error instanceof DatabasePasswordError)
    return {
      message: `there is no password for user "${user}"`,
      fix: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    }
  if (message.includes('client password must be a'))
    return {
      message: `${server} requires a password, and there is none for user "${user}"`,
      fix: 'Put it into DATABASE_URL or into the file that PGPASSFILE names, or set DATABASE_PASSWORD_COMMAND.',
    }
  if (message === 'The server does not support SSL connections')
    return {
      message: `${server} does not support TLS`,
      fix: 'Enable ssl in PostgreSQL, or set sslmode=disable in DATABASE_URL if the network between them is trusted.',
    }
  if (untrusted.has(code)) return { message: `the certificate of ${server} is not trusted`, fix: certificateOptions }
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        message: `the certificate of ${server} was issued for another host name`,
        fix: 'Use the host name of the certificate in DATABASE_URL, or sslmode=verify-ca with sslrootcert=FILE if that authority issues certificates for your servers only.',
      }
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return {
        message: `the certificate of ${server} is not valid at this time`,
        fix: 'Renew it, and check the clock of this machine.',
      }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        message: `the host name "${host}" cannot be resolved`,
        fix: 'Check the host in DATABASE_URL, and the DNS of this machine.',
      }
    case 'ECONNREFUSED':
      return {
        message: `nothing is listening on ${server}`,
        fix: 'Check the host and port in DATABASE_URL, and that PostgreSQL is running and listens on this address.',
      }
    case 'ENOENT':
      return {
        message: `there is no PostgreSQL socket in ${host}`,
        fix: 'Check the host in DATABASE_URL, and that PostgreSQL is running.',
      }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return {
        message: `${server} cannot be reached (${code})`,
        fix: 'Check the host and port in DATABASE_URL, and that firewalls and security groups allow this machine to connect.',
      }
    case '25006':
      return {
        message: `${server} is a standby or read-only`,
        fix: 'Set DATABASE_URL to the primary, or to all servers of the cluster.',
      }
    case '28P01':
      return describeWrongPassword(user)
    case '28000':
      return describeRejection(message, server, user)
    case '3D000':
      return {
        message: `the database "${database}" does not exist on ${server}`,
        fix: `Create it (CREATE DATABASE "${database}"), or correct the name in DATABASE_URL.`,
      }
    case '42501':
      return {
        message: `user "${user}" may not connect to the database "${database}"`,
        fix: `Run as its owner: GRANT CONNECT ON DATABASE "${database}" TO "${user}"`,
      }
    case '53300':
      return {
        message: `${server} accepts no further connections`,
        fix: 'Raise max_connections, or the connection limit of the user or database: each process of Waybill uses up to 17.',
      }
    case '57P03':
      return { message: `PostgreSQL at ${server} is starting or stopping`, fix: 'Try again in a moment.' }
  }
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_OSSL') || code === 'EPROTO')
    return {
      message: `the TLS connection to ${server} failed (${code})`,
      fix: 'Check sslcert, sslkey and sslrootcert in DATABASE_URL: the server must accept the client certificate, and the key must belong to it.',
    }
  return {
    message: `the connection to ${server} failed: ${message}`,
    fix: 'Check DATABASE_URL and the log of PostgreSQL.',
  }
}

function describeWrongPassword(user: string): ConnectProblem {
  return {
    message: `PostgreSQL rejected the password of user "${user}"`,
    fix: 'Check the password in DATABASE_URL, in PGPASSWORD, in the file that PGPASSFILE names, or what DATABASE_PASSWORD_COMMAND prints. Percent-encode special characters in a URL, such as %2F for a slash.',
  }
}

const withoutPassword = /^(?:peer|ident|certificate|gssapi|sspi) /i

/** Only the message of the server says which kind of connection `pg_hba.conf` allows, and whether the password is wrong. */
function describeRejection(message: string, server: string, user: string): ConnectProblem {
  if (message.includes('no encryption'))
    return {
      message: `${server} requires TLS`,
      fix: 'Add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE unless a public authority issued the certificate.',
    }
  if (message.includes('client certificate'))
    return {
      message: `${server} requires a client certificate`,
      fix: 'Add sslcert=FILE and sslkey=FILE to DATABASE_URL.',
    }
  if (message.includes('authentication failed') && !withoutPassword.test(message)) return describeWrongPassword(user)
  return {
    message: `${server} does not accept user "${user}" from this machine`,
    fix: 'Check the user in DATABASE_URL, and pg_hba.conf or the access rules of your provider.',
  }
}

function formatAddress(host: string, port: number): string {
  return host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
}
