import { ServiceError } from '../../../contracts/errors.ts'

interface Account {
  id: string
  /** Undefined when it is active. */
  inactiveReason: string | undefined
}

/** Returns the WhatsApp account that a request names, or the default one; throws if it cannot be used. */
export function requireActiveAccount<A extends Account>(account: A | undefined, accountId: string | undefined): A {
  if (!account && accountId !== undefined)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      'accountId: no WhatsApp account of yours has this ID. Leave it out to send from the default account.',
    )
  if (!account)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      'No default WhatsApp account is set up. Add one, or name one in accountId.',
    )
  if (account.inactiveReason !== undefined)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      `The WhatsApp account ${account.id} is inactive: ${account.inactiveReason}.`,
    )
  return account
}
