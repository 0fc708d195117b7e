import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Database } from '../../platform/db/schema.ts'
import { browserCookieName, cookiePrefix } from './paths.ts'

/** The client of a sign-in, and the email address that it claims. */
export interface SignInClient {
  email: string
  address: string
  /** The token of their browser, if it has one. */
  browser?: string | undefined
}

/** Longer than most people stay away. */
export const knownSourceSeconds = 180 * 24 * 3600

const tokenPattern = /^[\w-]{43}$/

/** Returns the token of a browser in which somebody signed in before, from a `Cookie` header. */
export function readBrowser(cookies: string | null | undefined): string | undefined {
  for (const pair of (cookies ?? '').split(';')) {
    const [name = '', value = ''] = pair.trim().split('=')
    if (name.replace(/^__Secure-/, '') === `${cookiePrefix}.${browserCookieName}` && tokenPattern.test(value))
      return value
  }
  return undefined
}

/** Where a user has signed in before. */
export interface KnownSource {
  /** Other people can share a network, but not a browser. */
  kind: 'browser' | 'network'
  /** Names the source in keys of limits. */
  name: string
}

/**
 * Returns where this client has signed in before as this user: the browser, or else the network; undefined if
 * neither. Such a source has limits of its own, which nobody else can use up.
 */
export async function findKnownSource(db: Kysely<Database>, client: SignInClient): Promise<KnownSource | undefined> {
  const sources = listSources(client)
  const { rows } = await sql<{ key: Buffer }>`
    select key from owner_tries
    where key = any (${sql.val(sources.map(({ key }) => key))}::bytea[]) and ends_at > now()`.execute(db)
  return sources.find(({ key }) => rows.some((row) => key.equals(row.key)))
}

/** Records from where a user has signed in. */
export async function rememberSource(db: Kysely<Database>, client: SignInClient): Promise<void> {
  const keys = listSources(client).map(({ key }) => key)
  await sql`
    insert into owner_tries (key, count, ends_at)
    select key, 0, now() + make_interval(secs => ${knownSourceSeconds}) from unnest(${sql.val(keys)}::bytea[]) as k (key)
    on conflict (key) do update set ends_at = excluded.ends_at`.execute(db)
}

/** The browser comes first. Keys are hashes, as those of attempts. */
function listSources({ email, address, browser }: SignInClient): (KnownSource & { key: Buffer })[] {
  const network = { kind: 'network', name: `network ${networkOf(address)}` } as const
  const sources: KnownSource[] =
    browser === undefined ? [network] : [{ kind: 'browser', name: `browser ${browser}` }, network]
  return sources.map((source) => ({
    ...source,
    key: createHash('sha256').update(`known source:${email.toLowerCase()} ${source.name}`).digest(),
  }))
}
