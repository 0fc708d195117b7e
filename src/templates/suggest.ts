import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../contracts/errors.ts'
import type { Database } from '../platform/db/schema.ts'
import { editDistance, isMisspelling, maxDistance } from '../platform/edit-distance.ts'
import type { TemplateKey } from './store.ts'

/** A template as named in a request. */
interface TemplateName {
  name: string
  language: string
}

/** Comparing this many names takes a few milliseconds at most; more or longer names would block other requests. */
const maxCandidates = 100
const maxNameLength = 60
const maxLanguages = 5

/** Returns the error for an unknown template, which suggests the most similar approved one of the same WABA. */
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
    .where((eb) => eb.and({ account_id: accountId, waba_id: wabaId, status: 'APPROVED' }))
    .where(sql<number>`length(name)`, '>=', length - maxDistance)
    .where(sql<number>`length(name)`, '<=', length + maxDistance)
    .orderBy((eb) => eb('name', '=', name), 'desc')
    .orderBy('name')
    .orderBy('language')
    .limit(maxCandidates)
    .execute()
}

/** Returns a sentence about the most similar template; undefined if none is similar enough. */
export function suggest({ name, language }: TemplateName, candidates: readonly TemplateName[]): string | undefined {
  const languages = candidates.filter((candidate) => candidate.name === name).map((candidate) => candidate.language)
  if (languages.length > 0) return `It exists in ${formatList(sortBySimilarity(languages, language))}.`
  const [nearest] = candidates
    .map((candidate) => ({ ...candidate, distance: editDistance(candidate.name, name) }))
    .filter(({ distance }) => isMisspelling(name, distance))
    .toSorted(
      (a, b) =>
        a.distance - b.distance || languageSimilarity(b.language, language) - languageSimilarity(a.language, language),
    )
  return nearest && `Did you mean ${JSON.stringify(nearest.name)} in language ${nearest.language}?`
}

function sortBySimilarity(languages: readonly string[], wanted: string): string[] {
  return languages.toSorted((a, b) => languageSimilarity(b, wanted) - languageSimilarity(a, wanted))
}

/** Returns 2 for the same language, and 1 for another region of it, such as `en` and `en_US`. */
function languageSimilarity(language: string, wanted: string): number {
  if (language === wanted) return 2
  return language.slice(0, 2) === wanted.slice(0, 2) ? 1 : 0
}

function formatList(languages: readonly string[]): string {
  const shown = languages.slice(0, maxLanguages)
  return shown.length < languages.length
    ? `${shown.join(', ')} and other languages`
    : new Intl.ListFormat('en').format(shown)
}
