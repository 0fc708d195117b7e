import { type Kysely, sql } from 'kysely'
import { alertFacts } from '../../../contracts/facts/alerts.ts'
import { type FactParam, join } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import type { Database, StoredNotice } from '../../platform/db/schema.ts'
import { blocksSending, describeNotices, listActive, noticeId } from '../../whatsapp-accounts/health/notices.ts'
import { type AlertChange, reportByAccount, type ReportDeps } from './report.ts'
import { nameOfNumber } from './store.ts'

const facts = alertFacts.notice

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'notifications'>

interface Row {
  accountId: string
  whatsAppAccountId: string
  wabaId: string
  name: FactParam
  notices: StoredNotice[]
  announced: string[]
}

/**
 * Alerts about restrictions, warnings and alerts of WhatsApp, once for a WhatsApp Business Account across all nodes, and
 * when they are over. Also ends those that expire without a report. Returns the number of changes.
 */
export async function announceNotices(deps: AlertDeps): Promise<number> {
  const now = deps.now()
  const changed = (await findRows(deps.db)).filter((row) => isChanged(row, now))
  return reportByAccount(deps, changed, (trx, accountId) => changeOfAccount(trx, accountId, now))
}

async function changeOfAccount(trx: Kysely<Database>, accountId: string, now: Date): Promise<AlertChange[]> {
  const byWaba = Map.groupBy(await findRows(trx, accountId), ({ wabaId }) => wabaId)
  const changes: AlertChange[] = []
  for (const rows of byWaba.values()) {
    const changed = rows.filter((row) => isChanged(row, now))
    if (changed.length === 0) continue
    changes.push(...toChange(rows, now))
    for (const row of changed) await markAnnounced(trx, row, now)
  }
  return changes
}

/** Reads all accounts with a notice or an announced one, or one of them. They are few. */
async function findRows(db: Kysely<Database>, accountId?: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId", w.waba_id as "wabaId",
      ${nameOfNumber} as name,
      h.notices, h.announced_notices as announced
    from whatsapp_account_health h join whatsapp_accounts w on w.id = h.whatsapp_account_id
    where (h.notices <> '[]' or h.announced_notices <> '{}')
      and ${accountId === undefined ? sql`true` : sql`h.account_id = ${accountId}`}
    order by h.account_id, h.whatsapp_account_id`.execute(db)
  return rows
}

function idsOf({ notices }: Pick<Row, 'notices'>, now: Date): string[] {
  return listActive(notices, now).map(noticeId).toSorted()
}

function isChanged(row: Row, now: Date): boolean {
  return hasExpired(row, now) || idsOf(row, now).join('\n') !== row.announced.join('\n')
}

function hasExpired({ notices }: Row, now: Date): boolean {
  return notices.some(({ until }) => until <= now.toISOString())
}

/** Also deletes expired notices, in the database: a callback may have added others since they were read. */
async function markAnnounced(trx: Kysely<Database>, row: Row, now: Date): Promise<void> {
  await trx
    .updateTable('whatsapp_account_health')
    .set({
      announced_notices: idsOf(row, now),
      notices: sql`(
        select coalesce(jsonb_agg(notice order by place), '[]')
        from jsonb_array_elements(notices) with ordinality as stored (notice, place)
        where notice ->> 'until' > ${now.toISOString()} collate "C"
      )`,
    })
    .where('account_id', '=', row.accountId)
    .where('whatsapp_account_id', '=', row.whatsAppAccountId)
    .execute()
}

/** Nothing is sent if only some of the notices are over. */
function toChange(rows: readonly Row[], now: Date): AlertChange[] {
  const [first] = rows
  if (!first) return []
  const active = rows.flatMap((row) => listActive(row.notices, now))
  const announced = new Set(rows.flatMap((row) => row.announced))
  const affected = rows.filter((row) => idsOf(row, now).length > 0)
  const about = { accountId: first.accountId, code: 'account_notice', subjectId: first.wabaId } as const
  if (active.length === 0) return announced.size === 0 ? [] : [{ ...about, ...toRecovery(rows) }]
  if (active.every((notice) => announced.has(noticeId(notice)))) return []
  const isBlocking = active.some(blocksSending)
  const name = nameAll(affected)
  return [
    {
      ...about,
      kind: 'raised',
      severity: isBlocking ? 'critical' : 'warning',
      title: active.some(({ kind }) => kind === 'restriction')
        ? facts.restricted(name)
        : active.some(({ kind }) => kind === 'warning')
          ? facts.warned(name)
          : facts.reported(name),
      paragraphs: [
        facts.notices({ notices: describeNotices(active) }),
        ...(isBlocking ? [facts.blocked()] : []),
        facts.review(),
      ],
    },
  ]
}

function toRecovery(rows: readonly Row[]): Pick<AlertChange, 'kind' | 'severity' | 'title' | 'paragraphs'> {
  return { kind: 'recovered', severity: 'warning', title: facts.over(nameAll(rows)), paragraphs: [facts.noneLeft()] }
}

function nameAll(rows: readonly Row[]): { name: FactParam } {
  return {
    name:
      join(
        rows.map(({ name }) => name),
        alertFacts.names,
      ) ?? '',
  }
}
