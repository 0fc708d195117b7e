import type { z } from 'zod'
import type { listTemplates as contract } from '../../contracts/dashboard/template.ts'
import type { Deps } from '../deps.ts'
import { decodeCursor, encodeCursor } from './list.ts'
import { findLastSync, findTemplates, findWabaId, type TemplateRow } from './store.ts'
import { toTemplate } from './template.ts'

/** Returns the templates as shown to users. Without a WhatsApp account there are none. */
export async function listOwnTemplates(
  { db }: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, status, cursor, limit }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const wabaId = await findWabaId(db, accountId, whatsAppAccountId)
  if (wabaId === undefined) return { items: [] }
  const rows = await findTemplates(db, { accountId, wabaId, status, after, limit: limit + 1 })
  const syncedAt = await findLastSync(db, accountId, wabaId)
  const items = rows.slice(0, limit).map(toOwnTemplate)
  const last = items.at(-1)
  return {
    items,
    ...(rows.length > limit && last && { nextCursor: encodeCursor(last) }),
    ...(syncedAt && { syncedAt: syncedAt.toISOString() }),
  }
}

function toOwnTemplate(row: TemplateRow): z.output<(typeof contract)['output']>['items'][number] {
  return {
    ...toTemplate(row),
    ...(row.quality_score !== null && { qualityScore: row.quality_score }),
    // WhatsApp returns NONE for templates that it did not reject (reference, section 3.1).
    ...(row.rejected_reason !== null && row.rejected_reason !== 'NONE' && { rejectedReason: row.rejected_reason }),
    ...(row.upcoming_category !== null && {
      upcomingCategory: {
        category: row.upcoming_category,
        ...(row.category_changes_at && { takesEffectAt: row.category_changes_at.toISOString() }),
        ...(row.upcoming_cost && { cost: row.upcoming_cost }),
      },
    }),
  }
}
