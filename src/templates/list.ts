import type { z } from 'zod'
import { sql } from 'kysely'
import type {
  getTemplate as getTemplateContract,
  listTemplates as listTemplatesContract,
  Template,
  TemplatePage,
} from '../../contracts/api/template.ts'
import {
  type listTemplateProblems as problemsContract,
  type listTemplates as contract,
  maxTemplateProblems,
} from '../../contracts/dashboard/template.ts'
import { invalidField } from '../../contracts/errors.ts'
import { withFacts } from '../../contracts/facts/fact.ts'
import type { InputOf } from '../../contracts/procedure.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Deps } from '../deps.ts'
import { findLastSync, findTemplate, findTemplates, findWabaId, type TemplateRow } from './store.ts'
import { describeUnknownTemplate } from './suggest.ts'
import { requireWabaId } from './sync.ts'
import { findObstacle, toTemplate } from './template.ts'

export async function listTemplates(
  deps: Pick<Deps, 'db'>,
  { accountId }: Caller,
  input: InputOf<typeof listTemplatesContract>,
): Promise<TemplatePage> {
  const wabaId = await requireWabaId(deps, accountId, input.accountId)
  const after = input.cursor === undefined ? undefined : decodeCursor(input.cursor)
  // One extra row shows whether there is a next page.
  const rows = await findTemplates(deps.db, { accountId, wabaId, status: input.status, after, limit: input.limit + 1 })
  const items = rows.slice(0, input.limit).map(toTemplate)
  const last = items.at(-1)
  return { items, ...(rows.length > input.limit && last && { nextCursor: encodeCursor(last) }) }
}

/** A cursor identifies the last template seen as `name.language`; neither can contain a dot. */
function encodeCursor({ name, language }: { name: string; language: string }): string {
  return `${name}.${language}`
}

function decodeCursor(cursor: string): { name: string; language: string } {
  const [name, language, ...rest] = cursor.split('.')
  if (!name || !language || rest.length > 0)
    throw invalidField('cursor', 'must be the nextCursor of the previous page. Leave it out for the first page.')
  return { name, language }
}

export async function getTemplate(
  deps: Pick<Deps, 'db'>,
  { accountId }: Caller,
  input: InputOf<typeof getTemplateContract>,
): Promise<Template> {
  const wabaId = await requireWabaId(deps, accountId, input.accountId)
  const row = await findTemplate(deps.db, { accountId, wabaId, name: input.name, language: input.language })
  if (!row)
    throw await describeUnknownTemplate(deps.db, { accountId, wabaId, name: input.name, language: input.language })
  return toTemplate(row)
}

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
  const reason = findObstacle(row)
  return {
    ...toTemplate(row),
    ...(reason !== undefined && withFacts({ reason })),
    ...(row.qualityScore !== null && { qualityScore: row.qualityScore }),
    ...(row.upcomingCategory !== null && {
      upcomingCategory: {
        category: row.upcomingCategory,
        ...(row.categoryChangesAt && { takesEffectAt: row.categoryChangesAt.toISOString() }),
        ...(row.upcomingCost && { cost: row.upcomingCost }),
      },
    }),
  }
}

interface ProblemRow {
  name: string
  language: string
  status: string
  qualityScore: string | null
  whatsAppAccountId: string
  /** Number of all rows, including those beyond the limit. */
  total: number
}

/** Returns the templates that WhatsApp stopped for their quality or may stop soon, but not those it never approved. */
export async function listTemplateProblems(
  { db }: Pick<Deps, 'db'>,
  { accountId }: z.output<(typeof problemsContract)['input']>,
): Promise<z.output<(typeof problemsContract)['output']>> {
  const { rows } = await sql<ProblemRow>`
    select t.name, t.language, t.status, t.quality_score as "qualityScore", w.id as "whatsAppAccountId",
      (count(*) over ())::integer as total
    from templates t
    -- The templates of a WABA belong to all of its numbers.
    cross join lateral (
      select id from whatsapp_accounts
      where account_id = t.account_id and waba_id = t.waba_id and not switched_off
      order by is_default desc, id limit 1
    ) w
    where t.account_id = ${accountId}
      and (t.status in ('PAUSED', 'DISABLED') or t.status = 'APPROVED' and t.quality_score = 'RED')
    order by t.status = 'APPROVED', t.name, t.language
    limit ${maxTemplateProblems}`.execute(db)
  return {
    items: rows.map(({ name, language, status, qualityScore, whatsAppAccountId }) => ({
      name,
      language,
      status,
      ...(qualityScore !== null && { qualityScore }),
      whatsAppAccountId,
    })),
    total: rows[0]?.total ?? 0,
  }
}
