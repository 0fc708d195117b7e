import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../contracts/errors.ts'
import type { Database } from '../platform/db/schema.ts'
import type { TemplateKey } from './store.ts'

/** What a template is called in a request. */
interface TemplateName {
  name: string
  language: string
}

/** Names that differ more in length are not looked at, and neither are templates beyond the limit. */
const maxLengthDifference = 3
const maxCandidates = 500
const maxLanguages = 5

/** The error for a template that is unknown, with the nearest approved one of the same WABA. */
export async function describeUnknownTemplate(db: Kysely<Database>, key: TemplateKey): Promise<ServiceError> {
  const { name, language } = key
  const suggestion = suggest(key, await findCandidates(db, key))
  const message = `There is no template ${JSON.stringify(name)} in language ${language}.`
  return new ServiceError('TEMPLATE_NOT_FOUND', suggestion === undefined ? message : `${message} ${suggestion}`)
}

function findCandidates(
  db: Kysely<Database>,
  { accountId, wabaId, name }: Omit<TemplateKey, 'language'>,
): Promise<TemplateName[]> {
  const length = [...name].length
  return db
    .selectFrom('templates')
    .select(['name', 'language'])
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .where('status', '=', 'APPROVED')
    .where(sql<number>`length(name)`, '>=', length - maxLengthDifference)
    .where(sql<number>`length(name)`, '<=', length + maxLengthDifference)
    .orderBy((eb) => eb('name', '=', name), 'desc')
    .orderBy('name')
    .orderBy('language')
    .limit(maxCandidates)
    .execute()
}

/** A sentence about the nearest template; undefined if none is near. */
export function suggest({ name, language }: TemplateName, candidates: readonly TemplateName[]): string | undefined {
  const languages = candidates.filter((candidate) => candidate.name === name).map((candidate) => candidate.language)
  if (languages.length > 0) return `It exists in ${formatList(sortByNearness(languages, language))}.`
  const [nearest] = candidates
    .map((candidate) => ({ ...candidate, distance: distanceBetween(candidate.name, name) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(name.length / 4)))
    .toSorted((a, b) => a.distance - b.distance || isNear(b.language, language) - isNear(a.language, language))
  return nearest && `Did you mean ${JSON.stringify(nearest.name)} in language ${nearest.language}?`
}

function sortByNearness(languages: readonly string[], wanted: string): string[] {
  return languages.toSorted((a, b) => isNear(b, wanted) - isNear(a, wanted))
}

/** 2 for the same language, 1 for another region of it: `en` is near `en_US`. */
function isNear(language: string, wanted: string): number {
  if (language === wanted) return 2
  return language.slice(0, 2) === wanted.slice(0, 2) ? 1 : 0
}

function formatList(languages: readonly string[]): string {
  const shown = languages.slice(0, maxLanguages)
  return shown.length < languages.length
    ? `${shown.join(', ')} and other languages`
    : new Intl.ListFormat('en').format(shown)
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function distanceBetween(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, place) => place)]
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (beforeLast[j - 2] ?? Infinity) + 1 : Infinity
      current.push(Math.min((last[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, replaced, swapped))
    }
    ;[beforeLast, last] = [last, current]
  }
  return last[b.length] ?? 0
}
