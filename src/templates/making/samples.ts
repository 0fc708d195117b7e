import { createReadStream } from 'node:fs'
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { TemplateDefinition, TemplateHeaderDefinition } from '../../../contracts/templates/definition.ts'
import { findHealth, saveHealth } from '../../accounts/whatsapp/health/store.ts'
import type { Deps } from '../../deps.ts'
import type { SampleFile } from '../../whatsapp/template-management.ts'
import { explainTemplateFailure } from './failures.ts'
import type { Maker } from './maker.ts'

type SampleDeps = Pick<Deps, 'db' | 'whatsapp' | 'links'>

const mebibyte = 1024 * 1024

/** What the resumable upload takes (reference 2, section 3.4), and the sizes of section 4. */
const kinds = {
  IMAGE: { mimeTypes: ['image/jpeg', 'image/png'], maxBytes: 5 * mebibyte, words: 'a JPEG or PNG image' },
  VIDEO: { mimeTypes: ['video/mp4'], maxBytes: 16 * mebibyte, words: 'an MP4 video' },
  DOCUMENT: { mimeTypes: ['application/pdf'], maxBytes: 100 * mebibyte, words: 'a PDF document' },
} as const

type MediaFormat = keyof typeof kinds

function isMedia(format: TemplateHeaderDefinition['format']): format is MediaFormat {
  return format in kinds
}

/** Where the header of a template, or of a card, has its sample. */
interface Place {
  field: string
  header: TemplateHeaderDefinition
}

/** Uploads each sample that is given by a link, and returns the template with their handles. */
export async function uploadSamples(
  deps: SampleDeps,
  maker: Maker,
  template: TemplateDefinition,
): Promise<TemplateDefinition> {
  const places: Place[] = [
    ...(template.header ? [{ field: 'header.sample', header: template.header }] : []),
    ...(template.cards ?? []).map(({ header }, index) => ({ field: `cards.${index}.header.sample`, header })),
  ]
  const handles = new Map<TemplateHeaderDefinition, string>()
  for (const { field, header } of places) {
    const link = header.sample?.link
    if (link === undefined || !isMedia(header.format)) continue
    const { format } = header
    const handle = await withFile(
      field,
      format,
      (file) => download(deps, link, file, { accountId: maker.accountId, field, format }),
      (file) => uploadSample(deps, maker, file),
    )
    handles.set(header, handle)
  }
  const filled = (header: TemplateHeaderDefinition): TemplateHeaderDefinition => {
    const handle = handles.get(header)
    return handle === undefined ? header : { ...header, sample: { handle } }
  }
  return {
    ...template,
    ...(template.header && { header: filled(template.header) }),
    ...(template.cards && { cards: template.cards.map((card) => ({ ...card, header: filled(card.header) })) }),
  }
}

/** Uploads a file of this machine, for the command line. */
export async function uploadLocalSample(
  deps: SampleDeps,
  maker: Maker,
  { file, format }: { file: string; format: TemplateHeaderDefinition['format'] },
): Promise<string> {
  if (!isMedia(format)) throw invalidField('header.sample', `a header of format ${format} has no sample.`)
  const copy = async (to: string) => {
    await copyFile(file, to).catch(() => {
      throw invalidField('header.sample', `the file ${file} cannot be read.`)
    })
  }
  return withFile('header.sample', format, copy, (sample) =>
    uploadSample(deps, maker, { ...sample, name: path.basename(file) }),
  )
}

/** The file is on disk, because an upload says its size and its type before the first byte. */
async function withFile(
  field: string,
  format: MediaFormat,
  fill: (path: string) => Promise<void>,
  use: (file: SampleFile) => Promise<string>,
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-sample-'))
  try {
    const file = path.join(folder, 'sample')
    await fill(file)
    const { size: sizeBytes } = await stat(file)
    const { mimeTypes, maxBytes, words } = kinds[format]
    if (sizeBytes > maxBytes) throw invalidField(field, `must have at most ${maxBytes / mebibyte} MB.`)
    const mimeType = await readType(file)
    if (mimeType === undefined || !mimeTypes.some((one) => one === mimeType))
      throw invalidField(field, `must be ${words}: the content of the file decides, not its name.`)
    return await use({
      name: `sample.${extensions[mimeType]}`,
      mimeType,
      sizeBytes,
      open: () => createReadStream(file),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function download(
  { links }: SampleDeps,
  link: string,
  file: string,
  { accountId, field, format }: { accountId: string; field: string; format: MediaFormat },
): Promise<void> {
  const result = await links.download(link, file, { accountId, maxBytes: kinds[format].maxBytes })
  if (!result.ok) throw invalidField(`${field}.link`, `${result.problem}.`)
}

const extensions = { 'application/pdf': 'pdf', 'image/jpeg': 'jpg', 'image/png': 'png', 'video/mp4': 'mp4' } as const

/** The type that the first bytes show. */
async function readType(file: string): Promise<keyof typeof extensions | undefined> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(12), 0, 12, 0)
    const start = buffer.subarray(0, bytesRead).toString('latin1')
    if (start.startsWith('%PDF-')) return 'application/pdf'
    if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
    if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
    return start.slice(4, 8) === 'ftyp' ? 'video/mp4' : undefined
  } finally {
    await handle.close()
  }
}

/** A sample belongs to the Meta app of the token. */
async function uploadSample(deps: SampleDeps, maker: Maker, file: SampleFile): Promise<string> {
  const appId = await findAppId(deps, maker)
  const uploaded = await deps.whatsapp.uploadSample({ appId, accessToken: maker.accessToken, file })
  if (uploaded.ok) return uploaded.value
  throw await explainTemplateFailure(deps, maker, uploaded)
}

async function findAppId({ db, whatsapp }: SampleDeps, maker: Maker): Promise<string> {
  const known = (await findHealth(db, maker))?.app_id
  if (known !== undefined && known !== null) return known
  const inspected = await whatsapp.inspectToken({ accessToken: maker.accessToken })
  const appId = inspected.ok ? inspected.value.appId : undefined
  if (appId === undefined)
    throw new ServiceError(
      'WHATSAPP_UNAVAILABLE',
      'WhatsApp did not say to which app the access token belongs, so the sample cannot be uploaded. Nothing was changed.',
      { retryAfterSeconds: 5 },
    )
  await saveHealth(db, maker, { app_id: appId })
  return appId
}
