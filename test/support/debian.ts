import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { request } from 'undici'

const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'waybill-debian')

const debianRelease = 'bookworm'
const publicMirror = 'http://deb.debian.org/debian'

/**
 * Creates a tar archive of a minimal Debian 12 with debootstrap. An earlier archive is used only if the mirror still
 * publishes the same release, and if the archive has the checksum that was recorded with it.
 */
async function createDebianArchive(): Promise<string> {
  const mirror = await findMirror()
  const archive = path.join(cache, `${debianRelease}-${await fingerprint(mirror)}.tar`)
  if (await isIntact(archive)) return archive
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-debian-'))
  try {
    const root = path.join(folder, 'root')
    await run('debootstrap', '--variant=minbase', debianRelease, root, mirror)
    const created = path.join(folder, 'root.tar')
    // Device files belong to whoever mounts /dev; downloaded packages are installed by now.
    const excluded = ['./dev/*', './var/cache/apt/*', './var/lib/apt/lists/*'].map((each) => `--exclude=${each}`)
    await run('tar', '--create', '--numeric-owner', `--directory=${root}`, `--file=${created}`, ...excluded, '.')
    await run('mv', created, `${archive}.new`)
    await writeFile(`${archive}.sha256`, await checksum(`${archive}.new`))
    await rename(`${archive}.new`, archive)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return archive
}

/** Variables that a network may require. */
export function networkVariables(): Record<string, string> {
  const names = /^(?:https?_proxy|no_proxy|npm_config_registry|node_extra_ca_certs)$/i
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (names.test(name) && value ? [[name, value]] : [])),
  )
}

/** Extracts an archive into an empty folder, with the name servers and certificate authorities of this machine. */
export async function createDebianRoot(root: string): Promise<void> {
  const archive = await createDebianArchive()
  await run('tar', '--extract', '--numeric-owner', `--directory=${root}`, `--file=${archive}`)
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  for (const file of ['/etc/resolv.conf', '/etc/hosts', ...(authorities ? [authorities] : [])])
    await cp(await realpath(file), path.join(root, file))
}

/** Installs a Node binary with the npm of this machine. */
export async function installNode(root: string, binary: string): Promise<void> {
  const prefix = path.join(root, 'usr/local')
  const npm = path.resolve(await findCommand('npm'), '../..')
  await cp(binary, path.join(prefix, 'bin/node'))
  await cp(npm, path.join(prefix, 'lib/node_modules/npm'), { recursive: true })
  for (const command of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${command}-cli.js`, path.join(prefix, 'bin', command))
}

/** The file of a command of this machine, instead of one that is installed with the project. */
export function findCommand(command: string): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => !folder.includes('node_modules'))
  const folder = folders.find((each) => existsSync(path.join(each, command)))
  if (folder === undefined) throw new Error(`${command} is not installed on this machine`)
  return realpath(path.join(folder, command))
}

/** The mirror that the machine's apt uses for this release, or the public one. */
async function findMirror(): Promise<string> {
  const format = '$(CODENAME) $(SITE)'
  const targets = await run('apt-get', 'indextargets', '--format', format, 'Created-By: Packages')
  const [, site] = new RegExp(`^${debianRelease} (\\S+)$`, 'm').exec(targets) ?? []
  return site ?? publicMirror
}

/** Identifies the packages that the mirror offers today. */
async function fingerprint(mirror: string): Promise<string> {
  const { statusCode, body } = await request(`${mirror}/dists/${debianRelease}/InRelease`)
  if (statusCode !== 200) throw new Error(`${mirror} returned status ${statusCode} for the release file`)
  return createHash('sha256')
    .update(await body.text())
    .digest('hex')
    .slice(0, 16)
}

async function isIntact(archive: string): Promise<boolean> {
  const recorded = await readFile(`${archive}.sha256`, 'utf8').catch(() => undefined)
  return recorded !== undefined && recorded === (await checksum(archive).catch(() => undefined))
}

async function checksum(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
