import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderPages } from '../http/docs/render/pages.ts'
import { renderedPagesFile } from '../http/docs/site/site.ts'
import { buildDashboard, bundledPackagesName } from './build-dashboard.ts'
import { bundleServer } from './bundle-server.ts'
import { formatLicenses } from './bundled-packages.ts'
import { asPublished, type RepositoryManifest, writeManifest } from './manifest.ts'
import { createSbom } from './sbom.ts'

/**
 * Builds `dist/`, the root of the package and part of the container image: the server as a bundle, and the exported modules unbundled with
 * their types. The repository itself runs from source.
 */
const root = path.resolve(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')
const command = path.join(dist, 'src/cli/waybill.js')

/** The package whose standalone file renders the API reference. */
const scalar = 'node_modules/@scalar/api-reference'

await rm(dist, { recursive: true, force: true })
compile()
await copyStaticFiles()
const server = await bundleServer(dist)
await buildDashboard()
await copyDashboard()
await copyOpenApi()
await copyScalar()
await renderGuides()
packClient()
await describePackages()
await completePackage()
await chmod(command, 0o755)
await startOnce()

function compile(): void {
  const tsc = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'src/packaging/tsconfig.json'], { cwd: root, stdio: 'inherit' })
}

/** Copies the entry point, the static files and the pictures of the guides, which are rendered below. */
async function copyStaticFiles(): Promise<void> {
  const excluded = ['src/client', 'src/dashboard', 'src/packaging']
  const isExcluded = (file: string) => excluded.some((folder) => file.startsWith(folder + path.sep))
  for await (const file of glob(['src/**/*.*', 'docs/guides/images/*'], { cwd: root }))
    if (!/\.(ts|tsx|md)$/.test(file) && !isExcluded(path.normalize(file)))
      await cp(path.join(root, file), path.join(dist, file))
}

/** Without indentation, which takes a seventh of it in the archive. */
async function copyOpenApi(): Promise<void> {
  const document: unknown = JSON.parse(await readFile(path.join(root, 'openapi.json'), 'utf8'))
  await writeFile(path.join(dist, 'openapi.json'), JSON.stringify(document))
}

/** Copies the built dashboard to where the server expects it. */
async function copyDashboard(): Promise<void> {
  await cp(path.join(root, 'src/dashboard/built'), path.join(dist, 'src/dashboard/built'), { recursive: true })
}

/** Copies Scalar's standalone file, built from 400 packages, to where the server expects it. */
async function copyScalar(): Promise<void> {
  const entry = fileURLToPath(import.meta.resolve('@scalar/api-reference'))
  const standalone = path.join(path.dirname(entry), 'browser/standalone.js')
  await copyFile(standalone, path.join(dist, 'src/http/docs/scalar.js'))
}

/** Renders the guides and error pages, so that the server does not need the Markdown renderer. */
async function renderGuides(): Promise<void> {
  const file = path.join(dist, 'src/http/docs/site', path.basename(renderedPagesFile.pathname))
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(renderPages()))
}

/** Writes the archive of the client, which the server serves. */
function packClient(): void {
  const file = path.join(dist, 'src/http/docs/waybill-client.tgz')
  execFileSync(process.execPath, [path.join(import.meta.dirname, 'build-client.ts'), '--pack', file])
}

/** Writes the software bill of materials, for vulnerability scanners, and the licences of bundled packages. */
async function describePackages(): Promise<void> {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'))
  const dashboard = JSON.parse(await readFile(path.join(root, 'src/dashboard/built', bundledPackagesName), 'utf8'))
  const published = asPublished(packages, writeManifest(await readManifest()))
  const sbom = createSbom(published, { server, dashboard, docs: [scalar] })
  await writeFile(path.join(dist, 'sbom.cdx.json'), JSON.stringify(sbom, null, 2) + '\n')
  await writeFile(path.join(dist, 'licenses.txt'), await formatLicenses([...server, ...dashboard, scalar]))
}

/** Makes `dist/` the package that `npm pack ./dist` packs. */
async function completePackage(): Promise<void> {
  await writeFile(path.join(dist, 'package.json'), JSON.stringify(writeManifest(await readManifest()), null, 2) + '\n')
  for (const name of ['LICENSE', 'README.md']) await copyFile(path.join(root, name), path.join(dist, name))
}

async function readManifest(): Promise<RepositoryManifest> {
  return JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
}

/** Starts and stops the built server: the build fails if it does not start, and the image keeps Node's compile cache. */
async function startOnce(): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'waybill-build-'))
  const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', WAYBILL_DATA_DIR: dataDir, LOG_LEVEL: 'error' }
  const server = spawn(process.execPath, [command, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(server, 'exit')
  server.stdout.once('data', () => server.kill('SIGINT'))
  const [exitCode] = await exited
  await rm(dataDir, { recursive: true })
  if (exitCode !== 0) throw new Error(`the built server exited with code ${exitCode}`)
}
