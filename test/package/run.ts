import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

export const repository = path.resolve(import.meta.dirname, '../..')

/** The Node.js that runs the tests, and system tools, but no programs of our `node_modules`. */
const outside = [
  path.dirname(process.execPath),
  ...(process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => !folder.includes('node_modules') && existsSync(folder)),
].join(path.delimiter)

/** The environment of a user's shell, without the variables of npm and vitest. */
export function outsideEnvironment(): Record<string, string> {
  const { HOME = '/', npm_config_registry, npm_config_cafile } = process.env
  return {
    PATH: outside,
    HOME,
    npm_config_update_notifier: 'false',
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    ...(npm_config_registry !== undefined && { npm_config_registry }),
    ...(npm_config_cafile !== undefined && { npm_config_cafile }),
  }
}

/** Runs a command to its end. Rejects with its output if it fails. */
export async function run(
  folder: string,
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: folder,
    env: { ...outsideEnvironment(), ...environment },
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

/** The disk usage of a folder according to `du`. */
export async function measureMegabytes(folder: string): Promise<number> {
  return Number.parseInt(await run(folder, 'du', ['-sm', '.']), 10)
}

/** The TypeScript versions that the client package supports, oldest first. */
export const typescriptVersions = ['5.7.2', '5.8.3', '5.9.3', '6.0.2', '7.0.2'] as const
export type TypeScriptVersion = (typeof typescriptVersions)[number]

/** The package of the oldest Node that the client supports, for this platform. */
const oldestNode = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const oldestNodeVersion = '20.20.2'

export interface Toolchains {
  tsc: (version: TypeScriptVersion) => string
  node20: string
}

/** Installs every compiler and the oldest Node into separate folders. */
export async function installToolchains(folder: string): Promise<Toolchains> {
  const compilers = typescriptVersions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`] as const)
  const dependencies = Object.fromEntries([...compilers, [oldestNode, oldestNodeVersion]])
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run(folder, 'npm', ['install', '--ignore-scripts'])
  const modules = path.join(folder, 'node_modules')
  return {
    tsc: (version) => path.join(modules, `typescript-${version}`, 'bin/tsc'),
    node20: path.join(modules, oldestNode, 'bin/node'),
  }
}
