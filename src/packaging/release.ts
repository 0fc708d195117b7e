/**
 * `npm run release`: checks the tree, dates the changelog, builds both packages with their bills of materials and checksums
 * into `release/`, and prints the tag to make. It pushes and publishes nothing. With `--dry-run`, git stays as it is.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { dateChangelog, findReleaseProblems } from './release-rules.ts'
import { createSbom, type LockedPackages } from './sbom.ts'

const root = path.resolve(import.meta.dirname, '../..')
const folder = path.join(root, 'release')
const changelogFile = path.join(root, 'CHANGELOG.md')

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const { version } = await readJson('package.json')
const tag = `v${version}`

const problems = findReleaseProblems({
  version,
  clientVersion: (await readJson('src/client/package.json')).version,
  documentedVersion: (await readJson('openapi.json')).info.version,
  changedFiles: git('status', '--porcelain'),
  existingTag: git('tag', '--list', tag),
  changelog: await readFile(changelogFile, 'utf8'),
})
if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  process.exit(1)
}
npm('run', 'check')
if (!values['dry-run']) await commitChangelog()
await pack()
console.log(`Version ${version} is in release/. Tag and publish it:\n\n  git tag -a ${tag} -m 'Waybill ${version}'\n`)

async function commitChangelog(): Promise<void> {
  const today = new Date().toISOString().slice(0, 10)
  await writeFile(changelogFile, dateChangelog(await readFile(changelogFile, 'utf8'), version, today))
  git('commit', '--quiet', '--message', `Release ${version}`, '--', 'CHANGELOG.md')
}

async function pack(): Promise<void> {
  npm('run', 'build')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  npm('pack', './dist', '--pack-destination', folder)
  npm('pack', '--workspace', 'waybill-client', '--pack-destination', folder)
  await copyFile(path.join(root, 'dist/sbom.cdx.json'), path.join(folder, `waybill-${version}.cdx.json`))
  await writeFile(path.join(folder, `waybill-client-${version}.cdx.json`), await describeClient())
  const names = (await readdir(folder)).toSorted()
  const sums = await Promise.all(names.map(async (name) => `${await hash(path.join(folder, name))}  ${name}\n`))
  await writeFile(path.join(folder, 'SHA256SUMS'), sums.join(''))
}

async function describeClient(): Promise<string> {
  const packages: LockedPackages = (await readJson('package-lock.json')).packages
  const client = packages['src/client'] ?? {}
  const sbom = createSbom({ ...packages, '': client }, { server: [], dashboard: [], docs: [] })
  return `${JSON.stringify(sbom, null, 2)}\n`
}

async function hash(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

async function readJson(file: string) {
  return JSON.parse(await readFile(path.join(root, file), 'utf8'))
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function npm(...args: string[]): void {
  execFileSync('npm', args, { cwd: root, stdio: 'inherit' })
}
