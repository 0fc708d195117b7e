import type { Kysely } from 'kysely'
import { codeLimits } from '../../../contracts/api/code.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import { networkOf, normalizeAddress } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { toNumberKey } from '../suppressions/number-key.ts'
import { type CodeLimit, refund, reset, spend } from './limits-store.ts'
import { hashSubject } from './mac.ts'

interface Subjects {
  to: string
  clientIp: string | undefined
}

type LimitDeps = Pick<Deps, 'db' | 'secrets'>

/**
 * Counts a send for its recipient and for the user's IP address, and stores its code in the same transaction. Throws if
 * there were too many.
 */
export async function spendSend<Stored>(
  deps: LimitDeps,
  accountId: string,
  subjects: Subjects,
  store: (trx: Kysely<Database>) => Promise<Stored>,
): Promise<Stored> {
  const limits = listSendLimits(deps, subjects)
  // All limits or none: a rejected send is not counted.
  return deps.db.transaction().execute(async (trx) => {
    for (const limit of limits) {
      const wait = await spend(trx, accountId, limit)
      if (wait !== undefined) throw tooMany(limit, wait)
    }
    return store(trx)
  })
}

/** Reverts `spendSend` if nothing was sent. */
export async function refundSend(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listSendLimits(deps, subjects)) await refund(deps.db, accountId, limit)
}

/** Counts a check for the user's IP address. `settleCheck` reverts it if the code is correct. */
export async function spendCheck(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listCheckLimits(deps, subjects)) {
    const wait = await spend(deps.db, accountId, limit)
    if (wait !== undefined) throw tooMany(limit, wait)
  }
}

/** After a correct code, neither the check nor the earlier sends to the recipient count any more. */
export async function settleCheck(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listCheckLimits(deps, subjects)) await refund(deps.db, accountId, limit)
  const [toRecipient] = listSendLimits(deps, subjects)
  if (toRecipient) await reset(deps.db, accountId, toRecipient)
}

function listSendLimits({ secrets }: LimitDeps, { to, clientIp }: Subjects): CodeLimit[] {
  const recipient: CodeLimit = {
    kind: 'send_to',
    subject: hashSubject(secrets, toNumberKey(to)),
    max: codeLimits.sendsPerRecipientAndHour,
    pauseSeconds: codeLimits.secondsBetweenSends,
  }
  if (clientIp === undefined) return [recipient]
  const subject = hashSubject(secrets, readNetwork(clientIp))
  return [recipient, { kind: 'send_ip', subject, max: codeLimits.sendsPerClientIpAndHour }]
}

function listCheckLimits({ secrets }: LimitDeps, { clientIp }: Subjects): CodeLimit[] {
  if (clientIp === undefined) return []
  const subject = hashSubject(secrets, readNetwork(clientIp))
  return [{ kind: 'check_ip', subject, max: codeLimits.wrongChecksPerClientIpAndHour }]
}

function readNetwork(clientIp: string): string {
  if (normalizeAddress(clientIp) === undefined)
    throw invalidField('clientIp', 'must be an IP address, such as 203.0.113.7 or 2001:db8::7.')
  return networkOf(clientIp)
}

const reasons = {
  send_to: 'to: too many codes were sent to this recipient',
  send_ip: 'clientIp: too many codes were requested from this address',
  check_ip: 'clientIp: too many wrong codes came from this address',
} satisfies Record<CodeLimit['kind'], string>

function tooMany({ kind }: CodeLimit, retryAfterSeconds: number): ServiceError {
  return new ServiceError('CODE_LIMIT_EXCEEDED', `${reasons[kind]}. Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}
