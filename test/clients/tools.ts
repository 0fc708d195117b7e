import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/** Caches downloads and compiled programs, so that only the first run takes long. */
const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'waybill-clients')

export const document = path.resolve(import.meta.dirname, '../../openapi.json')

/** Runs a command to its end and returns its output; an error contains the end of the output. */
export async function run(
  folder: string,
  command: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 }
  return promisify(execFile)(command, args, options).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; stderr?: string }) => {
      const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.slice(-4000)
      throw new Error(`${path.basename(command)} ${args[0] ?? ''} failed:\n${output}`, { cause: error })
    },
  )
}

/** The commands among these that the machine lacks. */
export function listMissing(commands: readonly string[]): string[] {
  return commands.filter((command) => {
    try {
      execFileSync('sh', ['-c', `command -v ${command}`])
      return false
    } catch {
      return true
    }
  })
}

/** A fresh copy of a program's folder, with an empty `generated` beside it. */
export async function copyProgram(name: string, copy = name): Promise<{ program: string; generated: string }> {
  const folder = path.join(cache, 'work', copy)
  await rm(folder, { recursive: true, force: true })
  const [program, generated] = [path.join(folder, 'program'), path.join(folder, 'generated')]
  await cp(path.join(import.meta.dirname, name), program, { recursive: true })
  await mkdir(generated)
  return { program, generated }
}

const fills = new Map<string, Promise<string>>()

/** A folder that is filled once for each content of a file, such as a list of dependencies. */
export async function fillOnce(name: string, file: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
  const folder = path.join(cache, `${name}-${hash}`)
  // Clients that are built concurrently wait for the same folder.
  const filling = fills.get(folder) ?? fillFolder(folder, fill)
  fills.set(folder, filling)
  return filling
}

async function fillFolder(folder: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const complete = path.join(folder, '.complete')
  if (existsSync(complete)) return folder
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await fill(folder)
  await writeFile(complete, '')
  return folder
}

/** The build folder that all Rust programs share, so that each dependency is compiled once. */
export const cargoTarget = path.join(cache, 'cargo-target')

/** A command from the packages in a requirements.txt: by default those of the generators and generated clients. */
export async function pythonCommand(name: string, requirements = 'requirements.txt'): Promise<string> {
  const file = path.join(import.meta.dirname, requirements)
  const folder = await fillOnce('python', file, async (venv) => {
    await run(venv, 'python3', ['-m', 'venv', '.'])
    await run(venv, path.join(venv, 'bin/pip'), ['install', '--quiet', '--requirement', file])
  })
  return path.join(folder, 'bin', name)
}

/** Makes the packages of a program's lockfile available in its folder. */
export async function installPackages(program: string, name: string): Promise<void> {
  const installed = await fillOnce(name, path.join(program, 'package-lock.json'), async (folder) => {
    for (const file of ['package.json', 'package-lock.json'])
      await cp(path.join(program, file), path.join(folder, file))
    await run(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  })
  const link = path.join(program, 'node_modules')
  if (!existsSync(link)) await symlink(path.join(installed, 'node_modules'), link)
}

export async function openapiGenerator(language: string, folder: string, ...options: string[]): Promise<void> {
  const command = await pythonCommand('openapi-generator-cli')
  // Only fast compilation: optimizing the generator pays off only for large documents.
  const environment = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1' }
  const args = ['generate', '--input-spec', document, '--generator-name', language, '--output', folder]
  await run(folder, command, [...args, ...options], environment)
}
