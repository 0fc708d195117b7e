import { sql } from 'kysely'
import type { z } from 'zod'
import { maxTemplateProblems, type listTemplateProblems as contract } from '../../contracts/dashboard/template.ts'
import type { Deps } from '../deps.ts'

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
  { accountId }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
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
