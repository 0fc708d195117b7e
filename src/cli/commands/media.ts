import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import { ImportMediaRequest, type Media } from '../../../contracts/api/media.ts'
import { changes } from '../../../contracts/facts/changes.ts'
import { invalidField } from '../../../contracts/errors.ts'
import { deleteMedia, getMedia } from '../../../contracts/command-line/account-resources.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { spool } from '../../media/spool.ts'
import { cleanFilename } from '../../media/types.ts'
import { importMedia, storeUpload } from '../../media/upload.ts'
import { dataCommand } from '../command.ts'
import { contractCommand } from '../contract-command.ts'
import { UsageError } from '../failure.ts'

const mediaUpload = dataCommand({
  name: 'media upload',
  summary: 'Upload a file for the header of a template, and print the media ID to send it with',
  args: ['ACC', 'FILE'],
  read: { FILE: locateFile },
  options: {
    filename: { value: 'NAME', help: 'Name that the recipient of a document sees (default: that of the file)' },
    'whatsapp-account': { value: 'WA', help: 'WhatsApp account that sends it first, instead of the default one' },
  },
  notes: [
    'FILE is a path or a public https address. The file type is detected from the content, not the name.',
    'Uploading the same file again under the same name prints the same ID and renews its expiry.',
    'If files are stored in a local folder, run the command on the machine of the server.',
  ],
  examples: ['waybill media upload acc_… invoice.pdf', 'waybill media upload acc_… https://example.com/photo.jpg'],
  audit: () => changes.uploadMedia(),
  run: async (deps, { args: [accountId, file], options }) => {
    await requireAccount(deps.db, accountId)
    const { filename, 'whatsapp-account': whatsAppAccountId } = options
    const json = isLink(file)
      ? await importMedia(deps, { accountId }, parseLink(file, { filename, accountId: whatsAppAccountId }))
      : await uploadFile(deps, file, { accountId, whatsAppAccountId, filename })
    return { json, text: describe(json) }
  },
})

function isLink(file: string): boolean {
  return /^https?:\/\//i.test(file)
}

/** Another process, with another working directory, may run the command. */
async function locateFile(file: string): Promise<string> {
  if (isLink(file)) return file
  const facts = await stat(file).catch(() => undefined)
  if (facts?.isFile() !== true) throw new UsageError(`There is no file ${file}.`)
  return path.resolve(file)
}

function parseLink(link: string, fields: Record<string, string | undefined>): ImportMediaRequest {
  const parsed = ImportMediaRequest.safeParse({ link, ...fields })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UsageError(`${issue?.path.join('.')}: ${issue?.message}.`)
}

interface Target {
  accountId: string
  whatsAppAccountId: string | undefined
  filename: string | undefined
}

async function uploadFile(
  deps: Deps,
  file: string,
  { accountId, whatsAppAccountId, filename }: Target,
): Promise<Media> {
  const name = cleanFilename(filename ?? path.basename(file))
  if (name === undefined) throw new UsageError('--filename must be a name such as invoice.pdf.')
  return deps.media.slots.run(accountId, async () => {
    // The process that holds the data can have other permissions than the user of the command.
    const handle = await open(file).catch(() => {
      throw invalidField('FILE', `the file ${file} cannot be read by the process that holds the data.`)
    })
    const spooled = await spool(handle.createReadStream(), deps.media.limits)
    return storeUpload(deps, { accountId }, spooled, { filename: name, accountId: whatsAppAccountId })
  })
}

export const mediaCommands = [
  mediaUpload,
  contractCommand(getMedia, {
    name: 'media get',
    summary: 'Show the type, size and expiry of an uploaded file',
    args: { ACC: 'accountId', MED: 'mediaId' },
    examples: ['waybill media get acc_… med_…'],
    rejectedWith: 1,
    text: describe,
  }),
  contractCommand(deleteMedia, {
    name: 'media delete',
    summary: 'Delete an uploaded file, here and at WhatsApp',
    args: { ACC: 'accountId', MED: 'mediaId' },
    notes: ['Messages that were sent with the file keep it.'],
    examples: ['waybill media delete acc_… med_…'],
    rejectedWith: 1,
    text: ({ mediaId }) => `Deleted ${mediaId}.`,
  }),
]

function describe({ mediaId, kind, type, size, filename, expiresAt }: Media): string {
  return [
    mediaId,
    `  ${filename === undefined ? '' : `${filename}, `}${kind}, ${type}, ${size} bytes`,
    `  expires ${expiresAt}`,
  ].join('\n')
}
