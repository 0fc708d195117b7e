import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { createDebianRoot, installNode, networkVariables } from '../support/debian.ts'

const repository = path.resolve(import.meta.dirname, '../..')
const bundledNode = path.join(repository, `node_modules/node-linux-${process.arch}/bin/node`)

const Config = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      StopSignal: z.string(),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
      Volumes: z.record(z.string(), z.unknown()),
    }),
  }),
})

export interface Image {
  /** The file system of a container of this image. */
  root: string
  config: z.output<typeof Config>['Docker']['config']
  nodeVersion: string
  /** How much larger the file system is than that of the base image. */
  addedMegabytes: number
  remove: () => Promise<void>
}

/**
 * Builds the Dockerfile with buildah. Its base image is created here instead of downloaded: a minimal Debian with the Node
 * that the Dockerfile names, under the name of that image.
 */
export async function buildImage(): Promise<Image> {
  const store = await mkdtemp(path.join(tmpdir(), 'waybill-images-'))
  try {
    const buildah = storeIn(store)
    const nodeVersion = await readNodeVersion()
    const baseSize = await createBase(buildah, nodeVersion)
    const flags = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--tag', 'waybill']
    await buildah('bud', ...flags, '--file', path.join(repository, 'Dockerfile'), repository)
    const container = await buildah('from', '--pull-never', 'waybill')
    const root = await buildah('mount', container)
    return {
      root,
      config: Config.parse(JSON.parse(await buildah('inspect', '--type', 'image', 'waybill'))).Docker.config,
      nodeVersion,
      addedMegabytes: (await measureMegabytes(root)) - baseSize,
      remove: () => rm(store, { recursive: true, force: true }),
    }
  } catch (error) {
    await rm(store, { recursive: true, force: true })
    throw error
  }
}

type Buildah = (...args: string[]) => Promise<string>

/** Runs buildah with images and containers in a folder, apart from those of the machine. */
function storeIn(folder: string): Buildah {
  const store = [
    '--storage-driver',
    'vfs',
    '--root',
    path.join(folder, 'images'),
    '--runroot',
    path.join(folder, 'run'),
  ]
  return (...args) => run('buildah', ...store, ...args)
}

/** Returns the version in the Dockerfile, which must be the installed one. */
async function readNodeVersion(): Promise<string> {
  const dockerfile = await readFile(path.join(repository, 'Dockerfile'), 'utf8')
  const version = /^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)?.[1] ?? ''
  const installed = await run(bundledNode, '--version')
  if (installed !== `v${version}`)
    throw new Error(`the Dockerfile names Node ${version}, but ${installed} is installed`)
  return version
}

async function createBase(buildah: Buildah, version: string): Promise<number> {
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  await createDebianRoot(root)
  await installNode(root, bundledNode)
  await run('chroot', root, 'useradd', '--uid', '1000', '--create-home', 'node')
  const size = await measureMegabytes(root)
  const variables = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...networkVariables() }
  const settings = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  await buildah('config', ...settings, container)
  await buildah('commit', '--quiet', '--rm', container, `docker.io/library/node:${version}-slim`)
  return size
}

async function measureMegabytes(folder: string): Promise<number> {
  return Number.parseInt(await run('du', '--summarize', '--block-size=1000000', folder), 10)
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}
