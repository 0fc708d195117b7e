import { execFileSync, type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'

const repository = path.resolve(import.meta.dirname, '../..')

/** How a language runs one file. */
interface Toolchain {
  file: string
  /** Fails if the toolchain is not installed. */
  check: readonly [string, ...string[]]
  /** Prepares a receiver: installs packages or compiles a program. */
  prepare?: (folder: string) => Promise<void>
  command: (port: number | undefined) => readonly [string, ...string[]]
  environment?: (folder: string) => Record<string, string>
}

export const toolchains: Readonly<Record<string, Toolchain>> = {
  sh: { file: 'snippet.sh', check: ['curl', '--version'], command: () => ['bash', '-eu', 'snippet.sh'] },
  ts: {
    file: 'snippet.ts',
    check: [process.execPath, '--version'],
    prepare: linkPackages,
    command: () => [process.execPath, 'snippet.ts'],
  },
  python: {
    file: 'snippet.py',
    check: ['python3', '--version'],
    prepare: async (folder) => {
      await execute(folder, [
        'python3',
        '-m',
        'pip',
        'install',
        '-q',
        '--target',
        'packages',
        'standardwebhooks==1.1.0',
      ])
    },
    command: () => ['python3', '-u', 'snippet.py'],
    environment: (folder) => ({ PYTHONPATH: path.join(folder, 'packages') }),
  },
  go: {
    file: 'snippet.go',
    check: ['go', 'version'],
    prepare: async (folder) => {
      await execute(folder, ['go', 'mod', 'init', 'snippet'])
      await execute(folder, ['go', 'mod', 'tidy'])
    },
    command: () => ['bash', '-c', 'go build -o program snippet.go && exec ./program'],
  },
  java: { file: 'Snippet.java', check: ['java', '--version'], command: () => ['java', 'Snippet.java'] },
  php: {
    file: 'snippet.php',
    check: ['php', '--ri', 'curl'],
    command: (port) =>
      port === undefined ? ['php', 'snippet.php'] : ['php', '-S', `127.0.0.1:${port}`, 'snippet.php'],
  },
  ruby: { file: 'snippet.rb', check: ['ruby', '-rwebrick', '-e', ''], command: () => ['ruby', 'snippet.rb'] },
}

/** The name of what is missing; undefined if the toolchain is installed. */
export function findMissing(language: string): string | undefined {
  const [command = '', ...args] = toolchains[language]?.check ?? []
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return undefined
  } catch {
    return [command, ...args].join(' ')
  }
}

/** The packages of this repository, installed like in an application. Node runs no TypeScript below `node_modules`. */
async function linkPackages(folder: string): Promise<void> {
  const own = path.join(folder, 'waybill-client')
  await mkdir(own)
  await mkdir(path.join(folder, 'node_modules'))
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  const exported = { '.': './client.ts', './webhook': './webhook.ts' }
  await writeFile(
    path.join(own, 'package.json'),
    JSON.stringify({ name: 'waybill-client', type: 'module', exports: exported }),
  )
  await writeFile(path.join(own, 'client.ts'), `export * from ${JSON.stringify(`${repository}/src/client/client.ts`)}`)
  await writeFile(
    path.join(own, 'webhook.ts'),
    `export * from ${JSON.stringify(`${repository}/src/receiver/webhook.ts`)}`,
  )
  await symlink(own, path.join(folder, 'node_modules/waybill-client'))
  await symlink(
    path.join(repository, 'node_modules/@modelcontextprotocol'),
    path.join(folder, 'node_modules/@modelcontextprotocol'),
  )
  await symlink(
    path.join(repository, 'node_modules/standardwebhooks'),
    path.join(folder, 'node_modules/standardwebhooks'),
  )
}

/** A program that runs until it ends or is stopped. */
export interface Program {
  output: () => string
  ended: Promise<number | null>
  stop: () => Promise<void>
}

export function start(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  environment: Record<string, string> = {},
): Program {
  // In a separate process group, so that its child processes end with it.
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const written: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => written.push(String(chunk)))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return {
    output: () => written.join(''),
    ended,
    stop: async () => {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await ended
    },
  }
}

async function execute(folder: string, command: readonly [string, ...string[]]): Promise<void> {
  const program = start(folder, command)
  if ((await program.ended) !== 0) throw new Error(`${command.join(' ')} failed:\n${program.output()}`)
}
