import { type Kysely, sql } from 'kysely'
import type { Session } from '../../../contracts/dashboard/session.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { changes, devices } from '../../../contracts/facts/changes.ts'
import { type Sentence, withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { AuditDeps } from '../audit/append.ts'
import { recordOwnChange } from '../audit/audit.ts'
import type { SignedIn } from './better-auth.ts'

/** An exact time is not worth a write per request. */
const seenEveryMilliseconds = 5 * 60_000
const maxRemembered = 10_000

/**
 * Returns a function that records when and from where a session was last used, every few minutes and without delaying
 * the request.
 */
export function createSessionTracker({ db, now, log }: Pick<Deps, 'db' | 'now' | 'log'>) {
  // By time alone: a client that changes its address with each request would cause a write for each.
  const recorded = new BoundedMap<string, number>(maxRemembered)
  return (sessionId: string, address: string): void => {
    const [last, at] = [recorded.get(sessionId), now().getTime()]
    if (last !== undefined && Math.abs(at - last) < seenEveryMilliseconds) return
    recorded.set(sessionId, at)
    updateLastSeen(db, sessionId, address).catch((error: unknown) =>
      log.debug({ err: error }, 'could not record when a session was last used'),
    )
  }
}

async function updateLastSeen(db: Kysely<Database>, sessionId: string, address: string): Promise<void> {
  await db
    .updateTable('owner_sessions')
    .set({ lastSeenAt: sql<Date>`now()`, lastSeenAddress: address })
    .where('id', '=', sessionId)
    .execute()
}

export async function listSessions(
  { db }: Pick<Deps, 'db'>,
  { userId, sessionId }: Pick<SignedIn, 'userId' | 'sessionId'>,
): Promise<Session[]> {
  const rows = await db
    .selectFrom('owner_sessions')
    .select(['id', 'ipAddress', 'userAgent', 'createdAt', 'expiresAt', 'lastSeenAt', 'lastSeenAddress'])
    .where('userId', '=', userId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .orderBy(({ fn }) => fn.coalesce('lastSeenAt', 'createdAt'), 'desc')
    .limit(maxShown)
    .execute()
  return rows.map((row) => ({
    sessionId: row.id,
    ...withFacts({ device: describeDevice(row.userAgent ?? '') }),
    address: row.lastSeenAddress ?? row.ipAddress ?? '',
    signedInAt: row.createdAt.toISOString(),
    lastSeenAt: (row.lastSeenAt ?? row.createdAt).toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    current: row.id === sessionId,
  }))
}

const maxShown = 100

/** Ends a session of this user. Throws NOT_FOUND for a session of another user. */
export async function revokeSession(
  deps: AuditDeps,
  user: Pick<SignedIn, 'userId' | 'email'>,
  { sessionId, address }: { sessionId: string; address: string },
): Promise<void> {
  const row = await deps.db
    .deleteFrom('owner_sessions')
    .where('id', '=', sessionId)
    .where('userId', '=', user.userId)
    .returning(['userAgent'])
    .executeTakeFirst()
  if (!row) throw new ServiceError('NOT_FOUND', 'sessionId: you have no session with this ID. It may have ended.')
  const what = changes.endSession({ device: describeDevice(row.userAgent ?? '') })
  await recordOwnChange(deps, user, { what, address, outcome: 'done' })
}

export async function revokeOtherSessions(
  deps: AuditDeps,
  user: Pick<SignedIn, 'userId' | 'email' | 'sessionId'>,
  address: string,
): Promise<number> {
  const rows = await deps.db
    .deleteFrom('owner_sessions')
    .where('userId', '=', user.userId)
    .where('id', '!=', user.sessionId)
    .returning('id')
    .execute()
  // Viewers may call this, too: calls that end nothing must not fill the audit log.
  if (rows.length > 0) await recordOwnChange(deps, user, { what: changes.endOtherSessions(), address, outcome: 'done' })
  return rows.length
}

/** The first match counts, because a browser also names the browsers that it derives from. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Returns a name such as `Firefox on Linux` for a `User-Agent` header, which anybody can forge. */
export function describeDevice(userAgent: string): Sentence {
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1]
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser !== undefined && system !== undefined) return devices.both({ browser, system })
  return browser ?? system ?? devices.unknown()
}
