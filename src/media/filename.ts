import { line } from '../../contracts/fields.ts'

const FileName = line(240)

/** Returns the last part of the path of a URL, if it looks like a filename. */
export function nameOfLink(link: string): string | undefined {
  const last = new URL(link).pathname.split('/').at(-1) ?? ''
  try {
    return cleanFilename(/\.\w{2,5}$/.test(last) ? decodeURIComponent(last) : undefined)
  } catch {
    return undefined
  }
}

/** Filenames are shown to recipients and never used in a path. Returns undefined if nothing readable remains. */
export function cleanFilename(name: string | undefined): string | undefined {
  const base = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\x00-\x1f\x7f]/g, '')
    .trim()
    .slice(0, 240)
  return base !== undefined && /[^.]/.test(base) ? FileName.safeParse(base).data : undefined
}
