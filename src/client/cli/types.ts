import { readFile, stat, writeFile } from 'node:fs/promises'
import type { Template } from '../../../contracts/api/template.ts'
import { createClient, isWaybillError } from '../client.ts'
import { compareTypes, countChanges, type TypeChanges } from '../types/compare.ts'
import { generateTypes, marker } from '../types/generate.ts'

export interface TypesOptions {
  url: string
  apiKey: string
  /** Templates of this WhatsApp account instead of the default one. */
  accountId: string | undefined
  output: string
  /** Whether to compare only, without writing. */
  isCheck: boolean
}

export interface TypesResult {
  /** False if a check found a difference. */
  isCurrent: boolean
  text: string
  /** The result for programs. */
  json: TypesReport
}

interface TypesReport extends TypeChanges {
  output: string
  templates: number
  /** Approved templates that cannot be sent, with the reason. */
  leftOut: string[]
}

/** An error that the caller can correct. Its message never contains the API key. */
export class TypesError extends Error {
  readonly isUsage: boolean

  constructor(message: string, { isUsage = false, cause }: { isUsage?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'TypesError'
    this.isUsage = isUsage
  }
}

/** Writes the types of the account's approved templates to a file, or compares the file with them. */
export async function updateTypes(options: TypesOptions): Promise<TypesResult> {
  const { output, isCheck } = options
  const existing = await readOutput(output)
  const approved = await listApprovedTemplates(options)
  const sendable = approved.filter((template) => template.sendable)
  const generated = generateTypes(sendable)
  const changes = compareTypes(existing ?? '', generated)
  const isCurrent = existing !== undefined && countChanges(changes) === 0
  if (!isCheck && !isCurrent) await writeOutput(output, generated)
  const leftOut = approved.filter((template) => !template.sendable).map(describeLeftOut)
  const json = { output, templates: sendable.length, ...changes, leftOut }
  return { isCurrent: isCurrent || !isCheck, text: describe(json, { isCheck, isCurrent }), json }
}

async function listApprovedTemplates({ url, apiKey, accountId }: TypesOptions): Promise<Template[]> {
  const client = createClient({ url: readUrl(url), apiKey: readKey(apiKey) })
  const templates: Template[] = []
  let cursor: string | undefined
  try {
    do {
      const page = await client.template.list.query({ status: 'APPROVED', limit: 100, accountId, cursor })
      templates.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return templates
  } catch (error) {
    throw describeFailure(error, readUrl(url))
  }
}

function readUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin
  throw new TypesError('--url must be the address of Waybill, such as https://waybill.example.com.', { isUsage: true })
}

/** HTTP headers allow no other characters, and the error that `fetch` throws would contain the key. */
function readKey(apiKey: string): string {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw new TypesError('The API key must consist of printable characters without spaces.', { isUsage: true })
}

function describeFailure(error: unknown, origin: string): unknown {
  if (!isWaybillError(error)) return error
  if (error.data) return new TypesError(`${error.data.code}: ${error.message}`, { cause: error })
  return new TypesError(`No response from Waybill at ${origin}. Check the URL, and that the server is running.`, {
    cause: error,
  })
}

async function readOutput(output: string): Promise<string | undefined> {
  // Reading a pipe or a terminal would wait for its end.
  const existing = await stat(output).catch(() => undefined)
  if (output === '-' || existing?.isFile() === false)
    throw new TypesError(`${output} is not a file. Name one with --output.`, { isUsage: true })
  const text = await readFile(output, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new TypesError(`${output} cannot be read: ${error.code}.`, { cause: error })
  })
  if (text === undefined || text.includes(marker)) return text
  throw new TypesError(`${output} was not written by this command. Name another file with --output.`)
}

async function writeOutput(output: string, text: string): Promise<void> {
  await writeFile(output, text).catch((error: NodeJS.ErrnoException) => {
    throw new TypesError(`${output} cannot be written: ${error.code}.`, { cause: error })
  })
}

function describeLeftOut({ name, language, reason }: Template): string {
  return `${name} (${language}): ${reason ?? 'it cannot be sent'}`
}

function describe(report: TypesReport, { isCheck, isCurrent }: { isCheck: boolean; isCurrent: boolean }): string {
  const { output, templates, added, removed, changed, leftOut } = report
  const state = isCurrent ? `${output} is up to date.` : isCheck ? `${output} is out of date.` : `Wrote ${output}.`
  return [
    state,
    ...added.map((template) => `  added    ${template}`),
    ...removed.map((template) => `  removed  ${template}`),
    ...changed.map((template) => `  changed  ${template}`),
    ...leftOut.map((template) => `  left out ${template}`),
    ...(templates === 0 ? ['No approved template can be sent, so any template name compiles.'] : []),
  ].join('\n')
}
