import type { Kysely } from 'kysely'
import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import { alertFacts, timeOf } from '../../../contracts/facts/alerts.ts'
import { type Fact, type FactParam, inEnglish, type Sentence } from '../../../contracts/facts/fact.ts'
import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import { toInternational } from '../../../contracts/phone-number.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { Displaced } from '../../whatsapp-accounts/displace.ts'
import {
  type ChangedRow,
  findChanged,
  markAnnounced,
  ratings,
} from '../../whatsapp-accounts/health/announcements-store.ts'
import { daysUntil } from '../../whatsapp-accounts/health/findings.ts'
import { whyInactive } from '../../whatsapp-accounts/whatsapp-account.ts'
import { recordEvents, toUnrecordedEvent } from '../events.ts'
import { type AlertChange, reportChanges, type ReportDeps } from './report.ts'
import { wakeSenders } from './send.ts'

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'notifications'>

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
      const quality = row.newQuality ?? row.announcedQuality
      const ids = { accountId: row.accountId, whatsAppAccountId: row.id }
      await markAnnounced(trx, ids, { active: row.active, notice: row.notice, quality, at: now })
    }
    const events = announced.map(({ row, event }) => toUnrecordedEvent({ accountId: row.accountId, id: row.id }, event))
    await reportChanges(deps, trx, [
      ...announced.map(({ row, event }) => toAccountChange(row.accountId, event, whyInactive(row))),
      ...rows.filter(isRenewed).map((row) => toTokenRenewed(row.accountId, row)),
    ])
    await recordEvents(deps, trx, events)
    return { announced, changed: rows.length > 0 }
  })
  // After the commit, so that the workers can already see the deliveries.
  if (announced.length > 0) deps.notifications.notify('deliveries')
  if (changed) wakeSenders(deps)
  for (const entry of announced) logEvent(deps, entry)
  return announced.length
}

type AnnouncedRow = Pick<ChangedRow, 'id' | 'phoneNumberId' | 'displayPhoneNumber' | 'isDefault'>

function toEventData(row: AnnouncedRow) {
  return {
    accountId: row.id,
    phoneNumberId: row.phoneNumberId,
    ...(row.displayPhoneNumber !== null && { displayPhoneNumber: row.displayPhoneNumber }),
    isDefault: row.isDefault,
  }
}

function toInactiveEvent(
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
  if (row.active && !row.announcedActive) events.push({ type: 'whatsapp_account.active', timestamp, data })
  if (!row.active && row.announcedActive)
    events.push(
      toInactiveEvent(row, now, {
        by: row.switchedOff ? 'user' : 'whatsapp',
        reason: inEnglish(whyInactive(row) ?? inactiveReasons.unknown()),
      }),
    )
  if (isExpiringSoon(row, now))
    events.push({
      type: 'whatsapp_account.token_expiring',
      timestamp,
      data: {
        ...data,
        expiresAt: row.tokenExpiresAt.toISOString(),
        daysLeft: daysUntil(row.tokenExpiresAt, now),
      },
    })
  const previous = ratings.find((rating) => rating === row.announcedQuality)
  if (row.newQuality !== null && previous !== undefined)
    events.push({
      type: 'number.quality_changed',
      timestamp,
      data: { ...data, qualityRating: row.newQuality, previousQualityRating: previous },
    })
  return events.map((event) => ({ row, event }))
}

/** Returns whether the expiry of the token was announced and is no longer near. */
function isRenewed({ notice, announcedExpiryDays: announced }: ChangedRow): boolean {
  return notice === null && announced !== null
}

/** Excludes expired tokens, which are reported as a separate finding. */
function isExpiringSoon(row: ChangedRow, now: Date): row is ChangedRow & { tokenExpiresAt: Date } {
  const { tokenExpiresAt: expiresAt, notice, announcedExpiryDays: announced } = row
  return expiresAt !== null && expiresAt > now && notice !== null && notice < (announced ?? Infinity)
}

