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
    with numbers as (
      -- In a fixed order, so that two checks of numbers of a WABA cannot deadlock.
      select h.whatsapp_account_id as id
      from whatsapp_account_health h
      join whatsapp_accounts w on w.account_id = h.account_id and w.id = h.whatsapp_account_id
      where w.account_id = ${accountId} and w.waba_id = ${wabaId}
      order by h.whatsapp_account_id
      for update of h
    ), upcoming as (
      select coalesce(jsonb_agg(jsonb_build_object(
        'template', name, 'language', language, 'category', upcoming_category, 'takesEffectAt', category_changes_at
      ) order by category_changes_at, name, language), '[]') as categories
      from templates
      where account_id = ${accountId} and waba_id = ${wabaId} and upcoming_category is not null and status <> 'DELETED'
    )
    update whatsapp_account_health h set upcoming_categories = upcoming.categories
    from numbers, upcoming
    where h.account_id = ${accountId} and h.whatsapp_account_id = numbers.id
      and h.upcoming_categories is distinct from upcoming.categories`.execute(db)
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
