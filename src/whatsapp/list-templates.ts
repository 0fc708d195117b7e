import { failure } from './read.ts'
import { Template, TemplatePage } from './wire.ts'
import type { ListedTemplate, ReadOutcome } from './whatsapp.ts'
import type { z } from 'zod'

/** Asked for by name: the last two come only then (reference, section 3.1). */
const fields = 'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason'
const pageSize = 100
/** A verified portfolio may have 6000 templates (reference, section 3.2); a server without end must not hold us. */
const maxPages = 200

type Page = z.infer<typeof TemplatePage>
export type ReadPage = (query: string) => Promise<ReadOutcome<Page>>

/**
 * Pages with the cursor alone: `paging.next` is an address that the other side chose, and following it
 * would carry the token there. All pages or none, since a template left out counts as gone.
 */
export async function listTemplates(readPage: ReadPage): Promise<ReadOutcome<ListedTemplate[]>> {
  const templates: ListedTemplate[] = []
  const seen = new Set<string>()
  let after: string | undefined
  do {
    const page = await readPage(toQuery(after))
    if (!page.ok) return page
    templates.push(...page.value.data.flatMap(toListedTemplate))
    after = cursorOf(page.value)
    if (after !== undefined && seen.has(after)) return failure('the list of templates repeats itself')
    if (after !== undefined) seen.add(after)
    if (seen.size >= maxPages) return failure('the list of templates does not end')
  } while (after !== undefined)
  return { ok: true, value: templates }
}

function toQuery(after: string | undefined): string {
  const query = new URLSearchParams({ fields, limit: String(pageSize) })
  if (after !== undefined) query.set('after', after)
  return query.toString()
}

/** The last page may still carry a cursor, but no `next`. */
function cursorOf({ paging }: Page): string | undefined {
  return paging?.next === undefined ? undefined : paging.cursors?.after
}

function toListedTemplate(item: unknown): ListedTemplate[] {
  const parsed = Template.safeParse(item)
  if (!parsed.success) return []
  const { parameter_format, quality_score, rejected_reason, category, ...rest } = parsed.data
  return [
    {
      ...rest,
      parameterFormat: parameter_format,
      ...(category === undefined ? {} : { category }),
      ...(quality_score?.score === undefined ? {} : { qualityScore: quality_score.score }),
      ...(rejected_reason === undefined || rejected_reason === 'NONE' ? {} : { rejectedReason: rejected_reason }),
    },
  ]
}
