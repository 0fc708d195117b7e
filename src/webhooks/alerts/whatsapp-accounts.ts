import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import {
  type ChangedRow,
  findChanged,
  markAnnounced,
  ratings,
} from '../../whatsapp-accounts/health/announcements-store.ts'
import { daysUntil } from '../../whatsapp-accounts/health/findings.ts'
import { whyInactive } from '../../whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { toAccountChange, toTokenRenewed } from './account-texts.ts'
import { type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'announcements'>

interface AnnouncedEvent {
  row: ChangedRow
  event: WhatsAppAccountEvent
}

/**
 * Announces changes of WhatsApp accounts, each once across all nodes, in the log and as events. A change that was
 * undone in the meantime is not announced. Returns the number of announcements.
 */
export async function announceChanges(deps: AlertDeps): Promise<number> {
  const now = deps.now()
  // Checked without a lock, because this runs every few seconds on every node and rarely finds anything.
  if ((await findChanged(deps.db, { now, claim: false })).length === 0) return 0
  const { announced, changed } = await deps.db.transaction().execute(async (trx) => {
    const rows = await findChanged(trx, { now, claim: true })
    const announced = rows.flatMap((row) => toEvents(row, now))
    for (const row of rows) {
      const quality = row.new_quality ?? row.announced_quality
      const ids = { accountId: row.account_id, whatsAppAccountId: row.id }
      await markAnnounced(trx, ids, { active: row.active, notice: row.notice, quality, at: now })
    }
    const events = announced.map(({ row, event }) => ({
      accountId: row.account_id,
      type: event.type,
      // The column holds the ID of the subject of the event.
      messageId: row.id,
      payload: JSON.stringify(event),
    }))
    await recordEvents(trx, events, deps)
    await reportChanges(deps, trx, [
      ...announced.map(({ row, event }) => toAccountChange(row.account_id, event, whyInactive(row))),
      ...rows.filter(isRenewed).map((row) => toTokenRenewed(row.account_id, row)),
    ])
    return { announced, changed: rows.length > 0 }
  })
  // After the commit, so that the workers can already see the deliveries.
  if (announced.length > 0) deps.announcements.announce('deliveries')
  if (changed) wakeSenders(deps)
  for (const entry of announced) logEvent(deps, entry)
  return announced.length
}

type AnnouncedRow = Pick<ChangedRow, 'id' | 'phone_number_id' | 'display_phone_number' | 'is_default'>

function toEventData(row: AnnouncedRow) {
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
  return { type: 'whatsapp_account.inactive', timestamp: now.toISOString(), data: { ...toEventData(row), ...cause } }
}

function toEvents(row: ChangedRow, now: Date): AnnouncedEvent[] {
  const timestamp = now.toISOString()
  const data = toEventData(row)
  const events: WhatsAppAccountEvent[] = []
  if (row.active && !row.announced_active) events.push({ type: 'whatsapp_account.active', timestamp, data })
  if (!row.active && row.announced_active)
    events.push(
      toInactiveEvent(row, now, {
        by: row.switched_off ? 'user' : 'whatsapp',
        reason: inEnglish(whyInactive(row) ?? inactiveReasons.unknown()),
      }),
    )
  if (isExpiringSoon(row, now))
    events.push({
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
    events.push({
      type: 'number.quality_changed',
      timestamp,
      data: { ...data, qualityRating: row.new_quality, previousQualityRating: previous },
    })
  return events.map((event) => ({ row, event }))
}

/** Returns whether the expiry of the token was announced and is no longer near. */
function isRenewed({ notice, announced_expiry_days: announced }: ChangedRow): boolean {
  return notice === null && announced !== null
}

/** Excludes expired tokens, which are reported as a separate finding. */
function isExpiringSoon(row: ChangedRow, now: Date): row is ChangedRow & { token_expires_at: Date } {
  const { token_expires_at: expiresAt, notice, announced_expiry_days: announced } = row
  return expiresAt !== null && expiresAt > now && notice !== null && notice < (announced ?? Infinity)
}

function logEvent({ log }: AlertDeps, { row, event }: AnnouncedEvent): void {
  const ids = { accountId: row.account_id, whatsAppAccountId: row.id }
  switch (event.type) {
    case 'whatsapp_account.active':
      log.info(ids, 'a WhatsApp account is active again')
      break
    case 'whatsapp_account.inactive':
      if (event.data.by === 'user') log.warn(ids, 'a user deactivated a WhatsApp account')
      else
        log.error(
          { ...ids, reason: event.data.reason },
          'WhatsApp rejected a WhatsApp account: it cannot send until its token is replaced or it is activated',
        )
      break
    case 'whatsapp_account.token_expiring':
      log.warn({ ...ids, expiresAt: event.data.expiresAt }, 'the access token of a WhatsApp account expires soon')
      break
    case 'number.quality_changed': {
      const { qualityRating, previousQualityRating } = event.data
      const isWorse = ratings.indexOf(qualityRating) > ratings.indexOf(previousQualityRating)
      const fields = { ...ids, qualityRating, previousQualityRating }
      log[isWorse ? 'warn' : 'info'](fields, 'WhatsApp changed the quality rating of a number')
      break
    }
  }
}
