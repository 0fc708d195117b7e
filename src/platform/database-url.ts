export interface Host {
  /** A name, an address without brackets, or the folder of a Unix socket. */
  host: string
  port: number
}

/** A `postgres://` URL that `URL` can parse. */
export interface DatabaseUrl {
  /** Names the first server. */
  url: string
  /** The servers of which one accepts writes; undefined if the URL names one, and does not require that it does. */
  hosts?: readonly Host[]
}

/** The URL cannot be used. The message continues the name of the setting and contains nothing from the URL. */
export class DatabaseUrlError extends Error {}

const invalid = 'must be a postgres:// URL'
const malformed = `${invalid} whose user and password are percent-encoded, such as %23 for #`
const attribute = 'target_session_attrs'
/** What libpq calls a server that accepts writes. Waybill needs no other. */
const writable: ReadonlySet<string> = new Set(['read-write', 'primary'])
/** Parameters of libpq that decide what is connected to. `pg` ignores them. */
const unreadParameters = ['hostaddr', 'dbname', 'passfile', 'service']
const authority = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s

/**
 * Parses a URL as libpq does (PostgreSQL documentation, 34.1.1.3): it can name several servers, as in
 * `postgres://user@a:5432,b:5432/waybill?target_session_attrs=read-write`.
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, start = '', servers = '', rest = ''] = authority.exec(text) ?? []
  // `URL` requires a host after a user; libpq does not. A parameter `host` takes precedence.
  const names = (start.endsWith('@') ? servers.replace(/^(?=:|$)/, 'localhost') : servers).split(',')
  if (names.length > 1 && names.includes('')) throw new DatabaseUrlError('has an empty name in its list of hosts')
  const urls = names.map((name) => parse(`${start}${name}${rest}`))
  const [url] = urls
  if (!url) throw new DatabaseUrlError(invalid)
  if (url.searchParams.get('host')?.includes(',') === true)
    throw new DatabaseUrlError('must list several hosts before the name of the database: postgres://user@a,b/waybill')
  if (url.searchParams.get('port')?.includes(',') === true)
    throw new DatabaseUrlError('must give each host its port: postgres://user@a:5432,b:5433/waybill')
  const unread = unreadParameters.find((name) => url.searchParams.has(name))
  if (unread !== undefined) throw new DatabaseUrlError(`has the parameter ${unread}, which Waybill does not read`)
  const wanted = url.searchParams.get(attribute)
  if (wanted === null && urls.length === 1) return { url: `${start}${names[0]}${rest}` }
  if (wanted !== null && !writable.has(wanted))
    throw new DatabaseUrlError(`${attribute} must be read-write, or left out: Waybill writes to its database`)
  url.searchParams.delete(attribute)
  return { url: url.href, hosts: urls.map(toHost) }
}

function parse(text: string): URL {
  if (!URL.canParse(text)) throw new DatabaseUrlError(text.startsWith('postgres') ? malformed : invalid)
  return new URL(text)
}

const defaultPort = 5432

function toHost({ hostname, port, searchParams }: URL): Host {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname).replaceAll(/^\[|\]$/g, '')
  return { host: host || 'localhost', port: Number(port || searchParams.get('port') || defaultPort) }
}
