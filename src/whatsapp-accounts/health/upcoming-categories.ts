import { type Kysely, sql } from 'kysely'
import { findings } from '../../../contracts/facts/findings.ts'
import type { Database, UpcomingCategory } from '../../platform/db/schema.ts'
import type { Finding } from './finding.ts'

const facts = findings.categoryChanging

/** Stores which templates of a WABA will get another category with the health of its WhatsApp accounts. */
export async function refreshUpcomingCategories(
  db: Kysely<Database>,
  { accountId, wabaId }: { accountId: string; wabaId: string },
): Promise<void> {
  await sql`
    update whatsapp_account_health h
    set upcoming_categories = coalesce((
      select jsonb_agg(jsonb_build_object(
        'template', t.name, 'language', t.language, 'category', t.upcoming_category, 'takesEffectAt', t.category_changes_at
      ) order by t.category_changes_at, t.name, t.language)
      from templates t
      where t.account_id = w.account_id and t.waba_id = w.waba_id and t.upcoming_category is not null
        and t.status <> 'DELETED'
    ), '[]')
    from whatsapp_accounts w
    where w.account_id = ${accountId} and w.waba_id = ${wabaId}
      and h.account_id = w.account_id and h.whatsapp_account_id = w.id`.execute(db)
}

/** A template in the wrong category is rejected instead if the right one is AUTHENTICATION (autumn reference, section 3.1). */
export function isRejectedInstead(category: string): boolean {
  return category === 'AUTHENTICATION'
}

/** The sentence also states the number of all templates. */
const maxNamed = 3

export function findUpcomingCategories(upcoming: readonly UpcomingCategory[]): Finding[] {
  if (upcoming.length === 0) return []
  const named = upcoming.slice(0, maxNamed).map(describe).join(', ')
  const templates = upcoming.length > maxNamed ? `${named}, …` : named
  const isRejected = upcoming.some(({ category }) => isRejectedInstead(category))
  return [
    {
      code: 'category_changing',
      severity: 'warning',
      blocksSending: false,
      message: facts.message({ count: upcoming.length, templates }),
      fix: isRejected ? facts.createAgain() : facts.keepCategory(),
    },
  ]
}

function describe({ template, language, category, takesEffectAt }: UpcomingCategory): string {
  return `${template} (${language}) → ${category}${takesEffectAt === null ? '' : ` (${takesEffectAt.slice(0, 10)})`}`
}
