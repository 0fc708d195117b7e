import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import {
  type ChangedRow,
  findChanged,
  markAnnounced,
  ratings,
} from '../../accounts/whatsapp/health/announcements-store.ts'
import { daysUntil } from '../../accounts/whatsapp/health/findings.ts'
import { whyInactive } from '../../accounts/whatsapp/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { toAccountChange, toTokenRenewed } from './account-texts.ts'
import { type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'announcements'>

interface Alert {
  row: ChangedRow
  event: WhatsAppAccountEvent
}

/**
 * Announces changes of WhatsApp accounts, each once, whichever node does it: with a log line, and with an event for the
 * webhooks. A change that was undone before it was seen is not announced. Returns the number of announcements.
 */
export async function announceChanges(deps: AlertDeps): Promise<number> {
  const now = deps.now()
  // This runs every few seconds on every node, and nearly always finds nothing.
  if ((await findChanged(deps.db, { now, claim: false })).length === 0) return 0
  const { found: alerts, changed } = await deps.db.transaction().execute(async (trx) => {
    const rows = await findChanged(trx, { now, claim: true })
    const found = rows.flatMap((row) => toAlerts(row, now))
    for (const row of rows) {
      const quality = row.new_quality ?? row.announced_quality
      const owner = { accountId: row.account_id, whatsAppAccountId: row.id }
      await markAnnounced(trx, owner, { active: row.active, notice: row.notice, quality, at: now })
    }
    const events = found.map(({ row, event }) => ({
      accountId: row.account_id,
      type: event.type,
      // The column holds the ID of what the event is about.
      messageId: row.id,
      payload: JSON.stringify(event),
    }))
    await recordEvents(trx, events, deps)
    await reportChanges(deps, trx, [
      ...found.map(({ row, event }) => toAccountChange(row.account_id, event)),
      ...rows.filter(isRenewed).map((row) => toTokenRenewed(row.account_id, row)),
    ])
    return { found, changed: rows.length > 0 }
  })
  // After the commit: the workers find the deliveries that they are woken for.
  if (alerts.length > 0) deps.announcements.announce('deliveries')
  if (changed) wakeSenders(deps)
  for (const alert of alerts) logAlert(deps, alert)
  return alerts.length
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
  if (isExpiringSoon(row, now))
    alerts.push({
      type: 'whatsapp_account.token_expiring',
      timestamp,
      data: {
        ...data,
        expiresAt: row.token_expires_at.toISOString(),
        daysLeft: daysUntil(row.token_expires_at, now),
      },
    })
  const previous = ratings.find((rating) => rating === row.announced_quality)
  if (row.new_quality !== null && previous !== undefined)
    alerts.push({
      type: 'number.quality_changed',
      timestamp,
      data: { ...data, qualityRating: row.new_quality, previousQualityRating: previous },
    })
  return alerts.map((event) => ({ row, event }))
}

/** Its expiry was announced, and is far away again. */
function isRenewed({ notice, announced_expiry_days: announced }: ChangedRow): boolean {
  return notice === null && announced !== null
}

/** A token that has expired already is a finding of its own. */
function isExpiringSoon(row: ChangedRow, now: Date): row is ChangedRow & { token_expires_at: Date } {
  const { token_expires_at: expiresAt, notice, announced_expiry_days: announced } = row
  return expiresAt !== null && expiresAt > now && notice !== null && notice < (announced ?? Infinity)
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
    case 'number.quality_changed': {
      const { qualityRating, previousQualityRating } = event.data
      const isWorse = ratings.indexOf(qualityRating) > ratings.indexOf(previousQualityRating)
      const facts = { ...owner, qualityRating, previousQualityRating }
      log[isWorse ? 'warn' : 'info'](facts, 'WhatsApp changed the quality rating of a number')
      break
    }
  }
}
