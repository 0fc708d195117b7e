import type { checkCode as contract } from '../../../contracts/api/code.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { settleCheck, spendCheck } from './limits.ts'
import { isCorrectCode } from './code.ts'
import { type CodeKey, consumeAttempt, explainUncheckable, useCode } from './store.ts'

/**
 * An attempt is used up before the comparison, and a correct code is deleted by exactly one request. From then on, the
 * caller gets the result whatever happens: a retry would not find the code.
 */
export async function checkCode(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { accountId }: Caller,
  { to, code, purpose, clientIp }: InputOf<typeof contract>,
): Promise<OutputOf<typeof contract>> {
  const key = { accountId, to, purpose }
  await spendCheck(deps, accountId, { to, clientIp })
  const attempt = await consumeAttempt(deps.db, key)
  if (!attempt) throw await explain(deps, key)
  if (!isCorrectCode(deps.secrets, attempt.id, code, attempt.mac)) throw incorrect(attempt.attemptsLeft)
  if (!(await useCode(deps.db, key, attempt.id))) throw notFound()
  await settleCheck(deps, accountId, { to, clientIp }).catch((error: unknown) =>
    deps.log.warn(
      { err: error, accountId },
      'could not reset the limits after a correct code; they end within an hour',
    ),
  )
  return { verified: true, to, purpose }
}

async function explain({ db }: Pick<Deps, 'db'>, key: CodeKey): Promise<ServiceError> {
  const reason = await explainUncheckable(db, key)
  switch (reason) {
    case 'none':
      return notFound()
    case 'expired':
      return new ServiceError('CODE_EXPIRED', 'code: the code has expired. Send a new one.')
    case 'no attempts':
      return new ServiceError(
        'CODE_ATTEMPTS_EXCEEDED',
        'code: the code was checked too often and is no longer accepted. Send a new one.',
      )
  }
}

function notFound(): ServiceError {
  return new ServiceError(
    'CODE_NOT_FOUND',
    'to: no code is waiting to be checked for this recipient and purpose: none was sent, or it was used.',
  )
}

function incorrect(attemptsLeft: number): ServiceError {
  const left = attemptsLeft === 1 ? '1 attempt left' : `${attemptsLeft} attempts left`
  return new ServiceError('CODE_INCORRECT', `code: incorrect code; ${left}.`)
}
