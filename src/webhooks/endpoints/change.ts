import type { Endpoint } from '../../../contracts/dashboard/webhook.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { defaultEventTypes } from '../../../contracts/events.ts'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { type Fact, inEnglish } from '../../../contracts/facts/fact.ts'
import { accountNotFound } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { lockAccount } from '../../whatsapp-accounts/store.ts'
import { deleteWaitingDeliveries, makeDeliveriesDue, restartOverdue } from '../deliveries/store.ts'
import { endpointNotFound, requireEndpoint } from './endpoint.ts'
import {
  checkDescription,
  checkEvents,
  checkHeaders,
  checkLimits,
  checkUrl,
  type EndpointLimits,
  type HeaderList,
} from './rules.ts'
import { encryptHeaders, endpointSecretPurpose, generateSecret } from './secrets.ts'
import {
  changeEndpoint,
  countEndpoints,
  deleteEndpoint,
  endEndpointAlert,
  type EndpointChanges,
  type EndpointRow,
  insertEndpoint,
  lockEndpoint,
} from './store.ts'

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
    accountId,
    url: input.url,
    events,
    description,
    ...limits,
    headersEncrypted: encryptHeaders(deps.secrets, id, headers),
    secretEncrypted: deps.secrets.encrypt(secret, endpointSecretPurpose(id)),
    createdAt: deps.now(),
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw accountNotFound(accountId)
    if ((await countEndpoints(trx, accountId)) >= maxEndpoints)
      throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.endpoints({ maxEndpoints }), {
        remedy: `List them: waybill webhook list ${accountId}`,
      })
    await insertEndpoint(trx, row)
  })
  return { endpointId: id, secret }
}

/** Fields that are undefined stay as they are. */
export interface EndpointUpdate extends EndpointLimits {
  url?: string | undefined
  events?: readonly string[] | undefined
  /** An empty description removes it. */
  description?: string | undefined
  /** Replaces all custom headers; an empty list removes them. */
  headers?: HeaderList | undefined
}

export interface UpdatedEndpoint extends Endpoint {
  /** True if the custom headers were removed because the host changed. */
  headersCleared: boolean
}

/**
 * Changes an endpoint and keeps its signing secret and history. Custom headers often hold credentials for one server,
 * so they are removed if the host changes, unless they are given again.
 */
export async function updateEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'webhooks' | 'notifications'>,
  accountId: string,
  endpointId: string,
  update: EndpointUpdate,
): Promise<UpdatedEndpoint> {
  if (Object.values(update).every((value) => value === undefined))
    throw new ServiceError(
      'SETTING_REFUSED',
      'Nothing to change: give a URL, events, a description, headers or limits.',
    )
  const given = {
    ...(update.events !== undefined && { events: checkEvents(update.events) }),
    ...(update.description !== undefined && { description: readDescription(update.description) }),
    ...(update.headers !== undefined && {
      headersEncrypted: encryptHeaders(deps.secrets, endpointId, checkHeaders(update.headers)),
    }),
    ...checkLimits(update),
  }
  if (update.url !== undefined) await checkUrl(deps, update.url)
  const { headersCleared, wasFailing } = await deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, accountId, endpointId)
    if (!row) throw endpointNotFound(endpointId)
    const moved = update.url === undefined ? undefined : move(row, update.url)
    await changeEndpoint(trx, accountId, endpointId, { url: row.url, ...moved?.changes, ...given })
    // An endpoint that Waybill disabled stays disabled, so its alert stays open.
    if (moved && row.enabled) await endEndpointAlert(trx, accountId, endpointId)
    const isCleared = moved?.clearsHeaders === true && update.headers === undefined
    return { headersCleared: isCleared, wasFailing: moved !== undefined && row.failingSince !== null }
  })
  const endpoint = await requireEndpoint(deps.db, accountId, endpointId, deps.now())
  if (wasFailing) {
    // Delays from failures of the previous URL no longer apply.
    await makeAllDue(deps, accountId, endpointId, endpoint.waiting)
    deps.notifications.notify('deliveries')
  }
  return { ...endpoint, headersCleared }
}

function readDescription(text: string): string | null {
  return text.trim() === '' ? null : checkDescription(text)
}

/** Returns the changes that a new URL causes; undefined if it is the current one. */
function move(
  { url: previousUrl, headersEncrypted }: Pick<EndpointRow, 'url' | 'headersEncrypted'>,
  url: string,
): { changes: EndpointChanges; clearsHeaders: boolean } | undefined {
  if (url === previousUrl) return undefined
  const clearsHeaders = headersEncrypted !== null && originOf(url) !== originOf(previousUrl)
  return {
    // The failures were those of the previous URL.
    changes: { url, failingSince: null, ...(clearsHeaders && { headersEncrypted: null }) },
    clearsHeaders,
  }
}

/** Scheme, host and port, because another port is another server, and http is not encrypted. */
function originOf(url: string): string {
  return new URL(url).origin
}

/** Makes waiting deliveries due now, because delays from past failures no longer apply. */
export async function enableEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'notifications'>,
  accountId: string,
  endpointId: string,
): Promise<Endpoint> {
  const { waiting } = await requireEndpoint(deps.db, accountId, endpointId, deps.now())
  await makeAllDue(deps, accountId, endpointId, waiting)
  const changes = { enabled: true, disabledReason: null, failingSince: null }
  await changeAndEndAlert(deps, accountId, endpointId, changes)
  deps.notifications.notify('deliveries')
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

/**
 * Stops after the initial number of deliveries, because deliveries of an enabled endpoint may fail and wait again in the meantime.
 */
async function makeAllDue({ db }: Pick<Deps, 'db'>, accountId: string, endpointId: string, waiting: number) {
  for (let remaining = waiting; remaining > 0;) {
    const madeDue = await makeDeliveriesDue(db, accountId, endpointId)
    if (madeDue === 0) break
    remaining -= madeDue
  }
  await restartOverdue(db, accountId, endpointId)
}

/** Disables an endpoint. Its deliveries wait, including those of new events. A running attempt is not aborted. */
export async function disableEndpoint(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  endpointId: string,
  { reason }: { reason: Fact },
): Promise<Endpoint> {
  const changes = { enabled: false, disabledReason: inEnglish(reason) }
  await changeAndEndAlert(deps, accountId, endpointId, changes)
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

async function changeAndEndAlert(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  endpointId: string,
  changes: EndpointChanges,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await changeEndpoint(trx, accountId, endpointId, changes))) throw endpointNotFound(endpointId)
    await endEndpointAlert(trx, accountId, endpointId)
  })
}

export interface RemovedEndpoint {
  endpointId: string
  /** Number of waiting deliveries that were deleted. */
  dropped: number
}

/** Removes the endpoint, its secrets and its waiting deliveries. Events are kept. */
export async function removeEndpoint(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  endpointId: string,
): Promise<RemovedEndpoint> {
  if (!(await deleteEndpoint(deps.db, accountId, endpointId))) throw endpointNotFound(endpointId)
  let dropped = 0
  for (;;) {
    const deleted = await deleteWaitingDeliveries(deps.db, accountId, endpointId)
    if (deleted === 0) return { endpointId, dropped }
    dropped += deleted
  }
}
