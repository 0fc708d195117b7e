import type { z } from 'zod'
import { isNumbered } from '../../../contracts/templates/definition.ts'
import { type ErrorMeaning, isTransient, lacksPermission } from '../error-codes.ts'
import type { ReadOutcome } from '../read-outcome.ts'
import type { ListedTemplate } from '../template-management.ts'
import type { Exchange } from './exchange.ts'
import { findError, readRefusal } from './refusal.ts'
import { type Page, parseJson, Template } from './wire.ts'

/** Interprets the result of a read whose response must match `schema`. Gateways may pass on an error with HTTP 200. */
export function parseResponse<T>(exchange: Exchange, schema: z.ZodType<T>, accessToken: string): ReadOutcome<T> {
  if (exchange.kind !== 'answered') return failure(exchange.reason)
  if (exchange.status >= 300) return readFailure(exchange, accessToken)
  const body = exchange.body === undefined ? undefined : parseJson(exchange.body)
  // Most fields of a result are optional, so an error would pass for one without them.
  const parsed = findError(body, exchange.status) ? undefined : schema.safeParse(body)
  return parsed?.success ? { ok: true, value: parsed.data } : readFailure(exchange, accessToken)
}

function failure(reason: string): ReadOutcome<never> {
  return { ok: false, refused: false, accountUnusable: false, reason }
}

function readFailure(answer: Extract<Exchange, { kind: 'answered' }>, accessToken: string): ReadOutcome<never> {
  const refusal = readRefusal(answer, [accessToken])
  if (!refusal) return failure(`an unreadable response${answer.status < 300 ? '' : ` with HTTP ${answer.status}`}`)
  const { errorClass, error, deniesAccess, subcode } = refusal
  const { errorCode, accountUnusable, retryAfterSeconds }: Partial<ErrorMeaning> =
    errorClass.kind === 'refused' ? errorClass : {}
  return {
    ok: false,
    refused: true,
    // Reads and changes of templates and numbers take another permission than sending.
    accountUnusable: accountUnusable === true && !lacksPermission(error.code),
    reason: `WhatsApp returned error code ${error.code}`,
    error,
    ...(deniesAccess && { accessDenied: true }),
    ...(subcode !== undefined && { subcode }),
    ...(isTransient(errorClass) && { transient: true }),
    ...(errorCode === 'WHATSAPP_THROTTLED' && { throttled: true }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

type PageNode = z.infer<typeof Page>
export type ReadPage = (query: string) => Promise<ReadOutcome<PageNode>>

const pageSize = 100
/** A verified business can have 6000 templates (reference, section 3.2). The limit stops lists that never end. */
const maxPages = 200

/**
 * Reads the items of all pages. Uses only the cursor, because following `paging.next`, a URL from the response, could
 * leak the token. Returns all pages or none, because a missing item counts as deleted.
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
    const { paging } = page.value
    // The last page may have a cursor, but it has no `next`.
    after = paging?.next === undefined ? undefined : paging.cursors?.after
    if (paging?.next !== undefined && after === undefined) return failure(`the list of ${of} has no cursor`)
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

/** The last four fields are guaranteed only if requested (reference, section 3.1). */
export const templateFields =
  'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason,correct_category,message_send_ttl_seconds'

export async function listTemplates(readPage: ReadPage): Promise<ReadOutcome<ListedTemplate[]>> {
  const read = await readWithSource(readPage)
  return read.ok ? { ok: true, value: read.value.flatMap(parseTemplate) } : read
}

/** Providers and old versions may not know `source`, and an unknown field fails the whole request (100). */
async function readWithSource(readPage: ReadPage): Promise<ReadOutcome<unknown[]>> {
  const read = await readPages(readPage, { fields: `${templateFields},source`, of: 'templates' })
  return read.ok || read.error?.code !== 100 ? read : readPages(readPage, { fields: templateFields, of: 'templates' })
}

/**
 * Leaves out what Direct Send generated from someone's messages (autumn reference, section 8): nobody can edit or delete
 * such a template, and integrators report that no message can name it (132018).
 */
function parseTemplate(item: unknown): ListedTemplate[] {
  const parsed = Template.safeParse(item)
  return parsed.success && parsed.data.source !== 'AUTO_GENERATED' ? [toListedTemplate(parsed.data)] : []
}

export function toListedTemplate(template: Template): ListedTemplate {
  const { id, name, language, status, components, category, correct_category: announced } = template
  const { parameter_format, quality_score, rejected_reason, message_send_ttl_seconds: ttlSeconds } = template
  return {
    id,
    name,
    language,
    status,
    components,
    parameterFormat: parameter_format ?? guessParameterFormat(components),
    ...(category === undefined ? {} : { category }),
    // A rejected template can't change any more.
    ...(announced !== undefined && announced !== category && status !== 'REJECTED' && { announcedCategory: announced }),
    ...(quality_score?.score === undefined ? {} : { qualityScore: quality_score.score }),
    ...(rejected_reason === undefined || rejected_reason === 'NONE' ? {} : { rejectedReason: rejected_reason }),
    // -1 stands for no lifetime of its own.
    ...(ttlSeconds !== undefined && ttlSeconds > 0 && { ttlSeconds }),
  }
}

/** Without the format of its parameters, a template with names would be sent without them, which WhatsApp rejects. */
function guessParameterFormat(components: Template['components']): 'NAMED' | 'POSITIONAL' {
  const texts = components.flatMap(({ text, cards = [] }) => [
    text,
    ...cards.flatMap((card) => card.components.map((part) => part.text)),
  ])
  return texts.every((text = '') => isNumbered({ body: { text } })) ? 'POSITIONAL' : 'NAMED'
}
