import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** Returns the packages of these modules, as paths in the lock file such as `node_modules/react`. */
export function listPackages(moduleIds: readonly string[]): string[] {
  const folders = moduleIds.flatMap((id) => {
    const file = path.relative(root, id.replace(/[?].*$/, '')).replaceAll(path.sep, '/')
    const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []
    return folder === undefined ? [] : [folder]
  })
  if (folders.length === 0) throw new Error('no packages found in the bundle: the format of module IDs has changed')
  return [...new Set(folders)].toSorted()
}

/** Returns the licence texts of bundled packages, which must accompany every copy of their code. */
export async function formatLicenses(packages: readonly string[]): Promise<string> {
  const texts = await Promise.all([...new Set(packages)].toSorted().map(formatLicense))
  return `Waybill contains code of these packages.\n\n${texts.join('\n')}`
}

async function formatLicense(folder: string): Promise<string> {
  const { name, version, license, author } = JSON.parse(await readFile(path.join(root, folder, 'package.json'), 'utf8'))
  const files = (
    await Array.fromAsync(glob('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: path.join(root, folder) }))
  ).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, folder, file), 'utf8')))
  const holder = typeof author === 'string' ? author : author?.name
  const fallback = `License: ${license}${holder === undefined ? '' : `, ${holder}`}`
  return ['='.repeat(80), `${name} ${version} (${license})`, '', texts.join('\n').trim() || fallback, ''].join('\n')
}
