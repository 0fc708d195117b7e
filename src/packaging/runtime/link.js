// Plain JavaScript, because it runs on any Node version that the machine has.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const modules = path.join(root, 'node_modules')
const link = path.join(modules, '.bin', 'node')
const installed = ['node', 'node-bin']
  .map((name) => `${name}-${process.platform}-${process.arch}`)
  .find((name) => existsSync(path.join(modules, name, 'bin', 'node')))

/** The Debian packages of the libraries that Node binaries need besides the C library. */
const packages = { 'libatomic.so.1': 'libatomic1', 'libgcc_s.so.1': 'libgcc-s1', 'libstdc++.so.6': 'libstdc++6' }

/** Returns what is missing to start the binary, as the system's loader reports it, or undefined if it starts. */
function findMissing(binary) {
  const { status, error, stderr } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  // The system reports a missing loader as a missing file.
  if (error) return error.code === 'ENOENT' ? 'the GNU C library' : error.message
  const library = /loading shared libraries: ([^:\s]+)/.exec(stderr)
  return library ? library[1] : stderr.trim()
}

/** Describes the problem in one sentence and how to fix it. */
function describeMissing(missing) {
  const name = packages[missing]
  const install = name ? `Install it (Debian and Ubuntu: apt-get install ${name}), or install` : 'Install'
  return `The Node that npm installed with this project needs ${missing}, which is missing on this machine. ${install} Node ${oldestSupported()} or newer, and run npm ci again.`
}

function oldestSupported() {
  const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  return Number(/\d+/.exec(engines.node)[0])
}

/**
 * Restores `node_modules/.bin/node`. npm 10 removes it together with the Node packages of other platforms, because they all
 * share this name. npm 11 keeps it.
 */
function restoreLink() {
  if (existsSync(link)) return
  mkdirSync(path.dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(path.join('..', installed, 'bin', 'node'), link)
}

if (installed !== undefined) {
  const missing = findMissing(path.join(modules, installed, 'bin', 'node'))
  if (missing === undefined) {
    restoreLink()
  } else if (Number(process.versions.node.split('.')[0]) >= oldestSupported()) {
    // Without the link, npm scripts use the machine's Node.
    rmSync(link, { force: true })
  } else {
    console.error(describeMissing(missing))
    process.exitCode = 1
  }
}
