import { fail } from '../errors.ts'
import { ok, pickFields, type SimulatedResponse } from '../exchange.ts'
import type { SimulatorState } from '../state.ts'
import type { GraphTemplate, TemplateList } from './template-list.ts'

const defaultFields = ['name', 'parameter_format', 'components', 'language', 'status', 'category', 'id']
const defaultLimit = 25
/** Filters that take several values, separated by commas or as a JSON array. */
const filters = ['language', 'status', 'category'] as const

/**
 * `GET /<WABA id>/message_templates`: reference, section 3.1. `url` is the requested address, including the version.
 */
export function listTemplates(
  state: SimulatorState,
  wabaId: string,
  query: URLSearchParams,
  url: string,
): SimulatedResponse {
  const all = state.templates.get(wabaId)?.all() ?? []
  const matching = all.filter((template) => matchesFilters(template, query))
  const limit = Number(query.get('limit') ?? defaultLimit)
  if (!Number.isInteger(limit) || limit < 1) return invalid('limit')
  const range = rangeOf(matching, query, limit)
  if (!range) return invalid('after')
  const page = matching.slice(range.from, range.to)
  return ok({
    data: page.map((template) => pickFields(template, query, defaultFields)),
    paging: toPaging(page, { query, url, hasPrevious: range.from > 0, hasNext: range.to < matching.length }),
    ...summarize(query, { total: matching.length, all: all.length }),
  })
}

/** The most templates that a WABA of an unverified business can have (reference, section 3.2). */
const maxTemplates = 250

/** `summary` of a list: reference 2, section 3.1. */
function summarize(query: URLSearchParams, { total, all }: { total: number; all: number }): { summary?: object } {
  const fields = query.get('summary')?.split(',')
  if (!fields) return {}
  const summary = {
    total_count: total,
    message_template_count: all,
    message_template_limit: maxTemplates,
    are_translations_complete: true,
  }
  return { summary: Object.fromEntries(Object.entries(summary).filter(([field]) => fields.includes(field))) }
}

/** `GET /<template id>`. */
export function getTemplate(lists: TemplateList[], id: string, query: URLSearchParams): SimulatedResponse | undefined {
  const template = lists.flatMap((list) => [...list.all()]).find((one) => one.id === id)
  return template && ok(pickFields(template, query, defaultFields))
}

function matchesFilters(template: GraphTemplate, query: URLSearchParams): boolean {
  const { name, quality_score } = template
  const text = textOf(template)
  return (
    filters.every((field) => isAmong(template[field], query.get(field))) &&
    isAmong(quality_score.score, query.get('quality_score')) &&
    isAmong(name, query.get('name')) &&
    contains([text], query.get('content')) &&
    contains([name, text], query.get('name_or_content'))
  )
}

function textOf({ components }: GraphTemplate): string {
  return components.map(({ text }) => text ?? '').join('\n')
}

function isAmong(value: string, filter: string | null): boolean {
  return filter === null || listOf(filter).some((wanted) => wanted.toLowerCase() === value.toLowerCase())
}

function contains(texts: string[], filter: string | null): boolean {
  return filter === null || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()))
}

/** `APPROVED,PAUSED` or `["APPROVED","PAUSED"]`: clients send either. */
function listOf(filter: string): string[] {
  return filter
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((part) => part.trim().replace(/^"|"$/g, ''))
}

/** A cursor names a template, so that changes of the list between pages neither lose nor repeat other templates. */
function rangeOf(
  templates: readonly GraphTemplate[],
  query: URLSearchParams,
  limit: number,
): { from: number; to: number } | undefined {
  const cursor = query.get('after') ?? query.get('before')
  if (cursor === null) return { from: 0, to: limit }
  const at = templates.findIndex(({ id }) => id === Buffer.from(cursor, 'base64url').toString())
  if (at < 0) return undefined
  return query.has('after') ? { from: at + 1, to: at + 1 + limit } : { from: Math.max(0, at - limit), to: at }
}

function toPaging(
  page: readonly GraphTemplate[],
  { query, url, hasPrevious, hasNext }: { query: URLSearchParams; url: string; hasPrevious: boolean; hasNext: boolean },
) {
  const [first] = page
  const last = page.at(-1)
  if (!first || !last) return undefined
  const cursors = { before: toCursor(first), after: toCursor(last) }
  return {
    cursors,
    ...(hasPrevious ? { previous: toAddress(url, query, 'before', cursors.before) } : {}),
    ...(hasNext ? { next: toAddress(url, query, 'after', cursors.after) } : {}),
  }
}

function toCursor({ id }: GraphTemplate): string {
  return Buffer.from(id).toString('base64url')
}

function toAddress(url: string, query: URLSearchParams, direction: 'before' | 'after', cursor: string): string {
  const next = new URLSearchParams(query)
  next.delete('before')
  next.delete('after')
  next.set(direction, cursor)
  return `${url}?${next.toString()}`
}

function invalid(parameter: string): SimulatedResponse {
  return fail({ status: 400, code: 100, title: 'Invalid parameter', details: `Parameter ${parameter} is not valid` })
}
