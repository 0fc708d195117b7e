import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { build } from 'vite'
import { compressedSuffix } from '../http/dashboard/pages.ts'
import { listPackages } from './bundled-packages.ts'

const root = path.resolve(import.meta.dirname, '../..')
const source = path.join(root, 'src/dashboard')
const built = path.join(source, 'built')
/** Stored next to the page, outside the served files. */
const stampName = 'inputs.sha256'
/** Lists the paths of bundled packages, for the software bill of materials. */
export const bundledPackagesName = 'packages.json'

/**
 * Builds `src/dashboard/built` unless it is up to date with its sources. Several processes may build at once, and any may
 * crash, so the complete folder with its stamp is renamed into place.
 */
export async function buildDashboard(): Promise<void> {
  const stamp = await hashInputs()
  if ((await readStamp(built)) === stamp) return
  console.log('Building the dashboard.')
  const fresh = `${built}-${process.pid}`
  try {
    await buildForProduction(fresh)
    await compressTexts(path.join(fresh, 'assets'))
    await writeFile(path.join(fresh, stampName), stamp)
    await putInPlace(fresh, stamp)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** Sets `NODE_ENV`, which Vite and React read, so that the build is always for production. */
async function buildForProduction(outDir: string): Promise<void> {
  const original = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  try {
    const output = await build({
      configFile: path.join(source, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir, emptyOutDir: true },
    })
    await writeFile(
      path.join(outDir, bundledPackagesName),
      JSON.stringify(listPackages(listModules(output)), null, 2) + '\n',
    )
  } finally {
    if (original === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = original
  }
}

/** The best compression takes seconds. A server that did it at the first request would have to use a faster one. */
async function compressTexts(folder: string): Promise<void> {
  const compressing: Promise<void>[] = []
  for await (const name of glob('*.{js,css,svg}', { cwd: folder })) compressing.push(compress(path.join(folder, name)))
  await Promise.all(compressing)
}

async function compress(file: string): Promise<void> {
  await writeFile(file + compressedSuffix, await promisify(brotliCompress)(await readFile(file)))
  await rm(file)
}

function listModules(output: Awaited<ReturnType<typeof build>>): string[] {
  const bundles = [output].flat()
  return bundles.flatMap((bundle) => ('output' in bundle ? bundle.output : [])).flatMap(moduleIdsOf)
}

function moduleIdsOf(file: object): string[] {
  return 'moduleIds' in file && Array.isArray(file.moduleIds) ? file.moduleIds.map(String) : []
}

async function putInPlace(fresh: string, stamp: string): Promise<void> {
  if ((await readStamp(built)) === stamp) return
  const old = `${fresh}-old`
  if (existsSync(built)) await ignoreConcurrentRename(rename(built, old))
  await ignoreConcurrentRename(rename(fresh, built))
  await rm(old, { recursive: true, force: true })
}

/** If another process that built the same sources was faster, its folder is equivalent. */
async function ignoreConcurrentRename(renamed: Promise<void>): Promise<void> {
  try {
    await renamed
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

async function readStamp(folder: string): Promise<string | undefined> {
  try {
    return await readFile(path.join(folder, stampName), 'utf8')
  } catch {
    return undefined
  }
}

async function hashInputs(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of await listInputs())
    hash
      .update(file)
      .update('\0')
      .update(await readFile(path.join(root, file)))
      .update('\0')
  return hash.digest('hex')
}

async function listInputs(): Promise<string[]> {
  const patterns = [
    'src/dashboard/**/*',
    'contracts/**/*',
    'package-lock.json',
    'src/packaging/{build-dashboard,bundled-packages}.ts',
  ]
  const files: string[] = []
  for await (const entry of glob(patterns, {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name, parentPath }) => parentPath === source && name.startsWith('built'),
  }))
    if (entry.isFile()) files.push(path.relative(root, path.join(entry.parentPath, entry.name)))
  return files.sort()
}

if (import.meta.main) await buildDashboard()
