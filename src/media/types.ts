import { maxMediaBytes, type MediaKind } from '../../contracts/api/media.ts'
import { singleLine } from '../../contracts/fields.ts'
import { cut } from '../platform/text.ts'

/** The media types that WhatsApp takes for the headers of templates (reference 2, section 4), and their extensions. */
const types: Readonly<Record<string, { kind: MediaKind; extension: string }>> = {
  'image/jpeg': { kind: 'image', extension: 'jpg' },
  'image/png': { kind: 'image', extension: 'png' },
  'video/mp4': { kind: 'video', extension: 'mp4' },
  'video/3gpp': { kind: 'video', extension: '3gp' },
  'application/pdf': { kind: 'document', extension: 'pdf' },
  'application/msword': { kind: 'document', extension: 'doc' },
  'application/vnd.ms-excel': { kind: 'document', extension: 'xls' },
  'application/vnd.ms-powerpoint': { kind: 'document', extension: 'ppt' },
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': { kind: 'document', extension: 'docx' },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { kind: 'document', extension: 'xlsx' },
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': { kind: 'document', extension: 'pptx' },
  'text/plain': { kind: 'document', extension: 'txt' },
}

export function kindOfType(type: string): MediaKind {
  return types[type]?.kind ?? 'document'
}

export function extensionOf(type: string): string {
  return types[type]?.extension ?? 'bin'
}

export function maxBytesOf(type: string): number {
  return maxMediaBytes[kindOfType(type)]
}

/** Whole megabytes, rounded up. */
export function toMegabytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024))
}

const maxNameLength = 240
const FileName = singleLine(maxNameLength)

/** Returns the last part of the path of a URL, if it looks like a filename. */
export function nameOfLink(link: string): string | undefined {
  const last = new URL(link).pathname.split('/').at(-1) ?? ''
  return cleanFilename(/\.\w{2,5}$/.test(last) ? decode(last) : undefined)
}

/** Keeps percent signs that encode nothing. */
function decode(part: string): string {
  return part.replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}

/** Filenames are shown to recipients and never used in a path. Returns undefined if nothing readable remains. */
export function cleanFilename(name: string | undefined): string | undefined {
  const base = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\x00-\x1f\x7f]/g, '')
    .trim()
  return base !== undefined && /[^.]/.test(base) ? FileName.safeParse(shorten(base)).data : undefined
}

/** Keeps the extension, by which the recipient's phone chooses the app that opens the file. */
function shorten(name: string): string {
  if (name.length <= maxNameLength) return name
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? ''
  return cut(name, maxNameLength - extension.length) + extension
}
