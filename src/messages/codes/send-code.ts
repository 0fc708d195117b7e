import { codeLimits, type sendCode as contract } from '../../../contracts/api/code.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { toSentMessage } from '../send/responses.ts'
import type { SendResult } from '../send/outcome.ts'
import { prepare, type Prepared } from '../send/prepare.ts'
import { dispatch, record } from '../send/send.ts'
import { generateCode } from './generate.ts'
import { refundSend, spendSend } from './limits.ts'
import { computeCodeMac } from './mac.ts'
import { deleteCode, insertCode } from './store.ts'

/**
 * The code is stored before it is sent, so that it can be checked even if the recipient is fast or the process dies
 * after the send. If nothing was sent, it is deleted, and the previous code is the latest one again.
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
    await deleteUnsent(deps, unsent, { isFinal: false })
    throw error
  })
  // With an unknown outcome, the code may have arrived.
  if (result.kind === 'failed') await deleteUnsent(deps, unsent, { isFinal: result.final })
  if (result.kind !== 'sent') throw result.error
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
 * Deletes a code that was not sent. The caller gets the error of the send even if this fails; the code then expires. A
 * permanent rejection by WhatsApp still counts, because otherwise the limits would not stop callers who probe
 * numbers.
 */
async function deleteUnsent(
  deps: Deps,
  { accountId, id, ...subjects }: UnsentCode,
  { isFinal }: { isFinal: boolean },
): Promise<void> {
  try {
    await deleteCode(deps.db, accountId, id)
    if (!isFinal) await refundSend(deps, accountId, subjects)
  } catch (error) {
    deps.log.warn({ err: error, accountId }, 'could not delete a one-time code that was not sent; it expires')
  }
}
