import type { z } from 'zod'
import type { deleteTemplate as contract } from '../../../contracts/api/template-changes.ts'
import { invalidField } from '../../../contracts/errors.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import { isUnknownObject } from '../../whatsapp/error-codes.ts'
import { findTemplate, type TemplateRow } from '../store.ts'
import { describeUnknownTemplate } from '../suggest.ts'
import { explainTemplateFailure } from './failures.ts'
import { openTemplateAccount } from './template-account.ts'
import { findPresentLanguages, markTemplatesDeleted } from './store.ts'
import type { ChangeDeps } from './submit.ts'

/** Deletes one language of a template, or all. A retry finds nothing left to delete. */
export async function deleteTemplate(
  deps: ChangeDeps,
  { accountId }: Caller,
  input: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const { name, language, allLanguages = false } = input
  if (language === undefined && !allLanguages)
    throw invalidField('language', 'is required, or set allLanguages to true.')
  if (language !== undefined && allLanguages) throw invalidField('language', 'must be left out with allLanguages.')
  const account = await openTemplateAccount(deps, accountId, input.accountId)
  const { wabaId, accessToken } = account
  const key = { accountId, wabaId, name }
  const present = await findPresentLanguages(deps.db, key)
  const chosen = present.filter((row) => allLanguages || row.language === language)
  const firstId = chosen[0]?.templateId
  if (firstId === undefined) {
    if (language !== undefined && (await findTemplate(deps.db, { ...key, language }))) return { name, languages: [] }
    if (language === undefined && (await isKnownName(deps, key))) return { name, languages: [] }
    throw await describeUnknownTemplate(deps.db, { ...key, language: language ?? 'any' })
  }
  // Without an ID, WhatsApp also deletes languages that were never synced.
  const deleted = await deps.whatsapp.deleteTemplate({
    wabaId,
    accessToken,
    name,
    templateId: allLanguages ? undefined : firstId,
  })
  // A template that WhatsApp no longer has counts as deleted.
  const isRefused = !deleted.ok && deleted.refused && deleted.transient !== true
  if (!deleted.ok && !(isRefused && (await areMissing(deps, accessToken, chosen))))
    throw await explainTemplateFailure(deps, account, deleted)
  const languages = chosen.map((row) => row.language)
  await markTemplatesDeleted(deps.db, key, { languages, at: await readDatabaseClock(deps.db) })
  return { name, languages }
}

async function isKnownName(
  { db }: ChangeDeps,
  { accountId, wabaId, name }: { accountId: string; wabaId: string; name: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('templates')
    .select('name')
    .where((eb) => eb.and({ account_id: accountId, waba_id: wabaId, name }))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function areMissing(deps: ChangeDeps, accessToken: string, rows: readonly TemplateRow[]): Promise<boolean> {
  for (const { templateId } of rows) if (!(await isMissing(deps, accessToken, templateId))) return false
  return true
}

/** WhatsApp's error texts are in the language of the token's user, so this reads the template itself. */
async function isMissing({ whatsapp }: ChangeDeps, accessToken: string, templateId: string): Promise<boolean> {
  const read = await whatsapp.getTemplate({ templateId, accessToken })
  return !read.ok && read.error !== undefined && isUnknownObject(read.error.code, read.subcode)
}
