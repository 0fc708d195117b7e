import type { Endpoint } from '../../../contracts/dashboard/webhook.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { makeAllDue } from './change.ts'
import { endpointNotFound, requireEndpoint } from './endpoint.ts'
import {
  checkDescription,
  checkEvents,
  checkHeaders,
  checkLimits,
  checkUrl,
  type HeaderList,
  type Limits,
} from './rules.ts'
import { encryptHeaders } from './secrets.ts'
import { changeEndpoint, type EndpointChanges, type EndpointRow, lockEndpoint } from './store.ts'

/** Fields that are undefined stay as they are. */
export interface EndpointUpdate extends Limits {
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
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'webhooks' | 'announcements'>,
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
      headers_encrypted: encryptHeaders(deps.secrets, endpointId, checkHeaders(update.headers)),
    }),
    ...checkLimits(update),
  }
  if (update.url !== undefined) await checkUrl(deps, update.url)
  const { headersCleared, wasFailing } = await deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, accountId, endpointId)
    if (!row) throw endpointNotFound(endpointId)
    const moved = update.url === undefined ? undefined : move(row, update.url)
    await changeEndpoint(trx, accountId, endpointId, { ...moved?.changes, ...given })
    const isCleared = moved?.clearsHeaders === true && update.headers === undefined
    return { headersCleared: isCleared, wasFailing: moved !== undefined && row.failing_since !== null }
  })
  const endpoint = await requireEndpoint(deps.db, accountId, endpointId, deps.now())
  if (wasFailing) {
    // Delays from failures of the previous URL no longer apply.
    await makeAllDue(deps, accountId, endpointId, endpoint.waiting)
    deps.announcements.announce('deliveries')
  }
  return { ...endpoint, headersCleared }
}

function readDescription(text: string): string | null {
  return text.trim() === '' ? null : checkDescription(text)
}

/** Returns the changes that a new URL causes; undefined if it is the current one. */
function move(
  { url: previousUrl, headers_encrypted }: Pick<EndpointRow, 'url' | 'headers_encrypted'>,
  url: string,
): { changes: EndpointChanges; clearsHeaders: boolean } | undefined {
  if (url === previousUrl) return undefined
  const clearsHeaders = headers_encrypted !== null && originOf(url) !== originOf(previousUrl)
  return {
    // The failures were those of the previous URL.
    changes: { url, failing_since: null, ...(clearsHeaders && { headers_encrypted: null }) },
    clearsHeaders,
  }
}

/** Scheme, host and port, because another port is another server, and http is not encrypted. */
function originOf(url: string): string {
  return new URL(url).origin
}
