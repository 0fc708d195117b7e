import { z } from 'zod'
import { line } from '../../contracts/fields.ts'
import { defaultEventTypes, messageEventTypes, type MessageEventType } from '../../contracts/webhook.ts'
import { noSuchAccount } from '../account/account.ts'
import { OperatorError } from '../account/operator-error.ts'
import { lockAccount } from '../account/whatsapp-account-store.ts'
import type { Deps } from '../deps.ts'
import { refusedUrl } from './address.ts'
import { checkHeaders } from './endpoint-headers.ts'
import { countEndpoints, insertEndpoint } from './endpoint-store.ts'
import { generateSecret } from './generate-secret.ts'
import { endpointHeadersPurpose, endpointSecretPurpose } from './secret-purposes.ts'

/** Each event is delivered to all of them, so their number multiplies what a message costs. */
const maxEndpoints = 20

const Url = line(2048)
const Description = line(200)
const EventType = z.enum(messageEventTypes)

export interface NewEndpoint {
  url: string
  /** Delivered, read and failed if not given. */
  events?: readonly string[] | undefined
  description?: string | undefined
  /** Sent along with each attempt. */
  headers?: readonly (readonly [name: string, value: string])[] | undefined
}

/** The secret is shown this once. */
export async function addEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'newId' | 'secrets' | 'randomBytes' | 'webhooks'>,
  accountId: string,
  input: NewEndpoint,
): Promise<{ endpointId: string; secret: string }> {
  const events = checkEvents(input.events ?? defaultEventTypes)
  const description = checkDescription(input.description)
  const headers = checkHeaders(input.headers ?? [])
  await checkUrl(deps, input.url)
  const id = deps.newId('ep')
  const secret = generateSecret(deps.randomBytes)
  const row = {
    id,
    account_id: accountId,
    url: input.url,
    events,
    description,
    headers_encrypted:
      Object.keys(headers).length === 0
        ? null
        : deps.secrets.encrypt(JSON.stringify(headers), endpointHeadersPurpose(id)),
    secret_encrypted: deps.secrets.encrypt(secret, endpointSecretPurpose(id)),
    created_at: deps.now(),
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw noSuchAccount(accountId)
    if ((await countEndpoints(trx, accountId)) >= maxEndpoints)
      throw new OperatorError(`An account can have ${maxEndpoints} endpoints at most. Remove one first.`, {
        remedy: `They are listed by: waybill webhook list ${accountId}`,
      })
    await insertEndpoint(trx, row)
  })
  return { endpointId: id, secret }
}

function checkEvents(events: readonly string[]): MessageEventType[] {
  const unknown = events.find((event) => !EventType.safeParse(event).success)
  if (unknown !== undefined || events.length === 0)
    throw new OperatorError(
      `${unknown === undefined ? 'No event was named' : `There is no event ${JSON.stringify(unknown)}`}. The events are ${messageEventTypes.join(', ')}.`,
      { field: 'events' },
    )
  return messageEventTypes.filter((type) => events.includes(type))
}

function checkDescription(text: string | undefined): string | null {
  if (text === undefined) return null
  const description = Description.safeParse(text.trim())
  if (!description.success)
    throw new OperatorError(`The description of an endpoint ${description.error.issues[0]?.message}.`, {
      field: 'description',
    })
  return description.data
}

/** The URL is never repeated: a query often holds a token. */
async function checkUrl({ webhooks }: Pick<Deps, 'webhooks'>, url: string): Promise<void> {
  const checked = Url.safeParse(url)
  if (!checked.success)
    throw new OperatorError(`The URL of an endpoint ${checked.error.issues[0]?.message}.`, { field: 'url' })
  if ((await webhooks.check(url)) === 'refused')
    throw new OperatorError(`The URL of an endpoint ${refusedUrl}.`, { field: 'url' })
}
