import { failureFacts } from '../../../contracts/facts/errors.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { defaultEventTypes } from '../../../contracts/events.ts'
import { accountNotFound } from '../../accounts/account.ts'
import { lockAccount } from '../../whatsapp-accounts/store.ts'
import type { Deps } from '../../deps.ts'
import { checkDescription, checkEvents, checkHeaders, checkLimits, checkUrl, type HeaderList } from './rules.ts'
import { encryptHeaders, endpointSecretPurpose, generateSecret } from './secrets.ts'
import { countEndpoints, insertEndpoint } from './store.ts'

/** Each event is delivered to every endpoint, so their number multiplies the cost of a message. */
const maxEndpoints = 20

export interface NewEndpoint {
  url: string
  /** By default, `defaultEventTypes`. */
  events?: readonly string[] | undefined
  description?: string | undefined
  /** Custom headers, sent with each attempt. */
  headers?: HeaderList | undefined
  /** Limits across all workers; none by default. */
  maxPerSecond?: number | undefined
  maxConcurrent?: number | undefined
}

/** Adds an endpoint and returns its signing secret. */
export async function addEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'newId' | 'secrets' | 'randomBytes' | 'webhooks'>,
  accountId: string,
  input: NewEndpoint,
): Promise<{ endpointId: string; secret: string }> {
  const events = checkEvents(input.events ?? defaultEventTypes)
  const description = checkDescription(input.description)
  const headers = checkHeaders(input.headers ?? [])
  const limits = checkLimits(input)
  await checkUrl(deps, input.url)
  const id = deps.newId('ep')
  const secret = generateSecret(deps.randomBytes)
  const row = {
    id,
    account_id: accountId,
    url: input.url,
    events,
    description,
    ...limits,
    headers_encrypted: encryptHeaders(deps.secrets, id, headers),
    secret_encrypted: deps.secrets.encrypt(secret, endpointSecretPurpose(id)),
    created_at: deps.now(),
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw accountNotFound(accountId)
    if ((await countEndpoints(trx, accountId)) >= maxEndpoints)
      throw new ServiceError('SETTING_REFUSED', failureFacts.endpoints({ maxEndpoints }), {
        remedy: `List them: waybill webhook list ${accountId}`,
      })
    await insertEndpoint(trx, row)
  })
  return { endpointId: id, secret }
}
