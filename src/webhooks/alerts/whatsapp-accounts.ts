import { type Kysely, sql } from 'kysely'
import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import { daysUntil, expiryDays } from '../../accounts/whatsapp/health/findings.ts'
import { whyInactive } from '../../accounts/whatsapp/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents } from '../events/store.ts'

type AlertDeps = Pick<Deps, 'db' | 'now' | 'log' | 'newId' | 'randomBytes' | 'announcements'>

interface ChangedRow {
  account_id: string
  id: string
  phone_number_id: string
  display_phone_number: string | null
  is_default: boolean
  active: boolean
  switched_off: boolean
  inactive_reason: string | null
  announced_active: boolean
  token_expires_at: Date | null
  announced_expiry_days: number | null
}

interface Alert {
  row: ChangedRow
  event: WhatsAppAccountEvent
}

const maxRows = 200

/**
 * Announces changes of WhatsApp accounts, each once, whichever node does it: with a log line, and with an event for the
 * webhooks. A change that was undone before it was seen is not announced. Reads all accounts. Returns the number of
 * announcements.
 */
export async function announceChanges(deps: AlertDeps): Promise<number> {
  const alerts = await deps.db.transaction().execute(async (trx) => {
    const rows = await claimChanged(trx)
    const now = deps.now()
    const found = rows.flatMap((row) => toAlerts(row, now))
    for (const row of rows) await markAnnounced(trx, row, now)
    const events = found.map(({ row, event }) => ({
      accountId: row.account_id,
      type: event.type,
      // The column holds the ID of what the event is about.
      messageId: row.id,
      payload: JSON.stringify(event),
    }))
    await recordEvents(trx, events, deps)
    return found
  })
  // After the commit: the workers find the deliveries that they are woken for.
  if (alerts.length > 0) deps.announcements.announce('deliveries')
  for (const alert of alerts) logAlert(deps, alert)
  return alerts.length
}

/**
 * Finds accounts whose state or notice is not the announced one, such as `findNotice` decides it, and locks them, so that
 * of several nodes one announces.
 */
async function claimChanged(trx: Kysely<Database>): Promise<ChangedRow[]> {
  const { rows } = await sql<ChangedRow>`
    select w.account_id, w.id, w.phone_number_id, w.display_phone_number, w.is_default, w.active, w.switched_off,
      w.inactive_reason, h.announced_active, h.token_expires_at, h.announced_expiry_days
    from whatsapp_account_health h join whatsapp_accounts w on w.id = h.whatsapp_account_id
    where h.announced_active <> w.active
      or h.announced_expiry_days is distinct from case
        when h.token_expires_at < now() + interval '1 day' then 0
        when h.token_expires_at < now() + interval '2 days' then 1
        when h.token_expires_at < now() + interval '8 days' then 7
        when h.token_expires_at < now() + interval '15 days' then 14
      end
    order by w.account_id, w.id
    limit ${maxRows}
    for update of h skip locked`.execute(trx)
  return rows
}

type AnnouncedRow = Pick<ChangedRow, 'id' | 'phone_number_id' | 'display_phone_number' | 'is_default'>

function toFacts(row: AnnouncedRow) {
  return {
    accountId: row.id,
    phoneNumberId: row.phone_number_id,
    ...(row.display_phone_number !== null && { displayPhoneNumber: row.display_phone_number }),
    isDefault: row.is_default,
  }
}

export function toInactiveEvent(
  row: AnnouncedRow,
  now: Date,
  cause: { by: 'user' | 'whatsapp'; reason: string },
): WhatsAppAccountEvent {
  return { type: 'whatsapp_account.inactive', timestamp: now.toISOString(), data: { ...toFacts(row), ...cause } }
}

function toAlerts(row: ChangedRow, now: Date): Alert[] {
  const timestamp = now.toISOString()
  const data = toFacts(row)
  const alerts: WhatsAppAccountEvent[] = []
  if (row.active && !row.announced_active) alerts.push({ type: 'whatsapp_account.active', timestamp, data })
  if (!row.active && row.announced_active)
    alerts.push(
      toInactiveEvent(row, now, {
        by: row.switched_off ? 'user' : 'whatsapp',
        reason: whyInactive(row) ?? 'reason unknown',
      }),
    )
  const notice = findNotice(row, now)
  if (row.token_expires_at && notice !== null && notice < (row.announced_expiry_days ?? Infinity))
    alerts.push({
      type: 'whatsapp_account.token_expiring',
      timestamp,
      data: {
        ...data,
        expiresAt: row.token_expires_at.toISOString(),
        daysLeft: Math.max(0, daysUntil(row.token_expires_at, now)),
      },
    })
  return alerts.map((event) => ({ row, event }))
}

/** The shortest notice whose time has come: 14, 7, 1 or 0 days; null if there is none yet. */
function findNotice({ token_expires_at }: ChangedRow, now: Date): number | null {
  if (!token_expires_at) return null
  const left = Math.max(0, daysUntil(token_expires_at, now))
  return expiryDays.findLast((days) => left <= days) ?? null
}

async function markAnnounced(trx: Kysely<Database>, row: ChangedRow, now: Date): Promise<void> {
  await trx
    .updateTable('whatsapp_account_health')
    .set({ announced_active: row.active, announced_expiry_days: findNotice(row, now) })
    .where('account_id', '=', row.account_id)
    .where('whatsapp_account_id', '=', row.id)
    .execute()
}

function logAlert({ log }: AlertDeps, { row, event }: Alert): void {
  const owner = { accountId: row.account_id, whatsAppAccountId: row.id }
  switch (event.type) {
    case 'whatsapp_account.active':
      log.info(owner, 'a WhatsApp account is active again')
      break
    case 'whatsapp_account.inactive':
      if (event.data.by === 'user') log.warn(owner, 'a user deactivated a WhatsApp account')
      else
        log.error(
          { ...owner, reason: event.data.reason },
          'WhatsApp rejected a WhatsApp account: nothing can be sent from it until its token is replaced or it is activated',
        )
      break
    case 'whatsapp_account.token_expiring':
      log.warn({ ...owner, expiresAt: event.data.expiresAt }, 'the access token of a WhatsApp account expires soon')
      break
  }
}
