import type { z } from 'zod'
import { failure } from './read.ts'
import type { Page } from './wire.ts'
import type { ReadOutcome } from './whatsapp.ts'

type PageNode = z.infer<typeof Page>
export type ReadPage = (query: string) => Promise<ReadOutcome<PageNode>>

const pageSize = 100
/** A verified portfolio may have 6000 templates (reference, section 3.2); a server without end must not hold us. */
const maxPages = 200

/**
 * The items of all pages. Pages with the cursor alone: `paging.next` is an address that the other side chose, and
 * following it would carry the token there. All pages or none, since an item left out counts as gone.
 */
export async function readPages(
  readPage: ReadPage,
  { fields, of }: { fields: string; of: string },
): Promise<ReadOutcome<unknown[]>> {
  const items: unknown[] = []
  const seen = new Set<string>()
  let after: string | undefined
  do {
    const page = await readPage(toQuery(fields, after))
    if (!page.ok) return page
    items.push(...page.value.data)
    after = cursorOf(page.value)
    if (after !== undefined && seen.has(after)) return failure(`the list of ${of} repeats itself`)
    if (after !== undefined) seen.add(after)
    if (seen.size >= maxPages) return failure(`the list of ${of} does not end`)
  } while (after !== undefined)
  return { ok: true, value: items }
}

function toQuery(fields: string, after: string | undefined): string {
  const query = new URLSearchParams({ fields, limit: String(pageSize) })
  if (after !== undefined) query.set('after', after)
  return query.toString()
}

/** The last page may still carry a cursor, but no `next`. */
function cursorOf({ paging }: PageNode): string | undefined {
  return paging?.next === undefined ? undefined : paging.cursors?.after
}
