import { createReadStream } from 'node:fs'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { sampleTypes } from '../../../contracts/facts/template-problems.ts'
import { type ErrorCode, invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { TemplateDefinition, TemplateHeaderDefinition } from '../../../contracts/templates/definition.ts'
import { isSampleFormat, isSampleType, type SampleFormat } from '../../../contracts/templates/samples.ts'
import { findHealth, saveHealth } from '../../whatsapp-accounts/health/store.ts'
import { lockUnchanged } from '../../whatsapp-accounts/store.ts'
import type { Deps } from '../../deps.ts'
import { spool, type SpooledFile } from '../../media/spool.ts'
import { extensionOf } from '../../media/types.ts'
import { spoolLink } from '../../media/upload.ts'
import type { SampleFile } from '../../whatsapp/template-management.ts'
import { explainTemplateFailure } from './failures.ts'
import type { TemplateAccount } from './template-account.ts'

type SampleDeps = Pick<Deps, 'db' | 'whatsapp' | 'media' | 'log'>

/** The field with the sample of a header, in a template or a card. */
interface SampleField {
  field: string
  header: TemplateHeaderDefinition
}

/** Uploads each sample that is given by a link, and returns the template with their handles. */
export async function uploadSamples(
  deps: SampleDeps,
  account: TemplateAccount,
  template: TemplateDefinition,
): Promise<TemplateDefinition> {
  const sampleFields: SampleField[] = [
    ...(template.header ? [{ field: 'header.sample', header: template.header }] : []),
    ...(template.cards ?? []).map(({ header }, index) => ({ field: `cards.${index}.header.sample`, header })),
  ]
  const handles = new Map<TemplateHeaderDefinition, string>()
  for (const { field, header } of sampleFields) {
    const link = header.sample?.link
    if (link === undefined || !isSampleFormat(header.format)) continue
    const { format } = header
    handles.set(header, await uploadLink(deps, account, { field, format, link }))
  }
  const withHandle = (header: TemplateHeaderDefinition): TemplateHeaderDefinition => {
    const handle = handles.get(header)
    return handle === undefined ? header : { ...header, sample: { handle } }
  }
  return {
    ...template,
    ...(template.header && { header: withHandle(template.header) }),
    ...(template.cards && { cards: template.cards.map((card) => ({ ...card, header: withHandle(card.header) })) }),
  }
}

/** Uploads a file of this machine, for the command line. */
export async function uploadLocalSample(
  deps: SampleDeps,
  account: TemplateAccount,
  { file, format }: { file: string; format: TemplateHeaderDefinition['format'] },
): Promise<string> {
  if (!isSampleFormat(format)) throw invalidField('header.sample', `a header of format ${format} has no sample.`)
  const spooled = await spool(createReadStream(file), deps.media.limits).catch((error: unknown) => {
    if (error instanceof ServiceError) throw withField(error, 'header.sample')
    throw invalidField('header.sample', `the file ${file} cannot be read.`)
  })
  return uploadSpooled(deps, account, spooled, { field: 'header.sample', format })
}

/** Names the file types allowed for a sample, because the error of an upload for messages names all types. */
export function toSampleProblem(error: unknown, format: SampleFormat): unknown {
  return error instanceof ServiceError && error.code === 'UNSUPPORTED_MEDIA_TYPE' ? wrongType('file', format) : error
}

function wrongType(field: string, format: SampleFormat): ServiceError {
  return invalidField(field, errorFactsWithValues.sampleType({ type: sampleTypes[format]() }))
}

/** Counts towards the concurrent uploads of the account, because it uses disk space and a connection. */
function uploadLink(
  deps: SampleDeps,
  account: TemplateAccount,
  { link, field, format }: { link: string; field: string; format: SampleFormat },
): Promise<string> {
  return deps.media.slots.run(account.accountId, async () => {
    const file = await spoolLink(deps, link).catch((error: unknown) => {
      throw error instanceof ServiceError ? withField(error, `${field}.link`) : error
    })
    return uploadSpooled(deps, account, file, { field, format })
  })
}

/** Errors caused by the file itself, not by this server. */
const fileProblems: ReadonlySet<string> = new Set<ErrorCode>([
  'VALIDATION_ERROR',
  'MEDIA_DOWNLOAD_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
])

/** Replaces the upload's field in the error with the field of the template. */
function withField(error: ServiceError, field: string): ServiceError {
  if (!fileProblems.has(error.code)) return error
  const [problem = error.message] = Object.values(error.fields)
  return invalidField(field, problem)
}

/** Uploads a received file and discards it. `field`: of the request, for an error. */
export async function uploadSpooled(
  deps: SampleDeps,
  account: TemplateAccount,
  file: SpooledFile,
  { field, format }: { field: string; format: SampleFormat },
): Promise<string> {
  try {
    if (!isSampleType(format, file.type)) throw wrongType(field, format)
    return await uploadSample(deps, account, {
      name: `sample.${extensionOf(file.type)}`,
      mimeType: file.type,
      sizeBytes: file.size,
      open: () => file.open(),
    })
  } finally {
    await file.discard()
  }
}

/** A sample belongs to the Meta app of the token. */
async function uploadSample(deps: SampleDeps, account: TemplateAccount, file: SampleFile): Promise<string> {
  const appId = await findAppId(deps, account)
  const uploaded = await deps.whatsapp.uploadSample({ appId, accessToken: account.accessToken, file })
  if (uploaded.ok) return uploaded.value
  throw await explainTemplateFailure(deps, account, uploaded)
}

async function findAppId({ db, whatsapp }: SampleDeps, account: TemplateAccount): Promise<string> {
  const known = (await findHealth(db, account))?.appId
  if (known !== undefined && known !== null) return known
  const inspected = await whatsapp.inspectToken({ accessToken: account.accessToken })
  const appId = inspected.ok ? inspected.value.appId : undefined
  if (appId === undefined)
    throw new ServiceError(
      'WHATSAPP_UNAVAILABLE',
      'WhatsApp did not say to which app the access token belongs, so the sample cannot be uploaded. Nothing was changed.',
      { retryAfterSeconds: 5 },
    )
  await db.transaction().execute(async (trx) => {
    // A token that was replaced in the meantime may belong to another app.
    if (await lockUnchanged(trx, { ...account, id: account.whatsAppAccountId }))
      await saveHealth(trx, account, { appId })
  })
  return appId
}