function logEvent({ log }: AlertDeps, { row, event }: AnnouncedEvent): void {
  const ids = { accountId: row.accountId, whatsAppAccountId: row.id }
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

/**
 * Records the event of a WhatsApp account that lost its number to another account, and alerts the members. The row is
 * deleted in the same transaction, so the periodic job would never find it.
 */
export async function reportDisplacement(
  deps: ReportDeps & Pick<Deps, 'randomBytes'>,
  trx: Kysely<Database>,
  { row, isKnownInactive }: Displaced,
): Promise<void> {
  if (isKnownInactive) return
  const reason = inactiveReasons.displaced()
  const event = toInactiveEvent(row, deps.now(), { by: 'whatsapp', reason: inEnglish(reason) })
  await reportChanges(deps, trx, [toAccountChange(row.accountId, event, reason)])
  await recordEvents(deps, trx, [toUnrecordedEvent({ accountId: row.accountId, id: row.id }, event)])
}

/** Returns the alert for an event of a WhatsApp account. `reason` says why it is inactive. */
function toAccountChange(
  accountId: string,
  event: WhatsAppAccountEvent,
  reason: Sentence = inactiveReasons.unknown(),
): AlertChange {
  const number = nameNumber(event.data.displayPhoneNumber, event.data.phoneNumberId)
  const about = { accountId, subjectId: event.data.accountId }
  switch (event.type) {
    case 'whatsapp_account.inactive': {
      const { by, isDefault } = event.data
      const { title, byUser, byWhatsApp, isDefault: rejectsAll, isNamed } = alertFacts.inactive
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'raised',
        severity: by === 'user' ? 'warning' : 'critical',
        title: title({ number }),
        paragraphs: [
          by === 'user' ? byUser({ number }) : byWhatsApp({ number, reason }),
          isDefault ? rejectsAll() : isNamed(),
        ],
      }
    }
    case 'whatsapp_account.active':
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'recovered',
        severity: 'critical',
        title: alertFacts.active.title({ number }),
        paragraphs: [alertFacts.active.body({ number })],
      }
    case 'whatsapp_account.token_expiring':
      return {
        ...about,
        code: 'token_expiring',
        kind: 'raised',
        severity: event.data.daysLeft <= 1 ? 'critical' : 'warning',
        title: describeDays(number, event.data.daysLeft),
        paragraphs: [
          alertFacts.tokenExpiring.at({ number, at: timeOf(new Date(event.data.expiresAt)) }),
          alertFacts.tokenExpiring.replace(),
        ],
      }
    case 'number.quality_changed': {
      const said = { number, qualityRating: event.data.qualityRating }
      const isGreen = event.data.qualityRating === 'GREEN'
      return {
        ...about,
        code: 'quality_low',
        kind: isGreen ? 'recovered' : 'raised',
        severity: 'warning',
        title: alertFacts.quality.title(said),
        paragraphs: [alertFacts.quality.body(said), ...(isGreen ? [] : [alertFacts.quality.advice()])],
      }
    }
  }
}

function describeDays(number: FactParam, days: number): Fact {
  const { withinADay, inADay, inDays } = alertFacts.tokenExpiring
  if (days < 1) return withinADay({ number })
  return days === 1 ? inADay({ number }) : inDays({ number, days })
}

/** Returns the recovery for a token that was replaced or refreshed. */
function toTokenRenewed(
  accountId: string,
  row: { id: string; phoneNumberId: string; displayPhoneNumber: string | null },
): AlertChange {
  const number = nameNumber(row.displayPhoneNumber, row.phoneNumberId)
  return {
    accountId,
    subjectId: row.id,
    code: 'token_expiring',
    kind: 'recovered',
    severity: 'critical',
    title: alertFacts.tokenRenewed.title({ number }),
    paragraphs: [alertFacts.tokenRenewed.body({ number })],
  }
}

function nameNumber(display: string | null | undefined, phoneNumberId: string): string | Fact {
  return display ? toInternational(display) : alertFacts.phoneNumberId({ phoneNumberId })
}
