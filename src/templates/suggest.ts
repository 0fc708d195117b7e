import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../contracts/errors.ts'
import type { Database } from '../platform/db/schema.ts'
import type { TemplateKey } from './store.ts'

/** What a template is called in a request. */
interface TemplateName {
  name: string
  language: string
}

/** Names that differ more are no misspellings. */
const maxDistance = 3
/** Comparing more or longer names would block other requests: these take a few milliseconds at most. */
const maxCandidates = 100
const maxNameLength = 60
const maxLanguages = 5

/** The error for a template that is unknown, with the nearest approved one of the same WABA. */
export async function describeUnknownTemplate(db: Kysely<Database>, key: TemplateKey): Promise<ServiceError> {
  const { name, language } = key
  const suggestion = name.length > maxNameLength ? undefined : suggest(key, await findCandidates(db, key))
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
    .where(sql<number>`length(name)`, '>=', length - maxDistance)
    .where(sql<number>`length(name)`, '<=', length + maxDistance)
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
    .filter(({ distance }) => distance <= Math.min(maxDistance, Math.max(1, Math.floor(name.length / 4))))
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

/**
 * Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the other. Looks only
 * at places that are up to the largest distance apart, so that long names cost little; beyond it, the result is
 * `Infinity`.
 */
function distanceBetween(a: string, b: string): number {
  const width = 2 * maxDistance + 1
  // A place in a row stands for the same difference between the two positions in every row.
  let beforeLast: number[] = []
  let last = Array.from({ length: width }, (_, place) => (place < maxDistance ? Infinity : place - maxDistance))
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = []
    for (let place = 0; place < width; place++) {
      const j = i + place - maxDistance
      if (j < 0 || j > b.length) {
        row.push(Infinity)
        continue
      }
      const replaced = j === 0 ? Infinity : valueAt(last, place) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = j > 1 && i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? valueAt(beforeLast, place) + 1 : Infinity
      row.push(Math.min(valueAt(last, place + 1) + 1, valueAt(row, place - 1) + 1, replaced, swapped))
    }
    if (Math.min(...row) > maxDistance) return Infinity
    ;[beforeLast, last] = [last, row]
  }
  return valueAt(last, b.length - a.length + maxDistance)
}

function valueAt(row: readonly number[], place: number): number {
  return row[place] ?? Infinity
}
