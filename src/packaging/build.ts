import { execFileSync } from 'node:child_process'
import { chmod, copyFile, cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderPages } from '../http/docs/render/pages.ts'
import { renderedPagesFile } from '../http/docs/site/site.ts'
import { buildDashboard, bundledPackagesName } from './build-dashboard.ts'
import { createSbom } from './sbom.ts'

/**
 * Builds `dist/` for the package and the container image, because Node runs no TypeScript below `node_modules`. The
 * repository itself runs from its sources.
 */
const root = path.resolve(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')

await rm(dist, { recursive: true, force: true })
compile()
await copyStaticFiles()
await buildDashboard()
await copyDashboard()
await copyFile(path.join(root, 'openapi.json'), path.join(dist, 'openapi.json'))
await copyScalar()
await renderGuides()
await writeSbom()
await writePackageJson()
await chmod(path.join(dist, 'src/cli/waybill.js'), 0o755)

function compile(): void {
  const tsc = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
}

/** Copies the entry point and the static files. Guides are rendered instead. */
async function copyStaticFiles(): Promise<void> {
  const apart = new Set([import.meta.dirname, path.join(root, 'src/client'), path.join(root, 'src/dashboard')])
  await cp(path.join(root, 'src'), path.join(dist, 'src'), {
    recursive: true,
    filter: (file) => !/\.(ts|md)$/.test(file) && !apart.has(file),
  })
}

/** The dashboard for browsers; the server looks for it here. */
async function copyDashboard(): Promise<void> {
  await cp(path.join(root, 'src/dashboard/built'), path.join(dist, 'src/dashboard/built'), { recursive: true })
}

/** One file instead of the 400 packages that it was built from; the server looks for it here. */
async function copyScalar(): Promise<void> {
  const entry = fileURLToPath(import.meta.resolve('@scalar/api-reference'))
  const standalone = path.join(path.dirname(entry), 'browser/standalone.js')
  await copyFile(standalone, path.join(dist, 'src/http/docs/scalar.js'))
}

/** The guides and error pages; the server reads them from here, without the Markdown renderer. */
async function renderGuides(): Promise<void> {
  const file = path.join(dist, 'src/http/docs/site', path.basename(renderedPagesFile.pathname))
  await writeFile(file, JSON.stringify(renderPages()))
}

/** Lists the components of the package and the image, for vulnerability scanners. */
async function writeSbom(): Promise<void> {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'))
  const dashboard = JSON.parse(await readFile(path.join(root, 'src/dashboard/built', bundledPackagesName), 'utf8'))
  const sbom = createSbom(packages, { dashboard, docs: ['node_modules/@scalar/api-reference'] })
  await writeFile(path.join(dist, 'sbom.cdx.json'), JSON.stringify(sbom, null, 2) + '\n')
}

/** The sources import their version from here; the other fields are not needed at run time. */
async function writePackageJson(): Promise<void> {
  const { name, version, type } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
  await writeFile(path.join(dist, 'package.json'), JSON.stringify({ name, version, type }, null, 2) + '\n')
}
