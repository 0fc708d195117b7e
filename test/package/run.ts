import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
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
