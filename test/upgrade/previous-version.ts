import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const ourRoot = path.resolve(import.meta.dirname, '../..')

/** The version before this one. There is no release yet, so it is a commit. */
const previousCommit = '12e9a9b4'

/** The version before in a folder of its own, with the packages that it was made for. */
export interface PreviousVersion {
  root: string
  remove(): Promise<void>
}

export async function checkOutPrevious(): Promise<PreviousVersion> {
  const root = await mkdtemp(path.join(tmpdir(), 'waybill-previous-'))
  await extract(root)
  const isSame = await hasSamePackages(root)
  if (isSame) await symlink(path.join(ourRoot, 'node_modules'), path.join(root, 'node_modules'))
  else await execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root })
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

async function extract(root: string): Promise<void> {
  const archive = `${root}.tar`
  try {
    await execute('git', ['archive', `--output=${archive}`, previousCommit], { cwd: ourRoot })
    await execute('tar', ['-xf', archive, '-C', root])
  } catch (cause) {
    throw new Error(`cannot read commit ${previousCommit}: fetch the whole history (git fetch --unshallow)`, { cause })
  } finally {
    await rm(archive, { force: true })
  }
}

interface Lockfile {
  packages: Record<string, { version?: string }>
}

/** Packages that a server does not run: types, and the Node that the project brings. */
const notRun = /\/(@types\/.*|undici-types|node(-bin)?-(linux|darwin|win)-\w+)$/

async function hasSamePackages(root: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([readVersions(ourRoot), readVersions(root)])
  return Object.entries(theirs).every(([name, version]) => ours[name] === version)
}

async function readVersions(root: string): Promise<Record<string, string | undefined>> {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const run = Object.entries(packages).filter(([name]) => name.startsWith('node_modules/') && !notRun.test(name))
  return Object.fromEntries(run.map(([name, { version }]) => [name, version]))
}

/** Runs a command of a version and returns its JSON. */
export async function runCommand(
  root: string,
  environment: Record<string, string>,
  ...args: string[]
): Promise<Record<string, string>> {
  return JSON.parse(await readOutput(root, environment, ...args)) as Record<string, string>
}

async function readOutput(root: string, environment: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await execute(process.execPath, [path.join(root, 'src/cli/waybill.js'), ...args, '--json'], {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', ...environment },
  })
  return stdout
}

interface Failure {
  stdout: string
}

/** The problems that `waybill doctor` of a version finds. */
export async function listProblems(root: string, environment: Record<string, string>): Promise<string[]> {
  // It ends with 1 if there are any.
  const output = await readOutput(root, environment, 'doctor').catch((error: Failure) => error.stdout)
  const { findings } = JSON.parse(output) as { findings: { check: string; ok: boolean; message: string }[] }
  return findings.flatMap(({ check, ok, message }) => (ok ? [] : [`${check}: ${message}`]))
}

export const currentRoot = ourRoot
