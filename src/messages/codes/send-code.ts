import { codeLimits, type sendCode as contract } from '../../../contracts/api/code.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { toSentMessage } from '../send/idempotency.ts'
import type { SendResult } from '../send/outcome.ts'
import { dispatch, prepare, type Prepared, record } from '../send/send.ts'
import { generateCode } from './generate.ts'
import { refundSend, spendSend } from './limits.ts'
import { computeCodeMac } from './mac.ts'
import { deleteCode, insertCode } from './store.ts'

/**
 * The code is stored before it is sent, so that a recipient who is fast, or a process that dies after the send, finds
 * it. If nothing was sent, it is deleted, and the code before it is the latest one again.
 */
export async function sendCode(
  deps: Deps,
  caller: Caller,
  input: InputOf<typeof contract>,
): Promise<OutputOf<typeof contract>> {
  const { accountId } = caller
  const { to, template, language, purpose, clientIp, maxAttempts, expiresInSeconds } = input
  const code = input.code ?? generateCode(input.length, deps.randomBytes)
  const request = { to, template, language, code, externalId: input.externalId, accountId: input.accountId }
  const prepared = await prepare(deps, caller, request)

  await spendSend(deps, accountId, { to, clientIp })
  const id = deps.newId('otc')
  const mac = computeCodeMac(deps.secrets, id, code)
  const { createdAt, expiresAt } = await insertCode(deps.db, {
    accountId,
    id,
    to,
    purpose,
    mac,
    maxAttempts,
    expiresInSeconds,
  })
  const unsent = { accountId, id, to, clientIp }
  const result = await sendPrepared(deps, prepared).catch(async (error: unknown) => {
    await forget(deps, unsent, { isFinal: false })
    throw error
  })
  // With an unknown outcome, the code may have arrived.
  if (result.kind === 'failed') await forget(deps, unsent, { isFinal: result.final })
  if (result.kind !== 'sent') throw result.answer
  return {
    ...toSentMessage(prepared.message, result.waMessageId),
    expiresAt: expiresAt.toISOString(),
    resendAt: new Date(createdAt.getTime() + codeLimits.secondsBetweenSends * 1000).toISOString(),
  }
}

async function sendPrepared(deps: Deps, prepared: Prepared): Promise<SendResult> {
  await record(deps, prepared.message, undefined)
  return dispatch(deps, prepared, undefined)
}

interface UnsentCode {
  accountId: string
  id: string
  to: string
  clientIp: string | undefined
}

/**
 * Nothing was sent. The caller is told so, even if this fails: the code then expires, unknown to everybody. What
 * WhatsApp rejects for good still counts, else the limits would not stop somebody who tries out numbers.
 */
async function forget(
  deps: Deps,
  { accountId, id, ...subjects }: UnsentCode,
  { isFinal }: { isFinal: boolean },
): Promise<void> {
  try {
    await deleteCode(deps.db, accountId, id)
    if (!isFinal) await refundSend(deps, accountId, subjects)
  } catch (error) {
    deps.log.warn({ err: error, accountId }, 'a one-time code that was not sent could not be deleted; it expires')
  }
}
