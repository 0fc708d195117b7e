import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { ConfigError } from '../../config.ts'
import { codeOf } from '../../error-code.ts'

/** What is verified: `off` disables TLS; otherwise nothing, the authority, or the authority and the host name. */
export type Verification = 'off' | 'none' | 'authority' | 'full'

interface Requested {
  mode: string | undefined
  hasRootCertificate: boolean
  /** `uselibpqcompat=true`: the weaker definitions of libpq. */
  isLibpq: boolean
}

/**
 * `disable`, `verify-ca` and `verify-full` are what libpq defines. `require`, `prefer` and `allow` verify everything too,
 * where libpq verifies nothing or even falls back to plain text, because providers put `sslmode=require` into their URLs
 * and users expect a secure connection.
 */
export function decideVerification({ mode, hasRootCertificate, isLibpq }: Requested): Verification {
  switch (mode) {
    case 'disable':
      return 'off'
    case 'no-verify':
      return 'none'
    case 'verify-ca':
      return hasRootCertificate ? 'authority' : 'full'
    case 'require':
      if (!isLibpq) return 'full'
      return hasRootCertificate ? 'authority' : 'none'
    case 'prefer':
      return isLibpq ? 'none' : 'full'
    case undefined:
    case 'allow':
    case 'verify-full':
      return 'full'
  }
  throw invalid(`sslmode=${mode} is unknown. Use disable, require, verify-ca or verify-full`)
}

const fileParameters = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const
type FileParameter = keyof typeof fileParameters
const fileNames = Object.keys(fileParameters) as FileParameter[]
const parameters = [...fileNames, 'sslmode', 'sslpassword', 'sslnegotiation', 'uselibpqcompat']

export interface UrlAndTls {
  /** Without the parameters that `ssl` replaces. */
  url: string
  /** Undefined if the URL has no TLS parameters; then `PGSSLMODE` applies. */
  ssl?: false | ConnectionOptions
  sslnegotiation?: 'direct'
}

/** Extracts the TLS parameters of a `postgres://` URL. Throws a ConfigError if they are invalid. */
export function readTls(text: string): UrlAndTls {
  const url = new URL(text)
  const given = Object.fromEntries(parameters.map((name) => [name, url.searchParams.get(name) ?? undefined]))
  if (given['sslmode'] === undefined && !fileNames.some((name) => given[name] !== undefined)) return { url: text }
  for (const name of parameters) url.searchParams.delete(name)
  url.searchParams.delete('ssl')
  // As in libpq, `system` means the authorities that the system trusts.
  if (given['sslrootcert'] === 'system') delete given['sslrootcert']
  const verification = decideVerification({
    mode: given['sslmode'],
    hasRootCertificate: given['sslrootcert'] !== undefined,
    isLibpq: given['uselibpqcompat'] === 'true',
  })
  if (verification === 'off') return { url: url.href, ssl: false }
  if ((given['sslcert'] === undefined) !== (given['sslkey'] === undefined))
    throw invalid('sslcert and sslkey belong together: set both, or neither')
  const ssl: ConnectionOptions = {
    ...(verification === 'none' && { rejectUnauthorized: false }),
    ...(verification === 'authority' && { checkServerIdentity: () => undefined }),
    ...(given['sslpassword'] !== undefined && { passphrase: given['sslpassword'] }),
  }
  for (const name of fileNames) {
    const file = given[name]
    if (file !== undefined)
      Object.defineProperty(ssl, fileParameters[name], {
        get: createFileReader(name, file),
        enumerable: true,
        configurable: true,
      })
  }
  return { url: url.href, ssl, ...(given['sslnegotiation'] === 'direct' && { sslnegotiation: 'direct' }) }
}

/**
 * Returns a function that reads the file for each new connection, so that renewed certificates are used. While a file
 * cannot be read, because it is being replaced, its last content is used.
 */
function createFileReader(name: FileParameter, file: string): () => string {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error'
    throw invalid(`${name} names a file that cannot be read (${code}): ${file}`)
  }
  if (!content.includes('-----BEGIN')) throw invalid(`${name} must name a file in PEM format: ${file}`)
  return () => {
    try {
      content = readFileSync(file, 'utf8')
    } catch {
      // Keeps the last content.
    }
    return content
  }
}

function invalid(problem: string): ConfigError {
  return new ConfigError([`DATABASE_URL: ${problem}`])
}
